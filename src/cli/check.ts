// `chartroom check`: compiles scripts, many at a time, and if bars are given, runs them too.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { withSeries } from '../work/workers/asked-series.ts'
import { runBacktest, wireDiagnostic } from '../broker/run.ts'
import type { Diagnostic } from '../wire/script.ts'
import { Problem } from '../lib/problem.ts'
import { emptyBars } from '../market/bars.ts'
import { BUILTIN_CONSTANTS, BUILTIN_FUNCTIONS, BUILTIN_VARIABLES } from '../language/builtins/table.ts'
import { typeText } from '../language/2-check/types.ts'
import { LANGUAGE_AS_OF, LEFT_OUT } from '../language/release-notes.ts'
import { NEWEST_DAY } from '../language/behaviour.ts'
import { compile } from '../language/compile.ts'
import { DEFAULT_LIMITS } from '../language/runtime/limits.ts'
import { Source } from '../language/source.ts'
import { listLibraries, withoutListFlag } from './check-libraries.ts'
import { parseArguments, UsageError, type Command, type CommandContext, switched, valued } from './command.ts'
import { diagnosticLines, diagnosticsOf } from './diagnostics-text.ts'
import { BARS_FLAGS, BARS_HELP, type BarsFlags, type ScriptBars, withScriptBars } from './script-bars.ts'
import type { Ink } from './ink.ts'
import { librariesBeside } from './script-file.ts'
import { formatNumber } from './table.ts'

const FLAGS = {
  ...BARS_FLAGS,
  ...valued('libraries', 'time-ms'),
  ...switched('jsonl', 'builtins', 'json'),
}

/** One line of `--jsonl`. */
export interface CheckResult {
  readonly file: string
  /** null if the script does not declare it and does not compile. */
  readonly version: number | null
  readonly kind: string | null
  readonly compiled: boolean
  /** null if it was not tried: without bars, for a library, or because it did not compile. */
  readonly ran: boolean | null
  readonly diagnostics: readonly Diagnostic[]
  /** What stopped the run. */
  readonly error: { readonly code: string; readonly message: string } | null
  /** Series that request.* asked for and that are not here; the script got na for them. */
  readonly needs: readonly string[]
  readonly bars: number | null
  readonly trades: number | null
  readonly compileMs: number
  readonly runMs: number | null
}

export const checkCommand: Command = {
  name: 'check',
  usage: 'PATHS… [--bars FILE.csv] [--jsonl] | PATHS… --libraries | --builtins [--json]',
  summary: 'Compile scripts, and with bars run them; folders are searched for *.pine.',
  help: () =>
    [
      '  PATHS…                Scripts and folders',
      ...BARS_HELP,
      '  --libraries FOLDER    Where imported libraries are: USER/LIBRARY.pine',
      '  --libraries           … without a folder: list the libraries that scripts need, and whether they are here',
      '  --time-ms N           Longest a script may run (60000)',
      '  --jsonl               One line of JSON a script',
      '  --builtins            List the built-ins the compiler knows, as kind and name',
      '  --json                … with their state, signatures and types, as one JSON text',
    ].join('\n'),
  run: async (context) => {
    const { args, lists } = withoutListFlag(context.args)
    const { flags, positionals } = parseArguments(args, FLAGS)
    if (flags.json && !flags.builtins)
      throw new UsageError('--json goes with --builtins; for scripts there is --jsonl.')
    if (flags.builtins) return flags.json ? printBuiltins(context) : listBuiltins(context)
    if (positionals.length === 0) throw new UsageError('Name scripts or folders.')
    const timeMs = Number(flags['time-ms'] ?? DEFAULT_LIMITS.timeMs)
    if (!(timeMs > 0)) throw new UsageError('--time-ms is a number of milliseconds.')
    const files = positionals.flatMap(scriptsOf)
    if (lists)
      return listLibraries(context, files, { libraries: flags.libraries, jsonl: flags.jsonl ?? false })
    const check = (bars: ScriptBars | null) =>
      checkFiles(context, files, { bars, libraries: flags.libraries, timeMs, jsonl: flags.jsonl ?? false })
    return wantsBars(flags) ? withScriptBars(context, flags, check) : check(null)
  },
}

