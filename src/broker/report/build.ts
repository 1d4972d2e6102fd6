// The report: a pure function of a broker's fills and trades, the bars and the script's facts.

import { lazily } from '../../lib/memo.ts'
import type { Bars } from '../../market/bars.ts'
import type { BrokerEmulator } from '../emulator/broker.ts'
import { leaveCopy, takeCopy, type Fills } from '../emulator/ledger.ts'
import { UNIT } from '../emulator/numbers.ts'
import {
  EquityCurve,
  EquityWalk,
  emptyStretches,
  equityColumns,
  type EquityColumns,
  type Extremes,
} from '../equity.ts'
import { reportColumns } from './columns.ts'
import { closeToClose, drawdownPeriods } from './drawdowns.ts'
import { annualGrowth, buyAndHold } from './growth.ts'
import { daysOf, monthsOf, periodReturns, reportMonths } from './months.ts'
import { rowsOf, type Rows } from '../../wire/columns.ts'
import type { Report, ReportEquity, ReportOrder, ReportTrade } from '../../wire/report.ts'
import { riskRatios } from './sharpe.ts'
import { reportSummary } from './summary.ts'
import {
  fillExcursions,
  leaveTable,
  orderColumns,
  tradeColumns,
  tradeTable,
  type TradeTable,
} from './trades.ts'

/** For a shorter range, the Sharpe ratio is of daily returns instead of monthly ones. */
const MONTHS_FOR_MONTHLY = 3

/** The results of a run: figures, and the rows behind them, whose objects are made on request. */
export interface Results {
  readonly figures: Pick<Report, 'initialCapital' | 'summary' | 'all' | 'long' | 'short' | 'equity'>
  trades(): Iterable<ReportTrade>
  orders(): Iterable<ReportOrder>
  /** The same rows, as columns. */
  tradeColumns(): Rows
  orderColumns(): Rows
  /** What tests of luck and of costs need of the closed trades. */
  closed(): TradeRow[]
  /** One value for each bar; a column is made when it is first read. */
  readonly columns: EquityColumns
  /** Writes `columns.equity` into memory of the caller. */
  readEquity(into: Float64Array): void
  /** The trade that was entered first. */
  readonly first: { readonly bar: number; readonly price: number } | null
  /** Nothing but the figures is read any more: the memory of the rest serves the next results of the thread. */
  release(): void
}

export interface TradeRow {
  readonly profit: number
  readonly commission: number
  /** Number of contracts, always positive. */
  readonly size: number
  readonly exitBar: number
}

/** Monthly returns, or daily ones if there are few months. */
function returnsOf(
  bars: Bars,
  trades: Parameters<typeof monthsOf>[1],
  initialCapital: number,
  openProfit: number,
) {
  const months = monthsOf(bars, trades)
  const monthly = months.length >= MONTHS_FOR_MONTHLY
  const returns = periodReturns(monthly ? months : daysOf(bars, trades), initialCapital, openProfit)
  return { months, returns, period: monthly ? ('month' as const) : ('day' as const) }
}

