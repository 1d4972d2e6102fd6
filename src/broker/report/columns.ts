// The three columns of the Strategy Tester: the same statistics over all, long and short trades.

import { lazily } from '../../lib/memo.ts'
import { Room } from '../../lib/spares.ts'
import { directionOf, type Fills } from '../emulator/ledger.ts'
import { MARGIN_CALL } from '../emulator/margin.ts'
import type { Report, ReportColumn } from '../../wire/report.ts'
import { shareOf, type TradeTable } from './trades.ts'

export interface ColumnFacts {
  readonly initialCapital: number
  /** The most contracts held at one time. */
  readonly held: Readonly<Record<'all' | 'long' | 'short', number>>
}

const rowsRoom = () => new Room((length) => new Int32Array(length))
const ROOM = {
  all: rowsRoom(),
  long: rowsRoom(),
  short: rowsRoom(),
  wins: rowsRoom(),
  losses: rowsRoom(),
  shares: new Room((length) => new Float64Array(length)),
} as const

/**
 * A list of rows for each sum, since there may be tens of thousands of trades: a pass over a list keeps its sums in registers and
 * meets no branch that cannot be foretold. One pass that wrote the sums of all nine to memory took four times as long.
 */
export function reportColumns(
  trades: TradeTable,
  fills: Fills,
  { initialCapital, held }: ColumnFacts,
  /** Fills in the runup and the drawdown of each trade, which little else asks for. */
  excursions: () => void,
): Pick<Report, 'all' | 'long' | 'short'> {
  const { count, entry } = trades
  const all = ROOM.all.of(count)
  const long = ROOM.long.of(count)
  const short = ROOM.short.of(count)
  const shares = ROOM.shares.of(count)
  let longs = 0
  for (let k = 0; k < count; k++) {
    all[k] = k
    long[longs] = k
    short[k - longs] = k
    longs += Number(directionOf(fills, entry[k]!) === 1)
    shares[k] = shareOf(trades, k, trades.profit[k]!)
  }
  const column = (rows: Int32Array, most: number, direction: number) => {
    const averages = lazily(() => {
      excursions()
      return averageExcursions(trades, fills, direction)
    })
    return reportColumn(sideOf(trades, shares, fills, rows), initialCapital, most, averages)
  }
  return {
    all: column(all, held.all, 0),
    long: column(long.subarray(0, longs), held.long, 1),
    short: column(short.subarray(0, count - longs), held.short, -1),
  }
}

type Averages = Pick<ReportColumn, 'averageRunup' | 'averageDrawdown'>

/** Of the closed trades of a direction; 0 = of both. */
function averageExcursions(trades: TradeTable, fills: Fills, direction: number): Averages {
  const { closed, entry, runup, drawdown } = trades
  let count = 0
  let up = 0
  let down = 0
  for (let k = 0; k < closed; k++) {
    if (direction !== 0 && directionOf(fills, entry[k]!) !== direction) continue
    count++
    up += runup[k]!
    down += drawdown[k]!
  }
  return { averageRunup: mean({ count }, up), averageDrawdown: mean({ count }, 0 - down) }
}

function reportColumn(
  side: Side,
  initialCapital: number,
  maxContractsHeld: number,
  averages: () => Averages,
): ReportColumn {
  const { all, wins, losses, openTrades, openProfit, commissionPaid, marginCalls } = side
  const grossProfit = wins.profit
  const grossLoss = -losses.profit
  const netProfit = grossProfit - grossLoss
  const share = (amount: number) => amount / initialCapital
  const averageWin = mean(wins, wins.profit)
  const averageLoss = mean(losses, -losses.profit)
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
    averageTrade: mean(all, all.profit),
    averageTradePct: mean(all, all.profitPct),
    averageWin,
    averageWinPct: mean(wins, wins.profitPct),
    averageLoss,
    averageLossPct: mean(losses, -losses.profitPct),
    averageWinLossRatio: averageWin === null || averageLoss === null ? null : averageWin / averageLoss,
    largestWin,
    largestWinPct: wins.count === 0 ? null : wins.mostPct,
    largestWinShare: largestWin === null ? null : ratio(largestWin, grossProfit),
    largestLoss,
    largestLossPct: losses.count === 0 ? null : -losses.leastPct,
    largestLossShare: largestLoss === null ? null : ratio(largestLoss, grossLoss),
    averageBars: mean(all, all.bars),
    averageBarsWin: mean(wins, wins.bars),
    averageBarsLoss: mean(losses, losses.bars),
    maxWinsInRow: side.maxWinsInRow,
    maxLossesInRow: side.maxLossesInRow,
    maxContractsHeld,
    marginCalls,
    get averageRunup() {
      return averages().averageRunup
    },
    get averageDrawdown() {
      return averages().averageDrawdown
    },
  }
}

