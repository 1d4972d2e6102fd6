// Resampling: bars of a coarser interval out of finer ones, aligned as the calendar aligns them.
//
// One pass, O(n). The bar each finer bar falls into comes first (`groupBars`), because request.security needs just
// that: which bar of the higher timeframe is this one part of, and is it the one that completes it.

import { type Bars, emptyBars } from './bars.ts'
import { type Calendar, periodFinder, sessionInstant } from './calendar.ts'
import { type Interval, isIntraday } from './interval.ts'

export interface BarGroups {
  readonly count: number
  /** Per finer bar: the index of the coarser bar it is part of. Starts at 0 and never falls. */
  readonly index: Int32Array
  /** Per coarser bar: its first finer bar; one more entry at the end, the number of finer bars. */
  readonly first: Int32Array
  /** Per coarser bar: its time and its closing time (exclusive), UTC ms. */
  readonly time: Float64Array
  readonly end: Float64Array
}

/**
 * The coarser bar of every bar. `from` is the interval of `times`.
 *
 * A coarser intraday or daily bar has the time its period starts, even if its first finer bar is missing; a longer
 * one the open of the first session that has bars, as TradingView dates a month that begins with a holiday.
 */
export function groupBars(times: Float64Array, from: Interval, to: Interval, calendar: Calendar): BarGroups {
  const find = periodFinder(calendar, to, from)
  const nominal = isIntraday(to) || (to.unit === 'd' && to.count === 1)
  const index = new Int32Array(times.length)
  const first: number[] = []
  const time: number[] = []
  const end: number[] = []
  let start = Number.NaN
  for (let i = 0; i < times.length; i++) {
    const period = find(times[i] ?? 0)
    if (period.start !== start) {
      start = period.start
      first.push(i)
      time.push(
        nominal
          ? period.start
          : calendar.open(calendar.tradingDay(sessionInstant(calendar, times[i] ?? 0, from))),
      )
      end.push(period.end)
    }
    index[i] = first.length - 1
  }
  const count = first.length
  first.push(times.length)
  return {
    count,
    index,
    first: Int32Array.from(first),
    time: Float64Array.from(time),
    end: Float64Array.from(end),
  }
}

/** Bars of `to`; the last one may still be forming, and so may the first be cut. */
export function resample(bars: Bars, from: Interval, to: Interval, calendar: Calendar): Bars {
  const groups = groupBars(bars.time, from, to, calendar)
  const coarse = emptyBars(groups.count)
  for (let group = 0; group < groups.count; group++) {
    const begin = groups.first[group] ?? 0
    const end = groups.first[group + 1] ?? 0
    let high = Number.NEGATIVE_INFINITY
    let low = Number.POSITIVE_INFINITY
    let volume = 0
    for (let i = begin; i < end; i++) {
      high = Math.max(high, bars.high[i] ?? 0)
      low = Math.min(low, bars.low[i] ?? 0)
      volume += bars.volume[i] ?? 0
    }
    coarse.time[group] = groups.time[group] ?? 0
    coarse.open[group] = bars.open[begin] ?? 0
    coarse.high[group] = high
    coarse.low[group] = low
    coarse.close[group] = bars.close[end - 1] ?? 0
    coarse.volume[group] = volume
  }
  return coarse
}
