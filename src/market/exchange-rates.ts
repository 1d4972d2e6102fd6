// What a currency is worth in another, on a day: the previous UTC day's close of the pair (rule I2 of `backtest/broker/RULES.md`).
//
// Of two currencies one pair is enough, whichever way round it is cached; where there is neither, both may be known in
// US dollars.

import { type Bars, lowerBound } from './bars.ts'

const DAY = 86_400_000
/** A bar that opens so late, as those of forex do at 17:00 in New York, is the next day's: its close is not known before. */
const EVENING = 6 * 3_600_000

/** UTC ms → rate. */
export type RateAt = (time: number) => number

/** null where no cached pair leads from one currency to the other. `find` gives a pair's daily bars: `EURUSD`. */
export function exchangeRate(from: string, to: string, find: (pair: string) => Bars | null): RateAt | null {
  const known = ofPair(from, to, find)
  if (known || from === 'USD' || to === 'USD') return known
  const dollars = ofPair(from, 'USD', find)
  const others = dollars && ofPair('USD', to, find)
  return others && ((time) => dollars(time) * others(time))
}

/** The series that would tell a rate, for whoever may import or fetch them: `1d bars of USDTUSD or USDUSDT`. */
export function seriesOfRate(from: string, to: string): string {
  const direct = `1d bars of ${from}${to} or ${to}${from}`
  return from === 'USD' || to === 'USD' ? direct : `${direct}, or of both ${from}USD and USD${to}`
}

function ofPair(from: string, to: string, find: (pair: string) => Bars | null): RateAt | null {
  const direct = find(`${from}${to}`)
  if (direct && direct.length > 0) return previousClose(direct)
  const inverse = find(`${to}${from}`)
  if (!inverse || inverse.length === 0) return null
  const close = previousClose(inverse)
  return (time) => 1 / close(time)
}

/** Before the pair's first day its first close is used. */
function previousClose(pair: Bars): RateAt {
  const times = pair.time.subarray(0, pair.length)
  let day = Number.NaN
  let close = Number.NaN
  return (time) => {
    const wanted = Math.floor(time / DAY)
    if (wanted !== day) {
      day = wanted
      close = pair.close[Math.max(0, lowerBound(times, day * DAY - EVENING) - 1)] ?? Number.NaN
    }
    return close
  }
}
