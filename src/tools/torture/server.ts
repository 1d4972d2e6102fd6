// Runs a Chartroom for the torture: the executable on a free port of 127.0.0.1, with a data directory that is deleted
// afterwards.

import { readFileSync, readdirSync } from 'node:fs'
import { Client } from './client.ts'
import type { Scene } from './scene.ts'
import type { Tally } from './tally.ts'

export interface ServerOptions extends Pick<Scene, 'binary' | 'storeOf'> {
  readonly data: string
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly tally: Tally
}

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
  readonly text: string
}

/** Turns rate limits off, so that the torture reaches what is behind them. */
const FLAGS = [
  ...['anonymous', 'user', 'backtests', 'search', 'contact', 'chat', 'errors', 'tokens'].flatMap((rate) => [
    `--rate-${rate}`,
    '0',
  ]),
  '--port',
  '0',
  '--feeds',
  'off',
  '--signup',
  'open',
  '--webhook-allow',
  'loopback',
]
/** A server that prints nothing for this long will not start. */
const START_MS = 20_000
const SAID_MAX = 1 << 20

/** Every living server, so that none outlives the torture. */
const alive = new Set<Server>()

export class Server {
  readonly base: string
  /** From the start of the process to the first answer of `/api/ready`. */
  readonly readyMs: number
  readonly #child: Child
  readonly #said: Said
  readonly #tally: Tally

  constructor(child: Child, said: Said, port: number, readyMs: number, tally: Tally) {
    this.#child = child
    this.#said = said
    this.#tally = tally
    this.base = `http://127.0.0.1:${port}`
    this.readyMs = readyMs
    alive.add(this)
    void child.exited.then(() => alive.delete(this))
  }

  get pid(): number {
    return this.#child.pid
  }

  /** The log so far, and its number of lines. */
  get log(): Said {
    return this.#said
  }

  get isDead(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  client(headers: Readonly<Record<string, string>> = {}): Client {
    return new Client(this.base, this.#tally, headers)
  }

  /** Asks the server to stop. One that does not within `patienceMs` is killed, which its exit signal tells. */
  async stop(patienceMs = 20_000): Promise<Exit> {
    this.#child.kill('SIGTERM')
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs)
    const exit = await this.exit()
    clearTimeout(killer)
    return exit
  }

  async kill(): Promise<Exit> {
    this.#child.kill('SIGKILL')
    return this.exit()
  }

  async exit(): Promise<Exit> {
    await this.#child.exited
    return exitOf(this.#child, this.#said)
  }

  /** Resident memory now, and the most since the last `resetPeak`, in bytes. */
  memory(): { readonly now: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    const bytes = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? Number.NaN) * 1024
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
  }

  async resetPeak(): Promise<void> {
    await Bun.write(`/proc/${this.pid}/clear_refs`, '5')
  }

  /** Numbers of open files and of threads. */
  handles(): { readonly files: number; readonly threads: number } {
    return {
      files: readdirSync(`/proc/${this.pid}/fd`).length,
      threads: readdirSync(`/proc/${this.pid}/task`).length,
    }
  }
}

type Child = Bun.Subprocess<'ignore', 'pipe', 'pipe'>

/** The end of a process's output, and its number of lines. */
class Said {
  text = ''
  lines = 0
  #told: (() => void) | null = null
  readonly ended: Promise<void>

  constructor(stream: ReadableStream<Uint8Array>) {
    this.ended = this.#read(stream)
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true })
      this.lines += text.split('\n').length - 1
      this.text = (this.text + text).slice(-SAID_MAX)
      this.#told?.()
    }
    this.#told?.()
  }

  /** Waits for more output, or for the end of the process. */
  more(): Promise<void> {
    return new Promise((resolve) => (this.#told = resolve))
  }
}

function spawn({ binary, data, flags = [], environment = {} }: ServerOptions): Child {
  return Bun.spawn([binary, 'serve', ...FLAGS, '--data-dir', data, ...flags], {
    cwd: data.slice(0, data.lastIndexOf('/')),
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', TMPDIR: '/tmp', ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Starts the server and waits until it is ready; if it exits instead, answers how. */
export async function tryStart(options: ServerOptions): Promise<Server | Exit> {
  const store = await options.storeOf?.(options.data)
  const started = performance.now()
  const child = spawn({ ...options, environment: { ...options.environment, ...store } })
  const said = new Said(child.stderr)
  void new Response(child.stdout).text()
  const killer = setTimeout(() => child.kill('SIGKILL'), START_MS)
  const ended = child.exited.then(() => said.ended)
  let port: number | null = null
  while (port === null && child.exitCode === null && child.signalCode === null) {
    const found = /"message":"listening".*?"port":(\d+)/.exec(said.text)
    if (found) port = Number(found[1])
    else await Promise.race([said.more(), ended])
  }
  if (port !== null) await answered(`http://127.0.0.1:${port}/api/ready`, ended)
  clearTimeout(killer)
  if (port === null || child.killed) {
    await ended
    return exitOf(child, said)
  }
  return new Server(child, said, port, performance.now() - started, options.tally)
}

/** Waits for a 200, or for the end of the process that should answer. */
async function answered(url: string, ended: Promise<void>): Promise<void> {
  const state = { isDead: false }
  void ended.then(() => (state.isDead = true))
  while (!state.isDead) {
    const response = await fetch(url, { signal: AbortSignal.timeout(START_MS) }).catch(() => null)
    if (response?.ok) return
    await Bun.sleep(5)
  }
}

/** Starts the server; throws if it does not start. */
export async function start(options: ServerOptions): Promise<Server> {
  const server = await tryStart(options)
  if (server instanceof Server) return server
  throw new Error(`the server did not start: ${server.signal ?? server.code} ${server.text.slice(-2000)}`)
}

function exitOf(child: Child, said: Said): Exit {
  return {
    code: child.exitCode,
    signal: child.signalCode === null ? null : String(child.signalCode),
    text: said.text,
  }
}

/** Kills whatever still runs. */
export async function endAll(): Promise<void> {
  await Promise.all([...alive].map((server) => server.kill()))
}
