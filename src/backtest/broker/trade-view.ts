// A trade as strategy.opentrades.* and strategy.closedtrades.* read it, and its excursions.
//
// Excursions are scanned from the bar columns when asked for. On the entry bar only what the path does after the fill
// counts, on the exit bar what it did before; an order filled at the open has seen the whole bar, or nothing of it.

import type { Bars } from '../../market/bars.ts'
import type { TradeView } from '../../pine/broker.ts'
import { contracts } from './numbers.ts'
import type { Trade } from './orders.ts'
import { goesHighFirst } from './path.ts'

export interface Excursion {
  /** Best and worst price while the trade was open. */
  readonly best: number
  readonly worst: number
}

export function excursionOf(trade: Trade, bars: Bars, lastBar: number): Excursion {
  const open = Number.isNaN(trade.exitBar)
  const end = open ? lastBar : trade.exitBar
  let high = trade.entryPrice
  let low = trade.entryPrice
  const see = (price: number) => {
    if (price > high) high = price
    if (price < low) low = price
  }
  if (!open) see(trade.exitPrice)
  for (let bar = trade.entryBar; bar <= end; bar++) {
    const from = bar === trade.entryBar ? trade.entryPoint : 0
    const to = !open && bar === trade.exitBar ? trade.exitPoint : 4
    if (from === 0 && to === 4) {
      if (bars.high[bar]! > high) high = bars.high[bar]!
      if (bars.low[bar]! < low) low = bars.low[bar]!
      continue
    }
    // The path's points that lie between the two fills: point n is the end of segment n.
    const highFirst = goesHighFirst(bars.open[bar]!, bars.high[bar]!, bars.low[bar]!)
    if (from <= 1 && to > 1) see(highFirst ? bars.high[bar]! : bars.low[bar]!)
    if (from <= 2 && to > 2) see(highFirst ? bars.low[bar]! : bars.high[bar]!)
    if (from <= 3 && to > 3) see(bars.close[bar]!)
  }
  return trade.direction === 1 ? { best: high, worst: low } : { best: low, worst: high }
}

/** `price` and `rate` mark an open trade. */
export function viewOf(
  trade: Trade,
  bars: Bars,
  bar: number,
  price: number,
  pointValue: number,
  rate: number,
): TradeView {
  const open = Number.isNaN(trade.exitBar)
  const size = trade.direction * contracts(trade.units)
  const value = contracts(trade.units) * trade.entryPrice * pointValue * rate
  const profit = open ? size * (price - trade.entryPrice) * pointValue * rate - trade.entryFee : trade.profit
  const excursion = () => {
    const { best, worst } = excursionOf(trade, bars, bar)
    return {
      runup: Math.max(0, size * (best - trade.entryPrice) * pointValue * rate - trade.entryFee),
      drawdown: Math.max(0, size * (trade.entryPrice - worst) * pointValue * rate + trade.entryFee),
    }
  }
  return {
    entryId: trade.entryId,
    entryComment: trade.entryComment,
    entryBar: trade.entryBar,
    entryTime: bars.time[trade.entryBar]!,
    entryPrice: trade.entryPrice,
    exitId: trade.exitId,
    exitComment: trade.exitComment,
    exitBar: trade.exitBar,
    exitTime: open ? NaN : bars.time[trade.exitBar]!,
    exitPrice: trade.exitPrice,
    size,
    profit,
    profitPercent: (profit / value) * 100,
    commission: trade.entryFee + (open ? 0 : trade.exitFee),
    get maxRunup() {
      return excursion().runup
    },
    get maxRunupPercent() {
      return (excursion().runup / value) * 100
    },
    get maxDrawdown() {
      return excursion().drawdown
    },
    get maxDrawdownPercent() {
      return (excursion().drawdown / value) * 100
    },
  }
}
