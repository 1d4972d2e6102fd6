// Runs a backtest: takes a script, bars and settings, and returns a report and tracks. Other rooms use this file to run
// scripts.
//
// It is pure: the same script, bars, inputs and settings give a byte-equal report on any machine, in a worker or not. Only
// `timings` differ, and they are measured with a clock that the caller passes.

import { ranTooLong } from '../language/messages/failing.ts'
import { type Bars, selectBars, withoutVolume } from '../market/bars.ts'
import { calendarOf } from '../market/calendar.ts'
import { exchangeRate, seriesOfRate } from '../market/exchange-rates.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { Problem, invalidField, pointerToken } from '../lib/problem.ts'
import { argsAsOf } from '../language/behaviour.ts'
import { InputError, compile, type CompiledScript } from '../language/compile.ts'
import type { Program } from '../language/2-check/program.ts'
import type { ScriptRun } from '../language/environment.ts'
import type { Diagnostic as Found } from '../language/diagnostic.ts'
import { SeriesNeeded } from '../language/runtime/runtime.ts'
import { ScriptError } from '../language/script-error.ts'
import { Source } from '../language/source.ts'
import type { Backtest, BacktestRequest, BacktestResult, SeriesName, Snapshot } from './backtest.ts'
import { BrokerEmulator } from './emulator/broker.ts'
import { magnifierBars } from './emulator/magnifier.ts'
import { brokerSettings, type BrokerSettings, type DeclarationArgs } from './emulator/settings.ts'
import { DevelopingBars } from './developing.ts'
import { extremesOf } from './equity.ts'
import { buildResults, type Results } from './report/build.ts'
import { PlottedScripts } from './plotted-scripts.ts'
import type { Diagnostic } from '../wire/script.ts'
import { assertCommission } from './asked-commission.ts'
import { resultOf } from './result.ts'
import { settingRefusal } from './setting-values.ts'

/**
 * Throws Problem 422 `script_invalid` (details.diagnostics), `script_runtime_error`, `script_limit_exceeded`,
 * `validation_failed` (an input); SeriesNeeded when request.* wants bars that `series` answers undefined for.
 */
export function runBacktest(request: BacktestRequest): BacktestResult {
  const backtest = openBacktest(request)
  backtest.advance(backtest.bars.length)
  const result = backtest.result()
  backtest.release()
  return result
}

export function openBacktest(request: BacktestRequest): Backtest {
  return new OpenBacktest(request)
}

class OpenBacktest implements Backtest {
  readonly bars: Bars
  readonly run: ScriptRun
  readonly broker: BrokerEmulator
  readonly settings: DeclarationArgs
  readonly program: Program
  private readonly request: BacktestRequest
  private readonly source: Source
  private readonly money: BrokerSettings
  private readonly read: SeriesRead
  private readonly plotted: PlottedScripts
  private readonly limit: TimeLimit
  private readonly rates: Float64Array | null
  private readonly warnings: { readonly code: string; readonly message: string }[]
  private readonly compileMs: number
  private runMs = 0

  constructor(request: BacktestRequest) {
    const now = request.now ?? (() => 0)
    this.request = request
    this.source = new Source(request.source)
    const started = now()
    const { script, warnings } = compiled(request, this.source)
    this.compileMs = now() - started
    this.program = script.program
    const { declaration, version } = this.program
    this.read = new SeriesRead(request)
    this.settings = settingsOf(this.program, request)
    this.money = brokerSettings(this.settings, request.symbol, version)
    if (request.isNew) assertCommission(request.overrides ?? {}, declaration.args)
    const last = this.lastBars
    const bars = request.symbol.volumeType === 'n/a' ? withoutVolume(request.bars) : request.bars
    this.bars = last > 0 ? selectBars(bars, { last }) : bars
    const isStrategy = declaration.kind === 'strategy'
    this.rates = isStrategy ? ratesOf(request.symbol, this.money, this.bars, this.read) : null
    this.warnings = isStrategy ? [...warnings, ...warningsOf(request, this.money, this.rates)] : warnings
    // A10.
    const developing = isStrategy && this.money.calcOnHistoryTicks ? new DevelopingBars(this.bars) : null
    const calendar = calendarOf(request.symbol)
    this.broker = new BrokerEmulator({
      bars: this.bars,
      symbol: request.symbol,
      settings: this.money,
      rates: this.rates,
      finer: this.money.barMagnifier ? magnifierBars(request.finer, request.interval, request.symbol) : null,
      developing,
      dayOf: (bar) => calendar.tradingDay(this.bars.time[bar]!),
      notesResting: request.stepwise !== true && request.figuresOnly !== true,
      pot: request.pot ?? null,
    })
    this.limit = new TimeLimit(request.limits.timeMs, now, request.spent ?? now)
    this.plotted = new PlottedScripts(request, this.bars.length, openBacktest)
    this.run = this.translated(() => this.instantiate(script, developing))
  }

