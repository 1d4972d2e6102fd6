// One case of parity: what is run, and how its result is compared with TradingView's numbers.

import type { BacktestRequest } from '../../broker/backtest.ts'
import { openBacktest } from '../../broker/run.ts'
import { Problem } from '../../lib/problem.ts'
import type { Bars } from '../../market/bars.ts'
import { calendarOf } from '../../market/calendar.ts'
import { normalizeInterval, parseInterval } from '../../market/interval.ts'
import { resample } from '../../market/resample.ts'
import type { SymbolType } from '../../lib/symbol-type.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { DEFAULT_LIMITS } from '../../language/runtime/limits.ts'
import type { ReportTrade } from '../../wire/report.ts'
import type { ListRow } from './files.ts'

export interface ParityCase {
  readonly suite: string
  readonly id: string
  readonly request: BacktestRequest
  /** Compares the run with what is expected. */
  check(ran: Ran): CaseVerdict
  /** For a script that does not compile, or ends: `told` is what it says. Without it, that is a failure. */
  failed?(problem: Problem, told: string): CaseVerdict
}

export interface Ran {
  readonly trades: readonly ReportTrade[]
  readonly logs: readonly string[]
  readonly plots: ReadonlyMap<string, Float64Array>
  readonly positions: readonly number[]
}

export interface CaseVerdict {
  readonly exact: number
  readonly total: number
  /** The first divergence in words; null = there is none. */
  readonly first: string | null
  /** Why it cannot be otherwise on this machine. */
  readonly reason?: string
}

export interface ParityResult extends CaseVerdict {
  readonly suite: string
  readonly id: string
  readonly ms: number
}

export function runCase(one: ParityCase): ParityResult {
  const started = performance.now()
  const verdict = attempt(one)
  return { suite: one.suite, id: one.id, ...verdict, ms: performance.now() - started }
}

function attempt(one: ParityCase): CaseVerdict {
  try {
    const backtest = openBacktest(one.request)
    const positions: number[] = []
    if (one.suite === 'micro' || one.id === 'slippage_pyramiding')
      for (let bar = 0; bar < backtest.bars.length; bar++) {
        backtest.advance(bar + 1)
        positions.push(backtest.broker.account.positionSize)
      }
    else backtest.advance(backtest.bars.length)
    const { report } = backtest.result()
    const plots = new Map<string, Float64Array>()
    for (const plot of backtest.run.plots) {
      const column = plot.columns['series'] ?? Object.values(plot.columns)[0]
      if (column) plots.set(plot.title, column)
    }
    const logs = backtest.run.logs.map(({ message }) => message)
    return one.check({ trades: report.trades, logs, plots, positions })
  } catch (error) {
    if (error instanceof Problem && one.failed) return one.failed(error, failure(error))
    return { exact: 0, total: 1, first: failure(error) }
  }
}

function failure(error: unknown): string {
  if (error instanceof Problem) {
    const diagnostics = (error.details.diagnostics ?? []) as { line: number; code: string; message: string }[]
    const found = diagnostics.slice(0, 3).map((one) => `line ${one.line} ${one.code}: ${one.message}`)
    return [`${error.code}: ${error.message}`, ...found].join(' | ')
  }
  return error instanceof Error
    ? (error.stack ?? error.message).split('\n').slice(0, 4).join(' ')
    : String(error)
}

/** The names are those of exports of Pine. */
export interface SymbolFacts {
  readonly symbol?: string
  readonly prefix?: string
  readonly ticker?: string
  readonly type?: string
  readonly currency?: string
  readonly basecurrency?: string
  readonly mintick?: number
  readonly pricescale?: number
  readonly minmove?: number
  readonly pointvalue?: number
  readonly mincontract?: number
  readonly timezone?: string
  readonly session?: string
  readonly interval?: string
  readonly period?: string
  readonly volumetype?: string
}

