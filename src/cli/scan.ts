// `chartroom scan`: runs one script over many markets and shows where its conditions hold now.
//
// It uses the server's own scans, over the bars of the data directory or of files; the result is printed and not kept.

import { availableParallelism } from 'node:os'
import { basename } from 'node:path'
import { idSource } from '../lib/ids.ts'
import { BarCache } from '../market/bar-cache.ts'
import { memoryBars } from '../market/bar-store.ts'
import { loadSamples } from '../market/sample.ts'
import { scanHost } from '../work/runs/host.ts'
import { csvHead, csvLine } from '../work/scans/rows.ts'
import { Scans, type Scan } from '../work/scans/scans.ts'
import { Ledger } from '../work/sweeps/ledger.ts'
import { Watchlists, type Watchlist } from '../people/watchlists/watchlists.ts'
import type { ScanBody, ScanRow } from '../wire/scan.ts'
import {
  onlyOf,
  parseArguments,
  UsageError,
  wholeOf,
  type Command,
  type CommandContext,
  type FlagsOf,
  repeated,
  switched,
  valued,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData, type Data } from './data.ts'
import { scriptProblem } from './diagnostics-text.ts'
import { overOf, USER, withJobs } from './jobs-here.ts'
import { barsOfFile, intervalOf, ownerIn, type ScriptBars } from './script-bars.ts'
import { DAY_FLAG, DAY_HELP, librariesBeside, readScript, settingsOf } from './script-file.ts'
import { formatNumber, formatPercent, formatTime, progressBar, right, tableLines } from './table.ts'

const FLAGS = {
  ...DATA_FLAGS,
  ...DAY_FLAG,
  ...valued('interval', 'watchlist', 'last', 'where', 'sort', 'order', 'limit', 'inputs'),
  ...valued('properties', 'libraries', 'workers', 'csv'),
  ...repeated('bars', 'symbols'),
  ...switched('json'),
}

const BARS = 500
const SHOWN = 50

export const scanCommand: Command = {
  name: 'scan',
  usage:
    'SCRIPT.pine --interval I [--symbols A,B | --watchlist NAME | --bars FILE.csv …] [--where CONDITION]',
  summary: 'Run a script over many markets, and say where its conditions hold now.',
  help: () =>
    [
      '  SCRIPT.pine           Of any version, 1 to 6; - reads standard input',
      '  --interval I          Of the bars: 15m, 1h, 1d, 1w, 1M or as TradingView writes it',
      '  --symbols LIST        AAPL,NASDAQ:MSFT. As often as you like; everything cached if not given',
      '  --watchlist NAME      The symbols of a watchlist in the data directory, by name or id, and its owner’s bars',
      '  --bars FILE           Bars from CSV or JSON files instead, a market each, as often as you like',
      `  --last N              Bars of each market: ${BARS} if not given`,
      `  --where 'CONDITION'   Which rows: 'RSI < 30 and close > "EMA 200"'; a condition of the script by its title`,
      '  --sort NAME           By a plot, a condition, symbol, close, change, netProfit, winRate, …',
      '  --order asc|desc      Texts from A and numbers from the greatest if not given',
      `  --limit N             Rows to print: ${SHOWN} if not given`,
      `  --inputs JSON         Values of inputs: '{"Length": 20}'`,
      `  --properties JSON     Arguments of strategy() instead of the script's`,
      DAY_HELP,
      '  --libraries FOLDER    Where imported libraries are: USER/LIBRARY.pine',
      '  --workers N           Threads; as many as there are processors if not given',
      '  --csv OUT.csv         Write all rows that --where chooses',
      '  --json                The scan and its rows as JSON on standard output',
      DATA_HELP,
    ].join('\n'),
  run: async (context) => {
    const { flags, positionals } = parseArguments(context.args, FLAGS)
    const path = onlyOf(positionals, 'script')
    if (flags.interval === undefined) throw new UsageError('Name the interval of the bars: --interval 1d.')
    if ([flags.bars, flags.symbols, flags.watchlist].filter((one) => one !== undefined).length > 1)
      throw new UsageError('Take one of --symbols, --watchlist and --bars.')
    const order = orderOf(flags.order)
    const limit = wholeOf(flags.limit ?? String(SHOWN), '--limit', 1, 1_000_000)
    const workers = wholeOf(flags.workers ?? String(availableParallelism()), '--workers', 1, 256)
    const script = await readScript(context, path)
    const body = bodyOf(context, flags, script, intervalOf(flags.interval))
    const library = librariesBeside(path, flags.libraries)
    const chosen = { where: flags.where, sort: flags.sort, order }
    const { scan, rows } =
      flags.bars === undefined
        ? await withData(context, flags, async (data) => {
            await loadSamples(data.bars)
            const list =
              flags.watchlist === undefined ? null : await watchlistOf(data, context, flags.watchlist)
            const asked = list ? { ...body, watchlistId: list.id } : body
            const ledger = { kv: data.kv, userId: await ownerIn(data.kv) }
            return scanned(context, data.bars, asked, { workers, library, list, chosen, ledger })
          })
        : await scanned(context, await cacheOf(flags.bars, body.interval), body, {
            workers,
            library,
            list: null,
            chosen,
            ledger: null,
          })
    if (scan.error) throw scriptProblem(script, scan.error, context)
    if (flags.csv !== undefined)
      await Bun.write(flags.csv, `${[csvHead(scan), ...rows.map((row) => csvLine(scan, row))].join('\n')}\n`)
    if (flags.json) context.print(JSON.stringify({ scan: shownScan(scan), rows }))
    else for (const line of scanLines(scan, rows, limit)) context.print(line)
    return 0
  },
}

type Flags = FlagsOf<typeof FLAGS>

