// The three columns of the Strategy Tester: the same statistics over all, long and short trades.

import type { ReportColumn, ReportTrade } from './report.ts'

export interface ColumnFacts {
  readonly maxContractsHeld: number
  readonly initialCapital: number
}

export function reportColumn(trades: readonly ReportTrade[], facts: ColumnFacts): ReportColumn {
  const closed = trades.filter((trade) => trade.status === 'closed')
  const open = trades.filter((trade) => trade.status === 'open')
  const wins = closed.filter((trade) => trade.profit > 0)
  const losses = closed.filter((trade) => trade.profit < 0)
  const grossProfit = sum(wins, (trade) => trade.profit)
  const grossLoss = -sum(losses, (trade) => trade.profit)
  const netProfit = grossProfit - grossLoss
  const openProfit = sum(open, (trade) => trade.profit)
  const share = (amount: number) => amount / facts.initialCapital
  const averageWin = mean(wins, (trade) => trade.profit)
  const averageLoss = mean(losses, (trade) => -trade.profit)
  const largestWin = largest(wins, (trade) => trade.profit)
  const largestLoss = largest(losses, (trade) => -trade.profit)
  return {
    netProfit,
    netProfitPct: share(netProfit),
    grossProfit,
    grossProfitPct: share(grossProfit),
    grossLoss,
    grossLossPct: share(grossLoss),
    openProfit,
    openProfitPct: share(openProfit),
    commissionPaid: sum(trades, (trade) => trade.commission),
    profitFactor: ratio(grossProfit, grossLoss),
    expectancy: closed.length === 0 ? null : netProfit / closed.length,
    trades: closed.length,
    openTrades: open.length,
    winningTrades: wins.length,
    losingTrades: losses.length,
    evenTrades: closed.length - wins.length - losses.length,
    winRate: ratio(wins.length, closed.length),
    averageTrade: mean(closed, (trade) => trade.profit),
    averageTradePct: mean(closed, (trade) => trade.profitPct),
    averageWin,
    averageWinPct: mean(wins, (trade) => trade.profitPct),
    averageLoss,
    averageLossPct: mean(losses, (trade) => -trade.profitPct),
    averageWinLossRatio: averageWin === null || averageLoss === null ? null : averageWin / averageLoss,
    largestWin,
    largestWinPct: largest(wins, (trade) => trade.profitPct),
    largestWinShare: largestWin === null ? null : ratio(largestWin, grossProfit),
    largestLoss,
    largestLossPct: largest(losses, (trade) => -trade.profitPct),
    largestLossShare: largestLoss === null ? null : ratio(largestLoss, grossLoss),
    averageBars: mean(closed, (trade) => trade.bars),
    averageBarsWin: mean(wins, (trade) => trade.bars),
    averageBarsLoss: mean(losses, (trade) => trade.bars),
    maxWinsInRow: longestRun(closed, (trade) => trade.profit > 0),
    maxLossesInRow: longestRun(closed, (trade) => trade.profit < 0),
    maxContractsHeld: facts.maxContractsHeld,
    marginCalls: closed.filter((trade) => trade.exitComment === 'Margin call').length,
    averageRunup: mean(closed, (trade) => trade.runup),
    averageDrawdown: mean(closed, (trade) => -trade.drawdown),
  }
}

type Of<T> = (trade: ReportTrade) => T

function sum(trades: readonly ReportTrade[], of: Of<number>): number {
  let total = 0
  for (const trade of trades) total += of(trade)
  return total
}

function mean(trades: readonly ReportTrade[], of: Of<number>): number | null {
  return trades.length === 0 ? null : sum(trades, of) / trades.length
}

function largest(trades: readonly ReportTrade[], of: Of<number>): number | null {
  let most: number | null = null
  for (const trade of trades) if (most === null || of(trade) > most) most = of(trade)
  return most
}

function longestRun(trades: readonly ReportTrade[], is: Of<boolean>): number {
  let longest = 0
  let run = 0
  for (const trade of trades) {
    run = is(trade) ? run + 1 : 0
    if (run > longest) longest = run
  }
  return longest
}

function ratio(above: number, below: number): number | null {
  return below === 0 ? null : above / below
}
