// The series of the page that is made up by a seed. The others are real ones, which the build packs into it.

import type { Market } from '../engine/market.ts'
import { seededRandom } from '../lib/seeded-random.ts'
import { type Bars, emptyBars } from '../market/bars.ts'
import { defaultSymbol } from '../market/symbols.ts'

const HOUR = 3_600_000
const MADE_BARS = 3000

/** A coin by the hour that was never traded: its moods change, and it ends where the seed says. */
export function madeUp(seed: number): Market {
  const random = seededRandom(seed)
  const symbol = { ...defaultSymbol('MADEUP', 'COINUSD'), mintick: 0.01, priceScale: 100, minMove: 1 }
  const bars: Bars = emptyBars(MADE_BARS)
  const start = Date.UTC(2025, 8, 1)
  const cents = (price: number) => Math.round(price * 100) / 100
  let close = 1000
  let drift = 0
  for (let i = 0; i < MADE_BARS; i++) {
    if (i % 120 === 0) drift = random.normal() * 0.0006
    const open = close
    close = cents(open * Math.exp(drift + random.normal() * 0.006))
    const reach = () => Math.abs(random.normal()) * 0.003
    bars.time[i] = start + i * HOUR
    bars.open[i] = open
    bars.high[i] = cents(Math.max(open, close) * (1 + reach()))
    bars.low[i] = cents(Math.min(open, close) * (1 - reach()))
    bars.close[i] = close
    bars.volume[i] = Math.round(200 + 800 * Math.abs(random.normal()))
  }
  return { bars, symbol: { ...symbol, description: 'A made-up coin' }, interval: '1h' }
}
