// A market of random prices, and the list that TradingView would export of a run.

import type { BacktestRequest } from '../../src/broker/backtest.ts'
import { DEFAULT_LIMITS } from '../../src/language/runtime/limits.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import type { Report } from '../../src/wire/report.ts'

const QUARTER = 900_000
export const START = 1_700_006_400_000
export const SYMBOL = {
  ...defaultSymbol('TEST', 'COIN'),
  mintick: 0.01,
  priceScale: 100,
  minQuantity: 0.0001,
}

/** Two series of one market: the finer one in minutes. */
export function market(count: number): { readonly bars: Bars; readonly minutes: Bars } {
  const random = seededRandom(7)
  const minutes = emptyBars(count * 15)
  const bars = emptyBars(count)
  let price = 100
  const cents = (value: number) => Math.round(value * 100) / 100
  for (let i = 0; i < minutes.length; i++) {
    const open = price
    price = cents(Math.max(5, open * (1 + 0.0012 * random.normal())))
    minutes.time[i] = START + i * 60_000
    minutes.open[i] = open
    minutes.close[i] = price
    minutes.high[i] = cents(Math.max(open, price) * (1 + 0.0005 * random.uniform()))
    minutes.low[i] = cents(Math.min(open, price) * (1 - 0.0005 * random.uniform()))
    minutes.volume[i] = 1 + random.below(100)
  }
  for (let i = 0; i < count; i++) {
    const [from, to] = [i * 15, i * 15 + 15]
    bars.time[i] = START + i * QUARTER
    bars.open[i] = minutes.open[from]!
    bars.close[i] = minutes.close[to - 1]!
    bars.high[i] = Math.max(...minutes.high.subarray(from, to))
    bars.low[i] = Math.min(...minutes.low.subarray(from, to))
    bars.volume[i] = minutes.volume.subarray(from, to).reduce((sum, one) => sum + one, 0)
  }
  return { bars, minutes }
}

/** A run over bars of the market, without inputs, other series or a clock. */
export function requestOn(
  bars: Bars,
  source: string,
  change: Partial<BacktestRequest> = {},
): BacktestRequest {
  return {
    source,
    inputs: {},
    bars,
    symbol: SYMBOL,
    interval: '15m',
    limits: DEFAULT_LIMITS,
    series: () => null,
    now: () => 0,
    ...change,
  }
}

/** As TradingView writes it: two rows a trade, wall clock of the chart, two decimals of profit. */
export function exportOf({ trades }: Report, shiftHours = 0): string {
  const wall = (time: number) =>
    new Date(time + shiftHours * 3_600_000).toISOString().slice(0, 16).replace('T', ' ')
  const rows = trades.flatMap((one) => {
    const word = one.side === 'long' ? 'long' : 'short'
    const tail = `${one.qty},${(one.qty * one.entryPrice).toFixed(2)},${one.profit.toFixed(2)}`
    const [entry, exit] = [one.entryComment || one.entryId, one.exitComment || one.exitId]
    const price = (value: number) => Number(value.toFixed(6))
    return [
      `${one.n},Exit ${word},${wall(one.exitTime)},${one.status === 'open' ? 'Open' : exit},${price(one.exitPrice)},${tail}`,
      `${one.n},Entry ${word},${wall(one.entryTime)},${entry},${price(one.entryPrice)},${tail}`,
    ]
  })
  return [
    'Trade #,Type,Date and time,Signal,Price USD,Position size (qty),Position size (value),Net P&L USD',
    ...rows,
  ].join('\n')
}
