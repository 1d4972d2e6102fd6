// Runs a backtest: takes a script, bars and settings, and returns a report and tracks. Other rooms use this file to run
// scripts.
//
// It is pure: the same script, bars, inputs and settings give a byte-equal report on any machine, in a worker or not. Only
// `timings` differ, and they are measured with a clock that the caller passes.

import { ranTooLong } from '../language/messages/failing.ts'
import { type Bars, selectBars } from '../market/bars.ts'
import { calendarOf } from '../market/calendar.ts'
import { exchangeRate, seriesOfRate } from '../market/exchange-rates.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { jsonPieces } from '../lib/json-pieces.ts'
import { Problem, invalidField, pointerToken } from '../lib/problem.ts'
import { sha256 } from '../lib/sha256.ts'
import { InputError, compile, type CompiledScript } from '../language/compile.ts'
import type { Program } from '../language/2-check/program.ts'
import type { ScriptRun, Series, SharedColumns } from '../language/environment.ts'
import type { Diagnostic as Found } from '../language/diagnostic.ts'
import { SeriesNeeded, type Limits } from '../language/runtime/runtime.ts'
import { ScriptError } from '../language/script-error.ts'
import { Source } from '../language/source.ts'
import { BrokerEmulator } from './emulator/broker.ts'
import { magnifierBars } from './emulator/magnifier.ts'
import type { Pot } from './emulator/pot.ts'
import { brokerSettings, type BrokerSettings, type DeclarationArgs } from './emulator/settings.ts'
import type { CompiledScripts } from './compiled-scripts.ts'
import { DevelopingBars } from './developing.ts'
import { ENGINE } from './engine.ts'
import { buildResults, type Results } from './report/build.ts'
import { PlottedScripts } from './plotted-scripts.ts'
import { barsHash, canonicalJson, sidesHash } from './report/hash.ts'
import { momentsOfEquity, type Moments } from './statistics/moments.ts'
import type { Rows } from '../wire/columns.ts'
import type { Report, ReportOrder, ReportTrade } from '../wire/report.ts'
import type { Diagnostic } from '../wire/script.ts'
import type { Track } from '../wire/track.ts'
import { assertCommission } from './asked-commission.ts'
import { settingRefusal } from './setting-values.ts'
import { buildTracks, columnTracks, trackTexts, type StrategyTracks, type TrackKinds } from './tracks.ts'

export interface BacktestRequest {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  /** How many scripts stand between this one and the one that was asked for, each reading a plot of the next. */
  readonly plottedFor?: number
  readonly bars: Bars
  /** The hash of all these bars if it is known: hashing a million takes 30 ms. */
  readonly barsHash?: string | null
  readonly symbol: SymbolInfo
  readonly interval: string
  /** Finer bars for the bar magnifier and security_lower_tf; null = none are cached. */
  readonly finer?: { readonly bars: Bars; readonly interval: string } | null
  readonly limits: Limits
  readonly series: (exchange: string, symbol: string, interval: string) => Series | null | undefined
  readonly library?: (user: string, library: string, version: number) => string | null
  /** Scripts that may be compiled already, for callers that run a script more than once. */
  readonly scripts?: CompiledScripts
  readonly progress?: (bar: number) => void
  /** The run advances bar by bar with kept state (see `advance.ts`), and needs no report or tracks. */
  readonly stepwise?: boolean
  /** Records nothing that only charts show, for callers that read only `results`. */
  readonly figuresOnly?: boolean
  /** The columns that trials share because their inputs leave them equal. */
  readonly shared?: SharedColumns
  /** The last bar of coarser intervals counts as still forming, as on a live chart. */
  readonly developing?: boolean
  /** Called now and then with the number of bytes that the run holds, by its own count. */
  readonly used?: (bytes: number) => void
  /** Called when the run has found much garbage. */
  readonly collect?: () => void
  /** Arguments that replace those of the script's declaration (initial_capital, commission_value, …). */
  readonly overrides?: Readonly<Record<string, number | string | boolean>>
  /** Nobody has run this yet: overrides that older runs have, and that are no longer taken, are refused. */
  readonly isNew?: boolean
  /** The money that the parts of a portfolio trade with. */
  readonly pot?: Pot
  /** A clock in milliseconds, for `timings` and `limits.timeMs`; without it, there are no timings and no limit. */
  readonly now?: () => number
  /** Processor time of this thread in milliseconds, which `limits.timeMs` counts if it is given. */
  readonly spent?: () => number
}