export function symbolOf(facts: SymbolFacts): SymbolInfo {
  const [prefix = '', ticker = ''] = (
    facts.symbol ?? `${facts.prefix ?? 'TEST'}:${facts.ticker ?? 'TEST'}`
  ).split(':')
  const mintick = facts.mintick ?? 0.01
  const minMove = facts.minmove ?? 1
  const session = facts.session ?? '24x7'
  return {
    exchange: facts.prefix ?? prefix,
    symbol: facts.ticker ?? ticker.split(' ')[0] ?? '',
    description: '',
    type: (facts.type ?? 'crypto') as SymbolType,
    currency: facts.currency ?? 'USD',
    baseCurrency: facts.basecurrency ?? '',
    mintick,
    priceScale: facts.pricescale ?? Math.round(minMove / mintick),
    minMove,
    pointValue: facts.pointvalue ?? 1,
    minQuantity: facts.mincontract ?? 1,
    timezone: facts.timezone ?? 'Etc/UTC',
    session: /1700|17:00/.test(session) && /Sun/.test(session) ? '1700-1700:23456' : session,
    volumeType: facts.volumetype ?? 'base',
  }
}

export function requestFor(
  source: string,
  bars: Bars,
  symbol: SymbolInfo,
  timeframe: string,
  minutes: Bars | null = null,
): BacktestRequest {
  const interval = normalizeInterval(timeframe) ?? timeframe
  return {
    source,
    inputs: {},
    bars,
    symbol,
    interval,
    limits: { ...DEFAULT_LIMITS, timeMs: 600_000 },
    finer: minutes && { bars: minutes, interval: '1m' },
    series: seriesFrom(bars, symbol, interval, minutes),
  }
}

/** Builds coarser bars of the same symbol from the chart's; beside them there are at most those of a minute. */
function seriesFrom(
  bars: Bars,
  symbol: SymbolInfo,
  interval: string,
  minutes: Bars | null,
): BacktestRequest['series'] {
  const built = new Map<string, Bars>()
  return (exchange, name, wanted) => {
    if (name !== symbol.symbol || (exchange !== '' && exchange !== symbol.exchange)) return null
    if (wanted === interval) return { bars, symbol, interval }
    if (wanted === '1m' && minutes) return { bars: minutes, symbol, interval: wanted }
    const [from, to] = [parseInterval(interval), parseInterval(wanted)]
    if (!from || !to) return null
    let coarse = built.get(wanted)
    if (!coarse) {
      try {
        coarse = resample(bars, from, to, calendarOf(symbol))
      } catch {
        return null
      }
      built.set(wanted, coarse)
    }
    return { bars: coarse, symbol, interval: wanted }
  }
}

/** How close a column has to be; default: 1e-8, absolute and relative. */
export interface ColumnSpec {
  readonly tolerance?: { readonly rel?: number; readonly abs?: number }
}

/** Checks columns with one value a bar, by the title of the plot that shows them. */
export function checkColumns(
  columns: Readonly<Record<string, ColumnSpec>>,
  rows: readonly ListRow[],
  plots: ReadonlyMap<string, Float64Array>,
): CaseVerdict {
  let exact = 0
  let total = 0
  let first: string | null = null
  for (const [name, { tolerance }] of Object.entries(columns)) {
    const column = plots.get(name)
    for (const [bar, row] of rows.entries()) {
      const text = row[name]
      if (text === undefined) continue
      total++
      const want = text === 'na' || text === '' || text === 'NaN' ? NaN : Number(text)
      const got = column?.[bar] ?? NaN
      const slack = Math.max(tolerance?.abs ?? 1e-8, (tolerance?.rel ?? 1e-8) * Math.abs(want))
      if (Number.isNaN(want) ? Number.isNaN(got) : Math.abs(want - got) <= slack) exact++
      else first ??= `${name} on bar ${bar}: ${text} expected, ${got} found`
    }
  }
  return { exact, total, first }
}
