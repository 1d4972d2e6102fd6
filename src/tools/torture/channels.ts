// Section "channels" fires thousands of alerts into channels of every kind, while the services refuse some with 429 and 502
// and the server is killed again and again. No notification may be lost, the log must have one success of each, and a
// service may get one a second time only if the server died before it could write down that it had been taken. Then it comes
// under the same id, where the service is told one.

import { mkdtempSync, rmSync } from 'node:fs'
import type { Client, Json } from './client.ts'
import { Phones } from './phones.ts'
import { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { start, type Server } from './server.ts'
import { spread, type Tally } from './tally.ts'

const platform = '/api/platform'
const SERIES = { exchange: 'TORTURE', symbol: 'PHONE', interval: '1h' }
const ALERTS = 100
/** Bars in one import, each of which fires every alert. */
const BARS_AT_ONCE = 10
const START = Date.UTC(2024, 0, 1)
const HOUR = 3_600_000
/** A death after about so many arrivals. */
const ARRIVALS_A_DEATH = 400
/** If nothing new arrives for so long, what is missing is lost: a refused one is tried again after four to six seconds. */
const PATIENCE_MS = 120_000

export async function channels(scene: Scene, tally: Tally): Promise<void> {
  const folder = mkdtempSync('/tmp/chartroom-torture-')
  const random = new Random(scene.seed)
  const phones = new Phones(random.fork())
  const wanted = scene.rounds(10_000)
  const alerts = Math.min(ALERTS, wanted)
  try {
    const run = new Run({ scene, tally, folder, phones, random })
    await run.begin(alerts)
    await run.fire(Math.ceil(wanted / alerts))
    await run.judge()
  } finally {
    await phones.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface RunDeps {
  readonly scene: Scene
  readonly tally: Tally
  readonly folder: string
  readonly phones: Phones
  readonly random: Random
}

class Run {
  readonly #deps: RunDeps
  readonly #deaths: number[] = []
  readonly #ready: number[] = []
  #server: Server | null = null
  #headers: Client['headers'] = {}
  #channelIds: string[] = []
  /** What must arrive: alert and bar. */
  #names: string[] = []
  #alerts = 0

  constructor(deps: RunDeps) {
    this.#deps = deps
  }

  get #client(): Client {
    if (!this.#server) throw new Error('no server runs')
    return this.#server.client(this.#headers)
  }

  async #start(): Promise<void> {
    const { scene, tally, folder } = this.#deps
    this.#server = await start({ ...scene, data: `${folder}/data`, tally })
    this.#ready.push(this.#server.readyMs)
  }

  async #die(): Promise<void> {
    await this.#server?.kill()
    this.#deaths.push(performance.now())
    this.#deps.tally.faults++
    await this.#start()
  }

  async begin(alerts: number): Promise<void> {
    await this.#start()
    this.#alerts = alerts
    const client = await this.#server!.client().signUp('owner@example.com')
    this.#headers = client.headers
    await this.#import(0, 2)
    for (const body of this.#deps.phones.channels()) {
      const { status, json, text } = await client.post(`${platform}/channels`, body)
      if (status !== 200) throw new Error(`no channel: ${text}`)
      this.#channelIds.push(String(json['id']))
    }
    for (let i = 0; i < alerts; i++) {
      const { status, text } = await client.post(`${platform}/alerts`, {
        ...SERIES,
        name: `a${i}`,
        message: `a${i} {{time}}`,
        kind: 'price',
        op: 'above',
        price: 1,
        frequency: 'every_time',
        channels: [],
        channelIds: [this.#channelIds[i % this.#channelIds.length]],
      })
      if (status !== 200) throw new Error(`no alert: ${text}`)
    }
    this.#expect(1, 2)
  }

  /** Imports bars that fire every alert, and kills the server in every second import. */
  async fire(bars: number): Promise<void> {
    const { random, scene, phones } = this.#deps
    for (let bar = 2; bar <= bars; bar += BARS_AT_ONCE) {
      const to = Math.min(bars + 1, bar + BARS_AT_ONCE)
      const sent = this.#import(bar, to)
      if (random.chance(0.5)) {
        await Bun.sleep(random.integer(5, 300))
        await this.#die()
      }
      // The server died before it answered: the same bars again fire nothing twice.
      if (!(await sent)) await this.#import(bar, to)
      this.#expect(bar, to)
      scene.print(`  channels: ${phones.count(this.#names)} of ${this.#names.length} arrived`)
    }
    await this.#arrived()
  }

  #expect(from: number, to: number): void {
    for (let bar = from; bar < to; bar++)
      for (let i = 0; i < this.#alerts; i++)
        this.#names.push(`a${i} ${new Date(START + bar * HOUR).toISOString()}`)
  }

  async #import(from: number, to: number): Promise<boolean> {
    const rows = Array.from({ length: to - from }, (_, i) => `${START + (from + i) * HOUR},5,6,4,5,1`)
    const csv = `time,open,high,low,close,volume\n${rows.join('\n')}\n`
    return (await this.#client.importCsv(SERIES, csv)).status === 200
  }

  /** Waits until everything has arrived, and kills the server on the way; once at least. */
  async #arrived(): Promise<void> {
    const { phones, random, scene } = this.#deps
    let most = -1
    let since = performance.now()
    let next = phones.successes
    for (;;) {
      const now = phones.count(this.#names)
      if (phones.successes >= next) {
        await this.#die()
        next = phones.successes + random.integer(1, 2 * ARRIVALS_A_DEATH)
        scene.print(`  channels: ${now} of ${this.#names.length} arrived, ${this.#deaths.length} deaths`)
      }
      if (now === this.#names.length) return
      if (now > most) [most, since] = [now, performance.now()]
      if (performance.now() - since > PATIENCE_MS) return
      await Bun.sleep(10)
    }
  }

  async judge(): Promise<void> {
    const { phones, tally } = this.#deps
    const find = (kind: string, what: string) => tally.find(kind, what, `of ${this.#names.length} firings`)
    let repeated = 0
    let recognised = 0
    for (const name of this.#names) {
      const arrived = phones.of(name)
      for (const kind of arrivalFindings(arrived, this.#deaths)) find(kind, name)
      const { at, ids } = arrived
      if (at.length < 2) continue
      repeated += at.length - 1
      if (!ids.has('none')) recognised += at.length - 1
    }
    await this.#judgeLog(find)
    tally.rounds = this.#names.length
    await this.#server?.kill()
    tally.figure('firings', this.#names.length.toLocaleString('en'))
    tally.figure('refused', phones.refusals.toLocaleString('en'))
    tally.figure('charts', phones.pictures.toLocaleString('en'))
    tally.figure(
      'repeated after a death',
      `${repeated} (${recognised} of them under an id that the service knows)`,
    )
    tally.figure('ready after a death', spread(this.#ready))
  }

  /** Waits until nothing is pending, then counts: one notification for each firing, with one success in each. */
  async #judgeLog(find: (kind: string, what: string) => void): Promise<void> {
    let told: Json[] = []
    for (let looks = 0; looks < 200; looks++) {
      told = (
        await Promise.all(
          this.#channelIds.map((id) =>
            this.#client.all(`${platform}/channels/${id}/notifications`, 'notifications'),
          ),
        )
      ).flat()
      if (told.every(({ state }) => state !== 'pending')) break
      await Bun.sleep(100)
    }
    const firings = await this.#client.all(`${platform}/alerts/firings`, 'firings')
    for (const [kind, what] of logFindings(this.#names.length, told, firings)) find(kind, what)
  }
}

/** What is wrong with how a notification came to its service: when, and under which ids. */
export function arrivalFindings(
  { at, ids }: { readonly at: readonly number[]; readonly ids: ReadonlySet<string> },
  deaths: readonly number[],
): string[] {
  if (at.length === 0) return ['a firing was told nobody']
  return [
    ...(ids.size > 1 ? ['a notification came under two ids'] : []),
    ...at
      .slice(0, -1)
      .filter((first, i) => !deaths.some((death) => first < death && death < at[i + 1]!))
      .map(() => 'a service got a notification twice though the server lived'),
  ]
}

/** What is wrong with the records of so many firings: kind and details. */
export function logFindings(
  wanted: number,
  told: readonly Json[],
  firings: readonly Json[],
): (readonly [string, string])[] {
  // A bar that fired twice would make up for one that did not.
  const bars = new Set(firings.map(({ alertId, barTime }) => `${String(alertId)} ${String(barTime)}`)).size
  const taken = (attempts: unknown) =>
    (attempts as readonly { status: number }[]).filter(({ status }) => status === 200).length
  return [
    ...(told.length === wanted
      ? []
      : [['the log has other than one notification a firing', `${told.length} of ${wanted}`] as const]),
    ...told
      .filter(({ state, attempts }) => state !== 'delivered' || taken(attempts) !== 1)
      .map(
        ({ id, state, attempts }) =>
          [
            'the log has other than one success',
            `${String(id)} is ${String(state)} with ${taken(attempts)}`,
          ] as const,
      ),
    ...(firings.length === wanted && bars === wanted
      ? []
      : [
          [
            'bars fired other than once an alert',
            `${firings.length}, of ${bars} bars, of ${wanted}`,
          ] as const,
        ]),
  ]
}
