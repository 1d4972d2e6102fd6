// Section "crash" kills the server at random moments while many write. After each restart it looks for everything that the
// server ever acknowledged: every object with its fields, every bar, every event of a finished backtest, and every firing
// that the bars require, each exactly once.
//
// A data directory lives for some rounds, so that old promises are checked again and again; then a new one begins.

import { mkdtempSync, rmSync } from 'node:fs'
import type { Client, Json } from './client.ts'
import { expectedFirings } from './market.ts'
import { Receiver } from './receiver.ts'
import { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { start, type Server } from './server.ts'
import { spread, type Tally } from './tally.ts'
import { PATIENCE_MS, Writer, type ArmedAlert } from './writer.ts'

const USERS = 3
const WRITERS_A_USER = 2
const ERA_ROUNDS = 20
const MOST_LOAD_MS = 900
const platform = '/api/platform'

/** What happens between the death and the restart, and the flags that the server is started with. */
export interface Death {
  readonly environment: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
  readonly signals: readonly ('SIGKILL' | 'SIGTERM')[]
  /** Acts on the machine in the middle of the load. */
  readonly during?: (random: Random) => void
  /** Changes the data directory as the death would have done. */
  readonly after?: (data: string, random: Random) => void
}

const CRASH: Death = { environment: {}, signals: ['SIGKILL', 'SIGKILL', 'SIGTERM'] }

export async function crash(scene: Scene, tally: Tally): Promise<void> {
  await dieOften(scene, tally, scene.rounds(1000), CRASH)
}

/** Lets the server die `rounds` times under load. */
export async function dieOften(scene: Scene, tally: Tally, rounds: number, death: Death): Promise<void> {
  const random = new Random(scene.seed)
  const ready: number[] = []
  let acknowledged = 0
  for (let done = 0; done < rounds; done += ERA_ROUNDS) {
    const era = new Era(scene, tally, random.fork(), death, done)
    try {
      await era.live(Math.min(ERA_ROUNDS, rounds - done))
    } finally {
      await era.end()
    }
    ready.push(...era.ready)
    acknowledged += era.acknowledged
    scene.print(`  ${tally.section}: ${tally.rounds} rounds, ${acknowledged} writes acknowledged`)
  }
  tally.figure('acknowledged writes', acknowledged.toLocaleString('en'))
  tally.figure('ready after a death', spread(ready))
}

/** The life of one data directory. */
class Era {
  readonly ready: number[] = []
  readonly #scene: Scene
  readonly #tally: Tally
  readonly #random: Random
  readonly #death: Death
  readonly #folder = mkdtempSync('/tmp/chartroom-torture-')
  readonly #receiver = new Receiver()
  readonly #first: number
  #writers: Writer[] = []
  #server: Server | null = null
  #round: number

  constructor(scene: Scene, tally: Tally, random: Random, death: Death, first: number) {
    this.#scene = scene
    this.#tally = tally
    this.#random = random
    this.#death = death
    this.#first = first
    this.#round = first
  }

  get acknowledged(): number {
    return this.#writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
  }

  async live(rounds: number): Promise<void> {
    await this.#start()
    await this.#signUp()
    for (let i = 0; i < rounds; i++) {
      this.#round = this.#first + i
      await this.#die()
      await this.#start()
      this.ready.push(this.#running.readyMs)
      await this.#check()
      this.#tally.rounds++
    }
  }

  async end(): Promise<void> {
    await this.#server?.kill()
    await this.#receiver.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #running(): Server {
    if (!this.#server) throw new Error('no server runs')
    return this.#server
  }

  #client(writer: Writer): Client {
    return this.#running.client(writer.client.headers)
  }

  #find(kind: string, what: string): void {
    this.#tally.find(kind, what, `round ${this.#round + 1}`)
  }

  async #start(): Promise<void> {
    const { environment, flags = [] } = this.#death
    const data = `${this.#folder}/data`
    this.#server = await start({ ...this.#scene, data, flags, environment, tally: this.#tally })
  }

  async #signUp(): Promise<void> {
    const guest = this.#running.client()
    for (let user = 0; user < USERS; user++) {
      const client = await guest.signUp(`user${user}@example.com`)
      await client.post(`${platform}/webhooks`, {
        name: 'torture',
        url: this.#receiver.url,
        events: ['alert.triggered', 'backtest.reportReady'],
      })
      for (let i = 0; i < WRITERS_A_USER; i++)
        this.#writers.push(new Writer(`w${user}${'ab'[i]}`, client, this.#random.fork()))
    }
  }

  /** Applies the load, and kills the server in the middle of it. */
  async #die(): Promise<void> {
    const signal = this.#random.pick(this.#death.signals)
    const deadline = performance.now() + this.#random.integer(20, MOST_LOAD_MS)
    let over = false
    const load = Promise.all(this.#writers.map((writer) => writer.write(this.#client(writer), () => over)))
    await Bun.sleep((deadline - performance.now()) / 2)
    this.#death.during?.(this.#random)
    await Bun.sleep(deadline - performance.now())
    const {
      code,
      signal: by,
      text,
    } = signal === 'SIGKILL' ? await this.#running.kill() : await this.#running.stop()
    over = true
    await load
    this.#tally.faults++
    if (signal === 'SIGTERM' && code !== 0)
      this.#find('did not stop as asked', `ended by ${by ?? code}: ${text.slice(-300)}`)
    this.#death.after?.(`${this.#folder}/data`, this.#random)
  }

  async #check(): Promise<void> {
    for (const writer of this.#writers) {
      for (const refusal of writer.refusals.splice(0)) this.#find('a right request was refused', refusal)
      await this.#checkWriter(writer)
    }
    await this.#checkFirings()
    await this.#checkEvents()
  }

  async #checkWriter(writer: Writer): Promise<void> {
    const client = this.#client(writer)
    for (const keyed of writer.keyed.splice(0)) {
      const before = keyed.id
      const status = await writer.sendKeyed(client, keyed)
      if (status !== 200) this.#find('a key is refused', `idempotency key answered ${status}`)
      else if (before !== null && before !== keyed.id)
        this.#find('a key made two', `${before} and ${keyed.id}`)
    }
    for (const kind of writer.promises)
      for (const broken of await kind.broken(client)) this.#find('an acknowledged write is lost', broken)
    for (const market of writer.markets) {
      const wrong = await market.settle(client)
      if (wrong !== null) this.#find('acknowledged bars are lost', wrong)
    }
    for (const secret of writer.secrets) {
      const bearer = client.as({ authorization: `Bearer ${secret}` })
      const { status } = await bearer.get(`${platform}/replay/bookmarks?symbol=SPX&interval=1d`)
      if (status !== 200) this.#find('an acknowledged token is refused', String(status))
    }
    await this.#checkPlaces(client, writer)
  }

  async #checkPlaces(client: Client, { bookmarks, cursors, name }: Writer): Promise<void> {
    const { json } = await client.get(`${platform}/replay/bookmarks?symbol=SPX&interval=1d`)
    const notes = new Map(
      ((json['bookmarks'] ?? []) as Json[]).map((row) => [String(row['bar']), String(row['note'])]),
    )
    const lost = (place: string) => this.#find('an acknowledged write is lost', `${place} of ${name}`)
    // Two writers of one user share these places, so finding the other's value is not a loss.
    for (const [bar, allowed] of bookmarks)
      if (!allowed.includes(null) && !notes.has(bar)) lost(`bookmark ${bar}`)
    for (const [symbol, allowed] of cursors) {
      const answer = await client.get(`${platform}/replay/resume?symbol=${symbol}&interval=1d`)
      if (!allowed.includes(null) && answer.json['cursor'] === null) lost(`cursor of ${symbol}`)
    }
  }

  /** Checks that every firing the stored bars require is there, and no other. */
  async #checkFirings(): Promise<void> {
    const started = performance.now()
    for (const [writer, client] of this.#users()) {
      const armed = this.#writers.filter((one) => one.client === writer.client).flatMap((one) => one.armed)
      const wanted = new Map(armed.filter((one) => !one.givenUp).map((one) => [one, wantedBars(one)]))
      for (let fired = await firingsOf(client); ; fired = await firingsOf(client)) {
        const missing = this.#compare(wanted, fired)
        if (missing.length === 0) break
        if (performance.now() - started > PATIENCE_MS) {
          for (const alert of missing) await this.#findMissing(client, alert, fired.get(alert.id) ?? [])
          break
        }
        await Bun.sleep(25)
      }
    }
  }

  /** Answers the alerts whose firing is still to come, and reports those that fired without a reason. */
  #compare(
    wanted: ReadonlyMap<ArmedAlert, readonly string[]>,
    fired: ReadonlyMap<string, readonly string[]>,
  ): ArmedAlert[] {
    const missing: ArmedAlert[] = []
    for (const [alert, times] of wanted) {
      if (alert.givenUp) continue
      const found = fired.get(alert.id) ?? []
      const extra = unwanted(times, found)
      if (extra !== undefined) {
        this.#find('an alert fired where it should not', `${describe(alert)} at ${extra}`)
        alert.givenUp = true
      } else if (
        times.some((time) => !found.includes(time) || this.#receiver.of(eventOf(alert, time)).ids === 0)
      )
        missing.push(alert)
    }
    return missing
  }

  async #findMissing(client: Client, alert: ArmedAlert, fired: readonly string[]): Promise<void> {
    alert.givenUp = true
    const wanted = wantedBars(alert)
    const silent = wanted.filter((time) => !fired.includes(time))
    const { json } = await client.get(`${platform}/alerts/${alert.id}`)
    const state = String((json['alert'] as Json | undefined)?.['state'])
    if (silent.length === 0) this.#find("a firing's event is lost", `${describe(alert)}, ${state}`)
    else
      this.#find(
        'an alert is silent',
        `${describe(alert)}, ${state}, ${silent.length} of ${wanted.length} firings missing, first at ${silent[0]}`,
      )
  }

  /** Each event must have one delivery id for each receiver; a finished backtest must have exactly one. */
  async #checkEvents(): Promise<void> {
    const started = performance.now()
    for (const [, client] of this.#users()) {
      const waiting = async () => {
        const runs = await client.all(`${platform}/backtests`, 'backtests')
        return runs.filter(
          ({ id, state }) =>
            state === 'queued' ||
            state === 'running' ||
            (state === 'done' && this.#receiver.of(`backtest.reportReady ${String(id)}`).ids === 0),
        )
      }
      let left = await waiting()
      while (left.length > 0 && performance.now() - started < PATIENCE_MS) {
        await Bun.sleep(25)
        left = await waiting()
      }
      for (const { id, state } of left) this.#findUndelivered(String(id), String(state))
    }
    for (const key of this.#receiver.doubled()) this.#find('an event has two ids', key)
  }

  #findUndelivered(id: string, state: string): void {
    if (this.#givenUp.has(id)) return
    this.#givenUp.add(id)
    this.#find(
      state === 'done' ? "a done backtest's event is lost" : 'a backtest never ends',
      `${id} ${state}`,
    )
  }

  readonly #givenUp = new Set<string>()

  /** One writer for each user, with a client of the running server. */
  #users(): (readonly [Writer, Client])[] {
    return this.#writers
      .filter((_, i) => i % WRITERS_A_USER === 0)
      .map((writer) => [writer, this.#client(writer)] as const)
  }
}

/** A bar that fired though it must not, or a second time. */
export const unwanted = (wanted: readonly string[], found: readonly string[]): string | undefined =>
  found.find((time, i) => !wanted.includes(time) || found.indexOf(time) !== i)

const iso = (time: unknown) => new Date(Number(time)).toISOString()
const eventOf = ({ id }: ArmedAlert, time: string) => `alert.triggered ${id} ${time}`
const wantedBars = ({ watch, market, armed }: ArmedAlert) =>
  expectedFirings(watch, market, armed).map((bar) => iso(market.timeOf(bar)))

function describe({ id, watch, market, armed }: ArmedAlert): string {
  return `${id} ${watch.op} ${watch.price} ${watch.frequency} on ${market.symbol}, set at bar ${armed} of ${market.stored}`
}

async function firingsOf(client: Client): Promise<Map<string, string[]>> {
  const fired = new Map<string, string[]>()
  for (const { alertId, barTime } of await client.all(`${platform}/alerts/firings`, 'firings'))
    fired.set(String(alertId), [...(fired.get(String(alertId)) ?? []), iso(barTime)])
  return fired
}