  advance(end: number, ahead = end): void {
    if (ahead > end) {
      this.limit.beginTurn()
      this.translated(() => this.run.advance(end, ahead))
      return
    }
    const from = this.limit.begin()
    this.translated(() => this.run.advance(end, ahead))
    this.runMs += this.limit.now() - from
  }

  snapshot(): Snapshot {
    return { run: this.run.snapshot(), broker: this.broker.snapshot(), read: [...this.read.names] }
  }

  essence(count: number): Snapshot {
    return { run: this.run.essence(count), broker: this.broker.snapshot(), read: [...this.read.names] }
  }

  get unsettledFrom(): number {
    const { rates, money, request, bars } = this
    // All bars may change if the window moves, the rate of a day is not known yet, or finer bars may still arrive.
    const moves = this.lastBars > 0 || rates !== null || (money.barMagnifier && !reaches(request.finer, bars))
    return moves ? 0 : Math.min(this.run.unsettledFrom, this.plotted.unsettledFrom)
  }

  restore(snapshot: Snapshot): void {
    for (const name of snapshot.read)
      if (this.read.find(...name) === undefined) throw new SeriesNeeded(...name)
    this.translated(() => this.run.restore(snapshot.run))
    this.broker.restore(snapshot.broker)
  }

  results(): Results {
    const { figuresOnly, shared, symbol } = this.request
    return buildResults(this.broker, this.bars, symbol.pointValue, this.rates, {
      lists: figuresOnly !== true,
      extremes: shared ? extremesOf(this.bars) : null,
    })
  }

  result(): BacktestResult {
    return resultOf(
      {
        request: this.request,
        program: this.program,
        args: this.settings,
        settings: this.money,
        bars: this.bars,
        read: this.read.bars,
        run: this.run,
        broker: this.broker,
        warnings: this.warnings,
        timings: { compileMs: this.compileMs, runMs: this.runMs, bars: this.bars.length },
      },
      this.results(),
    )
  }

  release(): void {
    this.run.release(this.request.figuresOnly === true)
    this.broker.release()
  }

  /** How many bars the script asks for at the end; 0 = all. */
  private get lastBars(): number {
    return Number(this.settings['calc_bars_count'] ?? 0)
  }

  private translated<T>(work: () => T): T {
    return translated(work, this.source)
  }

  private instantiate(script: CompiledScript, developing: DevelopingBars | null): ScriptRun {
    const { request, plotted } = this
    return script.instantiate({
      bars: developing?.bars ?? this.bars,
      symbol: request.symbol,
      interval: request.interval,
      inputs: request.inputs,
      broker: this.broker,
      limits: request.limits,
      series: this.read.find,
      plotSource: (of, end) => plotted.column(of, end),
      stepwise: request.stepwise ?? false,
      ...(developing ? { ticks: developing } : {}),
      ...(request.shared ? { shared: request.shared } : {}),
      ...(request.developing ? { developing: true } : {}),
      ...(request.progress ? { progress: request.progress } : {}),
      ...(request.used ? { used: (bytes: number) => plotted.tell(bytes) } : {}),
      ...(request.collect ? { collect: request.collect } : {}),
      watch: () => this.limit.look(() => this.run.position),
    })
  }
}

/** The series that a run has found, by their names; read again, one counts once. */
class SeriesRead {
  readonly names: SeriesName[] = []
  readonly bars = new Map<string, Bars>()
  private readonly series: BacktestRequest['series']

  constructor({ series }: BacktestRequest) {
    this.series = series
  }

