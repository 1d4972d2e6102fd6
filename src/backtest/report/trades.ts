// The list of trades: closed ones in the order they closed, then what is still open.

import type { Bars } from '../../market/bars.ts'
import { UNIT } from '../broker/numbers.ts'
import type { Trade } from '../broker/orders.ts'
import { excursionOf } from '../broker/trade-view.ts'
import type { ReportTrade } from './report.ts'

export interface TradeContext {
  readonly bars: Bars
  readonly pointValue: number
  readonly initialCapital: number
  readonly rates: Float64Array | null
}

export function reportTrades(
  context: TradeContext,
  closed: readonly Trade[],
  open: readonly Trade[],
): ReportTrade[] {
  let cumulative = 0
  const rows: ReportTrade[] = Array.from({ length: closed.length + open.length })
  for (let n = 0; n < rows.length; n++) {
    const row = reportTrade(context, closed[n] ?? open[n - closed.length]!, n + 1, cumulative)
    cumulative = row.cumProfit
    rows[n] = row
  }
  return rows
}

function reportTrade(context: TradeContext, trade: Trade, n: number, before: number): ReportTrade {
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
  const { best, worst } = excursionOf(trade, bars, last)
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
