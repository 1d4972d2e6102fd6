// Live series in `bun run fleet-test --servers N`: each is streamed to one server, which another takes over from, and at the
// end every server must show every second of it, and its alert must have fired on just the bars that are high.

import { type Exchange, FIRES_EVERY, HIGH, liveRow, SECOND_MS } from './fleet-services.ts'
import { barFindings, seconds, type Series, type Shown } from './fleet-verdict.ts'
import type { Asking } from './fleet-work.ts'

const SYMBOLS = 6
/** A bar that is missing is asked for after seconds, and one that was cut off a minute later at most. */
const PATIENCE_MS = 90_000

type Streamed = Pick<Exchange, 'from' | 'to' | 'subscriptions' | 'twice'>

export class Live {
  readonly #load: Pick<Asking, 'ask'>
  readonly #exchange: Streamed
  readonly #alerts: string[] = []
  /** Bars that open from here on are new to the alerts. */
  #from = 0

  constructor(load: Pick<Asking, 'ask'>, exchange: Streamed) {
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

  /** The series once no more bars come, and all that did are there. `read` shows one as each server has it. */
  async shown(
    read: (series: Readonly<Record<string, string>>) => Promise<Shown>,
  ): Promise<(readonly [Series, Shown])[]> {
    const all = this.#alerts.map((alertId, symbol) => this.#seriesOf(symbol, alertId))
    for (const until = performance.now() + PATIENCE_MS; ; await Bun.sleep(1000)) {
      const shown: (readonly [Series, Shown])[] = []
      for (const [symbol, one] of all.entries()) shown.push([one, await read(seriesOf(symbol))])
      const isRight = shown.every(([one, bars]) => barFindings(one, bars).length === 0)
      if (isRight || performance.now() > until) return shown
    }
  }

  #seriesOf(symbol: number, alertId: string): Series {
    const { from, to } = this.#exchange
    const times = Array.from({ length: (to - from) / SECOND_MS }, (_, i) => from + i * SECOND_MS)
    const isHigh = (time: number) => time % (FIRES_EVERY * SECOND_MS) === 0
    return {
      name: nameOf(symbol),
      alertId,
      rows: new Map(times.map((time) => [time, liveRow(symbol, time).join()])),
      fires: times.filter((time) => time >= this.#from && isHigh(time)),
      // The last one was not over.
      mayFire: (time) => time >= from && time <= to && isHigh(time),
      nameOf: (time) => new Date(time).toISOString(),
    }
  }

  get said(): string {
    const { twice, subscriptions, from, to } = this.#exchange
    return `${SYMBOLS} series streamed for ${(to - from) / SECOND_MS} s and taken up ${subscriptions} times, the longest time that two servers had one was ${seconds(twice.longestMs)}`
  }

  async #made(path: string, body: object) {
    const answered = await this.#load.ask('POST', `/api/platform${path}`, body)
    if (answered.status !== 200)
      throw new Error(`POST ${path}: ${answered.status} ${JSON.stringify(answered.json)}`)
    return answered
  }
}

const nameOf = (i: number) => `LIVE${i}USDT`
const seriesOf = (i: number) => ({ exchange: 'BINANCE', symbol: nameOf(i), interval: '1s' })
