// Section "hostile" sends hostile scripts through every route that takes source, beside another user's innocent runs. The
// server must answer each and stay up, and the other user must not notice.

import { mkdtempSync, rmSync } from 'node:fs'
import { codeOf, type Reply, type Client, type Json } from './client.ts'
import { hostileScripts, type Hostile } from './hostile-scripts.ts'
import { Pulse, type Attack, type Felt } from './pulse.ts'
import { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { start, type Server } from './server.ts'
import { spread, type Tally } from './tally.ts'

/** A server that has not answered after this time counts as frozen and is ended. */
const FROZEN_MS = 20_000
/** Two attackers at once, since it must take more than occupying all workers to stop others. */
const ATTACKERS = 2
const FLAGS = ['--script-time-ms', '2000', '--script-memory-mb', '256']
const platform = '/api/platform'

const INNOCENT = [
  '//@version=6',
  'strategy("innocent")',
  'if ta.crossover(ta.sma(close, 5), ta.sma(close, 20))',
  '    strategy.entry("L", strategy.long)',
  'if ta.crossunder(ta.sma(close, 5), ta.sma(close, 20))',
  '    strategy.close("L")',
].join('\n')

type Route = (client: Client, hostile: Hostile) => Promise<Reply>

const backtestOf = ({ name, source }: Hostile): Json => ({
  name: name.slice(0, 200),
  symbol: 'SPX',
  exchange: 'SP',
  interval: '1d',
  bars: 5000,
  source,
  inputs: {},
})
const patience = { timeoutMs: FROZEN_MS }

/** Routes that only read the text. */
const TEXT_ROUTES: Readonly<Record<string, Route>> = {
  check: (client, { source }) => client.post(`${platform}/scripts/check`, { source }, patience),
  format: (client, { source }) => client.post(`${platform}/scripts/format`, { source }, patience),
  scripts: (client, { name, source }) => client.post(`${platform}/scripts`, { name, source }, patience),
  mcp: (client, { source }) =>
    client.post(
      '/mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'write_script', arguments: { source } },
      },
      { ...patience, headers: { accept: 'application/json, text/event-stream' } },
    ),
}
/** Routes that run it. */
const RUN_ROUTES: Readonly<Record<string, Route>> = {
  preview: (client, hostile) => client.post(`${platform}/backtests/preview`, backtestOf(hostile), patience),
  backtests: (client, hostile) => client.post(`${platform}/backtests`, backtestOf(hostile), patience),
  alert: async (client, { name, source }) => {
    const stored = await client.post(`${platform}/scripts`, { name, source }, patience)
    if (stored.status !== 200) return stored
    const body = {
      symbol: 'SPX',
      exchange: 'SP',
      interval: '1d',
      kind: 'script',
      scriptId: stored.json['id'],
    }
    return client.post(`${platform}/alerts`, { ...body, channels: ['email'] }, patience)
  },
}

interface Shot {
  readonly hostile: Hostile
  readonly route: string
  readonly send: Route
}

function shots(scene: Scene): Shot[] {
  const { text, run } = hostileScripts()
  const all = [
    ...text.flatMap((hostile) => of(hostile, { ...TEXT_ROUTES, ...RUN_ROUTES })),
    ...run.flatMap((hostile) => of(hostile, { check: TEXT_ROUTES['check']!, ...RUN_ROUTES })),
  ]
  const random = new Random(scene.seed)
  const shuffled = all
    .map((shot) => [random.next(), shot] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, shot]) => shot)
  return shuffled.slice(0, scene.rounds(all.length * 4) || all.length)
}

const of = (hostile: Hostile, routes: Readonly<Record<string, Route>>): Shot[] =>
  Object.entries(routes).map(([route, send]) => ({ hostile, route, send }))

