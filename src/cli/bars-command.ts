// `chartroom bars`: lists the cached series, imports and exports them.

import { users } from '../people/accounts/accounts.ts'
import { forgetChart } from '../people/charts/imported-charts.ts'
import { saidOf } from '../people/feeds/said.ts'
import { ToldFeeds } from '../people/feeds/told-feeds.ts'
import { isLongMarketName, MARKET_NAME_MAX } from '../lib/text.ts'
import type { BarRange } from '../market/bars.ts'
import { barWindows, EXPORT_FORMATS, type ExportFormat, exportPieces } from '../market/files/export-bars.ts'
import { ownerOf, seriesKey, seriesName } from '../market/bar-store.ts'
import { contractLacking } from '../market/continuous.ts'
import { fetchSeries } from '../market/providers/fetch-bars.ts'
import { ProviderError } from '../market/providers/provider-error.ts'
import { loadSamples } from '../market/sample.ts'
import { barsSeenBy } from '../market/seen-bars.ts'
import { parseFlags, subcommands, UsageError, type Command, type CommandContext, valued } from './command.ts'
import { barsText, importFiles } from './bars-files.ts'
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { defaultHttp, providersWithKeys } from './providers-here.ts'
import { intervalOf, tickerOf } from './script-bars.ts'
import { formatNumber, formatTime, progressBar, right, tableLines } from './table.ts'

const SERIES_FLAGS = { ...DATA_FLAGS, ...valued('exchange', 'symbol', 'interval') }

export const barsCommand: Command = {
  name: 'bars',
  usage:
    'list | import FILE… | export | contracts | fetch | feeds | remove  --exchange E --symbol S --interval I',
  summary: 'List, import, export and fetch cached bars.',
  help: () =>
    [
      '  bars list                       What is cached',
      '  bars import FILE|FOLDER …       CSV, Parquet, Arrow or JSON of bars, trades or quotes, also in zip, gzip, zstd; all rows or',
      '                                  none. What writes it is recognised. - reads standard input',
      '  bars export [--output FILE]     As CSV or Parquet, by --format or the name; --from and --to (ISO dates, to exclusive)',
      '                                  or --last N narrow it',
      '  bars contracts                  Which contract a continuous future (--symbol CME:ES1!) is when',
      '  bars fetch                      From Binance, Bybit, Coinbase, Hyperliquid, Kraken, OKX or Yahoo Finance, by',
      '                                  exchange, or a provider whose key the server was given: from where the series',
      '                                  ends, or from --from DATE; cut short, it goes on where it was',
      '  bars feeds                      What a server keeps fresh, and how its stream or its requests go, as it told last',
      '  bars remove                     Forget a series',
      '',
      '  --exchange E --symbol S --interval I',
      '                       The series; --symbol BINANCE:BTCUSDT names both',
      '                       The name of an imported file may tell them instead',
      '  --dry-run            Only say how the file would be read, and what is odd about its bars',
      '  --times-in ZONE      Zone of times that state none: America/New_York, UTC-5',
      '  --dates ymd|dmy|mdy  Order of day, month and year; --unit s|ms|us|ns of times that are numbers',
      '  --delimiter NAME     comma, semicolon, tab or pipe; --decimal point|comma',
      '  --duplicates HOW     A second row of a time: refuse (of one file), first or last (of several files)',
      '  --columns LIST       Which column has what, by name or number: time=Index,open=First; --ticker T takes its rows of several',
      '  --dated start|end    What the time of a bar is; --widen takes an open or a close outside of low to high',
      '  --volume-per-bar N   Bars of so much volume each, of a file of trades; --interval then only names the series (1s suits)',
      '  --format FORMAT      Of the imported file, csv or json, where its content does not tell; of the exported, csv or parquet',
      '  --session HOURS      When the symbol of the imported file trades: 0930-1600, 1700-1700:23456, 24x7',
      '  --timezone ZONE      Of these hours: America/New_York',
      DATA_HELP,
    ].join('\n'),
  run: subcommands('bars', {
    list: listBars,
    import: (context) => importFiles(context, keyOf),
    export: exportBars,
    fetch: fetchBars,
    contracts: listContracts,
    feeds: listFeeds,
    remove: removeBars,
  }),
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
      'SYMBOL',
      'INTERVAL',
      right('BARS'),
      'FIRST (UTC)',
      'LAST (UTC)',
      ...(isPrivate ? ['PRIVATE TO'] : []),
    ] as const
    for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

