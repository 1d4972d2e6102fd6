// The engine for programs: what the npm package `chartroom` offers, and nothing else. It is the compiler and the broker of the
// server without a server: no file, no network, no clock beyond the limit of time, and the same report byte by byte.
//
//     const market = await barsFromCsv(text, { symbol: 'NASDAQ:AAPL' })
//     const { report } = run(source, market, { inputs: { Length: 20 } })

import type { BacktestRequest } from '../broker/backtest.ts'
import { CompiledScripts } from '../broker/compiled-scripts.ts'
import { runBacktest, wireDiagnostic } from '../broker/run.ts'
import { memoOf } from '../lib/memo.ts'
import { Problem } from '../lib/problem.ts'
import { askedDay } from '../language/behaviour.ts'
import { compile as compiled, inputViews } from '../language/compile.ts'
import { DEFAULT_LIMITS } from '../language/runtime/limits.ts'
import { Source } from '../language/source.ts'
import type { BarRow } from '../market/bars.ts'
import { zoneOf } from '../market/zone.ts'
import type { Report } from '../wire/report.ts'
import type { Diagnostic, Input } from '../wire/script.ts'
import type { Track } from '../wire/track.ts'
import { tradeListCsv } from '../wire/trade-list.ts'
import * as given from './given.ts'
import {
  type CsvFile,
  type CsvOptions,
  type Market,
  marketOfFile,
  type MarketOptions,
  marketOfRows,
  seriesOf,
} from './market.ts'
import { type SweepPlan, type SweepResult, swept } from './sweep.ts'

export { Problem }

/** What a script says of itself, and all that is wrong with it. */
export interface Checked {
  /** Whether it compiles. Warnings do not keep a script from running. */
  readonly ok: boolean
  /** `draft` where it does not compile. */
  readonly kind: 'strategy' | 'indicator' | 'library' | 'draft'
  /** The version of Pine; null where it does not compile. */
  readonly pineVersion: number | null
  readonly inputs: readonly Input[]
  /** Errors and warnings in the order of the text, lines and columns from 1. */
  readonly diagnostics: readonly Diagnostic[]
}

/** A script that compiles: compiled once, run as often as you like. */
export interface Script extends Checked {
  readonly source: string
}

/** Sources of the libraries that a script imports, by the path that it imports: `user/library/1`. TradingView's own are built in. */
export type Libraries = Readonly<Record<string, string>>

/** What a run takes beside a script and its bars. All of it may be left out. */
export interface RunOptions {
  /** Values of inputs by title or by the name of the variable. */
  readonly inputs?: Readonly<Record<string, unknown>>
  /** Arguments of strategy() instead of the script's: `{ initial_capital: 50000, commission_value: 0.1 }`. */
  readonly overrides?: Readonly<Record<string, number | string | boolean>>
  /** The day of whose TradingView it is, `2026-09-01`; the newest that is known if not given. */
  readonly asOf?: string
  readonly libraries?: Libraries
  /** Other markets that request.security() finds. Coarser intervals of all markets are built. */
  readonly others?: readonly Market[]
  /** Finer bars of the same symbol, for the bar magnifier and request.security_lower_tf(). */
  readonly finer?: Market
  /** The longest that it may take, in milliseconds; 60,000 if not given. A script without an end is stopped then. */
  readonly timeMs?: number
  /** Told now and then how many bars are done. Throw in it to stop. */
  readonly progress?: (bar: number) => void
}

/** What came of a run. */
export interface Run {
  /** All figures, trades, orders and the equity. */
  readonly report: Report
  /** What the script draws on a chart, and its orders and equity. Made when it is first read. */
  readonly tracks: readonly Track[]
  /** The report as JSON: the bytes that a server stores of the same run, but for `timings`. */
  reportJson(): string
  /** The list of trades in the columns of TradingView's export, on the clock of the exchange. */
  tradesCsv(): string
}

/**
 * Checks a script without running it. No text makes it throw: what is wrong is in `diagnostics`, with line, column and mostly a hint.
 *
 * @example check('//@version=6\nindicator("x")\nplot(clse)').diagnostics[0].message
 */
export function check(source: string, options: { readonly libraries?: Libraries } = {}): Checked {
  given.text(source, 'script')
  given.named(options, 'options', ['libraries'])
  const { script, diagnostics } = compiled(source, { library: libraryIn(options.libraries) })
  const text = new Source(source)
  return {
    ok: script !== null,
    kind: script?.program.declaration.kind ?? 'draft',
    pineVersion: script?.program.version ?? null,
    inputs: script ? inputViews(script.program) : [],
    diagnostics: diagnostics.map((one) => wireDiagnostic(one, text)),
  }
}

/**
 * A script to be run more than once. Throws Problem `script_invalid`, with all errors in `details.diagnostics`, where it does not
 * compile.
 */
