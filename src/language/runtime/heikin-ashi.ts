// Heikin-Ashi bars made from any bars: averages that smooth. They are not rounded to ticks (L5).

import type { Bars } from '../../market/bars.ts'
import { FollowedBars } from './followed-bars.ts'

export const heikinAshi = (source: Bars): FollowedBars => new FollowedBars(source, makePrices)

function makePrices(into: FollowedBars, source: Bars, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    const [o, h, l, c] = [source.open[i] ?? 0, source.high[i] ?? 0, source.low[i] ?? 0, source.close[i] ?? 0]
    const close = (o + h + l + c) / 4
    const open = i === 0 ? (o + c) / 2 : ((into.open[i - 1] ?? 0) + (into.close[i - 1] ?? 0)) / 2
    into.open[i] = open
    into.close[i] = close
    into.high[i] = Math.max(h, open, close)
    into.low[i] = Math.min(l, open, close)
  }
}
