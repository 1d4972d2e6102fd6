// The report: a pure function of a broker's fills and trades, the bars and the script's facts.

import type { Bars } from '../../market/bars.ts'
import type { BrokerEmulator } from '../broker/broker.ts'
import type { Fills } from '../broker/ledger.ts'
import { UNIT } from '../broker/numbers.ts'
import { EquityCurve, EquityWalk, emptyStretches, equityColumns, type EquityColumns } from '../equity.ts'
import { ratio, reportColumns } from './columns.ts'
import { closeToClose, drawdownPeriods } from './drawdowns.ts'
import { annualGrowth, buyAndHold } from './growth.ts'
import { daysOf, monthsOf, periodReturns, reportMonths } from './months.ts'
import type { Rows } from '../../wire/columns.ts'
import type { Report, ReportEquity, ReportOrder, ReportSummary, ReportTrade } from '../../wire/report.ts'
import { riskRatios } from './sharpe.ts'
import { reportSummary } from './summary.ts'
import { orderColumns, orderRows, tradeColumns, tradeRows, tradeTable, type TradeTable } from './trades.ts'

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
}

export interface TradeRow {
  readonly profit: number
  readonly commission: number
  /** Number of contracts, always positive. */
  readonly size: number
  readonly exitBar: number
}

/**
 * For the thousands of trials of a sweep: without the lists of months and drawdowns, and with all figures but the summary
 * made when one of them is asked for. A trial of 1,300 trades takes a tenth less.
 */
export function sparingResults(
  broker: BrokerEmulator,
  bars: Bars,
  pointValue: number,
  rates: Float64Array | null,
): Results {
  let made: Results | null = null
  const all = () => (made ??= buildResults(broker, bars, pointValue, rates, { lists: false }))
  let summary: ReportSummary | null = null
  const { initialCapital } = broker.settings
  const { fills } = broker.position
  return {
    figures: {
      initialCapital,
      get summary() {
        return (summary ??= summaryAlone(broker, bars, pointValue, rates))
      },
      get all() {
        return all().figures.all
      },
      get long() {
        return all().figures.long
      },
      get short() {
        return all().figures.short
      },
      get equity() {
        return all().figures.equity
      },
    },
    trades: () => all().trades(),
    orders: () => all().orders(),
    tradeColumns: () => all().tradeColumns(),
    orderColumns: () => all().orderColumns(),
    closed: () => all().closed(),
    columns: equityColumns(bars, fills, pointValue, initialCapital, rates),
    readEquity: (into) =>
      new EquityCurve(bars, fills, pointValue, initialCapital, rates).read(0, bars.length, into),
    get first() {
      return all().first
    },
  }
}

/** The summary of the report, which needs neither the excursions of trades nor what is told of long and short ones. */
function summaryAlone(
  { settings, position: { fills, closed, open } }: BrokerEmulator,
  bars: Bars,
  pointValue: number,
  rates: Float64Array | null,
): ReportSummary {
  const { initialCapital } = settings
  const { count, profit } = closed
  const exitBar = new Int32Array(count)
  let [wins, gains, losses] = [0, 0, 0]
  for (let k = 0; k < count; k++) {
    exitBar[k] = fills.bar[closed.exit[k]!]!
    if (profit[k]! > 0) {
      wins++
      gains += profit[k]!
    } else if (profit[k]! < 0) losses += profit[k]!
  }
  const [grossProfit, grossLoss] = [gains, -losses]
  const netProfit = grossProfit - grossLoss
  const walk = new EquityWalk(bars, fills, pointValue, initialCapital, rates).to(bars.length - 1)
  const { returns, period } = returnsOf(bars, { profit, exitBar, closed: count }, initialCapital)
  const { sharpe } = riskRatios(count + open.length === 0 ? [] : returns, settings.riskFreeRate, period)
  return reportSummary(
    {
      trades: count,
      netProfit,
      netProfitPct: netProfit / initialCapital,
      grossProfit,
      winRate: ratio(wins, count),
      profitFactor: ratio(grossProfit, grossLoss),
    },
    { maxDrawdownPct: walk.drawdownMaxFraction, sharpe },
  )
}

