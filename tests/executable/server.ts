// The server as people start it: a process of its own, from source or as the executable alone in a folder.

import { copyFileSync, existsSync, linkSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { inFolder, storeOf } from '../store/own-database.ts'
import { builtExecutable } from './built.ts'

const root = `${import.meta.dir}/../..`
export const executable = builtExecutable

export const MODES = ['source', 'executable'] as const
export type Mode = (typeof MODES)[number]

/** Without a build there is no executable to test; `bun run test` builds one first. */
export const isMissing = (mode: Mode) => mode === 'executable' && !existsSync(executable)

/**
 * What suites run: the executable, or the source where nothing was built. `running.test.ts` runs both, since the source
 * starts slowly and what else it does the suites of the rooms ask it.
 */
export const BUILT: readonly Mode[] = [isMissing('executable') ? 'source' : 'executable']

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body, as loosely typed as what comes over a wire. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** How the suites' own process compiles and frees memory, which a server of theirs that lives for seconds does, too. */
const SHORT_LIVED = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => /^(?:BUN_JSC|MIMALLOC)_/.test(name)),
) as Readonly<Record<string, string>>

export const OWNER = { email: 'owner@example.com', password: 'correct horse battery' }

/** For `Place`: what the suite is about lies in the data directory, whatever store suites run on. */
export const IN_FOLDER = { STORE: '' }

/** A folder with nothing but Chartroom in it, where commands run. Servers and commands of it have one store. */
export class Place {
  readonly folder = mkdtempSync(`${tmpdir()}/chartroom-place-`)
  readonly #command: readonly string[]
  readonly #environment: Readonly<Record<string, string>>

  /** `file` is the executable to run, if it is not the one that was built. */
  constructor(mode: Mode, environment: Readonly<Record<string, string>> = {}, file = executable) {
    this.#command =
      mode === 'source' ? [process.execPath, `${root}/src/main.ts`] : [`${this.folder}/chartroom`]
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      TMPDIR: tmpdir(),
      FEEDS: 'off',
      ...SHORT_LIVED,
      ...environment,
    }
    if ('STORE' in environment) inFolder(this.folder)
    if (mode === 'executable') putThere(file, `${this.folder}/chartroom`)
  }

  spawn(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    return Bun.spawn([...this.#command, ...args], {
      cwd: this.folder,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...this.#environment, ...environment },
    })
  }

  async run(...args: readonly string[]): Promise<Outcome> {
    const child = this.spawn(args, await storeOf(this.folder))
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out, err }
  }

  async serve(...flags: readonly string[]): Promise<Server> {
    const child = this.spawn(['serve', '--port', '0', ...flags], await storeOf(this.folder))
    const log = new Lines(child.stderr)
    const ready = await log.find(/"message":"listening".*"port":(\d+)/)
    if (!ready) throw new Error(`it did not start: ${log.text}`)
    // The welcome is one write, made before the line in the log.
    const { value } = await child.stdout.getReader().read()
    return new Server(child, `http://127.0.0.1:${ready[1]}`, new TextDecoder().decode(value), log)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Another name of the file costs nothing; a copy of it, where the folder is on another disk, writes 135 MB. */
function putThere(file: string, path: string): void {
  try {
    linkSync(file, path)
  } catch {
    copyFileSync(file, path)
  }
}

/** What a process says, read to the end in the background. */
class Lines {
  text = ''
  readonly #waiting = new Set<() => void>()
  #ended = false

  constructor(stream: ReadableStream<Uint8Array>) {
    void this.#read(stream)
  }

  /** Waits for it to be said; null if the stream ends before. */
  async find(pattern: RegExp): Promise<RegExpExecArray | null> {
    for (;;) {
      const found = pattern.exec(this.text)
      if (found || this.#ended) return found
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      this.text += decoder.decode(chunk, { stream: true })
      this.#tell()
    }
    this.#ended = true
    this.#tell()
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

/** A server that runs, and whoever signed in to it. */
export class Server {
  readonly process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  readonly base: string
  /** What it printed before it was ready. */
  readonly said: string
  readonly log: Lines
  /** Sent with every call. */
  headers: Readonly<Record<string, string>> = {}

  constructor(child: Server['process'], base: string, said: string, log: Lines) {
    this.process = child
    this.base = base
    this.said = said
    this.log = log
  }

  /** A string or bytes are sent as they are, anything else as JSON. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const raw = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(this.base + path, {
      method,
      headers: { 'content-type': 'application/json', ...this.headers, ...headers },
      ...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text.startsWith('{') ? JSON.parse(text) : null,
    }
  }

  /** Makes the first account, and calls as its owner from now on. */
  async signUp(): Promise<void> {
    await this.#enter('/api/auth/sign-up')
  }

  /** Calls as that owner, also of a server that was started again. */
  async signIn(): Promise<void> {
    await this.#enter('/api/auth/sign-in')
  }

  async #enter(path: string): Promise<void> {
    const answer = await this.call('POST', path, OWNER)
    const cookie = /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0]
    if (!cookie) throw new Error(`no session: ${answer.text}`)
    this.headers = { cookie }
  }

  importCsv(query: string, csv: string): Promise<Answer> {
    return this.call('POST', `/api/platform/bars/import?${query}`, csv, { 'content-type': 'text/csv' })
  }

  /** Asks it to stop, and waits; answers its exit status. */
  stop(): Promise<number> {
    this.process.kill('SIGTERM')
    return this.process.exited
  }

  kill(): Promise<number> {
    this.process.kill('SIGKILL')
    return this.process.exited
  }
}

/** A request for a backtest on the S&P 500 that every server has. */
export function backtestOf(source: string, name = 'n') {
  return { name, symbol: 'SPX', exchange: 'SP', interval: '1d', bars: 5104, source, inputs: {} }
}

/** Bars of an hour from 2024 on, walking up and down a staircase that everybody can recompute. */
export function csvOf(rows: number, startAt = Date.UTC(2024, 0, 1), level = 100): string {
  const lines = ['time,open,high,low,close,volume']
  for (let i = 0; i < rows; i++) {
    const close = level + ((i * 7) % 11) - 5
    lines.push(`${startAt + i * 3_600_000},${close},${close + 1},${close - 1},${close},${10 + (i % 3)}`)
  }
  return `${lines.join('\n')}\n`
}
