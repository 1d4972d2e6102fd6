// `chartroom backtest … --compare FILE`: TradingView's export, and what of it sets the run.

import type { CompiledScripts } from '../broker/compiled-scripts.ts'
import { isChartExport } from '../market/files/chart-export.ts'
import { settingsIn, type Settings } from '../broker/exported/properties.ts'
import { readExport, type TesterExport } from '../broker/exported/read-export.ts'
import { parseTradeList, wallOf, type ExportedList } from '../broker/exported/trade-list.ts'
import { inputViews, type CompileOptions } from '../language/compile.ts'
import { Problem } from '../lib/problem.ts'
import { selectBars } from '../market/bars.ts'
import { zoneOf } from '../market/zone.ts'
import { UsageError } from './command.ts'
import type { BarsFlags, ScriptBars } from './script-bars.ts'

export interface ExportFile {
  readonly list: ExportedList
  /** null for a CSV, which has a list alone. */
  readonly tester: TesterExport | null
  /** The text of a chart's export, which has plots and no trades; null of others. */
  readonly chart: string | null
}

/** Throws UsageError if the file has no trade that can be read. */
export async function readExportFile(path: string): Promise<ExportFile> {
  const file = Bun.file(path)
  if (!(await file.exists())) throw new UsageError(`--compare: there is no file ${path}.`)
  const bytes = await file.bytes()
  const isBook = /\.xlsx$/i.test(path) || (bytes[0] === 0x50 && bytes[1] === 0x4b)
  const tester = isBook ? await readBook(bytes) : null
  const text = isBook ? '' : new TextDecoder().decode(bytes)
  const chart = isChartExport(text) ? text : null
  const list = tester?.list ?? parseTradeList(text)
  const [problem] = list.problems
  if (chart === null && list.trades.length === 0)
    throw new UsageError(
      problem ? `--compare: row ${problem.row}: ${problem.message}` : '--compare: no trade in it.',
    )
  return { list, tester, chart }
}

async function readBook(bytes: Uint8Array): Promise<TesterExport> {
  return readExport(bytes).catch((error: unknown) => {
    throw error instanceof Problem ? new UsageError(`--compare: ${error.message}`) : error
  })
}

/** What the export sets of a run of the script; nothing where it has no properties, or where the script does not compile. */
export function settingsFrom(
  file: ExportFile | null,
  scripts: CompiledScripts,
  { source, library }: { readonly source: string } & CompileOptions,
): Settings | null {
  const rows = file?.tester?.properties
  const { script } = rows ? scripts.compile(source, library ? { library } : {}) : { script: null }
  if (!rows || !script) return null
  const defaults = inputViews(script.program).map((input) => [input.label, input.default])
  return settingsIn(rows, Object.fromEntries(defaults) as Readonly<Record<string, unknown>>)
}

/** Flags name the bars; what they leave open the export says. */
export function barsFlags<Flags extends BarsFlags>(flags: Flags, settings: Settings | null): Flags {
  if (!settings) return flags
  const { exchange, symbol, interval } = settings
  const isNamed = flags.symbol !== undefined || flags.exchange !== undefined
  return {
    ...flags,
    ...(!isNamed && symbol !== null && exchange !== null && { exchange, symbol }),
    ...(flags.interval === undefined && flags.bars === undefined && interval !== null && { interval }),
  }
}

/** The bars of the export's range, on the clock of `timezone` or of the exchange, unless `--last` says how many. */
export function barsInRange(
  on: ScriptBars,
  settings: Settings | null,
  { last, timezone }: { readonly last?: string | undefined; readonly timezone?: string | undefined },
): ScriptBars {
  const [from, to] = [wallOf(settings?.range?.from ?? ''), wallOf(settings?.range?.to ?? '')]
  const zone = zoneOf(timezone ?? on.symbol.timezone)
  if (!from || !to || !zone || last !== undefined) return on
  const bars = selectBars(on.bars, { from: zone.toUtc(from.wall), to: zone.toUtc(to.wall) + 1 })
  if (bars.length === 0)
    throw new UsageError(
      `--compare: there are no bars from ${settings?.range?.from} to ${settings?.range?.to}, which the export is of.`,
    )
  return { ...on, bars }
}
