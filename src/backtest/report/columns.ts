// The three columns of the Strategy Tester: the same statistics over all, long and short trades.

import type { ReportColumn, ReportTrade } from './report.ts'

export interface ColumnFacts {
  readonly maxContractsHeld: number
  readonly initialCapital: number
}

/** One pass: a strategy that trades often has tens of thousands of rows, and there are three columns. */
export function reportColumn(trades: readonly ReportTrade[], facts: ColumnFacts): ReportColumn {
  const all = new Tally()
  const wins = new Tally()
  const losses = new Tally()
  let openTrades = 0
  let openProfit = 0
  let commissionPaid = 0
  let marginCalls = 0
  let [winsInRow, maxWinsInRow, lossesInRow, maxLossesInRow] = [0, 0, 0, 0]
  for (const trade of trades) {
    commissionPaid += trade.commission
    if (trade.status === 'open') {
      openTrades++
      openProfit += trade.profit
      continue
    }
    all.add(trade)
    if (trade.profit > 0) wins.add(trade)
    else if (trade.profit < 0) losses.add(trade)
    winsInRow = trade.profit > 0 ? winsInRow + 1 : 0
    lossesInRow = trade.profit < 0 ? lossesInRow + 1 : 0
    if (winsInRow > maxWinsInRow) maxWinsInRow = winsInRow
    if (lossesInRow > maxLossesInRow) maxLossesInRow = lossesInRow
    if (trade.exitComment === 'Margin call') marginCalls++
  }
  const grossProfit = wins.profit
  const grossLoss = -losses.profit
  const netProfit = grossProfit - grossLoss
  const share = (amount: number) => amount / facts.initialCapital
  const averageWin = wins.mean(wins.profit)
  const averageLoss = losses.mean(-losses.profit)
  const largestWin = wins.count === 0 ? null : wins.most
  const largestLoss = losses.count === 0 ? null : -losses.least
  return {
    netProfit,
    netProfitPct: share(netProfit),
    grossProfit,
    grossProfitPct: share(grossProfit),
    grossLoss,
    grossLossPct: share(grossLoss),
    openProfit,
    openProfitPct: share(openProfit),
    commissionPaid,
    profitFactor: ratio(grossProfit, grossLoss),
    expectancy: all.count === 0 ? null : netProfit / all.count,
    trades: all.count,
    openTrades,
    winningTrades: wins.count,
    losingTrades: losses.count,
    evenTrades: all.count - wins.count - losses.count,
    winRate: ratio(wins.count, all.count),
    averageTrade: all.mean(all.profit),
    averageTradePct: all.mean(all.profitPct),
    averageWin,
    averageWinPct: wins.mean(wins.profitPct),
    averageLoss,
    averageLossPct: losses.mean(-losses.profitPct),
    averageWinLossRatio: averageWin === null || averageLoss === null ? null : averageWin / averageLoss,
    largestWin,
    largestWinPct: wins.count === 0 ? null : wins.mostPct,
    largestWinShare: largestWin === null ? null : ratio(largestWin, grossProfit),
    largestLoss,
    largestLossPct: losses.count === 0 ? null : -losses.leastPct,
    largestLossShare: largestLoss === null ? null : ratio(largestLoss, grossLoss),
    averageBars: all.mean(all.bars),
    averageBarsWin: wins.mean(wins.bars),
    averageBarsLoss: losses.mean(losses.bars),
    maxWinsInRow,
    maxLossesInRow,
    maxContractsHeld: facts.maxContractsHeld,
    marginCalls,
    averageRunup: all.mean(all.runup),
    averageDrawdown: all.mean(0 - all.drawdown),
  }
}

/** Sums and extremes of some closed trades. */
class Tally {
  count = 0
  profit = 0
  profitPct = 0
  bars = 0
  runup = 0
  drawdown = 0
  most = -Infinity
  mostPct = -Infinity
  least = Infinity
  leastPct = Infinity

  add(trade: ReportTrade): void {
    this.count++
    this.profit += trade.profit
    this.profitPct += trade.profitPct
    this.bars += trade.bars
    this.runup += trade.runup
    this.drawdown += trade.drawdown
    if (trade.profit > this.most) this.most = trade.profit
    if (trade.profitPct > this.mostPct) this.mostPct = trade.profitPct
    if (trade.profit < this.least) this.least = trade.profit
    if (trade.profitPct < this.leastPct) this.leastPct = trade.profitPct
  }

  mean(sum: number): number | null {
    return this.count === 0 ? null : sum / this.count
  }
}

function ratio(above: number, below: number): number | null {
  return below === 0 ? null : above / below
}
