// Figures that the overview computes from a report: returns by year, profit by weekday and month, the best and worst
// trades, curves.

import type { Report, ReportTrade } from '../../wire/report.ts'
import { offsetsOf } from '../chart/zone.ts'
import { words } from '../../lib/words.ts'

export type Curve = readonly (number | null)[]

export type YearRow = ReturnType<typeof yearsOf>[number]

/** Years with the returns of their twelve months as fractions, undefined outside the range, and what these compound to. */
export function yearsOf(months: Report['equity']['months']) {
  const years = new Map<number, (number | undefined)[]>()
  for (const { month, profitPct } of months) {
    const year = Number(month.slice(0, 4))
    let row = years.get(year)
    if (!row) years.set(year, (row = Array.from({ length: 12 })))
    row[Number(month.slice(5, 7)) - 1] = profitPct
  }
  return [...years].map(([year, row]) => ({
    year,
    months: row,
    total: row.reduce((grown: number, month) => grown * (1 + (month ?? 0)), 1) - 1,
  }))
}

export type Slice = ReturnType<typeof slices>[number]

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
export const MONTHS = words('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec')

/** Closed trades by the weekday they were entered on; days without any are left out. */
export function byWeekday(trades: readonly ReportTrade[], zone: string): readonly Slice[] {
  const offsetAt = offsetsOf(zone)
  const day = ({ entryTime }: ReportTrade) => (new Date(entryTime + offsetAt(entryTime)).getUTCDay() + 6) % 7
  return slices(trades, WEEKDAYS, day).filter((slice) => slice.trades > 0)
}

/** Closed trades by the month they were closed in. */
export function byMonth(trades: readonly ReportTrade[], zone: string): readonly Slice[] {
  const offsetAt = offsetsOf(zone)
  return slices(trades, MONTHS, ({ exitTime }) => new Date(exitTime + offsetAt(exitTime)).getUTCMonth())
}

function slices(trades: readonly ReportTrade[], labels: readonly string[], at: (of: ReportTrade) => number) {
  const made = labels.map((label) => ({ label, profit: 0, trades: 0, wins: 0 }))
  for (const trade of trades) {
    if (trade.status === 'open') continue
    const slice = made[at(trade)]
    if (!slice) continue
    slice.profit += trade.profit
    slice.trades++
    if (trade.profit > 0) slice.wins++
  }
  return made
}

/** The `count` best and worst closed trades, the most extreme first. */
export function extremes(trades: readonly ReportTrade[], count: number) {
  const closed = trades.filter(({ status }) => status === 'closed').sort((a, b) => b.profit - a.profit)
  return {
    best: closed.slice(0, count).filter(({ profit }) => profit > 0),
    worst: closed
      .toReversed()
      .slice(0, count)
      .filter(({ profit }) => profit < 0),
  }
}

export type Fall = ReturnType<typeof fallOf>

/**
 * How far a curve fell at most below its highest point before, of money and as a share of that point. This is what the graph of
 * equity shows, at closes and with open trades. TradingView's figure counts from the most that closed trades had brought, so that a
 * profit which was never realised can be lost without a drawdown (`EquityWalk`).
 */
export function fallOf(equity: Curve, drawdown: Curve) {
  let [curveFall, curveFallPct] = [0, 0]
  for (const [i, value] of drawdown.entries()) {
    curveFall = Math.max(curveFall, -(value ?? 0))
    curveFallPct = Math.max(curveFallPct, -(shareOf(equity, drawdown, i) ?? 0))
  }
  return { curveFall, curveFallPct }
}

/** A drawdown as a share of the peak that it is below, ≤ 0. */
export function shareOf(equity: Curve, drawdown: Curve, i: number): number | null {
  const [now, below] = [equity[i] ?? null, drawdown[i] ?? null]
  return now === null || below === null || now <= below ? null : below / (now - below)
}

/** The longest drawdown, whether it has recovered or not; null = there was none. */
export function longestUnderWater(report: Report): { readonly bars: number; readonly ms: number } | null {
  let longest: { bars: number; ms: number } | null = null
  for (const { start, end, bars } of report.equity.drawdowns) {
    const ms = (end ?? report.range.to ?? start) - start
    if (!longest || bars > longest.bars) longest = { bars, ms }
  }
  return longest
}

/** A span of time in a unit that suits it: 12 days, 5 months, 2.3 years. */
export function spanText(ms: number): string {
  const days = ms / 86_400_000
  if (days < 1) return `${(days * 24).toFixed(1)} hours`
  if (days < 60) return `${Math.round(days)} days`
  if (days < 700) return `${Math.round(days / 30.44)} months`
  return `${(days / 365.25).toFixed(1)} years`
}

/**
 * The lowest and highest value of the points that fall into each of `width` columns of pixels, so that no spike is
 * lost, however many points there are.
 */
export function envelope(data: Curve, width: number) {
  const columns = Math.max(1, Math.min(width, data.length))
  const low = new Float64Array(columns).fill(Number.NaN)
  const [high, last] = [low.slice(), low.slice()]
  for (let i = 0; i < data.length; i++) {
    const value = data[i]
    if (value === null || value === undefined) continue
    const column = Math.min(columns - 1, Math.floor((i * columns) / data.length))
    if (!(low[column]! <= value)) low[column] = value
    if (!(high[column]! >= value)) high[column] = value
    last[column] = value
  }
  return { low, high, last }
}

/**
 * The corners of a curve that is so wide. With more points than pixels, it passes through the lowest and highest value of each
 * column; of one value, as a replay has at its first bar, it is level.
 */
export function* lineThrough(data: Curve, width: number): Generator<readonly [x: number, value: number]> {
  const { low, high, last } = envelope(data, width * 2)
  const count = low.length
  for (let i = 0; i < count; i++) {
    const value = last[i]!
    if (Number.isNaN(value)) continue
    const x = count < 2 ? 0 : (i / (count - 1)) * width
    if (low[i] !== high[i]) {
      yield [x, high[i]!]
      yield [x, low[i]!]
    }
    yield [x, value]
    if (count < 2) yield [width, value]
  }
}
