// What a portfolio came to: figures of the whole and of its parts, and how much each part did for profit and for risk.
//
// What a part has earned by a moment is its equity less the capital, which all have in common; before its first bar that is 0.
// Equity of the whole is the capital and what all parts have earned, so parts add up to it at every moment.

import type { PortfolioResult } from '../wire/portfolio.ts'
import { annualGrowth } from './report/growth.ts'
import type { Results } from './report/build.ts'
import { daysOf, monthsOf, periodReturns, reportMonths } from './report/months.ts'
import { riskRatios } from './report/sharpe.ts'
import type { Backtest } from './backtest.ts'
import { words } from '../lib/words.ts'

export interface PartRun {
  readonly backtest: Backtest
  /** When each of its bars is over. */
  readonly closes: Float64Array
}

type Whole = PortfolioResult['whole']
/** What the parts' results add up to. */
export const MONEY_FIGURES = words(
  'netProfit openProfit grossProfit grossLoss commissionPaid profitFactor trades winningTrades',
  'losingTrades winRate marginCalls',
)
type Money = Pick<Whole, (typeof MONEY_FIGURES)[number]>

const DAY = 86_400_000
const POINTS_MAX = 1000
/** Moments between which changes are measured where days are too few. */
const MOMENTS_MAX = 20_000
const DAYS_MIN = 30
/** As for a report. */
const MONTHS_MIN = 3

export function figuresOf(runs: readonly PartRun[], capital: number, currency: string): PortfolioResult {
  const parts = runs.map((run) => ({ ...run, results: run.backtest.results() }))
  const money = parts.map(({ results }) => moneyOf(results))
  const total = summed(money)
  const time = parts.flatMap(({ backtest: { bars } }) =>
    bars.length === 0 ? [] : [{ from: bars.time[0]!, to: bars.time[bars.length - 1]! }],
  )
  const from = time.length === 0 ? null : Math.min(...time.map((one) => one.from))
  const to = time.length === 0 ? null : Math.max(...time.map((one) => one.to))
  const course = courseOf(parts, capital)
  const realised = realisedOf(parts, from, to)
  const months = monthsOf(realised.bars, realised.trades)
  const monthly = months.length >= MONTHS_MIN
  const returns = periodReturns(
    monthly ? months : daysOf(realised.bars, realised.trades),
    capital,
    total.openProfit,
  )
  const riskFree = parts[0]?.backtest.broker.settings.riskFreeRate ?? 0
  const { sharpe, sortino } = riskRatios(
    total.trades === 0 ? [] : returns,
    riskFree,
    monthly ? 'month' : 'day',
  )
  const final = capital + total.netProfit + total.openProfit
  const changes = course.changes.by
  const all = changes[0]?.map((_, t) => changes.reduce((sum, one) => sum + one[t]!, 0)) ?? []
  const earned = total.netProfit + total.openProfit
  const spreads = changes.map(spreadOf)
  const spreadOfAll = spreadOf(all)
  return {
    capital,
    currency,
    range: { from, to, bars: course.moments },
    whole: {
      ...total,
      final,
      netProfitPct: total.netProfit / capital,
      maxDrawdown: course.drawdown,
      maxDrawdownPct: course.drawdownPct,
      sharpe,
      sortino,
      cagr:
        total.trades === 0 || from === null || to === null ? null : annualGrowth(capital, final, from, to),
      marginPeakPct: course.marginPeak,
    },
    parts: money.map((one, i) => ({
      ...one,
      maxDrawdown: course.drawdowns[i]!,
      contribution: earned === 0 ? null : (one.netProfit + one.openProfit) / earned,
      risk: spreadOfAll.variance > 0 ? covariance(spreads[i]!, spreadOfAll) / spreadOfAll.variance : null,
      correlation: correlation(spreads[i]!, spreadOf(all.map((sum, t) => sum - changes[i]![t]!))),
    })),
    correlation: correlations(spreads),
    period: course.changes.period,
    months: reportMonths(months, capital),
    curve: course.curve,
  }
}

