// The list of trades: closed ones in the order they closed, then what is still open.

import type { Bars } from '../../market/bars.ts'
import { UNIT } from '../broker/numbers.ts'
import type { Trade } from '../broker/orders.ts'
import { excursionOf, type Excursion } from '../broker/trade-view.ts'
import type { Stretches } from '../equity.ts'
import type { ReportTrade } from './report.ts'

export interface TradeContext {
  readonly bars: Bars
  readonly pointValue: number
  readonly initialCapital: number
  readonly rates: Float64Array | null
  /** Of the fills that the trades came of. */
  readonly stretches: Stretches
}

export function reportTrades(
  context: TradeContext,
  closed: readonly Trade[],
  open: readonly Trade[],
): ReportTrade[] {
  let cumulative = 0
  const excursions = new Excursions(context)
  const rows: ReportTrade[] = Array.from({ length: closed.length + open.length })
  for (let n = 0; n < rows.length; n++) {
    const trade = closed[n] ?? open[n - closed.length]!
    const row = reportTrade(context, trade, excursions.of(trade), n + 1, cumulative)
    cumulative = row.cumProfit
    rows[n] = row
  }
  return rows
}

/**
 * Excursions of trades that are asked for in the order they closed. One that was entered at an open has seen whole
 * stretches from fill to fill, whose extremes are known: 39,000 trades of 26 bars take 1.0 ms instead of 3.9, and a
 * position of a thousand entries is not scanned a thousand times.
 */
class Excursions {
  /** The first fill on the bar of the last exit, or after it. */
  private exit = 0
  private readonly context: TradeContext

  constructor(context: TradeContext) {
    this.context = context
  }

  of(trade: Trade): Excursion {
    const { bars, stretches } = this.context
    const last = bars.length - 1
    const { bar, low, high } = stretches
    const end = Number.isNaN(trade.exitBar) ? bars.length : trade.exitBar
    while (this.exit < bar.length && bar[this.exit]! < end) this.exit++
    if (trade.entryPoint !== 0) return excursionOf(trade, bars, last)
    let lowest = trade.entryPrice
    let highest = trade.entryPrice
    for (let k = this.exit - 1; k >= 0 && bar[k]! >= trade.entryBar; k--) {
      if (low[k]! < lowest) lowest = low[k]!
      if (high[k]! > highest) highest = high[k]!
    }
    return excursionOf(trade, bars, last, lowest, highest, end)
  }
}

function reportTrade(
  context: TradeContext,
  trade: Trade,
  { best, worst }: Excursion,
  n: number,
  before: number,
): ReportTrade {
  const { bars, pointValue, initialCapital, rates } = context
  const last = bars.length - 1
  const isOpen = Number.isNaN(trade.exitBar)
  const exitBar = isOpen ? last : trade.exitBar
  const exitPrice = isOpen ? bars.close[last]! : trade.exitPrice
  const rate = rates ? rates[exitBar]! : 1
  const qty = trade.units / UNIT
  const perPoint = trade.direction * qty * pointValue * rate
  const profit = isOpen ? perPoint * (exitPrice - trade.entryPrice) - trade.entryFee : trade.profit
  const commission = trade.entryFee + (isOpen ? 0 : trade.exitFee)
  // J1: percentages are of the entry's value in the symbol's currency.
  const value = Math.abs(trade.entryPrice * qty * pointValue * rate)
  const share = (amount: number) => (value > 0 ? amount / value : 0)
  const runup = Math.max(0, perPoint * (best - trade.entryPrice) - trade.entryFee)
  const drawdown = Math.min(0, perPoint * (worst - trade.entryPrice) - trade.entryFee)
  const cumProfit = before + profit
  return {
    n,
    side: trade.direction === 1 ? 'long' : 'short',
    qty,
    entryId: trade.entryId,
    entryTime: bars.time[trade.entryBar]!,
    entryBar: trade.entryBar,
    entryPrice: trade.entryPrice,
    entryComment: trade.entryComment,
    exitId: isOpen ? 'Open' : (trade.exitId ?? ''),
    exitTime: bars.time[exitBar]!,
    exitBar,
    exitPrice,
    exitComment: isOpen ? null : trade.exitComment,
    profit,
    profitPct: share(profit),
    commission,
    runup,
    runupPct: share(runup),
    drawdown,
    drawdownPct: share(drawdown),
    // J2: the entry bar counts.
    bars: exitBar - trade.entryBar + 1,
    cumProfit,
    cumProfitPct: cumProfit / initialCapital,
    status: isOpen ? 'open' : 'closed',
  }
}