export interface BacktestResult {
  /**
   * Its `trades` and `orders` become objects when first read. Spread it before you make JSON of it, since getters are slow
   * there.
   */
  readonly report: Report
  /** Hash of the request's bars; null if the run used a part of them. */
  readonly barsHash: string | null
  /** Of its returns a bar; null if nothing was traded. Ask for it before `columns`, which gives the equity away. */
  moments(): Moments | null
  /** Made when first read: for a million bars, that takes longer than the run. */
  readonly tracks: readonly Track[]
  /** The JSON texts of both, made piece by piece, with at most one item of a list in memory. */
  reportTexts(): Iterable<string>
  /** A piece of bytes is to be used before the next one is asked for. */
  trackTexts(kinds?: TrackKinds): Iterable<string | Uint8Array>
  /** Report and tracks with their columns as the run left them, for `packGiven`. */
  columns(kinds?: TrackKinds): { readonly report: object; readonly tracks: readonly object[] }
}

export interface Snapshot {
  readonly run: Uint8Array
  readonly broker: Uint8Array
  /** The series read so far, in this order: a fresh run that goes on may ask for none of them again, and its hash tells of all. */
  readonly read: readonly SeriesName[]
}

/** The names by which a script asks for it. */
export type SeriesName = readonly [exchange: string, symbol: string, interval: string]

/** A backtest in progress: advance it in one go or bar by bar, with snapshots in between, for the same result. */
export interface Backtest {
  /** The bars it runs over: the request's, or the last calc_bars_count of them. */
  readonly bars: Bars
  readonly run: ScriptRun
  readonly broker: BrokerEmulator
  /** `ahead` as in `ScriptRun`. */
  advance(end: number, ahead?: number): void
  /** The whole state of the run: `restore` puts this run, or a fresh one of the same request, back into it. */
  snapshot(): Snapshot
  restore(snapshot: Snapshot): void
  /** A snapshot without what a report needs: see `ScriptRun.essence`. */
  essence(bars: number): Snapshot
  /** The first bar whose results may change when another bar arrives; Infinity = none. */
  readonly unsettledFrom: number
  /** The result for the bars done so far. */
  result(): BacktestResult
  /** The numbers of the report without the report itself. */
  results(): Results
  /** The arguments of the declaration, after replacements. */
  readonly settings: DeclarationArgs
  readonly program: Program
}

/**
 * Throws Problem 422 `script_invalid` (details.diagnostics), `script_runtime_error`, `script_limit_exceeded`,
 * `validation_failed` (an input); SeriesNeeded when request.* wants bars that `series` answers undefined for.
 */
export function runBacktest(request: BacktestRequest): BacktestResult {
  const backtest = openBacktest(request)
  backtest.advance(backtest.bars.length)
  return backtest.result()
}