function moneyOf({ figures: { all } }: Results): Money {
  return {
    netProfit: all.netProfit,
    openProfit: all.openProfit,
    grossProfit: all.grossProfit,
    grossLoss: all.grossLoss,
    commissionPaid: all.commissionPaid,
    profitFactor: all.profitFactor,
    trades: all.trades,
    winningTrades: all.winningTrades,
    losingTrades: all.losingTrades,
    winRate: all.winRate,
    marginCalls: all.marginCalls,
  }
}

function summed(parts: readonly Money[]): Money {
  const sum = (of: (part: Money) => number) => parts.reduce((total, part) => total + of(part), 0)
  const grossProfit = sum((part) => part.grossProfit)
  const grossLoss = sum((part) => part.grossLoss)
  const trades = sum((part) => part.trades)
  const winningTrades = sum((part) => part.winningTrades)
  return {
    netProfit: sum((part) => part.netProfit),
    openProfit: sum((part) => part.openProfit),
    grossProfit,
    grossLoss,
    commissionPaid: sum((part) => part.commissionPaid),
    profitFactor: grossLoss === 0 ? null : grossProfit / grossLoss,
    trades,
    winningTrades,
    losingTrades: sum((part) => part.losingTrades),
    winRate: trades === 0 ? null : winningTrades / trades,
    marginCalls: sum((part) => part.marginCalls),
  }
}

/** All closed trades, as if they had been made over bars that open where a trade ends. */
function realisedOf(parts: readonly MeasuredPart[], from: number | null, to: number | null) {
  const rows = parts
    .flatMap(({ backtest: { bars }, results }) =>
      results.closed().map(({ profit, exitBar }) => ({ profit, time: bars.time[exitBar]! })),
    )
    .sort((a, b) => a.time - b.time)
  const time = from === null || to === null ? [] : [from, ...rows.map((row) => row.time), to]
  return {
    bars: { time: new Float64Array(time), length: time.length },
    trades: {
      profit: new Float64Array(rows.map(({ profit }) => profit)),
      exitBar: new Int32Array(rows.map((_, row) => row + 1)),
      closed: rows.length,
    },
  }
}

interface MeasuredPart extends PartRun {
  readonly results: Results
}

interface Course {
  /** Different times at which bars close. */
  readonly moments: number
  readonly drawdown: number
  readonly drawdownPct: number
  readonly drawdowns: readonly number[]
  readonly marginPeak: number
  readonly changes: { readonly period: 'day' | 'bar'; readonly by: readonly (readonly number[])[] }
  readonly curve: PortfolioResult['curve']
}

function courseOf(parts: readonly MeasuredPart[], capital: number): Course {
  let moments = 0
  let days = 0
  let day = NaN
  eachMoment(parts, (time) => {
    moments++
    if (dayOf(time) !== day) days++
    day = dayOf(time)
  })
  const period = days >= DAYS_MIN ? 'day' : 'bar'
  const curve = { time: [] as number[], equity: [] as number[], parts: parts.map(() => [] as number[]) }
  const stops: number[][] = parts.map(() => [])
  const [drawn, measured] = [Math.ceil(moments / POINTS_MAX), Math.ceil(moments / MOMENTS_MAX)]
  const whole = new Fall(capital)
  const falls = parts.map(() => new Fall(0))
  let [moment, marginPeak] = [0, 0]
  const last: number[] = []
  day = NaN
  const stop = (earned: readonly number[]) => {
    for (const [i, value] of earned.entries()) stops[i]!.push(value)
  }
  eachMoment(parts, (time, earned, margin) => {
    moment++
    let equity = capital
    for (let i = 0; i < earned.length; i++) {
      equity += earned[i]!
      falls[i]!.to(earned[i]!)
    }
    whole.to(equity)
    if (margin > 0 && equity > 0) marginPeak = Math.max(marginPeak, margin / equity)
    if (period === 'bar' && (moment % measured === 0 || moment === moments)) stop(earned)
    if (period === 'day' && dayOf(time) !== day && !Number.isNaN(day)) stop(last)
    day = dayOf(time)
    for (let i = 0; i < earned.length; i++) last[i] = earned[i]!
    if (moment % drawn !== 0 && moment !== moments) return
    curve.time.push(time)
    curve.equity.push(equity)
    for (const [i, value] of earned.entries()) curve.parts[i]!.push(value)
  })
  if (period === 'day') stop(last)
  return {
    moments,
    drawdown: whole.most,
    drawdownPct: whole.mostPct,
    drawdowns: falls.map(({ most }) => most),
    marginPeak,
    changes: { period, by: stops.map((values) => values.map((value, t) => value - (values[t - 1] ?? 0))) },
    curve,
  }
}

