// Bars are columns: one Float64Array a field, all of one length, sorted by time, no two bars at one time.
//
// Columns rather than objects because everything that reads bars reads one field of many of them: a million
// bars are six arrays of 8 MB that a worker can share without a copy, and a loop over one runs at memory speed.

/** `time` is the bar's opening time in UTC ms. Prices are in the symbol's currency, `volume` in units (0 where unknown). */
export interface Bars {
  readonly length: number
  readonly time: Float64Array
  readonly open: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
  readonly close: Float64Array
  readonly volume: Float64Array
}

export const BAR_FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const
export type BarField = (typeof BAR_FIELDS)[number]

/** `length` bars of zeros; `shared` puts the columns in shared memory, so that worker threads can read them. */
export function emptyBars(length: number, { shared = false } = {}): Bars {
  const column = () =>
    new Float64Array(shared ? new SharedArrayBuffer(length * 8) : new ArrayBuffer(length * 8))
  return {
    length,
    time: column(),
    open: column(),
    high: column(),
    low: column(),
    close: column(),
    volume: column(),
  }
}

/** A view of bars `from` (inclusive) to `to` (exclusive); no copy. */
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
  }
}