/** Counts and sums of all trades, or of those of one side. */
interface Side {
  readonly all: Tally
  readonly wins: Tally
  readonly losses: Tally
  readonly openTrades: number
  readonly openProfit: number
  readonly commissionPaid: number
  readonly marginCalls: number
  readonly maxWinsInRow: number
  readonly maxLossesInRow: number
}

function sideOf(trades: TradeTable, shares: Float64Array, fills: Fills, rows: Int32Array): Side {
  const { profit, commission, exit } = trades
  const isCall = Uint8Array.from(fills.labels, ({ comment }) => Number(comment === MARGIN_CALL))
  const wins = ROOM.wins.of(rows.length)
  const losses = ROOM.losses.of(rows.length)
  let closed = 0
  let won = 0
  let lost = 0
  let openProfit = 0
  let commissionPaid = 0
  let marginCalls = 0
  let winsInRow = 0
  let lossesInRow = 0
  let maxWinsInRow = 0
  let maxLossesInRow = 0
  for (let i = 0; i < rows.length; i++) {
    const k = rows[i]!
    commissionPaid += commission[k]!
    if (k >= trades.closed) {
      openProfit += profit[k]!
      continue
    }
    closed++
    const isWin = Number(profit[k]! > 0)
    const isLoss = Number(profit[k]! < 0)
    wins[won] = k
    won += isWin
    losses[lost] = k
    lost += isLoss
    winsInRow = (winsInRow + 1) * isWin
    lossesInRow = (lossesInRow + 1) * isLoss
    if (winsInRow > maxWinsInRow) maxWinsInRow = winsInRow
    if (lossesInRow > maxLossesInRow) maxLossesInRow = lossesInRow
    marginCalls += isCall[fills.label[exit[k]!]!]!
  }
  return {
    all: tallyOf(trades, shares, rows, closed),
    wins: tallyOf(trades, shares, wins, won),
    losses: tallyOf(trades, shares, losses, lost),
    openTrades: rows.length - closed,
    openProfit,
    commissionPaid,
    marginCalls,
    maxWinsInRow,
    maxLossesInRow,
  }
}

/** Sums and extremes of some closed trades. */
interface Tally {
  readonly count: number
  readonly profit: number
  readonly profitPct: number
  readonly bars: number
  readonly most: number
  /** Maxima are separate, since they may belong to different trades (J3). */
  readonly mostPct: number
  readonly least: number
  readonly leastPct: number
}

function tallyOf(trades: TradeTable, shares: Float64Array, rows: Int32Array, count: number): Tally {
  const { profit, entryBar, exitBar } = trades
  let sum = 0
  let sumPct = 0
  let bars = 0
  let most = -Infinity
  let mostPct = -Infinity
  let least = Infinity
  let leastPct = Infinity
  for (let i = 0; i < count; i++) {
    const k = rows[i]!
    const amount = profit[k]!
    const share = shares[k]!
    sum += amount
    sumPct += share
    bars += exitBar[k]! - entryBar[k]! + 1
    if (amount > most) most = amount
    if (share > mostPct) mostPct = share
    if (amount < least) least = amount
    if (share < leastPct) leastPct = share
  }
  return {
    count,
    profit: sum,
    profitPct: sumPct,
    bars,
    most,
    mostPct,
    least,
    leastPct,
  }
}

function mean({ count }: Pick<Tally, 'count'>, sum: number): number | null {
  return count === 0 ? null : sum / count
}

export function ratio(above: number, below: number): number | null {
  return below === 0 ? null : above / below
}
