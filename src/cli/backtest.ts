// `chartroom backtest`: runs one script and prints the report, or writes it to files.

import { CompiledScripts } from '../broker/compiled-scripts.ts'
import { Explainer } from '../broker/explain/explain.ts'
import { findRepaint } from '../broker/repaint.ts'
import { runBacktest } from '../broker/run.ts'
import { zoneOf } from '../market/zone.ts'
import { withSeries } from '../work/workers/asked-series.ts'
import { DEFAULT_LIMITS } from '../language/runtime/limits.ts'
import { onlyOf, parseArguments, type Command, switched, valued } from './command.ts'
import { chartLines, comparisonLines, settingsLines } from './compare-text.ts'
import { barsFlags, barsInRange, readExportFile, settingsFrom, type ExportFile } from './export-file.ts'
import { explanationLines } from './explanation-text.ts'
import { diagnosticLines, diagnosticsOf } from './diagnostics-text.ts'
import { reportLines } from './report-text.ts'
import { repaintLines } from './repaint-text.ts'
import type { BacktestRequest } from '../broker/backtest.ts'
import type { Report } from '../wire/report.ts'
import { tradeListCsv } from '../wire/trade-list.ts'
import { plotsCsv } from './run-files.ts'
import { BARS_FLAGS, BARS_HELP, parseJsonObject, withScriptBars, type ScriptBars } from './script-bars.ts'
import { DAY_FLAG, DAY_HELP, dayOfFlag, scriptToRun } from './script-file.ts'
import { progressBar } from './table.ts'
import { triedHere, triesLines } from './tries.ts'
import { verifyRun } from './verify-run.ts'

const FLAGS = {
  ...BARS_FLAGS,
  ...DAY_FLAG,
  ...valued('inputs', 'set', 'libraries', 'trades', 'plots', 'compare', 'timezone', 'verify'),
  ...switched('json', 'repaint', 'utc'),
}

