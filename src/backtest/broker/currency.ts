// Account currency (I1 to I4): every amount is booked at the rate of its own day, which is the previous UTC day's close
// of the currency pair.

import type { Bars } from '../../market/bars.ts'
import type { Series } from '../../pine/compile.ts'

const DAY = 86_400_000

export type FindSeries = (exchange: string, symbol: string, interval: string) => Series | null | undefined

/** One rate a bar; null where no pair of the two is cached. `find` answers undefined for what is not loaded yet. */
export function ratesFor(
  bars: Bars,
  from: string,
  to: string,
  find: (pair: string) => Series | null,
): Float64Array | null {
  const direct = find(`${from}${to}`)
  if (direct) return dailyRates(bars, direct.bars, false)
  const inverse = find(`${to}${from}`)
  return inverse && dailyRates(bars, inverse.bars, true)
}

/** I2. Before the pair's first day its first close has to do. */
function dailyRates(bars: Bars, pair: Bars, inverted: boolean): Float64Array | null {
  if (pair.length === 0) return null
  const rates = new Float64Array(bars.length)
  let next = 0
  for (let i = 0; i < bars.length; i++) {
    const day = Math.floor(bars.time[i]! / DAY)
    while (next < pair.length && Math.floor(pair.time[next]! / DAY) < day) next++
    const close = pair.close[Math.max(0, next - 1)]!
    rates[i] = inverted ? 1 / close : close
  }
  return rates
}