export function compile(source: string, options: { readonly libraries?: Libraries } = {}): Script {
  const checked = check(source, options)
  if (!checked.ok)
    throw new Problem(422, 'script_invalid', 'The script does not compile.', {
      diagnostics: checked.diagnostics,
    })
  return { ...checked, source }
}

/** Of a script that somebody holds. */
const compiledScriptsOf = memoOf((_script: Script) => new CompiledScripts())

/**
 * Reads bars from the text or the bytes of a CSV file, as TradingView, Binance, MetaTrader, Yahoo and many others write it, or of
 * JSON. Columns, dates and zone are found out by the content. Throws Problem that names the wrong rows.
 */
export function barsFromCsv(file: CsvFile, options: CsvOptions = {}): Promise<Market> {
  return marketOfFile(file, options)
}

/** Bars from rows of `[time in UTC ms, open, high, low, close, volume]`, sorted by time. Throws Problem that names the wrong row. */
export function barsFromRows(rows: readonly BarRow[], options: MarketOptions = {}): Market {
  return marketOfRows(rows, options)
}

/**
 * Runs a strategy or an indicator over all bars of a market.
 *
 * Throws Problem: `script_invalid` (with `details.diagnostics`), `script_runtime_error` (with the line), `script_limit_exceeded` for
 * one that takes too long or too much, `validation_failed` for an input or a setting that it does not take.
 */
export function run(script: string | Script, market: Market, options: RunOptions = {}): Run {
  const result = runBacktest({ ...requestOf(script, market, options), isNew: true })
  const { symbol } = market
  return {
    report: result.report,
    get tracks() {
      return result.tracks
    },
    reportJson: () => [...result.reportTexts()].join(''),
    tradesCsv: () =>
      tradeListCsv(result.report, {
        offsetAt: (time) => zoneOf(symbol.timezone)?.offsetAt(time) ?? 0,
        prices: symbol.currency,
      }),
  }
}

/** The report alone of `run`. */
export function report(script: string | Script, market: Market, options: RunOptions = {}): Report {
  return run(script, market, options).report
}

/**
 * Runs a strategy with many choices of its inputs, and says how much of the best is luck. The same seed tries the same, here and
 * on a server. It works on the caller's thread until all is tried: take a worker for long ones.
 *
 * Throws Problem for what cannot be varied or wanted, and as `run` does.
 */
export function sweep(
  script: string | Script,
  market: Market,
  plan: SweepPlan,
  options: RunOptions = {},
): Promise<SweepResult> {
  return swept(requestOf(script, market, options), plan)
}

function requestOf(script: string | Script, market: Market, options: RunOptions): BacktestRequest {
  optionsGiven(script, market, options)
  const { inputs = {}, overrides = {}, asOf, libraries, others = [], finer, timeMs, progress } = options
  const source = typeof script === 'string' ? script : script.source
  const scripts = typeof script === 'string' ? undefined : compiledScriptsOf(script)
  return {
    source,
    inputs,
    overrides,
    // A day that is not known yet is the newest one.
    asOf: askedDay(asOf, Infinity),
    bars: market.bars,
    symbol: market.symbol,
    interval: market.interval,
    finer: finer ?? null,
    series: seriesOf([market, ...(finer ? [finer] : []), ...others]),
    library: libraryIn(libraries),
    limits: { ...DEFAULT_LIMITS, ...(timeMs !== undefined && { timeMs }) },
    now: () => performance.now(),
    ...(scripts && { scripts }),
    ...(progress && { progress }),
  }
}

const OPTIONS = given.fieldsOf<RunOptions>({
  inputs: true,
  overrides: true,
  asOf: true,
  libraries: true,
  others: true,
  finer: true,
  timeMs: true,
  progress: true,
})

/** Throws Problem for what is no script, no market or no option. */
function optionsGiven(script: string | Script, market: Market, options: RunOptions): void {
  if (typeof script !== 'string' && typeof (script as Script | null | undefined)?.source !== 'string')
    throw given.wrong('script', 'a text, or what compile() answers')
  given.market(market, 'market')
  given.named(options, 'options', OPTIONS)
  const { inputs, overrides, asOf, others = [], finer, timeMs, progress } = options
  given.object(inputs, 'inputs')
  given.object(overrides, 'overrides')
  if (asOf !== undefined) given.text(asOf, 'asOf')
  for (const [i, other] of given.list(others, 'others', 'markets').entries())
    given.market(other, `others/${i}`)
  if (finer !== undefined) given.market(finer, 'finer')
  if (timeMs !== undefined && !(timeMs > 0)) throw given.wrong('timeMs', 'milliseconds above 0')
  given.func(progress, 'progress')
}

function libraryIn(libraries: Libraries = {}): NonNullable<BacktestRequest['library']> {
  for (const [path, source] of Object.entries(given.object(libraries, 'libraries')))
    given.text(source, `libraries/${path}`)
  return (user, library, version) => libraries[`${user}/${library}/${version}`] ?? null
}
