// A trade as strategy.opentrades.* and strategy.closedtrades.* read it, and its excursions.
//
// Excursions are scanned from the bar columns when asked for. On the entry bar only what the path does after the fill
// counts, on the exit bar what it did before; an order filled at the open has seen the whole bar, or nothing of it.

import type { Bars } from '../../market/bars.ts'
import type { TradeView } from '../../pine/broker.ts'
import { contracts } from './numbers.ts'
import type { Trade } from './ledger.ts'
import { goesHighFirst } from './path.ts'

/** The lowest and the highest price while a trade was open; its direction tells which of them was the favourable one. */
export interface Excursion {
  readonly low: number
  readonly high: number
}

/** `low` and `high` are known of the bars before `scanFrom` that the trade saw the whole of. */
export function excursionOf(
  trade: Trade,
  bars: Bars,
  lastBar: number,
  low = trade.entryPrice,
  high = trade.entryPrice,
  scanFrom = 0,
): Excursion {
  const open = Number.isNaN(trade.exitBar)
  const end = open ? lastBar : trade.exitBar
  if (!open) {
    high = Math.max(high, trade.exitPrice)
    low = Math.min(low, trade.exitPrice)
  }
  // Bars it saw the whole of.
  const from = trade.entryPoint === 0 ? trade.entryBar : trade.entryBar + 1
  const to = open || trade.exitPoint === 4 ? end : end - 1
  const highs = bars.high
  const lows = bars.low
  for (let bar = Math.max(from, scanFrom); bar <= to; bar++) {
    if (highs[bar]! > high) high = highs[bar]!
    if (lows[bar]! < low) low = lows[bar]!
  }
  // And of the others the points of the path between the two fills: point n is the end of segment n.
  for (let bar = trade.entryBar; bar <= end; bar = bar === end ? end + 1 : end) {
    if (bar >= from && bar <= to) continue
    const after = bar === trade.entryBar ? trade.entryPoint : 0
    const before = !open && bar === end ? trade.exitPoint : 4
    if (before === 0) continue
    const highFirst = goesHighFirst(bars.open[bar]!, highs[bar]!, lows[bar]!)
    for (let point = Math.max(1, after); point <= 3 && point < before; point++) {
      const price = point === 3 ? bars.close[bar]! : (point === 1) === highFirst ? highs[bar]! : lows[bar]!
      if (price > high) high = price
      if (price < low) low = price
    }
  }
  return { low, high }
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
    const { low, high } = excursionOf(trade, bars, bar)
    const [best, worst] = trade.direction === 1 ? [high, low] : [low, high]
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
