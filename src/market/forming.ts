// The bar that is not over yet, behind the stored ones: on the server that is asked for bars, and on a page that hears of it
// tick by tick.

import { type BAR_FIELDS, barsOf, type Bars, concatBars, sliceBars } from './bars.ts'

type FormingBar = Readonly<Record<(typeof BAR_FIELDS)[number], number>> & {
  readonly bought?: number | undefined
}

/**
 * The stored bars with the forming one behind them, or in place of the part of it that is stored; one that is older than
 * the newest of them adds nothing.
 */
export function withForming(
  bars: Bars,
  forming: FormingBar | null,
  options: { readonly shared?: boolean } = {},
): Bars {
  const newest = bars.time[bars.length - 1] ?? Number.NEGATIVE_INFINITY
  if (!forming || forming.time < newest) return bars
  const { time, open, high, low, close, volume, bought = Number.NaN } = forming
  const row = [time, open, high, low, close, volume]
  const one = barsOf([bought >= 0 ? [...row, bought] : row])
  return concatBars([forming.time === newest ? sliceBars(bars, 0, bars.length - 1) : bars, one], options)
}