function wantsBars(flags: BarsFlags): boolean {
  return flags.bars !== undefined || flags.symbol !== undefined
}

interface CheckOptions {
  readonly bars: ScriptBars | null
  readonly libraries: string | undefined
  readonly timeMs: number
  readonly jsonl: boolean
}

async function checkFiles(
  context: CommandContext,
  files: readonly string[],
  options: CheckOptions,
): Promise<number> {
  let compiled = 0
  let ran = 0
  let tried = 0
  for (const [i, file] of files.entries()) {
    context.progress?.(`${i + 1} of ${files.length}  ${file}`)
    const source = await Bun.file(file).text()
    const result = await checkScript(file, source, options)
    context.progress?.(null)
    if (result.compiled) compiled++
    if (result.ran !== null) tried++
    if (result.ran) ran++
    if (options.jsonl) context.print(JSON.stringify(result))
    else for (const line of resultLines(result, source, files.length === 1, context.ink)) context.print(line)
  }
  if (!options.jsonl) {
    const counts = [`${compiled} of ${files.length} scripts compile`]
    if (options.bars) counts.push(`${ran} of ${tried} run`)
    context.print(`${counts.join(', ')}.`)
  }
  return compiled === files.length && ran === tried ? 0 : 1
}

/** Never throws, whatever the script does. */
export async function checkScript(file: string, source: string, options: CheckOptions): Promise<CheckResult> {
  const library = librariesBeside(file, options.libraries)
  const started = performance.now()
  const { script, diagnostics, error } = compiledScript(source, library)
  const compileMs = performance.now() - started
  const kind = script?.program.declaration.kind ?? null
  const result = {
    file,
    version: script?.program.version ?? versionLine(source),
    kind,
    compiled: script !== null,
    diagnostics,
    compileMs,
    error,
  }
  const none = { ...result, needs: [], ran: null, bars: null, trades: null, runMs: null }
  if (!script || !options.bars || kind === 'library') return none
  const { bars, symbol, interval, finer, series } = options.bars
  // There is only one series. Others that a script asks for are na and listed, so that its run goes on.
  const needs = new Set<string>()
  const seriesOrNothing: ScriptBars['series'] = async (exchange, ticker, wanted) => {
    const found = await series(exchange, ticker, wanted)
    if (found) return found
    needs.add(`${exchange === '' ? ticker : `${exchange}:${ticker}`} ${wanted}`)
    return { bars: emptyBars(0), symbol: { ...symbol, exchange, symbol: ticker }, interval: wanted }
  }
  let from = performance.now()
  // Opening the run compiles again, which is not counted as its time.
  const elapsed = () => Math.max(0, performance.now() - from - compileMs)
  try {
    const { report } = await withSeries(seriesOrNothing, (found) => {
      from = performance.now()
      return runBacktest({
        source,
        inputs: {},
        asOf: NEWEST_DAY,
        bars,
        symbol,
        interval,
        finer,
        series: found,
        library,
        limits: { ...DEFAULT_LIMITS, timeMs: options.timeMs },
        now: () => performance.now(),
      })
    })
    const trades = report.trades.filter(({ status }) => status === 'closed').length
    return { ...result, needs: [...needs], ran: true, bars: bars.length, trades, runMs: report.timings.runMs }
  } catch (thrown) {
    const found = diagnosticsOf(thrown)
    return {
      ...result,
      diagnostics: found.length > 0 ? found : diagnostics,
      error: errorOf(thrown),
      needs: [...needs],
      ran: false,
      bars: bars.length,
      trades: null,
      runMs: elapsed(),
    }
  }
}