export function openBacktest(request: BacktestRequest): Backtest {
  const now = request.now ?? (() => 0)
  const source = new Source(request.source)
  const started = now()
  const { script, warnings } = compiled(request, source)
  const compileMs = now() - started
  const { program } = script
  // The bars read by request.* and for currency rates also determine the numbers.
  const read = new Map<string, Bars>()
  const readNames: SeriesName[] = []
  const find: BacktestRequest['series'] = (exchange, symbol, interval) => {
    const series = request.series(exchange, symbol, interval)
    const name = `${exchange}:${symbol} ${interval}`
    if (series && !read.has(name)) readNames.push([exchange, symbol, interval])
    if (series) read.set(name, series.bars)
    return series
  }
  const args = overridden(program.declaration.args, request.overrides ?? {})
  const settings = brokerSettings(args, request.symbol, program.version)
  if (request.isNew) assertCommission(request.overrides ?? {}, program.declaration.args)
  const last = Number(args['calc_bars_count'] ?? 0)
  const bars = last > 0 ? selectBars(request.bars, { last }) : request.bars
  const rateAt =
    program.declaration.kind === 'strategy' && settings.currency !== request.symbol.currency
      ? exchangeRate(request.symbol.currency, settings.currency, (pair) => {
          const series = find('', pair, '1d')
          if (series === undefined) throw new SeriesNeeded('', pair, '1d')
          return series?.bars ?? null
        })
      : null
  // One rate for each bar: amounts are converted at the rate of their day (I1).
  const rates = rateAt && bars.time.slice(0, bars.length).map(rateAt)
  if (program.declaration.kind === 'strategy') {
    if (settings.currency !== request.symbol.currency && !rates)
      warnings.push({
        code: 'currency_rate_missing',
        message: `Amounts in ${request.symbol.currency} are converted to ${settings.currency} at 1, for no rate is known. Import or fetch ${seriesOfRate(request.symbol.currency, settings.currency)}.`,
      })
    if (settings.barMagnifier && !request.finer)
      warnings.push({
        code: 'magnifier_bars_missing',
        message: 'The bar magnifier is on, but no finer bars are cached; the assumed path is used.',
      })
    // A9: we do as TradingView does, and report it.
    if (settings.calcOnOrderFills)
      warnings.push({
        code: 'order_fills_see_whole_bar',
        message:
          'With calc_on_order_fills a recalculation within a bar sees the finished bar, as on TradingView.',
      })
  }
  // A10.
  const developing =
    program.declaration.kind === 'strategy' && settings.calcOnHistoryTicks ? new DevelopingBars(bars) : null
  const calendar = calendarOf(request.symbol)
  const broker = new BrokerEmulator({
    bars,
    symbol: request.symbol,
    settings,
    rates,
    finer: settings.barMagnifier ? magnifierBars(request.finer, request.interval, request.symbol) : null,
    developing,
    dayOf: (bar) => calendar.tradingDay(bars.time[bar]!),
    notesResting: request.stepwise !== true && request.figuresOnly !== true,
    pot: request.pot ?? null,
  })
  // Each advance has the whole time, since an alert advances its run again for every bar.
  const { timeMs } = request.limits
  const spent = request.spent ?? now
  let until = Infinity
  let spentUntil = Infinity
  let looked = 0
  let lookedBar = 0
  let began: number | null = null
  const guarded = <T>(work: () => T) => translated(work, source)
  const plotted = new PlottedScripts(request, bars.length, openBacktest)
  const run = guarded(() =>
    script.instantiate({
      bars: developing?.bars ?? bars,
      symbol: request.symbol,
      interval: request.interval,
      inputs: request.inputs,
      broker,
      limits: request.limits,
      series: find,
      plotSource: (of, end) => plotted.column(of, end),
      stepwise: request.stepwise ?? false,
      ...(developing ? { ticks: developing } : {}),
      ...(request.shared ? { shared: request.shared } : {}),
      ...(request.developing ? { developing: true } : {}),
      ...(request.progress ? { progress: request.progress } : {}),
      ...(request.used ? { used: (bytes: number) => plotted.tell(bytes) } : {}),
      ...(request.collect ? { collect: request.collect } : {}),
      watch: () => {
        const at = now()
        // In short turns each bar has the whole time, too.
        if (began !== null && run.position !== lookedBar) {
          lookedBar = run.position
          until = at + timeMs
          spentUntil = spent() + timeMs
        }
        // Processor time never exceeds clock time, so ask for it, which costs more, only when the clock is over the limit.
        if (at > until && spent() > spentUntil) throw ranTooLong(timeMs / 1000)
        const elapsed = at - looked
        looked = at
        return elapsed
      },
    }),
  )
  let runMs = 0
  const results = () =>
    buildResults(broker, bars, request.symbol.pointValue, rates, { lists: request.figuresOnly !== true })
  return {
    results,
    settings: args,
    program,
    bars,
    run,
    broker,
    advance(end, ahead = end) {
      if (ahead > end) {
        // One of many short turns, at which a look at the clock would cost as much as the bar.
        if (began === null) {
          began = looked = now()
          until = began + timeMs
          spentUntil = spent() + timeMs
        }
        guarded(() => run.advance(end, ahead))
        return
      }
      const from = began ?? now()
      began = null
      until = from + timeMs
      spentUntil = spent() + timeMs
      looked = from
      guarded(() => run.advance(end, ahead))
      runMs += now() - from
    },
    snapshot: () => ({ run: run.snapshot(), broker: broker.snapshot(), read: [...readNames] }),
    essence: (count) => ({ run: run.essence(count), broker: broker.snapshot(), read: [...readNames] }),
    get unsettledFrom() {
      // All bars may change if the window moves, the rate of a day is not known yet, or finer bars may still arrive.
      const moves = last > 0 || rateAt !== null || (settings.barMagnifier && !reaches(request.finer, bars))
      return moves ? 0 : Math.min(run.unsettledFrom, plotted.unsettledFrom)
    },
    restore(snapshot) {
      for (const name of snapshot.read) if (find(...name) === undefined) throw new SeriesNeeded(...name)
      guarded(() => run.restore(snapshot.run))
      broker.restore(snapshot.broker)
    },
    result() {
      const { symbol } = request
      const found = results()
      const { kind } = program.declaration
      const ranOnAll = bars === request.bars
      const hash = (ranOnAll ? request.barsHash : null) ?? barsHash(bars)
      const title = text(args['title'])
      const overlay = args['overlay'] === true
      let trades: readonly ReportTrade[] | null = null
      let orders: readonly ReportOrder[] | null = null
      const sides = sidesHash(request.source, [bars, ...read.values()])
      const report: Report = {
        version: 1,
        engine: ENGINE,
        hash: sha256(
          canonicalJson({
            source: request.source,
            inputs: run.inputs,
            symbol,
            interval: request.interval,
            barsHash: hash,
            finer: settings.barMagnifier && request.finer ? barsHash(request.finer.bars) : null,
            series: Object.fromEntries(Array.from(read, ([name, others]) => [name, barsHash(others)])),
            settings: args,
            engine: ENGINE,
            ...(sides !== null && { sides }),
          }),
        ),
        script: {
          title,
          shorttitle: text(args['shorttitle']) || title,
          pineVersion: program.version,
          kind,
          overlay,
          declaration: args,
        },
        inputs: run.inputs,
        symbol: symbol.symbol,
        exchange: symbol.exchange,
        interval: request.interval,
        currency: settings.currency,
        timezone: symbol.timezone,
        mintick: symbol.mintick,
        pointvalue: symbol.pointValue,
        range: {
          from: bars.time[0] ?? null,
          to: bars.time[bars.length - 1] ?? null,
          bars: bars.length,
        },
        ...found.figures,
        get trades() {
          return (trades ??= [...found.trades()])
        },
        get orders() {
          return (orders ??= [...found.orders()])
        },
        warnings: [...warnings, ...run.warnings],
        logs: run.logs,
        alerts: run.alerts,
        timings: { compileMs, runMs, bars: bars.length },
      }
      /** The report with other lists in their places. Its own lists are not read, since that would make all their objects. */
      const reportWith = (lists: Readonly<Record<'trades' | 'orders', object>>) =>
        Object.fromEntries(
          (Object.keys(report) as (keyof Report)[]).map((name) => [
            name,
            name === 'trades' || name === 'orders' ? lists[name] : report[name],
          ]),
        )
      let orderColumns: Rows | null = null
      const strategy: StrategyTracks | null =
        kind === 'strategy'
          ? {
              columns: found.columns,
              orders: () => orders ?? found.orders(),
              get orderColumns() {
                return (orderColumns ??= found.orderColumns())
              },
              get resting() {
                return broker.restingOrders()
              },
              first: found.first,
              initialCapital: settings.initialCapital,
            }
          : null
      const drawn = { run, bars, overlay, strategy }
      let tracks: readonly Track[] | null = null
      const { all } = found.figures
      const hasTraded = all.trades + all.openTrades > 0
      return {
        report,
        barsHash: ranOnAll ? hash : null,
        moments: () => (hasTraded ? momentsOfEquity(found.columns.equity, settings.initialCapital) : null),
        get tracks() {
          return (tracks ??= buildTracks(drawn))
        },
        reportTexts: () => jsonPieces(reportWith({ trades: found.trades(), orders: found.orders() })),
        trackTexts: (kinds) => trackTexts(drawn, kinds),
        columns(kinds = null) {
          orderColumns ??= found.orderColumns()
          return {
            report: reportWith({ trades: found.tradeColumns(), orders: orderColumns }),
            tracks: columnTracks(drawn, kinds),
          }
        },
      }
    },
  }
}

