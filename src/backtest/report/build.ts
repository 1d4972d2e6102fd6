// The report: a pure function of a broker's fills and trades, the bars and the script's facts.

import type { Bars } from '../../market/bars.ts'
import type { BrokerEmulator } from '../broker/broker.ts'
import { UNIT } from '../broker/numbers.ts'
import { EquityCurve, EquityWalk, emptyStretches } from '../equity.ts'
import { reportColumns } from './columns.ts'
import { closeToClose, drawdownPeriods } from './drawdowns.ts'
import { annualGrowth, buyAndHold } from './growth.ts'
import { daysBetween, monthsBetween, periodReturns, reportMonths } from './months.ts'
import type { Report, ReportEquity } from './report.ts'
import { riskRatios } from './sharpe.ts'
import { reportSummary } from './summary.ts'
import { reportTrades } from './trades.ts'

/** A range shorter than this is judged by daily returns. */
const MONTHS_FOR_MONTHLY = 3

export type Results = Pick<
  Report,
  'initialCapital' | 'summary' | 'all' | 'long' | 'short' | 'equity' | 'trades' | 'orders'
>

export function buildResults(
  broker: BrokerEmulator,
  bars: Bars,
  pointValue: number,
  rates: Float64Array | null,
): Results {
  const { settings, position } = broker
  const { initialCapital } = settings
  const stretches = emptyStretches(position.ledger)
  const walk = new EquityWalk(bars, position.ledger, pointValue, initialCapital, rates, stretches).to(
    bars.length - 1,
  )
  const curve = new EquityCurve(bars, position.ledger, pointValue, initialCapital, rates)
  const context = { bars, pointValue, initialCapital, rates, stretches }
  const trades = reportTrades(context, position.closed, position.open)
  const { all, long, short } = reportColumns(trades, {
    initialCapital,
    held: {
      all: position.heldAll / UNIT,
      long: position.heldLong / UNIT,
      short: position.heldShort / UNIT,
    },
  })
  const from = bars.time[0] ?? 0
  const to = bars.time[bars.length - 1] ?? 0
  const months = bars.length === 0 ? [] : monthsBetween(from, to, trades)
  const monthly = months.length >= MONTHS_FOR_MONTHLY
  const returns = monthly
    ? periodReturns(months, initialCapital)
    : periodReturns(bars.length === 0 ? [] : daysBetween(from, to, trades), initialCapital)
  const steps = closeToClose(trades, initialCapital)
  const final = initialCapital + all.netProfit + all.openProfit
  const first = trades.length === 0 ? null : trades.reduce((a, b) => (b.entryBar < a.entryBar ? b : a))
  const buyHold = first && buyAndHold(initialCapital, first.entryPrice, bars.close[bars.length - 1]!)
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
    ...riskRatios(trades.length === 0 ? [] : returns, settings.riskFreeRate, monthly ? 'month' : 'day'),
    cagr: trades.length === 0 ? null : annualGrowth(initialCapital, final, from, to),
    buyHold,
    buyHoldPct: buyHold === null ? null : buyHold / initialCapital,
    returnOverDrawdown: walk.drawdownMax > 0 ? all.netProfit / walk.drawdownMax : null,
    timeInMarketPct: bars.length === 0 ? 0 : walk.barsHeld / bars.length,
    months: reportMonths(months, initialCapital),
    drawdowns: trades.length === 0 ? [] : drawdownPeriods(bars, curve),
  }
  return {
    initialCapital,
    summary: reportSummary(all, equity),
    all,
    long,
    short,
    equity,
    trades,
    orders: position.fills.slice(),
  }
}
