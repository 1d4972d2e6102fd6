// Which finer bars the bar magnifier walks (A5). TradingView chooses them by the chart's interval, which need not be a
// multiple of theirs. A bar of 15 minutes is walked in steps of two minutes, so every other bar's last step reaches a
// minute into the next bar, and an order may fill outside the range of the bar it is stamped with.

import type { Bars } from '../../market/bars.ts'
import { calendarOf } from '../../market/calendar.ts'
import { canBuild, compareIntervals, intervalMs, parseInterval } from '../../market/interval.ts'
import { resample } from '../../market/resample.ts'
import type { SymbolInfo } from '../../market/symbol.ts'

/** From this chart interval on (in milliseconds), these finer bars are used. */
const STEPS: readonly (readonly [number, string])[] = [
  [604_800_000, '1d'],
  [259_200_000, '4h'],
  [86_400_000, '1h'],
  [14_400_000, '30m'],
  [3_600_000, '10m'],
  [1_800_000, '5m'],
  [900_000, '2m'],
  [600_000, '1m'],
  [300_000, '30s'],
  [60_000, '10s'],
  [30_000, '5s'],
  [1000, '1s'],
]

/** TradingView's finer interval for a chart's interval; null if that is not an interval. */
export function magnifierInterval(chart: string): string | null {
  const interval = parseInterval(chart)
  return (interval && STEPS.find(([from]) => intervalMs(interval) >= from)?.[1]) ?? null
}

/** `finer` resampled to TradingView's steps if possible, otherwise unchanged; null if it is not finer than the chart. */
export function magnifierBars(
  finer: { readonly bars: Bars; readonly interval: string } | null | undefined,
  chart: string,
  symbol: SymbolInfo,
): Bars | null {
  const [have, own] = [parseInterval(finer?.interval ?? ''), parseInterval(chart)]
  if (!finer || !have || !own || compareIntervals(have, own) >= 0) return null
  const step = parseInterval(magnifierInterval(chart) ?? '')
  return step && compareIntervals(step, have) > 0 && canBuild(step, have)
    ? resample(finer.bars, have, step, calendarOf(symbol))
    : finer.bars
}
