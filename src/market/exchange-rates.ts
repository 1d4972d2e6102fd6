// Converts between currencies at the previous UTC day's close of their pair (rule I2 of `broker/RULES.md`).
//
// Of two currencies one cached pair is enough, in either direction. Without it, the rate may follow from the dollar rates
// of both.

import { type Bars, lowerBound } from './bars.ts'

const DAY = 86_400_000
/**
 * A bar that opens this late in the day, as forex bars do at 17:00 in New York, belongs to the next day: its close is not
 * known before.
 */
const EVENING = 6 * 3_600_000

/** Maps a time in UTC ms to the rate. */
export type RateAt = (time: number) => number

/** null if no cached pair leads from one currency to the other. `find` answers the daily bars of a pair such as `EURUSD`. */
export function exchangeRate(from: string, to: string, find: (pair: string) => Bars | null): RateAt | null {
  const known = ofPair(from, to, find)
  if (known || from === 'USD' || to === 'USD') return known
  const dollars = ofPair(from, 'USD', find)
  const others = dollars && ofPair('USD', to, find)
  return others && ((time) => dollars(time) * others(time))
}

/** The series that would tell a rate, in words for the user who may import or fetch it: `1d bars of USDTUSD or USDUSDT`. */
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

/** Before the pair's first day, its first close is used. */
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