async function exportBars(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, {
    ...SERIES_FLAGS,
    output: { type: 'string', short: 'o' },
    ...valued('format', 'from', 'to', 'last'),
  })
  const key = keyOf(flags)
  const from = flags.from === undefined ? undefined : timeOf('--from', flags.from)
  const to = flags.to === undefined ? undefined : timeOf('--to', flags.to)
  const last = flags.last === undefined ? undefined : Number(flags.last)
  if (last !== undefined && !(Number.isInteger(last) && last > 0))
    throw new UsageError('--last is a number of bars.')
  const format = exportFormatOf(flags)
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  return withData(context, flags, async ({ bars }) => {
    await loadSamples(bars)
    const seen = barsSeenBy(bars, null)
    if ((await seen.read(key, { ...range, first: 1 })).length === 0) {
      context.warn(`No bars of ${seriesName(key)} are cached there. \`chartroom bars list\` shows what is.`)
      return 1
    }
    let count = 0
    const read = (part: BarRange) => seen.read(key, part)
    const all = () => (last === undefined ? barWindows(read, range) : [read({ ...range, last })])
    async function* windows() {
      count = 0
      for await (const found of all()) {
        count += found.length
        yield found
      }
    }
    const writer = flags.output === undefined ? null : Bun.file(flags.output).writer()
    const decoder = new TextDecoder()
    for await (const piece of exportPieces(windows, format))
      if (writer) await writer.write(piece)
      else context.print(decoder.decode(piece).trimEnd())
    await writer?.end()
    if (writer) context.print(`${formatNumber(count, 0)} bars of ${seriesName(key)} in ${flags.output ?? ''}`)
    return 0
  })
}

async function listContracts(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, SERIES_FLAGS)
  const key = keyOf(flags)
  return withData(context, flags, async ({ bars }) => {
    const seen = barsSeenBy(bars, null)
    const spans = (await seen.contractSpans(key)) ?? []
    if (spans.length === 0) {
      context.warn(
        contractLacking(await seen.list(), key) ??
          `${seriesName(key)} is not made of contracts: a continuous future is named CME:ES1!, and its contracts CME:ESH2025 and so on.`,
      )
      return 1
    }
    const rows = spans.map(({ symbol, from, to, shift, factor }) => [
      symbol,
      Number.isFinite(from) ? formatTime(from) : '–',
      Number.isFinite(to) ? formatTime(to) : '–',
      factor === 1 ? formatNumber(shift) : `× ${formatNumber(factor, 6)}`,
    ])
    const columns = ['CONTRACT', 'FROM (UTC)', 'TO (UTC)', right('PRICES MOVED BY')] as const
    for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

/** What the flag says, or the ending of the file's name. */
function exportFormatOf({
  format,
  output,
}: {
  readonly format?: string | undefined
  readonly output?: string | undefined
}): ExportFormat {
  const wanted = format ?? (output?.endsWith('.parquet') === true ? 'parquet' : 'csv')
  const found = EXPORT_FORMATS.find((one) => one === wanted)
  if (!found) throw new UsageError(`--format is ${EXPORT_FORMATS.join(' or ')}.`)
  if (found === 'parquet' && output === undefined) throw new UsageError('Parquet needs --output FILE.')
  return found
}

async function fetchBars(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, { ...SERIES_FLAGS, ...valued('from', 'to') })
  const key = keyOf(flags)
  const from = flags.from === undefined ? undefined : timeOf('--from', flags.from)
  const to = flags.to === undefined ? undefined : timeOf('--to', flags.to)
  const http = context.http ?? defaultHttp
  return withData(context, flags, async ({ bars, kv }) => {
    try {
      const keys = await providersWithKeys(context, flags, kv)
      const { inserted, updated } = await fetchSeries(
        bars,
        key,
        { http, clock: context.clock, providerOf: keys && ((exchange) => keys.of(exchange)) },
        {
          ...(from !== undefined && { from }),
          ...(to !== undefined && { to }),
          progress: (fraction, count) =>
            context.progress?.(
              `${progressBar(fraction)}  ${formatNumber(count, 0)} bars of ${seriesName(key)}`,
            ),
        },
      ).finally(() => context.progress?.(null))
      context.print(`${seriesName(key)}: ${barsText(inserted)} added, ${formatNumber(updated, 0)} replaced.`)
      return 0
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      context.warn(error.message)
      return 1
    }
  })
}

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
        saidOf({ ...feed, newestBar }, context.clock.now()),
      ])
    }
    const columns = ['SERIES', 'STATE', 'NEWEST (UTC)', 'HOW IT GOES'] as const
    if (rows.length > 0) for (const line of tableLines(columns, rows)) context.print(line)
    return 0
  })
}

async function removeBars(context: CommandContext): Promise<number> {
  const flags = parseFlags(context.args, SERIES_FLAGS)
  const key = keyOf(flags)
  return withData(context, flags, async ({ bars, kv }) => {
    const removed = await bars.remove(key)
    await forgetChart(kv, key)
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
  const { interval = '' } = flags
  const missing = Object.entries({ exchange, symbol, interval }).flatMap(([flag, given]) =>
    given === '' ? [`--${flag}`] : [],
  )
  if (missing.length > 0) throw new UsageError(`Name the series, too: ${missing.join(', ')}.`)
  if (isLongMarketName(exchange) || isLongMarketName(symbol))
    throw new UsageError(`An exchange and a symbol have at most ${MARKET_NAME_MAX} characters each.`)
  return seriesKey(exchange, symbol, intervalOf(interval))
}

function timeOf(flag: string, text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time))
    throw new UsageError(`${flag} is a date such as 2024-03-05 or 2024-03-05T14:30:00Z.`)
  return time
}
