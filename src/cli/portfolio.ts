// `chartroom portfolio`: several scripts, each on a market, with one pot of money.
//
// The same room as the server's, over the bars of the data directory or of files; what it finds is printed and gone.

import { availableParallelism } from 'node:os'
import { BarCache } from '../market/bar-cache.ts'
import { memoryBars } from '../market/bar-store.ts'
import { inferInterval } from '../market/import.ts'
import { formatInterval } from '../market/interval.ts'
import { loadSamples } from '../market/sample.ts'
import { Portfolios, type Portfolio } from '../work/portfolios/portfolios.ts'
import { equityCsv, partsCsv } from '../work/portfolios/tables.ts'
import type { LargeText } from '../store/large-text.ts'
import { Problem } from '../lib/problem.ts'
import { hostFor } from '../work/runs/host.ts'
import { Ledger } from '../work/sweeps/ledger.ts'
import type { PortfolioBody, PortfolioResult } from '../wire/portfolio.ts'
import {
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
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'
import { scriptProblem } from './diagnostics-text.ts'
import { overOf, USER, withJobs } from './jobs-here.ts'
import { barsOfFile, intervalOf, ownerIn, parseJsonObject, type ScriptBars } from './script-bars.ts'
import { DAY_FLAG, DAY_HELP, dayOfFlag, librariesBeside, readScript } from './script-file.ts'
import { formatNumber, formatPercent, progressBar, right, tableLines } from './table.ts'

const FLAGS = {
  ...DATA_FLAGS,
  ...DAY_FLAG,
  ...valued('capital', 'currency', 'last', 'libraries', 'trades', 'equity', 'csv'),
  ...repeated('inputs', 'properties'),
  ...switched('json'),
}

const LAST = 2_000_000

export const portfolioCommand: Command = {
  name: 'portfolio',
  usage: 'SCRIPT.pine@EXCHANGE:SYMBOL:INTERVAL … [--capital N] | SCRIPT.pine@BARS.csv …',
  summary: 'Run several strategies, each on a market, with one pot of money.',
  help: () =>
    [
      '  SCRIPT.pine@MARKET    A part: its script and its cached bars, as BINANCE:BTCUSDT:1h. Where the money does not do for',
      '                        all, the part that is named first goes first, and the last is called for margin first',
      '  SCRIPT.pine@FILE      … or its bars from a CSV or JSON file',
      '  --capital N           What they begin with together; the initial capital of the first part if not given',
      '  --currency USD        Of the account; that of the first part if not given',
      '  --last N              Only the last N bars of each part',
      `  --inputs JSON         Values of inputs: '{"Length": 20}'; the first is the first part's, and so on`,
      `  --properties JSON     Arguments of strategy() instead of the script's; likewise`,
      DAY_HELP,
      '  --libraries FOLDER    Where imported libraries are: USER/LIBRARY.pine',
      '  --trades OUT.csv      Write the trades of all parts',
      '  --equity OUT.csv      Write the equity of the whole, and what each part had earned by then',
      '  --csv OUT.csv         Write the figures of each part: what it contributed to profit and risk',
      '  --json                The portfolio and its result as JSON on standard output',
      DATA_HELP,
    ].join('\n'),
  run: async (context) => {
    const { flags, positionals } = parseArguments(context.args, FLAGS)
    if (positionals.length === 0) throw new UsageError('Name at least one SCRIPT.pine@MARKET.')
    const parts = positionals.map(partOf)
    const files = parts.filter(({ file }) => file !== null)
    if (files.length > 0 && files.length < parts.length)
      throw new UsageError('Take the bars of all parts from files, or of none.')
    const library = librariesOf(parts, flags.libraries)
    const work = async (bars: BarCache, markets: readonly Market[], ledger: ScriptBars['ledger']) => {
      const body = await bodyOf(context, flags, parts, markets)
      return { body, ...(await ran(context, bars, body, { library, ledger })) }
    }
    const { body, portfolio, result, trades, error } =
      files.length > 0
        ? await filesOf(parts).then(({ cache, markets }) => work(cache, markets, null))
        : await withData(context, flags, async ({ kv, bars }) => {
            await loadSamples(bars)
            return work(bars, parts.map(marketOf), { kv, userId: await ownerIn(kv) })
          })
    if (error || !portfolio || !result) {
      const at = Number(/^Part (\d+): /.exec(error?.message ?? '')?.[1] ?? 1) - 1
      const { source } = body.parts[at]!
      throw scriptProblem({ name: parts[at]!.path, source }, error!, context)
    }
    if (flags.trades !== undefined) await Bun.write(flags.trades, trades)
    if (flags.equity !== undefined) await Bun.write(flags.equity, equityCsv(portfolio, result))
    if (flags.csv !== undefined) await Bun.write(flags.csv, partsCsv(portfolio, result))
    if (flags.json) context.print(JSON.stringify({ portfolio: shown(portfolio), result }))
    else for (const line of resultLines(portfolio, result)) context.print(line)
    return 0
  },
}

type Flags = FlagsOf<typeof FLAGS>

interface AskedPart {
  readonly path: string
  readonly market: string
  /** The file of bars; null if they are cached. */
  readonly file: string | null
}

interface Market {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
}

function partOf(text: string): AskedPart {
  const at = text.lastIndexOf('@')
  const [path, market] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 1 || market === '')
    throw new UsageError(`"${text}" is no part. Write trend.pine@BINANCE:BTCUSDT:1h or trend.pine@bars.csv.`)
  return { path, market, file: /\.(csv|json)$/i.test(market) ? market : null }
}

