// Bars are columns: one Float64Array a field, all of one length, sorted by time, no two bars at one time.
//
// Columns rather than objects because everything that reads bars reads one field of many of them: a million
// bars are six arrays of 8 MB that a worker can share without a copy, and a loop over one runs at memory speed.
//
// Bars made of trades that tell who was in a hurry have a seventh column, what was bought. Bars without it, and bars of which it is
// NaN, mean the same: nobody knows. It lives and goes with its bar: one that is written again without it has it no more.

import { memoOf } from '../lib/memo.ts'

/** `time` is the bar's opening time in UTC ms. Prices are in the symbol's currency, `volume` in units (0 where unknown). */
export interface Bars {
  readonly length: number
  readonly time: Float64Array
  readonly open: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
  readonly close: Float64Array
  readonly volume: Float64Array
  /** What of the volume was bought: traded at the price of a waiting seller. The rest was sold. NaN where unknown. */
  readonly bought?: Float64Array | undefined
}

/** The bars as scripts read them whose market tells no volume: na, where the bars of markets have 0 for nothing traded. */
export const withoutVolume = memoOf((bars: Bars): Bars =>
  bars.volume.some(Boolean) ? bars : { ...bars, volume: new Float64Array(bars.length).fill(NaN) },
)

export const BAR_FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const
type BarField = (typeof BAR_FIELDS)[number]

/**
 * `length` bars of zeros. `shared` puts the columns into shared memory, so that worker threads can read them; `sides` adds the
 * column of what was bought, of which nothing is known.
 */
export function emptyBars(length: number, { shared = false, sides = false } = {}): Bars {
  const column = () => newColumn(length, shared)
  return {
    length,
    time: column(),
    open: column(),
    high: column(),
    low: column(),
    close: column(),
    volume: column(),
    ...(sides && { bought: column().fill(Number.NaN) }),
  }
}

function newColumn(length: number, shared: boolean): Float64Array {
  return new Float64Array(shared ? new SharedArrayBuffer(length * 8) : new ArrayBuffer(length * 8))
}

/** The same columns, with one of what was bought, of which nothing is known. */
export function withSides(bars: Bars): Bars {
  if (bars.bought) return bars
  const { length, buffer } = bars.time
  const bought = newColumn(length, buffer instanceof SharedArrayBuffer).fill(Number.NaN)
  return { ...bars, bought }
}

/** The time in UTC ms, then open, high, low, close, volume, and what was bought where that is known. */
export type BarRow =
  | readonly [time: number, open: number, high: number, low: number, close: number, volume: number]
  | readonly [
      time: number,
      open: number,
      high: number,
      low: number,
      close: number,
      volume: number,
      bought: number,
    ]

export function rowAt({ time, open, high, low, close, volume, bought }: Bars, i: number): BarRow {
  const row = [time[i]!, open[i]!, high[i]!, low[i]!, close[i]!, volume[i]!] as const
  return bought && bought[i]! >= 0 ? [...row, bought[i]!] : row
}

export const rowsOf = (bars: Bars): BarRow[] => Array.from({ length: bars.length }, (_, i) => rowAt(bars, i))

export function barsOf(rows: readonly (readonly number[])[], options: { shared?: boolean } = {}): Bars {
  const sides = rows.some(({ length }) => length > BAR_FIELDS.length)
  const bars = emptyBars(rows.length, { ...options, sides })
  for (const [i, row] of rows.entries()) {
    for (const [column, field] of BAR_FIELDS.entries()) bars[field][i] = row[column]!
    if (bars.bought) bars.bought[i] = row[BAR_FIELDS.length] ?? Number.NaN
  }
  return bars
}

/** A copy of some of the bars. */
export function pickBars(bars: Bars, kept: readonly number[]): Bars {
  const picked = emptyBars(kept.length, { sides: bars.bought !== undefined })
  const columns = columnsOf(bars)
  for (const [at, column] of columnsOf(picked).entries()) column.set(kept.map((i) => columns[at]![i]!))
  return picked
}

/** All columns that the bars have. */
export function columnsOf(bars: Bars): Float64Array[] {
  return [...BAR_FIELDS.map((field) => bars[field]), ...(bars.bought ? [bars.bought] : [])]
}

