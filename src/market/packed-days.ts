// Daily bars as few letters: steps from bar to bar in ticks, for a page that brings some along.

import type { Bars } from './bars.ts'
import { emptyBars } from './bars.ts'
import { calendarOf } from './calendar.ts'
import type { SymbolInfo } from './symbol.ts'

interface DailyBars {
  readonly bars: Bars
  readonly symbol: SymbolInfo
  readonly interval: string
}

/** The session of each bar, and the rest as whole ticks. */
export interface PackedDays {
  readonly id: string
  readonly name: string
  readonly symbol: SymbolInfo
  readonly interval: string
  /** What volumes are rounded to: nobody's script asks for the last share. */
  readonly volumeUnit: number
  /** Days since the last bar. */
  readonly days: readonly number[]
  /** Open less the close before, high and low less the open, close less the open, and the volume in its unit. */
  readonly steps: readonly (readonly number[])[]
}

const DAY = 86_400_000

/** Bars of days, as sessions of their symbol. */
export function packed(
  { id, name, volumeUnit }: Pick<PackedDays, 'id' | 'name' | 'volumeUnit'>,
  { bars, symbol, interval }: DailyBars,
): PackedDays {
  const ticks = (price: number) => Math.round(price / symbol.mintick)
  const at = (field: 'open' | 'high' | 'low' | 'close', i: number) => (i < 0 ? 0 : ticks(bars[field][i]!))
  const all = Array.from({ length: bars.length }, (_, i) => i)
  const dayOf = (i: number) => (i < 0 ? 0 : Math.floor(bars.time[i]! / DAY))
  return {
    id,
    name,
    symbol,
    interval,
    volumeUnit,
    days: all.map((i) => dayOf(i) - dayOf(i - 1)),
    steps: [
      all.map((i) => at('open', i) - at('close', i - 1)),
      all.map((i) => at('high', i) - at('open', i)),
      all.map((i) => at('low', i) - at('open', i)),
      all.map((i) => at('close', i) - at('open', i)),
      all.map((i) => Math.round(bars.volume[i]! / volumeUnit)),
    ],
  }
}

export function unpacked({ symbol, interval, volumeUnit, days, steps }: PackedDays): DailyBars {
  const bars = emptyBars(days.length)
  const calendar = calendarOf(symbol)
  const price = (ticks: number) => (ticks * symbol.minMove) / symbol.priceScale
  let day = 0
  let close = 0
  for (let i = 0; i < days.length; i++) {
    const [fromClose = 0, high = 0, low = 0, moved = 0, volume = 0] = steps.map((column) => column[i]!)
    const open = close + fromClose
    close = open + moved
    day += days[i]!
    bars.time[i] = calendar.open(day)
    bars.open[i] = price(open)
    bars.high[i] = price(open + high)
    bars.low[i] = price(open + low)
    bars.close[i] = price(close)
    bars.volume[i] = volume * volumeUnit
  }
  return { bars, symbol, interval }
}
