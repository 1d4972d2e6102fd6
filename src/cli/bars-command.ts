// `chartroom bars`: lists the cached series, imports and exports them.

import { users } from '../accounts/accounts.ts'
import { saidOf } from '../feeds/said.ts'
import { ToldFeeds } from '../feeds/told-feeds.ts'
import { csvRow } from '../lib/csv-text.ts'
import { isLongMarketName, MARKET_NAME_MAX } from '../lib/text.ts'
import { importBars, type ImportResult } from '../market/import.ts'
import { type Bars, BAR_FIELDS } from '../market/bars.ts'
import { ownerOf, seriesKey, seriesName, type SeriesKey } from '../market/bar-store.ts'
import { fetchSeries } from '../market/providers/fetch-bars.ts'
import { type Http, ProviderError } from '../market/providers/provider.ts'
import { loadSamples } from '../market/sample.ts'
import {
  onlyOf,
  parseArguments,
  parseFlags,
  subcommandOf,
  UsageError,
  type Command,
  type CommandContext,
} from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { intervalOf, tickerOf } from './script-bars.ts'
import { formatBytes, formatNumber, formatTime, progressBar, tableLines } from './table.ts'

const SERIES_FLAGS = {
  ...DATA_FLAGS,
  exchange: { type: 'string' },
  symbol: { type: 'string' },
  interval: { type: 'string' },
} as const

const SUBCOMMANDS: Readonly<Record<string, (context: CommandContext) => Promise<number>>> = {
  list: listBars,
  import: importFile,
  export: exportBars,
  fetch: fetchBars,
  feeds: listFeeds,
  remove: removeBars,
}

export const barsCommand: Command = {
  name: 'bars',
  usage: 'list | import FILE | export | fetch | feeds | remove  --exchange E --symbol S --interval I',
  summary: 'List, import, export and fetch cached bars.',
  help: () =>
    [
      '  bars list                       What is cached',
      '  bars import FILE                CSV (own, TradingView, Binance) or JSON; all rows or none. - reads standard input',
      '  bars export [--output FILE]     As CSV; --from and --to (ISO dates, to exclusive) or --last N narrow it',
      '  bars fetch                      From Binance, Bybit, Coinbase, Hyperliquid, Kraken, OKX or Yahoo Finance, by',
      '                                  exchange: from where the series ends, or from --from DATE; cut short, it goes on',
      '                                  where it was',
      '  bars feeds                      What a server keeps fresh, and how its stream or its requests go, as it told last',
      '  bars remove                     Forget a series',
      '',
      '  --exchange E --symbol S --interval I',
      '                       The series; --symbol BINANCE:BTCUSDT names both',
      '  --format csv|json    Of the imported file, where its name does not tell',
      '  --session HOURS      When the symbol of the imported file trades: 0930-1600, 1700-1700:23456, 24x7',
      '  --timezone ZONE      Of these hours: America/New_York',
      DATA_HELP,
    ].join('\n'),
  run: async (context) => {
    const subcommand = subcommandOf(barsCommand, SUBCOMMANDS, context.args)
    return subcommand({ ...context, args: context.args.slice(1) })
  },
}

