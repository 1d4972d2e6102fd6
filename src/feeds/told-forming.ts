// Forming bars, as the server that has the stream tells the others: a chart may be open on any of them.
//
// Told of each trade, ten thousand symbols would be 33 MB of a database's log a second (`store/SCALE.md`), so each is told of
// every ten seconds at most.

import type { Clock } from '../lib/clock.ts'
import { type SeriesKey, seriesName } from '../market/bar-store.ts'
import type { FormingBars } from '../market/live/forming-bars.ts'
import type { BarRow } from '../market/providers/provider.ts'
import type { Key, Kv } from '../store/kv.ts'

export interface ToldFormingDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly forming: FormingBars
  /** Whether this server is the one with the stream. */
  readonly isOurs: (key: SeriesKey) => boolean
}

const TOLD_MS = 10_000

const keyOf = ({ exchange, symbol, interval }: SeriesKey): Key => [
  'feeds',
  'forming',
  exchange,
  symbol,
  interval,
]

export class ToldForming {
  readonly #deps: ToldFormingDeps
  readonly #toldAt = new Map<string, number>()

  constructor(deps: ToldFormingDeps) {
    this.#deps = deps
    deps.forming.onChange((key) => {
      // It is told of again ten seconds later.
      this.#tell(key).catch(() => {})
    })
  }

  async #tell(key: SeriesKey): Promise<void> {
    const { kv, clock, forming, isOurs } = this.#deps
    const now = clock.now()
    const found = forming.get(key)
    if (!found || !isOurs(key) || Math.abs(now - (this.#toldAt.get(seriesName(key)) ?? 0)) < TOLD_MS) return
    this.#toldAt.set(seriesName(key), now)
    await kv.commit({ sets: [{ key: keyOf(key), value: JSON.stringify(found.row) }] })
  }

  /** Another server has told of one. */
  async heard(key: SeriesKey): Promise<void> {
    const { kv, forming, isOurs } = this.#deps
    if (isOurs(key)) return
    const entry = await kv.get(keyOf(key))
    if (entry) forming.set(key, JSON.parse(entry.value) as BarRow)
  }
}
