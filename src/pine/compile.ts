// The door of the language: text in, a script that can be run out.
//
//     const { script, diagnostics } = compile(source)
//     if (script) script.instantiate({ bars, symbol, interval, inputs, broker, … }).advance(bars.length)
//
// compile() never throws on a bad script.

import type { Bars } from '../market/bars.ts'
import { compareIntervals, parseInterval } from '../market/interval.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { parse } from './1-parse/parser.ts'
import { checkBroken } from './2-check/broken.ts'
import { check } from './2-check/check.ts'
import { moreDiagnostics, noOutput } from './2-check/messages.ts'
import type { Program } from './2-check/program.ts'
import { planProgram } from './3-plan/plan.ts'
import { atTimeframe, leftOutOf, type LeftOut } from './3-plan/timeframe.ts'
import { generate, type Generated } from './4-generate/generate.ts'
import type { Broker } from './broker.ts'
import type { Diagnostic } from './diagnostic.ts'
import { MESSAGES } from './messages.ts'
import type { Drawings } from './runtime/drawings.ts'
import type { Budget } from './runtime/budget.ts'
import type { PlotTrack } from './runtime/plots.ts'
import { Run } from './runtime/run.ts'
import { ScriptError, type Limits } from './runtime/runtime.ts'

export { InputError, inputViews, type InputView } from './runtime/inputs.ts'

export interface CompileOptions {
  /** Source of a library stored here, for `import user/library/version`; null = not found. */
  readonly library?: (user: string, library: string, version: number) => string | null
}

export interface CompileResult {
  /** null when a diagnostic of severity error was found. */
  readonly script: CompiledScript | null
  readonly diagnostics: readonly Diagnostic[]
}

export interface CompiledScript {
  readonly program: Program
  /** Throws InputError for an unknown input name or a value outside what the input allows. */
  instantiate(env: RunEnvironment): ScriptRun
}

/** A named series that request.* may read. */
export interface Series {
  readonly bars: Bars
  readonly symbol: SymbolInfo
  readonly interval: string
}

export interface RunEnvironment extends Series {
  /** The script's own symbol and interval, for runs that request.* opens on others; without it these are its own. */
  readonly main?: Pick<Series, 'symbol' | 'interval'>
  /** By title or variable name. */
  readonly inputs: Readonly<Record<string, unknown>>
  readonly broker: Broker
  readonly limits: Limits
  /** Bars for request.*: null = there are none (na or a run-time error), undefined = not loaded (throws SeriesNeeded). */
  readonly series: (exchange: string, symbol: string, interval: string) => Series | null | undefined
  /** Called now and then with the bar reached; throw from it to stop the run. */
  readonly progress?: (bar: number) => void
  /** Runs what a request evaluates no further than it is asked for, so that it can be kept with the run. */
  readonly stepwise?: boolean
  /** Of what a request evaluates: told when it answers what a bar to come may change. */
  readonly unsettle?: () => void
  /** Told now and then how many bytes the run counts as its own; never more than `limits.memoryBytes`. */
  readonly used?: (bytes: number) => void
  /** Of the run that opened this one for request.*: their budget is one. */
  readonly budget?: Budget
  /** Called every few hundred bars and every 1,024 rounds of a loop: throws when the run's time is over, else answers the ms since the last call. */
  readonly watch?: () => number | void
  /** Called when a run has found that much of what it counted is garbage. */
  readonly collect?: () => void
}

export interface AlertEvent {
  readonly bar: number
  readonly time: number
  /** alertcondition's title; '' for alert(). */
  readonly title: string
  readonly message: string
}

export interface LogEntry {
  readonly bar: number
  readonly time: number
  readonly level: 'info' | 'warning' | 'error'
  readonly message: string
}

export interface ScriptRun {
  /** Runs bars from where it stands to `end` (exclusive). Bars may be handed in one at a time: batch equals incremental. */
  advance(end: number): void
  /** Bars done. */
  readonly position: number
  readonly plots: readonly PlotTrack[]
  /** The values of plot() by title, the first entry being bar `from`'s. */
  plotsFrom(from: number): readonly (readonly [title: string, values: Float64Array])[]
  readonly drawings: Drawings
  readonly alerts: readonly AlertEvent[]
  readonly logs: readonly LogEntry[]
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  /** Resolved input values by title, as the report shows them. */
  readonly inputs: Readonly<Record<string, unknown>>
  /**
   * All of the script's state, and nothing of the broker's: restore() of it brings this run, or a fresh one of the same
   * script, inputs and earlier bars, to this bar.
   */
  snapshot(): Uint8Array
  restore(snapshot: Uint8Array): void
  /**
   * The same without what the script cannot see any more, but for the plots, alerts and drawings of the last `bars`: how
   * much it is does not hang on how many bars lie behind. A report cannot be made of it.
   */
  essence(bars: number): Uint8Array
  /** The first bar from where on another bar to come may change what the script does; Infinity = none. */
  readonly unsettledFrom: number
}