function bodyOf(
  context: CommandContext,
  flags: Flags,
  { name, source }: { readonly name: string; readonly source: string },
  interval: string,
): ScanBody {
  const symbols = flags.symbols?.flatMap((list) =>
    list.split(',').map((symbol) => ({ symbol: symbol.trim() })),
  )
  return {
    name,
    source,
    interval,
    bars: wholeOf(flags.last ?? String(BARS), '--last', 1, 50_000),
    ...(symbols && { symbols }),
    ...settingsOf(context, flags),
  }
}

function orderOf(text: string | undefined): 'asc' | 'desc' | undefined {
  if (text === undefined || text === 'asc' || text === 'desc') return text
  throw new UsageError('--order takes asc or desc.')
}

/** A watchlist by its id, or by a name that only one has. */
async function watchlistOf(
  { kv }: Data,
  { clock, random }: CommandContext,
  name: string,
): Promise<Watchlist> {
  const found: Watchlist[] = []
  for await (const list of new Watchlists({ kv, clock, newId: idSource({ clock, random }) }).each())
    if (list.id === name || list.name === name) found.push(list)
  const [only, ...more] = found
  if (only && more.length === 0) return only
  throw new UsageError(
    only
      ? `${found.length} watchlists are called "${name}". Name one by its id: ${found.map(({ id }) => id).join(', ')}.`
      : `There is no watchlist "${name}".`,
  )
}

/** The bars of files, one market each. */
async function cacheOf(paths: readonly string[], interval: string): Promise<BarCache> {
  const cache = new BarCache(memoryBars())
  for (const path of paths) {
    const { bars, symbol } = await barsOfFile(path)
    if (await cache.store.info({ ...symbol, interval }))
      throw new UsageError(
        `Two files are of ${symbol.symbol}: a market is called as its file is, up to the first dot.`,
      )
    await cache.store.putSymbol(symbol)
    await cache.upsert({ exchange: symbol.exchange, symbol: symbol.symbol, interval }, bars)
  }
  return cache
}

interface ScanWork {
  readonly workers: number
  readonly library: ReturnType<typeof librariesBeside>
  readonly list: Watchlist | null
  readonly chosen: Parameters<Scans['rows']>[2]
  /** Where strategies on the cached markets are counted as tried; null for the bars of files. */
  readonly ledger: ScriptBars['ledger']
}

function scanned(
  context: CommandContext,
  bars: BarCache,
  body: ScanBody,
  { workers, library, list, chosen, ledger: place }: ScanWork,
): Promise<{ readonly scan: Scan; readonly rows: readonly ScanRow[] }> {
  // One more than the threads that run scripts, since the pool keeps one for urgent jobs.
  return withJobs(context, workers + 1, async (here) => {
    const ledger = place && new Ledger({ ...here, ...place })
    const scans = new Scans({
      ...here,
      bars,
      hostFor: (seen) => ({ ...scanHost(seen, () => Promise.resolve(null)), library }),
      watched: () => Promise.resolve(list?.items ?? []),
      ownsReceiver: () => Promise.resolve(false),
      tried: (_, tried) => ledger?.note({ ...tried, userId: place!.userId }),
      watchedIsDone: () => undefined,
      atOnce: workers + 1,
    })
    const user = list?.ownerId ?? USER
    const scan = await overOf(
      scans,
      await scans.create(user, body),
      context,
      ({ done, markets }) => `${progressBar(done / Math.max(1, markets))}  ${done} of ${markets} markets`,
    )
    await ledger?.settled()
    return scan.error ? { scan, rows: [] } : scans.rows(user, scan.id, chosen)
  })
}

const shownScan = ({ name, asOf, interval, bars, kind, values, conditions, markets, failed }: Scan) => ({
  name: basename(name),
  asOf,
  interval,
  bars,
  kind,
  values,
  conditions,
  markets,
  failed,
})

function scanLines(scan: Scan, rows: readonly ScanRow[], limit: number): string[] {
  const { values, conditions, kind, markets, failed } = scan
  const isStrategy = kind === 'strategy'
  const columns = [
    'Market',
    'Bar',
    right('Close'),
    right('Change'),
    ...values.map(right),
    ...(isStrategy ? ['Position', 'Trades', 'Net profit', 'Won', 'Max drawdown'].map(right) : []),
    conditions.length > 0 ? 'Holds' : '',
  ]
  const cells = rows
    .slice(0, limit)
    .map((row) => [
      row.exchange === '' ? row.symbol : `${row.exchange}:${row.symbol}`,
      row.time === null ? '–' : formatTime(row.time),
      formatNumber(row.close, 4),
      formatPercent(row.change),
      ...values.map((_, i) => formatNumber(row.values[i], 4)),
      ...(isStrategy ? figureCells(row) : []),
      row.error?.message ?? row.holds.map((place) => conditions[place]?.title ?? '').join(', '),
    ])
  const left = rows.length - cells.length
  return [
    ...tableLines(columns, cells),
    ...(left > 0 ? [`… and ${left.toLocaleString('en')} more: --limit ${rows.length}`] : []),
    '',
    `${rows.length.toLocaleString('en')} of ${markets.toLocaleString('en')} markets${failed > 0 ? `, ${failed.toLocaleString('en')} without bars or with an error` : ''}.`,
    ...conditions.map(({ title, holds }) => `${title}: holds on ${holds.toLocaleString('en')}.`),
  ]
}

const figureCells = ({ position, summary }: ScanRow) => [
  formatNumber(position, 4),
  formatNumber(summary?.trades, 0),
  formatNumber(summary?.netProfit),
  formatPercent(summary?.winRate),
  formatPercent(summary?.maxDrawdownPct),
]
