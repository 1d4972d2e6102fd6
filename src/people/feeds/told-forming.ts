// Forming bars, as the server that has the stream tells the others: a chart may be open on any of them.
//
// Told of each trade, ten thousand symbols would be 33 MB of a database's log a second (`store/SCALE.md`), so each is told of
// every ten seconds at most.

import { type SeriesKey, seriesName } from '../../market/bar-store.ts'
import type { FormingBar, FormingBars } from '../../market/live/forming-bars.ts'
import { sided } from '../../market/providers/provider.ts'
import type { Key } from '../../store/kv.ts'
import type { StoreDeps } from '../../store/owned.ts'

export interface ToldFormingDeps extends StoreDeps {
  readonly forming: FormingBars
  /** Whether this server is the one with the stream. */
  readonly isOurs: (key: SeriesKey) => boolean
}

const TOLD_MS = 10_000
/** A bar that nothing was told of for so long is not worth showing. */
const OLD_MS = 600_000
/** So many are remembered before the old ones are looked for. */
const FORGET_AT = 256

/** Servers of older programs tell of no delay, or not of what was bought. */
type Told = readonly [number, number, number, number, number, number, delayMs?: number, bought?: number]

function toldOf({ row, delayMs }: FormingBar): Told {
  const [time, open, high, low, close, volume, ...bought] = row
  return [time, open, high, low, close, volume, delayMs, ...bought]
}

const keyOf = ({ exchange, symbol, interval }: SeriesKey): Key => [
  'feeds',
  'forming',
  exchange,
  symbol,
  interval,
]

export class ToldForming {
  readonly #deps: ToldFormingDeps
  readonly #told = new Map<string, { readonly key: SeriesKey; readonly at: number }>()
  #forgetAt = FORGET_AT

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
    const before = this.#told.get(seriesName(key))
    if (!found || !isOurs(key) || Math.abs(now - (before?.at ?? 0)) < TOLD_MS) return
    const old = this.#forgetOld(now)
    this.#told.set(seriesName(key), { key, at: now })
    await kv.commit({
      sets: [{ key: keyOf(key), value: JSON.stringify(toldOf(found)) }],
      deletes: old.map(keyOf),
    })
  }

  /** A server that runs for years has streams of ever other series: those that nothing is told of are forgotten. */
  #forgetOld(now: number): readonly SeriesKey[] {
    if (this.#told.size < this.#forgetAt) return []
    const old = [...this.#told].filter(([, { at }]) => Math.abs(now - at) >= OLD_MS)
    for (const [name] of old) this.#told.delete(name)
    this.#forgetAt = Math.max(FORGET_AT, this.#told.size * 2)
    return old.map(([, { key }]) => key)
  }

  /** Series that it remembers of. */
  get size(): number {
    return this.#told.size
  }

  /** Another server has told of one. */
  async heard(key: SeriesKey): Promise<void> {
    const { kv, forming, isOurs } = this.#deps
    if (isOurs(key)) return
    const entry = await kv.get(keyOf(key))
    if (!entry) return
    const [time, open, high, low, close, volume, delayMs = 0, bought] = JSON.parse(entry.value) as Told
    forming.set(key, sided([time, open, high, low, close, volume], bought), delayMs)
  }
}