function marketOf({ market }: AskedPart): Market {
  const [exchange, symbol, interval, ...more] = market.split(':')
  if (!exchange || !symbol || !interval || more.length > 0)
    throw new UsageError(`"${market}" is no market. Write BINANCE:BTCUSDT:1h.`)
  return { exchange, symbol, interval: intervalOf(interval) }
}

/** The bars of files, a market each; a file may be that of several parts. */
async function filesOf(parts: readonly AskedPart[]) {
  const cache = new BarCache(memoryBars())
  const known = new Map<string, Market>()
  for (const { market: path } of parts) {
    if (known.has(path)) continue
    const { bars, symbol } = await barsOfFile(path)
    const interval = inferInterval(bars)
    if (!interval) throw new UsageError(`The interval cannot be read off the bars of ${path}.`)
    const market = { exchange: symbol.exchange, symbol: symbol.symbol, interval: formatInterval(interval) }
    if (await cache.store.info(market))
      throw new UsageError(
        `Two files are of ${symbol.symbol}: a market is called as its file is, up to the first dot.`,
      )
    await cache.store.putSymbol(symbol)
    await cache.upsert(market, bars)
    known.set(path, market)
  }
  return { cache, markets: parts.map(({ market }) => known.get(market)!) }
}

async function bodyOf(
  context: CommandContext,
  flags: Flags,
  parts: readonly AskedPart[],
  markets: readonly Market[],
): Promise<PortfolioBody> {
  const objectAt = (texts: readonly string[] | undefined, i: number, flag: string) => {
    const text = texts?.[i]
    return text === undefined ? undefined : parseJsonObject(text, flag)
  }
  const bars = wholeOf(flags.last ?? String(LAST), '--last', 1, LAST)
  const asked: PortfolioBody['parts'][number][] = []
  for (const [i, { path }] of parts.entries()) {
    const { source } = await readScript(context, path)
    const inputs = objectAt(flags.inputs, i, '--inputs')
    const overrides = objectAt(flags.properties, i, '--properties')
    asked.push({
      name: path,
      ...markets[i]!,
      bars,
      source,
      ...(inputs && { inputs }),
      ...(overrides && { overrides: overrides as NonNullable<(typeof asked)[number]['overrides']> }),
    })
  }
  const capital = Number(flags.capital)
  if (flags.capital !== undefined && !(capital > 0))
    throw new UsageError('--capital takes an amount above 0.')
  return {
    name: 'portfolio',
    asOf: dayOfFlag(context, flags),
    parts: asked,
    ...(flags.capital !== undefined && { capital }),
    ...(flags.currency !== undefined && { currency: flags.currency.toUpperCase() }),
  }
}

/** Beside the script of any part. */
function librariesOf(parts: readonly AskedPart[], folder: string | undefined) {
  const all = parts.map(({ path }) => librariesBeside(path, folder))
  return (user: string, library: string, version: number): string | null => {
    for (const find of all) {
      const source = find(user, library, version)
      if (source !== null) return source
    }
    return null
  }
}