/** What the script declares itself to be, without running it. */
export function declarationOf(request: BacktestRequest): {
  readonly kind: Program['declaration']['kind']
  readonly settings: BrokerSettings
} {
  const { program } = compiled(request, new Source(request.source)).script
  const args = overridden(program.declaration.args, request.overrides ?? {})
  return { kind: program.declaration.kind, settings: brokerSettings(args, request.symbol, program.version) }
}

function compiled(
  request: BacktestRequest,
  source: Source,
): { script: CompiledScript; warnings: { code: string; message: string }[] } {
  const { library, scripts } = request
  const options = library ? { library } : {}
  const { script, diagnostics } = scripts
    ? scripts.compile(request.source, options)
    : compile(request.source, options)
  const wire = diagnostics.map((diagnostic) => wireDiagnostic(diagnostic, source))
  if (!script) throw new Problem(422, 'script_invalid', 'The script does not compile.', { diagnostics: wire })
  if (script.program.declaration.kind === 'library')
    throw new Problem(422, 'script_invalid', 'A library does not run by itself; import it into a script.', {
      diagnostics: wire,
    })
  return {
    script,
    warnings: wire.map(({ code, line, message }) => ({ code, message: `Line ${line}: ${message}` })),
  }
}

export function wireDiagnostic(diagnostic: Found, source: Source): Diagnostic {
  const start = source.position(diagnostic.start)
  const end = source.position(diagnostic.end)
  return {
    severity: diagnostic.severity,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
    code: diagnostic.code,
    message: diagnostic.message,
    hint: diagnostic.hint ?? null,
  }
}

