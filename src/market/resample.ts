// Resampling builds bars of a coarser interval from finer ones, aligned to the calendar.
//
// One pass, O(n). `groupBars` finds the coarser bar of each finer one, and is separate because request.security needs just
// that: which bar of the higher timeframe a bar is part of, and whether it completes it.

import { turn } from '../lib/turn.ts'
import { type Bars, concatBars, emptyBars, sliceBars } from './bars.ts'
import { type Calendar, periodFinder, sessionInstant } from './calendar.ts'
import { type Interval, isIntraday } from './interval.ts'

export interface BarGroups {
  readonly count: number
  /** For each finer bar, the index of the coarser bar it is part of. Starts at 0 and never falls. */
  readonly index: Int32Array
  /** For each coarser bar, the index of its first finer bar; the last entry is the number of finer bars. */
  readonly first: Int32Array
  /** For each coarser bar, its time and its closing time (exclusive) in UTC ms. */
  readonly time: Float64Array
  readonly end: Float64Array
}

/**
 * Finds the coarser bar of every bar. `from` is the interval of `times`.
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

/** Builds bars of `to`. The last one may still be forming, and the first may lack its beginning. */
export function resample(bars: Bars, from: Interval, to: Interval, calendar: Calendar): Bars {
  return grouped(bars, groupBars(bars.time, from, to, calendar))
}

/** How many bars are grouped before others get their turn: 10 ms if each day's session has to be worked out. */
const STEP_BARS = 131_072

/** Like `resample`, for any number of bars, in steps between which others get their turn. */
export async function resampleInSteps(
  bars: Bars,
  from: Interval,
  to: Interval,
  calendar: Calendar,
  step = STEP_BARS,
): Promise<Bars> {
  const parts: Bars[] = []
  for (let at = 0; ;) {
    const some = sliceBars(bars, at, at + step)
    const groups = groupBars(some.time, from, to, calendar)
    const coarse = grouped(some, groups)
    if (at + some.length === bars.length) return concatBars([...parts, coarse])
    // The last bar may extend beyond the step. If the step has no other bar, a longer one has to find its end.
    const whole = groups.count - 1
    if (whole === 0) step *= 2
    parts.push(sliceBars(coarse, 0, whole))
    at += groups.first[whole] ?? 0
    await turn()
  }
}

function grouped(bars: Bars, groups: BarGroups): Bars {
  const { bought } = bars
  const coarse = emptyBars(groups.count, { sides: bought !== undefined })
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
    // One bar of which nobody knows, and nobody knows of all of them.
    if (bought && coarse.bought) {
      let sum = 0
      for (let i = begin; i < end; i++) sum += bought[i]!
      coarse.bought[group] = sum
    }
  }
  return coarse
}