export function buildResults(
  broker: BrokerEmulator,
  bars: Bars,
  pointValue: number,
  rates: Float64Array | null,
  /**
   * Whether to fill the lists of months and drawdowns, which the thousands of trials of a sweep do without. Then all that is read
   * of the results has to be read before the run goes on, and what only a walk over the bars tells is found out when it is
   * read: a sweep that asks for no drawdown takes three quarters of the time.
   */
  { lists = true, extremes = null }: { readonly lists?: boolean; readonly extremes?: Extremes | null } = {},
): Results {
  const { settings, position } = broker
  const { initialCapital } = settings
  // A run that goes on appends rows, and one that is over leaves them to the next; lists and columns are made later.
  const fills = lists ? takeCopy(position.fills) : position.fills
  const walked = lazily(() => {
    const stretches = emptyStretches(fills)
    const walk = new EquityWalk(bars, fills, pointValue, initialCapital, rates, stretches, extremes)
    walk.to(bars.length - 1)
    fillExcursions(context, trades, position.closed, position.open, stretches)
    return walk
  })
  const curve = new EquityCurve(bars, fills, pointValue, initialCapital, rates)
  const context = { bars, pointValue, initialCapital, rates, fills }
  const trades = tradeTable(context, position.closed, position.open)
  const facts = {
    initialCapital,
    held: {
      all: position.heldAll / UNIT,
      long: position.heldLong / UNIT,
      short: position.heldShort / UNIT,
    },
  }
  const { all, long, short } = reportColumns(trades, fills, facts, walked)
  // Later the run may have gone on, or its memory may be another's.
  if (lists) for (const side of [all, long, short]) void side.averageRunup
  const { months, returns, period } = returnsOf(bars, trades, initialCapital, all.openProfit)
  const steps = closeToClose(trades, initialCapital)
  const final = initialCapital + all.netProfit + all.openProfit
  const first = firstOf(trades, fills)
  const buyHold = first && buyAndHold(initialCapital, first.price, bars.close[bars.length - 1]!)
  const listed = () => {
    walked()
    return tradeColumns(context, trades)
  }
  const drawdowns = lazily(() => (trades.count === 0 || !lists ? [] : drawdownPeriods(bars, curve)))
  const equity: ReportEquity = {
    final,
    netProfit: all.netProfit,
    openProfit: all.openProfit,
    get maxDrawdown() {
      return walked().drawdownMax
    },
    get maxDrawdownPct() {
      return walked().drawdownMaxFraction
    },
    get maxRunup() {
      return walked().runupMax
    },
    get maxRunupPct() {
      return walked().runupMaxFraction
    },
    maxDrawdownClose: steps.drawdown,
    maxDrawdownClosePct: steps.drawdownPct,
    maxRunupClose: steps.runup,
    maxRunupClosePct: steps.runupPct,
    ...riskRatios(trades.count === 0 ? [] : returns, settings.riskFreeRate, period),
    cagr:
      trades.count === 0
        ? null
        : annualGrowth(initialCapital, final, bars.time[0]!, bars.time[bars.length - 1]!),
    buyHold,
    buyHoldPct: buyHold === null ? null : buyHold / initialCapital,
    get returnOverDrawdown() {
      const { drawdownMax } = walked()
      return drawdownMax > 0 ? all.netProfit / drawdownMax : null
    },
    get timeInMarketPct() {
      return bars.length === 0 ? 0 : walked().barsHeld / bars.length
    },
    months: lists ? reportMonths(months, initialCapital) : [],
    // A walk over all bars, for a list that only the report shows.
    get drawdowns() {
      return drawdowns()
    },
  }
  return {
    figures: { initialCapital, summary: reportSummary(all, equity), all, long, short, equity },
    trades: () => rowsOf<ReportTrade>(listed()),
    orders: () => rowsOf<ReportOrder>(orderColumns(fills, bars)),
    tradeColumns: listed,
    orderColumns: () => orderColumns(fills, bars),
    closed: () => closedRows(trades),
    columns: equityColumns(bars, fills, pointValue, initialCapital, rates),
    readEquity: (into) =>
      new EquityCurve(bars, fills, pointValue, initialCapital, rates).read(0, bars.length, into),
    first,
    release() {
      if (lists) leaveCopy(fills)
      leaveTable(trades)
    },
  }
}

const closedRows = ({ closed: length, profit, commission, quantity, exitBar }: TradeTable): TradeRow[] =>
  Array.from({ length }, (_, k) => ({
    profit: profit[k]!,
    commission: commission[k]!,
    size: quantity[k]!,
    exitBar: exitBar[k]!,
  }))

function firstOf({ count, entry, entryBar }: TradeTable, fills: Fills): Results['first'] {
  if (count === 0) return null
  let first = 0
  for (let k = 1; k < count; k++) if (entryBar[k]! < entryBar[first]!) first = k
  return { bar: entryBar[first]!, price: fills.price[entry[first]!]! }
}