/** Whether the finer bars reach the last bar, so that all earlier bars have theirs too. */
function reaches(finer: BacktestRequest['finer'], bars: Bars): boolean {
  return (finer?.bars.time[finer.bars.length - 1] ?? -Infinity) >= (bars.time[bars.length - 1] ?? -Infinity)
}

function overridden(
  args: DeclarationArgs,
  overrides: Readonly<Record<string, number | string | boolean>>,
): DeclarationArgs {
  for (const [name, value] of Object.entries(overrides)) {
    const path = `/overrides/${pointerToken(name)}`
    if (!(name in args))
      throw invalidField(path, 'unknown_setting', `The declaration has no argument "${name}".`)
    const takes = settingRefusal(name, value)
    if (takes !== null) throw invalidField(path, 'setting', `${name} ${takes}.`)
  }
  return { ...args, ...overrides }
}

/** Errors of the script become Problems with the line and column of the error's offset. */
function translated<T>(work: () => T, source: Source): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof InputError)
      throw invalidField(`/inputs/${pointerToken(error.input)}`, 'invalid_input', error.message)
    if (!(error instanceof ScriptError)) throw error
    const at = Math.max(0, error.offset)
    const diagnostics =
      error.offset < 0
        ? []
        : [
            wireDiagnostic(
              { severity: 'error', code: error.code, start: at, end: at, message: error.message },
              source,
            ),
          ]
    throw new Problem(422, error.code, error.message, { diagnostics })
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