/** Monthly returns, or daily ones if there are few months. */
function returnsOf(bars: Bars, trades: Parameters<typeof monthsOf>[1], initialCapital: number) {
  const months = monthsOf(bars, trades)
  const monthly = months.length >= MONTHS_FOR_MONTHLY
  const returns = periodReturns(monthly ? months : daysOf(bars, trades), initialCapital)
  return { months, returns, period: monthly ? ('month' as const) : ('day' as const) }
}

export function buildResults(
  broker: BrokerEmulator,
  bars: Bars,
  pointValue: number,
  rates: Float64Array | null,
  /** Whether to fill the lists of months and drawdowns. */
  { lists = true }: { readonly lists?: boolean } = {},
): Results {
  const { settings, position } = broker
  const { initialCapital } = settings
  // A run that goes on appends rows, which the rows and columns made later from this result must not include.
  const fills = { ...position.fills }
  const stretches = emptyStretches(fills)
  const walk = new EquityWalk(bars, fills, pointValue, initialCapital, rates, stretches).to(bars.length - 1)
  const curve = new EquityCurve(bars, fills, pointValue, initialCapital, rates)
  const context = { bars, pointValue, initialCapital, rates, fills, stretches }
  const trades = tradeTable(context, position.closed, position.open)
  const { all, long, short } = reportColumns(trades, fills, {
    initialCapital,
    held: {
      all: position.heldAll / UNIT,
      long: position.heldLong / UNIT,
      short: position.heldShort / UNIT,
    },
  })
  const { months, returns, period } = returnsOf(bars, trades, initialCapital)
  const steps = closeToClose(trades, initialCapital)
  const final = initialCapital + all.netProfit + all.openProfit
  const first = firstOf(trades, fills)
  const buyHold = first && buyAndHold(initialCapital, first.price, bars.close[bars.length - 1]!)
  const equity: ReportEquity = {
    final,
    netProfit: all.netProfit,
    openProfit: all.openProfit,
    maxDrawdown: walk.drawdownMax,
    maxDrawdownPct: walk.drawdownMaxFraction,
    maxRunup: walk.runupMax,
    maxRunupPct: walk.runupMaxFraction,
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
    returnOverDrawdown: walk.drawdownMax > 0 ? all.netProfit / walk.drawdownMax : null,
    timeInMarketPct: bars.length === 0 ? 0 : walk.barsHeld / bars.length,
    months: lists ? reportMonths(months, initialCapital) : [],
    drawdowns: trades.count === 0 || !lists ? [] : drawdownPeriods(bars, curve),
  }
  return {
    figures: { initialCapital, summary: reportSummary(all, equity), all, long, short, equity },
    trades: () => tradeRows(context, trades),
    orders: () => orderRows(fills, bars),
    tradeColumns: () => tradeColumns(context, trades),
    orderColumns: () => orderColumns(fills, bars),
    closed: () =>
      Array.from({ length: trades.closed }, (_, k) => ({
        profit: trades.profit[k]!,
        commission: trades.commission[k]!,
        size: trades.quantity[k]!,
        exitBar: trades.exitBar[k]!,
      })),
    columns: equityColumns(bars, fills, pointValue, initialCapital, rates),
    readEquity: (into) =>
      new EquityCurve(bars, fills, pointValue, initialCapital, rates).read(0, bars.length, into),
    first,
  }
}

function firstOf({ count, entry, entryBar }: TradeTable, fills: Fills): Results['first'] {
  if (count === 0) return null
  let first = 0
  for (let k = 1; k < count; k++) if (entryBar[k]! < entryBar[first]!) first = k
  return { bar: entryBar[first]!, price: fills.price[entry[first]!]! }
}
