// Bars that are held out: the newest of a market, by which nothing may be chosen, since results are judged on them.
//
// As long as nobody has looked at them they are a quarter of the newest bars. The first look fixes where they begin, for the
// user and the market in all intervals, and every backtest that is judged there is noted: the more of them, the surer the
// next one has to be.

import type { BarCache } from '../../market/bar-cache.ts'
import type { SeriesKey } from '../../market/bar-store.ts'
import { lowerBound, type Bars } from '../../market/bars.ts'
import { barsSeenBy } from '../../market/seen-bars.ts'
import type { Key, Kv } from '../../store/kv.ts'
import type { Wire } from '../../wire/schema.ts'
import type { HeldOutOf } from '../../wire/transfer.ts'
import { decide } from '../../store/transaction.ts'

/** A longer past tells a strategy little of today. */
const BARS = 20_000
const SHARE = 0.25
/** More looks than this are as good as none: the next one is held to the same. */
const LOOKS_MAX = 1000
/** Markets that are read together. */
const PAGE = 500

interface Kept {
  readonly from: number
  /** Backtests that were judged, in the order of their first look. */
  readonly looks: readonly string[]
}

export interface HeldOut {
  /** Time of the first bar that is held out. */
  readonly from: number
  readonly bars: number
  readonly looks: number
}

const keptKey = (userId: string, { exchange, symbol }: Pick<SeriesKey, 'exchange' | 'symbol'>): Key => [
  'hold-out',
  userId,
  exchange,
  symbol,
]

export class HoldOuts {
  readonly #deps: { readonly kv: Kv; readonly bars: BarCache }

  constructor(deps: { readonly kv: Kv; readonly bars: BarCache }) {
    this.#deps = deps
  }

  /** null where the series has no bars. */
  async of(userId: string, key: SeriesKey): Promise<HeldOut | null> {
    const entry = await this.#deps.kv.get(keptKey(userId, key))
    const kept = entry && (JSON.parse(entry.value) as Kept)
    const bars = await this.#newest(userId, key)
    const [first] = bars.time
    if (first === undefined) return null
    const from = heldOutFrom(bars, kept)
    return { from, bars: bars.length - lowerBound(bars.time, from), looks: kept?.looks.length ?? 0 }
  }

  /** Notes that a backtest is judged on bars from `from` on. Answers the how-manieth look it is, from 1. */
  look(userId: string, key: SeriesKey, from: number, id: string): Promise<number> {
    const at = keptKey(userId, key)
    return decide(this.#deps.kv, async (tx) => {
      const entry = await tx.get(at)
      const { looks } = entry ? (JSON.parse(entry.value) as Kept) : { looks: [] as string[] }
      const known = looks.indexOf(id)
      if (known >= 0) return [known + 1, {}]
      if (looks.length >= LOOKS_MAX) return [LOOKS_MAX, {}]
      const kept: Kept = { from, looks: [...looks, id] }
      return [kept.looks.length, { sets: [{ key: at, value: JSON.stringify(kept) }] }]
    })
  }

  /** All that a user has looked at. */
  async *all(userId: string): AsyncGenerator<Wire<typeof HeldOutOf>> {
    const prefix: Key = ['hold-out', userId]
    for (let after: Key | undefined; ;) {
      const page = await this.#deps.kv.list({ prefix }, { limit: PAGE, ...(after && { after }) })
      for (const { key, value } of page)
        yield { exchange: String(key[2]), symbol: String(key[3]), ...(JSON.parse(value) as Kept) }
      after = page.at(-1)?.key
      if (page.length < PAGE) return
    }
  }

  /** Counts looks that were taken elsewhere, once. Answers whether any of them is new. */
  takeIn(userId: string, { from, looks, ...market }: Wire<typeof HeldOutOf>): Promise<boolean> {
    const key = keptKey(userId, market)
    return decide(this.#deps.kv, async (tx) => {
      const entry = await tx.get(key)
      const kept = entry ? (JSON.parse(entry.value) as Kept) : { from, looks: [] as string[] }
      const all = [...new Set([...kept.looks, ...looks])].slice(0, LOOKS_MAX)
      if (entry && all.length === kept.looks.length) return [false, {}]
      return [true, { sets: [{ key, value: JSON.stringify({ from: kept.from, looks: all }) }] }]
    })
  }

  async #newest(userId: string, key: SeriesKey): Promise<Bars> {
    const seen = barsSeenBy(this.#deps.bars, userId)
    return seen.read(await seen.resolve(key), { last: BARS })
  }
}

/** Bars that were kept out once may have been replaced by others, or be all there are. */
function heldOutFrom({ time, length }: Bars, kept: Kept | null): number {
  if (kept && kept.from > time[0]! && kept.from <= time[length - 1]!) return kept.from
  return time[length - Math.max(1, Math.floor(length * SHARE))]!
}
