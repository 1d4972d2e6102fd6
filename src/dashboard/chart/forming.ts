// The bar that is not over yet, behind the stored ones.

import { BAR_FIELDS, type Bars, concatBars, emptyBars, sliceBars } from '../../market/bars.ts'
import type { FormingBar } from '../../wire/bars.ts'

/** The stored bars with the forming one behind them, or in place of the part of it that is stored. */
export function withNewest(bars: Bars, forming: FormingBar | null): Bars {
  const newest = bars.time.at(-1) ?? Number.NEGATIVE_INFINITY
  if (!forming || forming.time < newest) return bars
  const one = emptyBars(1)
  for (const field of BAR_FIELDS) one[field][0] = forming[field]
  return concatBars([forming.time === newest ? sliceBars(bars, 0, bars.length - 1) : bars, one])
}