export async function hostile(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  const control = await start({ ...scene, data: `${folder}/idle`, tally })
  const range = new Range(scene, tally, folder)
  try {
    await range.open(control)
    const all = shots(scene)
    tally.rounds = new Set(all.map(({ hostile }) => hostile.name)).size
    const queue = all.map((shot, step) => ({ shot, step }))
    const attacker = async (name: string) => {
      for (let next = queue.shift(); next; next = queue.shift()) await range.fire(next.shot, next.step, name)
    }
    await Promise.all(Array.from({ length: ATTACKERS }, (_, i) => attacker(`attacker${i}@example.com`)))
    await range.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The server under attack; one that freezes is replaced. */
class Range {
  readonly #scene: Scene
  readonly #tally: Tally
  readonly #folder: string
  readonly #clients = new Map<string, Client>()
  readonly #took: number[] = []
  #attacks: Attack[] = []
  #control: Server | null = null
  #server: Server | null = null
  #pulse: Pulse | null = null
  #innocent: Promise<void> | null = null
  #isOver = false
  #replacing: Promise<void> | null = null
  #idleBytes = 0
  #peakBytes = 0
  #servers = 0

  constructor(scene: Scene, tally: Tally, folder: string) {
    this.#scene = scene
    this.#tally = tally
    this.#folder = folder
  }

  async open(control: Server): Promise<void> {
    this.#control = control
    const data = `${this.#folder}/data${this.#servers++}`
    this.#server = await start({ ...this.#scene, data, flags: FLAGS, tally: this.#tally })
    this.#clients.clear()
    const guest = this.#server.client()
    const owner = await guest.signUp('owner@example.com')
    for (let i = 0; i < ATTACKERS; i++) {
      const email = `attacker${i}@example.com`
      this.#clients.set(email, await guest.signUp(email))
    }
    this.#idleBytes = this.#server.memory().now
    this.#isOver = false
    this.#innocent = this.#runInnocently(owner)
    if (!this.#scene.isShort) this.#pulse = new Pulse(this.#server.base, control.base)
  }

  async fire({ hostile, route, send }: Shot, step: number, name: string): Promise<void> {
    await this.#replacing
    const server = this.#server
    const client = this.#clients.get(name)
    if (!server || !client) return
    const from = Date.now()
    this.#tally.faults++
    const answer = await send(client, hostile)
    const what = `${hostile.name} through ${route}`
    const where = `shot ${step}`
    if (!server.isDead) {
      this.#attacks.push({ name: what, from, to: Date.now(), step: where })
      if (answer.status >= 500 && answer.status !== 503)
        this.#tally.find('a 5xx', `${what}: ${answer.status} ${answer.text.slice(0, 200)}`, where)
    }
    if (answer.status === 0 && server === this.#server) await this.#replaceIfFrozen(server, what, where)
  }

  /** There was no answer: is the server dead, is it frozen, or is only this script still running? */
  async #replaceIfFrozen(server: Server, what: string, where: string): Promise<void> {
    if (this.#replacing) return this.#replacing
    const health = server.isDead ? null : await server.client().get('/api/health', { timeoutMs: 5000 })
    if (health?.status === 200) {
      if (!this.#scene.isShort) this.#tally.find('no answer in time', `${what} after ${FROZEN_MS} ms`, where)
      return
    }
    const kind = server.isDead ? 'the server died' : 'the server froze'
    this.#tally.find(kind, `${what}${server.isDead ? `: ${server.log.text.slice(-300)}` : ''}`, where)
    this.#replacing = this.#replace()
    await this.#replacing
    this.#replacing = null
  }

  async #replace(): Promise<void> {
    this.#isOver = true
    await this.#server?.kill()
    await this.#innocent
    const felt = await this.#pulse?.stop()
    if (felt) this.#judge(felt)
    if (this.#control) await this.open(this.#control)
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#innocent
    const felt = await this.#pulse?.stop()
    if (felt) this.#judge(felt)
    const exit = await this.#server?.stop()
    if (exit && exit.code !== 0)
      this.#tally.find(
        'did not stop as asked',
        `${exit.signal ?? exit.code} ${exit.text.slice(-300)}`,
        'at the end',
      )
    this.#tally.figure('innocent runs', spread(this.#took))
    const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`
    this.#tally.figure('memory above idle', megabytes(this.#peakBytes - this.#idleBytes))
  }

  #judge(felt: Felt): void {
    felt.judge(this.#tally, this.#attacks)
    this.#attacks = []
  }

  /** Another user's runs, one after the other; each has to come out right. */
  async #runInnocently(client: Client): Promise<void> {
    const server = this.#server
    if (!server) return
    for (let n = 0; !this.#isOver && !server.isDead; n++) {
      const answer = await client.post(
        `${platform}/backtests`,
        backtestOf({ name: 'innocent', source: INNOCENT }),
      )
      if (server.isDead || (answer.status === 0 && this.#isOver)) return
      this.#took.push(answer.ms)
      this.#peakBytes = Math.max(this.#peakBytes, server.memory().peak)
      if (answer.status !== 200)
        this.#tally.find(
          'an innocent run failed',
          `${answer.status} ${codeOf(answer)} ${answer.text.slice(0, 200)}`,
          `innocent run ${n}`,
        )
      await Bun.sleep(20)
    }
  }
}