interface Ran {
  /** null if it could not begin. */
  readonly portfolio: Portfolio | null
  readonly result: PortfolioResult | null
  /** CSV. */
  readonly trades: string
  readonly error: Portfolio['error']
}

function ran(
  context: CommandContext,
  bars: BarCache,
  body: PortfolioBody,
  {
    library,
    ledger: place,
  }: {
    readonly library: ReturnType<typeof librariesOf>
    /** Where the parts on cached bars are counted as tried. */
    readonly ledger: ScriptBars['ledger']
  },
): Promise<Ran> {
  return withJobs(context, Math.min(2, availableParallelism()), async (here) => {
    const ledger = place && new Ledger({ ...here, ...place })
    const portfolios = new Portfolios({
      ...here,
      bars,
      hostFor: (seen, _userId, key, of) => ({
        ...hostFor(seen, () => Promise.resolve(null), key, of),
        library,
      }),
      tried: (_, market, tried) => ledger?.note({ ...tried, userId: place!.userId, market }),
    })
    const made = await portfolios.create(USER, body).catch((error: unknown) => {
      if (error instanceof Problem) return error
      throw error
    })
    if (made instanceof Problem) return { portfolio: null, result: null, trades: '', error: failureOf(made) }
    const portfolio = await overOf(
      portfolios,
      made,
      context,
      ({ bar, bars: all }) => `${progressBar(bar / Math.max(1, all))}  ${bar} of ${all} bars`,
    )
    await ledger?.settled()
    const result = await portfolios.result(USER, made.id)
    const trades = result ? await textOf(await portfolios.trades(USER, made.id)) : ''
    return { portfolio, result, trades, error: portfolio.error }
  })
}

/** What a record would keep of it. */
function failureOf({ code, message, details }: Problem): NonNullable<Portfolio['error']> {
  const { fields, diagnostics } = details
  return {
    code,
    message: fields?.[0]?.message ?? message,
    ...(diagnostics && { diagnostics: [...diagnostics] }),
  }
}

async function textOf({ parts }: LargeText): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

const shown = ({ name, asOf, capital, currency, parts }: Portfolio) => ({
  name,
  asOf,
  capital,
  currency,
  parts: parts.map(({ seriesOwner: _seriesOwner, ...part }) => part),
})

function resultLines({ parts }: Portfolio, result: PortfolioResult): string[] {
  const { whole, capital, currency, correlation } = result
  const columns = [
    'Part',
    'Market',
    ...['Trades', 'Won', 'Net profit', 'Open', 'Max drawdown', 'Contribution', 'Risk', 'Margin calls'].map(
      right,
    ),
  ]
  const row = (name: string, market: string, of: PortfolioResult['parts'][number] | null) => {
    const { trades, winRate, netProfit, openProfit, maxDrawdown, marginCalls } = of ?? whole
    return [
      name,
      market,
      formatNumber(trades, 0),
      formatPercent(winRate),
      formatNumber(netProfit),
      formatNumber(openProfit),
      formatNumber(maxDrawdown),
      formatPercent(of ? of.contribution : 1),
      formatPercent(of ? of.risk : 1),
      formatNumber(marginCalls, 0),
    ]
  }
  const marketName = ({ exchange, symbol, interval }: Market) =>
    `${exchange === '' ? symbol : `${exchange}:${symbol}`} ${interval}`
  return [
    `${formatNumber(capital)} ${currency} became ${formatNumber(whole.final)}: ${formatPercent(whole.netProfitPct)} net profit, ${formatPercent(whole.maxDrawdownPct)} deepest drawdown.`,
    `Sharpe ratio ${formatNumber(whole.sharpe)}, growth a year ${formatPercent(whole.cagr)}, at most ${formatPercent(whole.marginPeakPct)} of equity bound as margin.`,
    '',
    ...tableLines(columns, [
      ...parts.map((part, i) => row(`${i + 1} ${part.name}`, marketName(part), result.parts[i]!)),
      row('All', '', null),
    ]),
    ...(parts.length > 1
      ? [
          '',
          `Correlation from ${result.period} to ${result.period}:`,
          ...tableLines(
            ['', ...parts.map((_, i) => right(String(i + 1)))],
            correlation.map((values, i) => [String(i + 1), ...values.map((value) => formatNumber(value))]),
          ),
        ]
      : []),
  ]
}