export function compile(source: string, options: CompileOptions = {}): CompileResult {
  const { script, diagnostics } = compiled(source, options)
  return { script, diagnostics: firstOf(diagnostics) }
}

/** More are of no use to anybody; a text that is no script has one a word. */
const DIAGNOSTICS_MAX = 100

/** The first so many, errors before warnings, and how many more there are. */
function firstOf(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  if (diagnostics.length <= DIAGNOSTICS_MAX) return diagnostics
  const isError = ({ severity }: Diagnostic) => severity === 'error'
  const errors = diagnostics.filter(isError)
  const chosen = errors.concat(diagnostics.filter((one) => !isError(one))).slice(0, DIAGNOSTICS_MAX)
  const shown = inOrder(chosen)
  const severity = errors.length > DIAGNOSTICS_MAX ? 'error' : 'warning'
  const { start, end } = shown[shown.length - 1] ?? { start: 0, end: 0 }
  return [...shown, { ...moreDiagnostics(severity, diagnostics.length - shown.length), start, end }]
}

/** What the limits of parser and checker let through may still be too deep for what is left of the caller's stack. */
function compiled(source: string, options: CompileOptions): CompileResult {
  try {
    return parsedAndChecked(source, options)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { script: null, diagnostics: [{ severity: 'error', ...MESSAGES.tooDeep(), start: 0, end: 0 }] }
  }
}

function parsedAndChecked(source: string, options: CompileOptions): CompileResult {
  const { script, diagnostics } = parse(source)
  if (diagnostics.some(({ severity }) => severity === 'error'))
    return {
      script: null,
      diagnostics: [...diagnostics, ...checkBroken(script, source, diagnostics, options)],
    }
  const checked = check(script, options)
  const { program } = checked
  const all = inOrder([...diagnostics, ...checked.diagnostics])
  if (program?.declaration.kind === 'indicator' && !checked.hasOutput)
    all.unshift({ ...noOutput(), start: script.start, end: script.start })
  return { script: program ? new Script(program) : null, diagnostics: all }
}

/** As they stand in the text, whichever phase found them. */
function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => a.start - b.start)
}

/** Generated when it is first run: checking a script in the editor needs no code. */
class Script implements CompiledScript {
  readonly program: Program
  #generated: Generated | null = null
  /** On the timeframe that its declaration names. */
  #elsewhere: Generated | null = null

  constructor(program: Program) {
    this.program = program
  }

  instantiate(env: RunEnvironment): ScriptRun {
    const timeframe = timeframeOf(this.program, env.interval)
    if (timeframe !== null) {
      const program = atTimeframe(
        this.program,
        timeframe,
        this.program.declaration.args['timeframe_gaps'] !== false,
      )
      const run = new Run(program, (this.#elsewhere ??= generated(program)), env)
      for (const kind of leftOutOf(this.program))
        run.context.warn(`${kind}-of-timeframe`, LEFT_OUT_TEXTS[kind])
      return run
    }
    this.#generated ??= generated(this.program)
    return new Run(this.program, this.#generated, env)
  }
}

const LEFT_OUT_TEXTS: Readonly<Record<LeftOut, string>> = {
  drawings:
    'An indicator with a timeframe of its own draws no lines, labels, boxes or tables: what it plots is shown.',
  messages:
    'An indicator with a timeframe of its own says nothing by alert() or log.*(): use alertcondition(), or a request.security() of that timeframe instead of the declaration.',
}

/** The timeframe an indicator says it runs on, where that is another than the chart's. */
function timeframeOf({ declaration }: Program, interval: string): string | null {
  const { timeframe } = declaration.args
  if (declaration.kind !== 'indicator' || typeof timeframe !== 'string' || timeframe === '') return null
  const wanted = parseInterval(timeframe)
  const chart = parseInterval(interval)
  return wanted && chart && compareIntervals(wanted, chart) === 0 ? null : timeframe
}

/** JavaScript has limits of its own to how long and how deep a text may be. */
function generated(program: Program): Generated {
  try {
    return generate(planProgram(program))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ScriptError(
      'The script is too large or nested too deep to be run. Give parts of it to functions, or split it.',
      'script_limit_exceeded',
    )
  }
}