async function listBars(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, DATA_FLAGS)
  return withData(context, flags, async ({ bars, kv }) => {
    await loadSamples(bars)
    const emails = new Map((await Array.fromAsync(users(kv).each())).map(({ id, email }) => [id, email]))
    const all = await bars.store.list()
    const isPrivate = all.some((series) => ownerOf(series) !== '')
    const rows = all.map(({ exchange, symbol, interval, count, first, last, owner = '' }) => [
      `${exchange}:${symbol}`,
      interval,
      formatNumber(count, 0),
      formatTime(first),
      formatTime(last),
      ...(isPrivate ? [emails.get(owner) ?? owner] : []),
    ])
    const columns = [
      { title: 'SYMBOL' },
      { title: 'INTERVAL' },
      { title: 'BARS', align: 'right' },
      { title: 'FIRST (UTC)' },
      { title: 'LAST (UTC)' },
      ...(isPrivate ? [{ title: 'PRIVATE TO' }] : []),
    ] as const
    for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

async function importFile(context: CommandContext): Promise<number> {
  const { flags, positionals } = parseArguments(context.args, {
    ...SERIES_FLAGS,
    format: { type: 'string' },
    session: { type: 'string' },
    timezone: { type: 'string' },
  })
  const path = onlyOf(positionals, 'file to import')
  const key = keyOf(flags)
  const file = path === '-' ? Bun.stdin : Bun.file(path)
  if (path !== '-' && !(await file.exists())) throw new UsageError(`There is no file ${path}.`)
  const format = flags.format ?? (path.endsWith('.json') ? 'json' : 'csv')
  if (format !== 'csv' && format !== 'json') throw new UsageError('--format is csv or json.')
  const { size } = file
  return withData(context, flags, async ({ bars }) => {
    let shown = 0
    const result = await importBars(bars, key, file.stream(), {
      format,
      facts: { session: flags.session, timezone: flags.timezone },
      progress: (bytes) => {
        if (bytes - shown < 1 << 20) return
        shown = bytes
        const bar = Number.isFinite(size) && size > 0 ? `${progressBar(bytes / size)}  ` : ''
        context.progress?.(`${bar}${formatBytes(bytes)}`)
      },
    }).finally(() => context.progress?.(null))
    for (const line of importLines(key, result)) context.print(line)
    for (const { message } of result.warnings) context.warn(`warning: ${message}`)
    return 0
  })
}

function importLines(key: SeriesKey, { series, symbol, inserted, updated }: ImportResult): string[] {
  return [
    `${seriesName(key)}: ${formatNumber(inserted, 0)} bars added, ${formatNumber(updated, 0)} replaced.`,
    `Now ${formatNumber(series.count, 0)} bars from ${formatTime(series.first)} to ${formatTime(series.last)} UTC.`,
    `Tick ${symbol.mintick}, session ${symbol.session} ${symbol.timezone}, currency ${symbol.currency}.`,
  ]
}

async function exportBars(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, {
    ...SERIES_FLAGS,
    output: { type: 'string', short: 'o' },
    from: { type: 'string' },
    to: { type: 'string' },
    last: { type: 'string' },
  })
  const key = keyOf(flags)
  const from = flags.from === undefined ? undefined : timeOf('--from', flags.from)
  const to = flags.to === undefined ? undefined : timeOf('--to', flags.to)
  const last = flags.last === undefined ? undefined : Number(flags.last)
  if (last !== undefined && !(Number.isInteger(last) && last > 0))
    throw new UsageError('--last is a number of bars.')
  return withData(context, flags, async ({ bars }) => {
    await loadSamples(bars)
    const found = await bars.read(key, {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(last !== undefined && { last }),
    })
    if (found.length === 0) {
      context.warn(`No bars of ${seriesName(key)} are cached there. \`chartroom bars list\` shows what is.`)
      return 1
    }
    if (flags.output === undefined) for (const line of barLines(found)) context.print(line)
    else {
      const writer = Bun.file(flags.output).writer()
      for (const line of barLines(found)) await writer.write(`${line}\n`)
      await writer.end()
      context.print(`${formatNumber(found.length, 0)} bars of ${seriesName(key)} in ${flags.output}`)
    }
    return 0
  })
}

/** CSV that the import reads back bit for bit. */
function* barLines(bars: Bars): Generator<string> {
  yield csvRow(BAR_FIELDS)
  for (let i = 0; i < bars.length; i++) yield csvRow(BAR_FIELDS.map((field) => bars[field][i]!))
}

async function fetchBars(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, {
    ...SERIES_FLAGS,
    from: { type: 'string' },
    to: { type: 'string' },
  })
  const key = keyOf(flags)
  const from = flags.from === undefined ? undefined : timeOf('--from', flags.from)
  const to = flags.to === undefined ? undefined : timeOf('--to', flags.to)
  const http = context.http ?? defaultHttp
  return withData(context, flags, async ({ bars }) => {
    try {
      const { inserted, updated } = await fetchSeries(
        bars,
        key,
        { http, clock: context.clock },
        {
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          progress: (fraction, count) =>
            context.progress?.(
              `${progressBar(fraction)}  ${formatNumber(count, 0)} bars of ${seriesName(key)}`,
            ),
        },
      ).finally(() => context.progress?.(null))
      context.print(
        `${seriesName(key)}: ${formatNumber(inserted, 0)} bars added, ${formatNumber(updated, 0)} replaced.`,
      )
      return 0
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      context.warn(error.message)
      return 1
    }
  })
}

/** The longest wait for a provider's page. */
const HTTP_TIMEOUT_MS = 20_000

const defaultHttp: Http = (url, signal, body) =>
  fetch(url, {
    headers: {
      'user-agent': 'Mozilla/5.0 (compatible; Chartroom)',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { method: 'POST', body }),
    signal: AbortSignal.any([AbortSignal.timeout(HTTP_TIMEOUT_MS), ...(signal ? [signal] : [])]),
  })

async function listFeeds(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, DATA_FLAGS)
  return withData(context, flags, async ({ bars, kv }) => {
    const feeds = await new ToldFeeds({ kv, clock: context.clock }).list()
    if (feeds.length === 0)
      context.print('No series is kept fresh. Follow one with POST /api/platform/feeds.')
    const rows: string[][] = []
    for (const feed of feeds) {
      const newestBar = (await bars.store.info(feed.key))?.last ?? null
      rows.push([
        seriesName(feed.key),
        feed.state,
        newestBar === null ? '–' : formatTime(newestBar),
        saidOf({ ...feed, newestBar }),
      ])
    }
    const columns = [
      { title: 'SERIES' },
      { title: 'STATE' },
      { title: 'NEWEST (UTC)' },
      { title: 'HOW IT GOES' },
    ] as const
    if (rows.length > 0) for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

async function removeBars(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, SERIES_FLAGS)
  const key = keyOf(flags)
  return withData(context, flags, async ({ bars }) => {
    const removed = await bars.remove(key)
    if (removed) context.print(`${seriesName(key)} is removed.`)
    else context.warn(`There are no bars of ${seriesName(key)}.`)
    return removed ? 0 : 1
  })
}

function keyOf(flags: {
  exchange?: string | undefined
  symbol?: string | undefined
  interval?: string | undefined
}) {
  const { exchange, symbol } = tickerOf(flags)
  if (exchange === '' || symbol === '' || flags.interval === undefined)
    throw new UsageError('Name the series with --exchange, --symbol and --interval.')
  if (isLongMarketName(exchange) || isLongMarketName(symbol))
    throw new UsageError(`An exchange and a symbol have at most ${MARKET_NAME_MAX} characters each.`)
  return seriesKey(exchange, symbol, intervalOf(flags.interval))
}

function timeOf(flag: string, text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time))
    throw new UsageError(`${flag} is a date such as 2024-03-05 or 2024-03-05T14:30:00Z.`)
  return time
}
