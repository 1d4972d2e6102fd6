// Bars in another currency: prices at the rate of the bar's day, volume as it is.

import type { Bars } from '../../market/bars.ts'
import type { RateAt } from '../../market/exchange-rates.ts'
import { FollowedBars, PRICES } from './followed-bars.ts'

export const convertedBars = (source: Bars, rateAt: RateAt): FollowedBars =>
  new FollowedBars(source, (into, bars, from, to) => {
    for (let i = from; i < to; i++) {
      const rate = rateAt(bars.time[i]!)
      for (const field of PRICES) into[field][i] = bars[field][i]! * rate
    }
  })
