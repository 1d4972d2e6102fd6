// The entrance to the language: turns a text into a script that can be run.
//
//     const { script, diagnostics } = compile(source)
//     if (script) script.instantiate({ bars, symbol, interval, inputs, broker, … }).advance(bars.length)
//
// compile() never throws on a bad script.

import { tooLargeToRun } from './messages/failing.ts'
import { compareIntervals, parseInterval } from '../market/interval.ts'
import { parse } from './1-parse/parser.ts'
import { checkBroken } from './2-check/broken.ts'
import { check } from './2-check/check.ts'
import type { Program } from './2-check/program.ts'
import { atTimeframe, leftOutOf, type LeftOut } from './3-plan/timeframe.ts'
import { withoutPictures } from './3-plan/pictures.ts'
import { executable } from './executable.ts'
import type { Executable } from './runtime/executable.ts'
import type { RunEnvironment, ScriptRun } from './environment.ts'
import type { Diagnostic } from './diagnostic.ts'
import { moreDiagnostics, noOutput } from './messages/checking.ts'
import type { RunWarning } from './messages/message.ts'
import { tooDeep } from './messages/parsing.ts'
import { drawingsLeftOut, messagesLeftOut } from './messages/running.ts'
import { Run } from './runtime/run.ts'

export { InputError, inputViews, isPlotSource, unknownInputOf, type PlotSource } from './runtime/inputs.ts'

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

export function compile(source: string, options: CompileOptions = {}): CompileResult {
  const { script, diagnostics } = compiled(source, options)
  return { script, diagnostics: firstOf(diagnostics) }
}

/** More diagnostics are useless: a text that is not a script has one for each word. */
const DIAGNOSTICS_MAX = 100

/** The first ones, errors before warnings, with a note of how many more there are. */
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

/** What passes the limits of parser and checker may still be too deep for the rest of the caller's stack. */
function compiled(source: string, options: CompileOptions): CompileResult {
  try {
    return parsedAndChecked(source, options)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { script: null, diagnostics: [{ ...tooDeep(), start: 0, end: 0 }] }
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

/** In the order of the text, whichever phase found them. */
function inOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted((a, b) => a.start - b.start)
}

/** Generated when it is first run: checking a script in the editor needs no code. */
class Script implements CompiledScript {
  readonly program: Program
  #executable: Executable | null = null
  /** The script as it runs on the timeframe that its declaration names. */
  #elsewhere: Executable | null = null
  /** The script without its plots, for runs that share columns and of which only the numbers are wanted. */
  #apart: Executable | null = null

  constructor(program: Program) {
    this.program = program
  }

  instantiate(env: RunEnvironment): ScriptRun {
    const timeframe = timeframeOf(this.program, env.interval)
    if (timeframe !== null) {
      const gaps = this.program.declaration.args['timeframe_gaps'] !== false
      this.#elsewhere ??= runnable(atTimeframe(this.program, timeframe, gaps))
      const run = new Run(this.#elsewhere, env)
      for (const kind of leftOutOf(this.program)) run.context.warn(LEFT_OUT_WARNINGS[kind])
      return run
    }
    // A run on ticks is still making its bars, so that no other run may take its columns.
    if (env.shared && !env.ticks) {
      this.#apart ??= runnable(withoutPictures(this.program), { apart: true })
      return new Run(this.#apart, env)
    }
    this.#executable ??= runnable(this.program)
    return new Run(this.#executable, env)
  }
}

const LEFT_OUT_WARNINGS: Readonly<Record<LeftOut, RunWarning>> = {
  drawings: drawingsLeftOut(),
  messages: messagesLeftOut(),
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
function runnable(program: Program, options: Parameters<typeof executable>[1] = {}): Executable {
  try {
    return executable(program, options)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw tooLargeToRun()
  }
}
