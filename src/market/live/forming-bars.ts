// The forming bars of series that are followed. They are in memory alone: what is stored is closed, whatever happens to this
// process.

import { Listeners } from '../../lib/listeners.ts'
import { type SeriesKey, seriesName } from '../bar-store.ts'
import type { Calendar } from '../calendar.ts'
import type { Bars } from '../bars.ts'
import { withForming } from '../forming.ts'
import type { Interval } from '../interval.ts'
import type { BarRow } from '../providers/provider.ts'

export interface FormingBar {
  readonly row: BarRow
  /** A number that no other forming bar of this process had, from 0 to 1. */
  readonly version: number
  /** How much later than they happen bars of the series are told of: so long after its end it still forms. */
  readonly delayMs: number
}

/** So many versions fit between two changes of a series. */
const VERSIONS = 2 ** 20

export class FormingBars {
  readonly #bars = new Map<string, FormingBar>()
  readonly #listeners = new Listeners<[key: SeriesKey]>()
  #version: number

  /** `seed`: versions begin elsewhere at each start, since marks of alerts outlive the process. */
  constructor(seed: number) {
    this.#version = Math.floor(seed * VERSIONS)
  }

  get(key: SeriesKey): FormingBar | null {
    return this.#bars.get(seriesName(key)) ?? null
  }

  set(key: SeriesKey, row: BarRow | null, delayMs = 0): void {
    const name = seriesName(key)
    const before = this.#bars.get(name)
    if (row === null) {
      this.#bars.delete(name)
      return
    }
    if (before && row.every((value, i) => value === before.row[i])) return
    this.#version = (this.#version + 1) % VERSIONS
    this.#bars.set(name, { row, version: (this.#version + 0.5) / VERSIONS, delayMs })
    this.#listeners.tell(key)
  }

  /** `listener` is told of each change, but not of an end: then a closed bar comes. */
  onChange(listener: (key: SeriesKey) => void): () => void {
    return this.#listeners.add(listener)
  }
}

/** The bars of a series with its forming bar, or with that of the finer series `source` that they are made of. */
export function withLive(
  bars: Bars,
  row: BarRow,
  interval: Interval,
  { isOwn, calendar }: { readonly isOwn: boolean; readonly calendar: Calendar },
): Bars {
  const [time, open, high, low, close, volume, bought] = row
  const opens = isOwn ? time : calendar.period(time, interval).start
  const last = bars.length - 1
  const ofIt = { time: opens, open, high, low, close, volume, bought }
  // The finer bars before it that are over are stored, as the part of it that they make up.
  const isInPart = !isOwn && bars.time[last] === opens
  const whole = isInPart
    ? {
        ...ofIt,
        open: bars.open[last]!,
        high: Math.max(bars.high[last]!, high),
        low: Math.min(bars.low[last]!, low),
        volume: bars.volume[last]! + volume,
        bought: (bars.bought?.[last] ?? Number.NaN) + (bought ?? Number.NaN),
      }
    : ofIt
  return withForming(bars, whole, { shared: true })
}
