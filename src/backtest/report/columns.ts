// The three columns of the Strategy Tester: the same statistics over all, long and short trades.

import { directionOf, labelOf, type Fills } from '../broker/ledger.ts'
import { MARGIN_CALL } from '../broker/margin.ts'
import type { Report, ReportColumn } from '../../wire/report.ts'
import { barsOf, shareOf, type TradeTable } from './trades.ts'

export interface ColumnFacts {
  readonly initialCapital: number
  /** The most contracts held at one time. */
  readonly held: Readonly<Record<'all' | 'long' | 'short', number>>
}

/** All three columns in one pass, since there may be tens of thousands of trades. */
export function reportColumns(
  trades: TradeTable,
  fills: Fills,
  { initialCapital, held }: ColumnFacts,
): Pick<Report, 'all' | 'long' | 'short'> {
  const all = new Side()
  const long = new Side()
  const short = new Side()
  for (let k = 0; k < trades.count; k++) {
    const isMarginCall = labelOf(fills, trades.exit[k]!).comment === MARGIN_CALL
    all.add(trades, k, isMarginCall)
    if (directionOf(fills, trades.entry[k]!) === 1) long.add(trades, k, isMarginCall)
    else short.add(trades, k, isMarginCall)
  }
  return {
    all: reportColumn(all, initialCapital, held.all),
    long: reportColumn(long, initialCapital, held.long),
    short: reportColumn(short, initialCapital, held.short),
  }
}

function reportColumn(side: Side, initialCapital: number, maxContractsHeld: number): ReportColumn {
  const { all, wins, losses, openTrades, openProfit, commissionPaid, marginCalls } = side
  const grossProfit = wins.profit
  const grossLoss = -losses.profit
  const netProfit = grossProfit - grossLoss
  const share = (amount: number) => amount / initialCapital
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
    maxWinsInRow: side.maxWinsInRow,
    maxLossesInRow: side.maxLossesInRow,
    maxContractsHeld,
    marginCalls,
    averageRunup: all.mean(all.runup),
    averageDrawdown: all.mean(0 - all.drawdown),
  }
}

/** Counts and sums of all trades, or of those of one side. */
class Side {
  readonly all = new Tally()
  readonly wins = new Tally()
  readonly losses = new Tally()
  openTrades = 0
  openProfit = 0
  commissionPaid = 0
  marginCalls = 0
  maxWinsInRow = 0
  maxLossesInRow = 0
  private winsInRow = 0
  private lossesInRow = 0

  add(trades: TradeTable, k: number, isMarginCall: boolean): void {
    const profit = trades.profit[k]!
    this.commissionPaid += trades.commission[k]!
    if (k >= trades.closed) {
      this.openTrades++
      this.openProfit += profit
      return
    }
    this.all.add(trades, k)
    if (profit > 0) this.wins.add(trades, k)
    else if (profit < 0) this.losses.add(trades, k)
    this.winsInRow = profit > 0 ? this.winsInRow + 1 : 0
    this.lossesInRow = profit < 0 ? this.lossesInRow + 1 : 0
    if (this.winsInRow > this.maxWinsInRow) this.maxWinsInRow = this.winsInRow
    if (this.lossesInRow > this.maxLossesInRow) this.maxLossesInRow = this.lossesInRow
    if (isMarginCall) this.marginCalls++
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
  /** Maxima are separate, since they may belong to different trades (J3). */
  mostPct = -Infinity
  least = Infinity
  leastPct = Infinity

  add(trades: TradeTable, k: number): void {
    const profit = trades.profit[k]!
    const profitPct = shareOf(trades, k, profit)
    this.count++
    this.profit += profit
    this.profitPct += profitPct
    this.bars += barsOf(trades, k)
    this.runup += trades.runup[k]!
    this.drawdown += trades.drawdown[k]!
    if (profit > this.most) this.most = profit
    if (profitPct > this.mostPct) this.mostPct = profitPct
    if (profit < this.least) this.least = profit
    if (profitPct < this.leastPct) this.leastPct = profitPct
  }

  mean(sum: number): number | null {
    return this.count === 0 ? null : sum / this.count
  }
}

export function ratio(above: number, below: number): number | null {
  return below === 0 ? null : above / below
}