  readonly find: BacktestRequest['series'] = (exchange, symbol, interval) => {
    const series = this.series(exchange, symbol, interval)
    const name = `${exchange}:${symbol} ${interval}`
    if (series && !this.bars.has(name)) this.names.push([exchange, symbol, interval])
    if (series) this.bars.set(name, series.bars)
    return series
  }
}

/** Each advance has the whole time, since an alert advances its run again for every bar. */
class TimeLimit {
  readonly now: () => number
  private readonly timeMs: number
  private readonly spent: () => number
  private until = Infinity
  private spentUntil = Infinity
  private looked = 0
  private lookedBar = 0
  /** When short turns began; null = the advance is a long one. */
  private began: number | null = null

  constructor(timeMs: number, now: () => number, spent: () => number) {
    this.timeMs = timeMs
    this.now = now
    this.spent = spent
  }

  /** Begins one of many short turns, at which a look at the clock would cost as much as the bar. */
  beginTurn(): void {
    if (this.began !== null) return
    this.began = this.looked = this.now()
    this.extend(this.began)
  }

  /** Begins a long advance. Answers since when its time counts. */
  begin(): number {
    const from = this.began ?? this.now()
    this.began = null
    this.extend(from)
    this.looked = from
    return from
  }

  /** Throws when the time is over. Answers how long the last look is ago. */
  look(position: () => number): number {
    const at = this.now()
    // In short turns each bar has the whole time, too.
    if (this.began !== null && position() !== this.lookedBar) {
      this.lookedBar = position()
      this.extend(at)
    }
    // Processor time never exceeds clock time, so ask for it, which costs more, only when the clock is over the limit.
    if (at > this.until && this.spent() > this.spentUntil) throw ranTooLong(this.timeMs / 1000)
    const elapsed = at - this.looked
    this.looked = at
    return elapsed
  }

  private extend(from: number): void {
    this.until = from + this.timeMs
    this.spentUntil = this.spent() + this.timeMs
  }
}

/** One rate for each bar: amounts are converted at the rate of their day (I1). */
function ratesOf(
  symbol: SymbolInfo,
  { currency }: BrokerSettings,
  bars: Bars,
  read: SeriesRead,
): Float64Array | null {
  if (currency === symbol.currency) return null
  const rateAt = exchangeRate(symbol.currency, currency, (pair) => {
    const series = read.find('', pair, '1d')
    if (series === undefined) throw new SeriesNeeded('', pair, '1d')
    return series?.bars ?? null
  })
  return rateAt && bars.time.slice(0, bars.length).map(rateAt)
}

function* warningsOf(request: BacktestRequest, settings: BrokerSettings, rates: Float64Array | null) {
  const { currency } = request.symbol
  if (settings.currency !== currency && !rates)
    yield {
      code: 'currency_rate_missing',
      message: `Amounts in ${currency} are converted to ${settings.currency} at 1, for no rate is known. Import or fetch ${seriesOfRate(currency, settings.currency)}.`,
    }
  if (settings.barMagnifier && !request.finer)
    yield {
      code: 'magnifier_bars_missing',
      message: 'The bar magnifier is on, but no finer bars are cached; the assumed path is used.',
    }
  // A9: we do as TradingView does, and report it.
  if (settings.calcOnOrderFills)
    yield {
      code: 'order_fills_see_whole_bar',
      message:
        'With calc_on_order_fills a recalculation within a bar sees the finished bar, as on TradingView.',
    }
}

/** What the script declares itself to be, without running it. */
export function declarationOf(request: BacktestRequest): {
  readonly kind: Program['declaration']['kind']
  readonly settings: BrokerSettings
} {
  const { program } = compiled(request, new Source(request.source)).script
  const args = settingsOf(program, request)
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

/** The arguments of the declaration as of the request's day, after replacements. */
function settingsOf(
  { declaration, version }: Program,
  { asOf, overrides = {} }: BacktestRequest,
): DeclarationArgs {
  const args = argsAsOf(declaration, version, asOf)
  for (const [name, value] of Object.entries(overrides)) {
    const path = `/overrides/${pointerToken(name)}`
    if (!(name in args))
      throw invalidField(
        path,
        'unknown_setting',
        `No argument "${name}"; there are ${Object.keys(args).join(', ')}.`,
      )
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