/** A bar that ends at midnight belongs to the day that ends there. */
const dayOf = (close: number) => Math.floor((close - 1) / DAY)

/** The deepest fall from a peak. */
class Fall {
  most = 0
  mostPct = 0
  #peak: number

  constructor(start: number) {
    this.#peak = start
  }

  to(value: number): void {
    if (value > this.#peak) this.#peak = value
    const fall = this.#peak - value
    if (fall > this.most) this.most = fall
    if (this.#peak > 0 && fall / this.#peak > this.mostPct) this.mostPct = fall / this.#peak
  }
}

/** At each time at which bars close: what each part has earned by then, and the margin that all have bound. */
function eachMoment(
  parts: readonly MeasuredPart[],
  visit: (time: number, earned: number[], margin: number) => void,
): void {
  const next = parts.map(() => 0)
  const earned = parts.map(() => 0)
  const margins = parts.map(() => 0)
  const columns = parts.map(({ results }) => results.columns.equity)
  const capitals = parts.map(({ results }) => results.figures.initialCapital)
  for (;;) {
    let time = Infinity
    for (let i = 0; i < parts.length; i++) time = Math.min(time, parts[i]!.closes[next[i]!] ?? Infinity)
    if (time === Infinity) return
    let margin = 0
    for (let i = 0; i < parts.length; i++) {
      const { closes, results, backtest } = parts[i]!
      if (closes[next[i]!] === time) {
        while (closes[next[i]!] === time) next[i]!++
        const bar = next[i]! - 1
        earned[i] = columns[i]![bar]! - capitals[i]!
        margins[i] = marginAt(backtest, results, bar)
      }
      margin += margins[i]!
    }
    visit(time, earned, margin)
  }
}

function marginAt({ broker, bars }: Backtest, { columns }: Results, bar: number): number {
  const size = columns.position[bar]!
  if (size === 0) return 0
  const { account } = broker
  const rate = account.rates?.[bar] ?? 1
  return Math.abs(size) * bars.close[bar]! * account.pointValue * rate * account.margin(size > 0 ? 1 : -1)
}

/** Values with what every covariance of them needs: worked out for each pair, it was most of the time of ten parts. */
interface Spread {
  readonly values: readonly number[]
  readonly mean: number
  readonly variance: number
}

function spreadOf(values: readonly number[]): Spread {
  const alone = { values, mean: mean(values), variance: 0 }
  return { ...alone, variance: covariance(alone, alone) }
}

function covariance(a: Spread, b: Spread): number {
  const { length } = a.values
  let sum = 0
  for (let t = 0; t < length; t++) sum += (a.values[t]! - a.mean) * (b.values[t]! - b.mean)
  return length === 0 ? 0 : sum / length
}

function correlation(a: Spread, b: Spread): number | null {
  const spread = Math.sqrt(a.variance * b.variance)
  return spread > 0 ? Math.max(-1, Math.min(1, covariance(a, b) / spread)) : null
}

/** Of each with each, both ways round. */
function correlations(spreads: readonly Spread[]): (number | null)[][] {
  const found: (number | null)[][] = spreads.map(() => [])
  for (const [i, one] of spreads.entries())
    for (let other = i; other < spreads.length; other++)
      found[i]![other] = found[other]![i] = correlation(one, spreads[other]!)
  return found
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