export const backtestCommand: Command = {
  name: 'backtest',
  usage: 'SCRIPT.pine --bars FILE.csv | --exchange E --symbol S --interval I',
  summary: 'Run a Pine script and show the report.',
  help: () =>
    [
      '  SCRIPT.pine           Of any version, 1 to 6; - reads standard input; the id of a stored script (scr_…) runs that with its properties',
      ...BARS_HELP,
      `  --inputs JSON         Input values by title or variable name: '{"Length": 20}'`,
      `  --set JSON            Declaration arguments instead of the script's: '{"initial_capital": 50000}'`,
      DAY_HELP,
      '  --libraries FOLDER    Where imported libraries are: USER/LIBRARY.pine',
      '  --json                Report, tracks and tries as JSON on standard output',
      "  --trades OUT.csv      Write the list of trades, in TradingView's columns and on the exchange's clock",
      '  --plots OUT.csv       Write the plots, a row a bar',
      "  --compare EXPORT      Hold the run against TradingView's list of trades; where they differ say why, with exit status 1.",
      '                        A chart as CSV has its columns of plots held against those of the run, by title',
      '                        A report as XLSX also sets bars, range, inputs and properties, where no flag does, and has its figures compared',
      '  --timezone ZONE       Of the times in the export: America/New_York, UTC+8; found out where it is not given',
      "  --utc                 Times of the report and of --trades in UTC, not in the exchange's zone",
      '  --repaint             Instead: find out whether the script sees the future; exit status 1 where it does',
      '  --verify ID           Instead: run a stored backtest again and compare its report byte by byte',
    ].join('\n'),
  run: async (context) => {
    const { flags, positionals } = parseArguments(context.args, FLAGS)
    if (flags.verify !== undefined) return verifyRun(context, flags, flags.verify)
    const path = onlyOf(positionals, 'script')
    const script = await scriptToRun(context, flags, path)
    const inputs = flags.inputs === undefined ? {} : parseJsonObject(flags.inputs, '--inputs')
    const asOf = dayOfFlag(context, { 'as-of': flags['as-of'] ?? script.asOf })
    const set = flags.set === undefined ? {} : parseJsonObject(flags.set, '--set')
    const exported = flags.compare === undefined ? null : await readExportFile(flags.compare)
    const scripts = new CompiledScripts()
    const settings = settingsFrom(exported, scripts, script)
    return withScriptBars(context, barsFlags(flags, settings), async (found) => {
      const on = barsInRange(found, settings, flags)
      const { bars, symbol, interval, finer, series } = on
      const { print, ink, warn, progress } = context
      try {
        const request = {
          source: script.source,
          inputs: { ...settings?.inputs, ...inputs },
          overrides: { ...script.overrides, ...settings?.overrides, ...(set as typeof script.overrides) },
          asOf,
          bars,
          symbol,
          interval,
          finer,
          library: script.library,
          limits: DEFAULT_LIMITS,
          scripts,
          now: () => performance.now(),
          ...(progress && { progress: (bar: number) => progress(progressBar(bar / bars.length)) }),
        }
        if (flags.repaint) {
          const repaint = await withSeries(series, (found) => findRepaint({ ...request, series: found }))
          progress?.(null)
          if (flags.json) print(JSON.stringify(repaint))
          else for (const line of repaintLines(repaint, script.name)) print(line)
          return repaint.clean ? 0 : 1
        }
        const result = await withSeries(series, (found) => runBacktest({ ...request, series: found }))
        progress?.(null)
        const zone = flags.utc ? 'UTC' : symbol.timezone
        await writeFiles(flags, result, { zone, prices: symbol.currency })
        const trials = await triedHere(on, script.source, result)
        if (flags.json) print(JSON.stringify({ ...result, trials }))
        else {
          const tries = triesLines(trials, { isCounted: on.ledger !== null })
          const shown = { ink, zone, tries }
          for (const line of reportLines(result.report, shown)) print(line)
        }
        if (!exported) return 0
        if (settings) for (const line of settingsLines(settings)) print(line)
        const asked = { request, report: result.report, timezone: flags.timezone ?? null }
        const { agrees, said } =
          exported.chart === null
            ? await differencesFrom(exported, on, asked)
            : chartLines(exported.chart, result.tracks, bars)
        progress?.(null)
        for (const line of said) print(line)
        return agrees ? 0 : 1
      } catch (error) {
        progress?.(null)
        for (const line of diagnosticLines(
          script.name,
          script.source,
          diagnosticsOf(error),
          context.warningInk,
        ))
          warn(line)
        throw error
      }
    })
  },
}

async function writeFiles(
  { trades, plots }: { readonly trades?: string | undefined; readonly plots?: string | undefined },
  { report, tracks }: ReturnType<typeof runBacktest>,
  { zone, prices }: { readonly zone: string; readonly prices: string },
): Promise<void> {
  const offsetAt = (time: number) => zoneOf(zone)?.offsetAt(time) ?? 0
  if (trades !== undefined) await Bun.write(trades, tradeListCsv(report, { offsetAt, prices }))
  if (plots !== undefined) await Bun.write(plots, plotsCsv(tracks))
}

interface Asked {
  readonly request: Omit<BacktestRequest, 'series'>
  readonly report: Report
  readonly timezone: string | null
}

/** What the export and the run have otherwise, and why. */
async function differencesFrom(
  exported: ExportFile,
  { bars, all, finer, series }: ScriptBars,
  { request, report, timezone }: Asked,
): Promise<{ readonly agrees: boolean; readonly said: readonly string[] }> {
  const { agrees, lines } = comparisonLines(exported, report, bars, timezone)
  if (agrees) return { agrees, said: lines }
  const { trades, lost } = exported.list
  const earlier = all.length > bars.length ? all : null
  // One search, even if it is started again to fetch a series.
  const explainer = new Explainer({ exported: trades, lost: lost.trades, timezone, earlier, finer })
  const why = await withSeries(series, (found) => explainer.explain({ ...request, series: found }))
  return { agrees, said: [...lines, ...(why ? explanationLines(why) : [])] }
}