/** compile() promises not to throw. If it does, a survey of many scripts should name the script and go on. */
function compiledScript(source: string, library: ReturnType<typeof librariesBeside>) {
  try {
    const text = new Source(source)
    const { script, diagnostics } = compile(source, { library })
    return { script, diagnostics: diagnostics.map((one) => wireDiagnostic(one, text)), error: null }
  } catch (thrown) {
    return { script: null, diagnostics: [], error: errorOf(thrown) }
  }
}

function errorOf(thrown: unknown): { code: string; message: string } {
  if (thrown instanceof Problem) return { code: thrown.code, message: thrown.message }
  return {
    code: 'internal_error',
    message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
  }
}

function versionLine(source: string): number | null {
  const match = /^\s*\/\/\s*@version\s*=\s*(\d+)/m.exec(source)
  return match ? Number(match[1]) : null
}

/** A script that was named alone also gets its warnings; for a folder they would hide what does not compile. */
function resultLines(result: CheckResult, source: string, isAlone: boolean, ink: Ink): string[] {
  const isFine = result.compiled && result.ran !== false
  const said = isAlone ? result.diagnostics : result.diagnostics.filter(isError)
  const shown = isFine && !isAlone ? [] : said
  const head =
    (shown.length > 0 && !isFine) || result.error
      ? []
      : [
          result.ran
            ? `${ink.good('ok')}  ${result.file}  ${result.kind} v${result.version}, ${formatNumber(result.trades, 0)} trades, ${formatNumber(result.runMs, 0)} ms`
            : `${ink.good('ok')}  ${result.file}  ${result.kind} v${result.version}`,
        ]
  const error =
    result.error && shown.length === 0
      ? [`${ink.strong(`${result.file}:`)} ${ink.bad('error:')} ${result.error.message}`]
      : []
  return [...head, ...error, ...diagnosticLines(result.file, source, shown, ink)]
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error'
}

function scriptsOf(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new UsageError(`There is no file or folder ${path}.`)
  if (!found.isDirectory()) return [path]
  return [...new Bun.Glob('**/*.pine').scanSync(path)].sort().map((name) => join(path, name))
}

function listBuiltins({ print }: CommandContext): number {
  const names = [
    // Names that begin with a dot are internal, for functions that only v4 had.
    ...[...BUILTIN_FUNCTIONS.values()]
      .filter(({ name }) => !name.startsWith('·'))
      .map(({ name, status }) => `function ${name}${source(status)}`),
    ...[...BUILTIN_VARIABLES.values()].map(({ name, status }) => `variable ${name}${source(status)}`),
    ...[...BUILTIN_CONSTANTS.values()].map(({ name }) => `constant ${name}`),
  ]
  for (const name of names.sort()) print(name)
  return 0
}

/** Says what each name is, for comparison with another reference. */
function printBuiltins({ print }: CommandContext): number {
  const all = [
    ...[...BUILTIN_FUNCTIONS.values()].map(({ kind, name, status, signatures }) => ({
      name,
      kind,
      state: stateOf(status),
      signatures,
    })),
    ...[...BUILTIN_VARIABLES.values()].map(({ kind, name, status, type, qualifier }) => ({
      name,
      kind,
      state: stateOf(status),
      type: `${qualifier} ${typeText(type)}`,
    })),
    ...[...BUILTIN_CONSTANTS.values()].map(({ kind, name, type }) => ({
      name,
      kind,
      state: stateOf('implemented'),
      type: `const ${typeText(type)}`,
    })),
  ]
  const shown = all.filter(({ name }) => !name.startsWith('·'))
  const names = shown.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  print(JSON.stringify({ asOf: LANGUAGE_AS_OF, leftOut: LEFT_OUT, builtins: names }, null, 1))
  return 0
}

function stateOf(status: 'implemented' | 'source'): 'works' | 'no data source' {
  return status === 'source' ? 'no data source' : 'works'
}

/** Accepted, but without data: it answers na with a warning. */
function source(status: 'implemented' | 'source'): string {
  return status === 'source' ? ' (no data source)' : ''
}