/** Whether of any of the bars is known what was bought. */
export function knowsSides({ bought, length }: Bars): boolean {
  if (bought) for (let i = 0; i < length; i++) if (bought[i]! >= 0) return true
  return false
}

/** A view of the bars from `from` (inclusive) to `to` (exclusive), without a copy. */
export function sliceBars(bars: Bars, from: number, to: number): Bars {
  const column = (field: BarField) => bars[field].subarray(from, to)
  const time = column('time')
  return {
    length: time.length,
    time,
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
    ...(bars.bought && { bought: bars.bought.subarray(from, to) }),
  }
}

/**
 * A part of a series: `from` (inclusive) to `to` (exclusive) in UTC ms, and within it only the `first` or the `last` n
 * bars.
 */
export interface BarRange {
  readonly from?: number
  readonly to?: number
  readonly first?: number
  readonly last?: number
}

/** Index of the first bar at or after `time`; the length if there is none. */
export function lowerBound(times: ArrayLike<number>, time: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? 0) < time) low = middle + 1
    else high = middle
  }
  return low
}

/** A view of the bars in `range`, without a copy. */
export function selectBars(bars: Bars, { from, to, first = Infinity, last = Infinity }: BarRange): Bars {
  const until = to === undefined ? bars.length : lowerBound(bars.time, to)
  const start = from === undefined ? 0 : Math.min(lowerBound(bars.time, from), until)
  const end = Math.min(until, start + first)
  return sliceBars(bars, Math.max(start, end - last), end)
}

/** Writes `source` into `target`'s columns from bar `offset` on. What was bought is kept only if the target has a column for it. */
export function copyBars(target: Bars, offset: number, source: Bars): void {
  for (const field of BAR_FIELDS) target[field].set(source[field], offset)
  if (source.bought) target.bought?.set(source.bought, offset)
  else target.bought?.fill(Number.NaN, offset, offset + source.length)
}

/** Whether a bar may have all trades of a newer one, and more. */
function outdoes(older: Bars, i: number, newer: Bars, j: number): boolean {
  return (
    older.volume[i]! > newer.volume[j]! && older.high[i]! >= newer.high[j]! && older.low[i]! <= newer.low[j]!
  )
}

export function concatBars(parts: readonly Bars[], options: { shared?: boolean } = {}): Bars {
  const [only] = parts
  if (parts.length === 1 && only && !options.shared) return only
  const all = emptyBars(
    parts.reduce((sum, part) => sum + part.length, 0),
    { ...options, sides: parts.some(({ bought }) => bought) },
  )
  let offset = 0
  for (const part of parts) {
    copyBars(all, offset, part)
    offset += part.length
  }
  return all
}

/** Both series in one, sorted. If both have a bar at a time, `newer` wins, but for one of `pieces` that the older `outdoes`. */
export function mergeBars(older: Bars, newer: Bars, pieces?: ReadonlySet<number>): Bars {
  if (older.length === 0) return newer
  if (newer.length === 0) return older
  const sides = (older.bought ?? newer.bought) !== undefined
  const merged = emptyBars(older.length + newer.length, { sides })
  let length = 0
  let i = 0
  let j = 0
  // Copies runs instead of single bars: mostly one series begins where the other one ends.
  while (i < older.length || j < newer.length) {
    const untilOlder = j < newer.length ? lowerBound(older.time, newer.time[j] ?? 0) : older.length
    if (untilOlder > i) {
      copyBars(merged, length, sliceBars(older, i, untilOlder))
      length += untilOlder - i
      i = untilOlder
    }
    const untilNewer = i < older.length ? lowerBound(newer.time, older.time[i] ?? 0) : newer.length
    if (untilNewer > j) {
      copyBars(merged, length, sliceBars(newer, j, untilNewer))
      length += untilNewer - j
      j = untilNewer
    }
    if (i < older.length && j < newer.length && older.time[i] === newer.time[j]) {
      const keepsOlder = pieces?.has(older.time[i]!) && outdoes(older, i, newer, j)
      copyBars(merged, length++, keepsOlder ? sliceBars(older, i, i + 1) : sliceBars(newer, j, j + 1))
      i++
      j++
    }
  }
  return length === merged.length ? merged : sliceBars(merged, 0, length)
}
