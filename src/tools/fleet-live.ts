// Live series in `bun run fleet-test --servers N`: each is streamed to one server, which another takes over from, and at the
// end every server must show every second of it, and its alert must have fired on just the bars that are high.

import type { Firing } from '../alerts/alert.ts'
import type { Asking } from './fleet-work.ts'
import { type Exchange, FIRES_EVERY, HIGH, liveRow, SECOND_MS } from './fleet-services.ts'

const SYMBOLS = 6
/** A server that was cut off from the database learns that it has none of the work when it is back. */
const TWICE_MAX_MS = 10_000
/** A bar that is missing is asked for after seconds, and one that was cut off a minute later at most. */
const PATIENCE_MS = 90_000

export interface ShownBars {
  readonly time: readonly number[]
  readonly open: readonly number[]
  readonly high: readonly number[]
  readonly low: readonly number[]
  readonly close: readonly number[]
  readonly volume: readonly number[]
}

export class Live {
  readonly #load: Asking
  readonly #exchange: Exchange
  readonly #alerts: string[] = []
  /** Bars that open from here on are new to the alerts. */
  #from = 0

  constructor(load: Asking, exchange: Exchange) {
    this.#load = load
    this.#exchange = exchange
  }

  async prepare(): Promise<void> {
    for (let i = 0; i < SYMBOLS; i++) {
      const { json } = await this.#made('/alerts', {
        ...seriesOf(i),
        name: `live ${i}`,
        kind: 'price',
        op: 'above',
        price: HIGH - 1,
        frequency: 'every_time',
        channels: ['webhook'],
      })
      this.#alerts.push(json.alert.id)
      await this.#made('/feeds', seriesOf(i))
    }
    this.#from = Date.now()
  }

  /** What is wrong with the series once no more bars come. `read` shows one as each server has it. */
  async findings(
    read: (series: Readonly<Record<string, string>>) => Promise<ReadonlyMap<string, ShownBars | null>>,
  ): Promise<string[]> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const found: string[] = []
      for (let i = 0; i < SYMBOLS; i++)
        for (const [server, bars] of await read(seriesOf(i))) found.push(...this.#findingsOf(i, server, bars))
      if (found.length === 0 || performance.now() > until) return [...found, ...this.#twice()]
      await Bun.sleep(1000)
    }
  }

  /** Whether the alerts have fired on all the bars that they had to. */
  isFired(firings: readonly Firing[]): boolean {
    return this.firingFindings(firings).length === 0
  }

  firingFindings(firings: readonly Firing[]): string[] {
    return this.#alerts.flatMap((alertId, i) => {
      const mine = firings.filter((firing) => firing.alertId === alertId)
      const times = new Set(mine.map(({ barTime }) => barTime))
      const { to } = this.#exchange
      const high = FIRES_EVERY * SECOND_MS
      const first = Math.ceil(this.#from / high) * high
      const wanted = Array.from({ length: Math.ceil((to - first) / high) }, (_, at) => first + at * high)
      return [
        ...wanted
          .filter((time) => !times.has(time))
          .map((time) => `${nameOf(i)} did not fire at ${new Date(time).toISOString()}`),
        ...mine
          .filter(({ barTime }) => barTime % high !== 0)
          .map(
            ({ barTime }) => `${nameOf(i)} fired at ${new Date(barTime).toISOString()}, which is not high`,
          ),
      ]
    })
  }

  get said(): string {
    const { longestTwiceMs, subscriptions, from, to } = this.#exchange
    return `${SYMBOLS} series streamed for ${(to - from) / SECOND_MS} s and taken up ${subscriptions} times, the longest time that two servers had one was ${(longestTwiceMs / 1000).toFixed(1)} s`
  }

  #twice(): string[] {
    const { longestTwiceMs } = this.#exchange
    return longestTwiceMs > TWICE_MAX_MS
      ? [`a series was streamed to two servers for ${(longestTwiceMs / 1000).toFixed(1)} s`]
      : []
  }

  #findingsOf(symbol: number, server: string, bars: ShownBars | null): string[] {
    const name = `${nameOf(symbol)} on ${server}`
    if (bars === null) return [`${name} could not be read`]
    const { from, to } = this.#exchange
    const wanted = Array.from({ length: (to - from) / SECOND_MS }, (_, i) => from + i * SECOND_MS)
    const shown = rowsOf(bars)
    const wrong = wanted.filter((time) => shown.get(time) !== liveRow(symbol, time).join())
    const of = wrong.slice(0, 3).map((time) => `${new Date(time).toISOString()} (${shown.get(time)})`)
    return [
      ...(wrong.length > 0 ? [`${name}: ${wrong.length} bars are missing or wrong: ${of.join(', ')}`] : []),
      ...(shown.size > wanted.length ? [`${name} has ${shown.size} bars, not ${wanted.length}`] : []),
    ]
  }

  async #made(path: string, body: object) {
    const answered = await this.#load.ask('POST', `/api/platform${path}`, body)
    if (answered.status !== 200)
      throw new Error(`POST ${path}: ${answered.status} ${JSON.stringify(answered.json)}`)
    return answered
  }
}

/** Open, high, low, close and volume as a text, by time. */
export function rowsOf({ time, open, high, low, close, volume }: ShownBars): Map<number, string> {
  return new Map(time.map((at, i) => [at, [open[i], high[i], low[i], close[i], volume[i]].join()]))
}

const nameOf = (i: number) => `LIVE${i}USDT`
const seriesOf = (i: number) => ({ exchange: 'BINANCE', symbol: nameOf(i), interval: '1s' })
