// The bars a script runs on, from a file or from the cache, as the flags say.

import { users } from '../people/accounts/accounts.ts'
import type { FetchSeries } from '../work/workers/asked-series.ts'
import { Problem } from '../lib/problem.ts'
import { marketName } from '../lib/market-name.ts'
import { BarCache } from '../market/bar-cache.ts'
import { type Bars, selectBars } from '../market/bars.ts'
import { memoryBars, type SeriesKey, seriesKey, seriesName } from '../market/bar-store.ts'
import { contractLacking } from '../market/continuous.ts'
import { marketTold } from '../market/files/file-market.ts'
import { inferInterval, readBars } from '../market/import.ts'
import { formatInterval, normalizeInterval } from '../market/interval.ts'
import { loadSamples } from '../market/sample.ts'
import { barsSeenBy } from '../market/seen-bars.ts'
import { sidedBars } from '../market/sided-bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { defaultSymbol, symbolOfSyminfo } from '../market/symbols.ts'
import type { Kv } from '../store/kv.ts'
import type { Series } from '../language/environment.ts'
import { UsageError, type CommandContext, valued } from './command.ts'
import { DATA_FLAGS, DATA_HELP, withData } from './data.ts'

export const BARS_FLAGS = {
  ...DATA_FLAGS,
  ...valued('bars', 'symbol', 'exchange', 'interval', 'last', 'syminfo', 'finer'),
}

export const BARS_HELP = [
  '  --bars FILE           Bars from a CSV or JSON file',
  '  --exchange E          … or cached ones: the exchange, with --symbol and --interval (SP:SPX 1d is always there)',
  '  --symbol S            Symbol, also EXCHANGE:SYMBOL',
  '  --interval I          15m, 1h, 1d, 1w, 1M or as TradingView writes it; read off the bars of a file',
  '  --last N              Only the last N bars',
  '  --syminfo FILE.json   Facts of the symbol by Pine name: mintick, pointvalue, mincontract, timezone, session, …',
  '  --finer FILE:INTERVAL Finer bars for the bar magnifier and request.security_lower_tf()',
  DATA_HELP,
]

export type BarsFlags = { readonly [Flag in keyof typeof BARS_FLAGS]?: string | undefined }

export interface ScriptBars extends Series {
  readonly key: SeriesKey
  /** All bars there are; `bars` are the last of them. */
  readonly all: Bars
  readonly finer: { readonly bars: Bars; readonly interval: string } | null
  /** Where tries on these bars are counted: those of a command are the owner's. null for the bars of a file. */
  readonly ledger: { readonly kv: Kv; readonly userId: string } | null
  /** Answers request.*: every series of the file or the cache, coarser intervals included. */
  readonly series: FetchSeries
}

/** Calls `work` with the bars that the flags name. Throws UsageError, or Problem 404 if nothing is cached. */
export async function withScriptBars<T>(
  context: CommandContext,
  flags: BarsFlags,
  work: (bars: ScriptBars) => Promise<T> | T,
): Promise<T> {
  if (flags.bars !== undefined) return work(await fromFile(flags))
  const { exchange, symbol } = tickerOf(flags)
  if (exchange === '' || symbol === '' || flags.interval === undefined)
    throw new UsageError('Name the bars: --bars FILE, or --exchange, --symbol and --interval.')
  const key = seriesKey(exchange, symbol, intervalOf(flags.interval))
  return withData(context, flags, async ({ kv, bars: cache }) => {
    await loadSamples(cache)
    const seen = barsSeenBy(cache, null)
    const info = await symbolOf(flags, await seen.symbol(key.exchange, key.symbol))
    const all = await seen.read(key)
    if (all.length === 0) throw await nothingCached(cache, key)
    const bars = lastOf(all, flags.last)
    const ledger = { kv, userId: await ownerIn(kv) }
    return work({ ...scriptBars(cache, key, info, bars, await finerOf(flags, info)), all, ledger })
  })
}

async function fromFile(flags: BarsFlags): Promise<ScriptBars> {
  const path = flags.bars ?? ''
  const asked = tickerOf(flags)
  const { exchange, symbol } = asked.exchange === '' && asked.symbol === '' ? fileSymbol(path) : asked
  const ticker = symbol || fileSymbol(path).symbol
  const all = await readBarsFile(path, await symbolOf(flags, defaultSymbol(exchange, ticker)))
  // A tick that neither the flags nor the exchange tell is read off the prices: coins have no common one.
  const info = await symbolOf(flags, defaultSymbol(exchange, ticker, all))
  const found = inferInterval(all)
  const interval = flags.interval === undefined ? found && formatInterval(found) : intervalOf(flags.interval)
  if (!interval) throw new UsageError('The interval cannot be read off the bars. Name it with --interval.')
  const cache = new BarCache(memoryBars())
  const key = seriesKey(info.exchange, info.symbol, interval)
  const bars = lastOf(all, flags.last)
  await cache.store.putSymbol(info)
  await cache.upsert(key, bars)
  const finer = await finerOf(flags, info)
  if (finer) await cache.upsert({ ...key, interval: finer.interval }, finer.bars)
  return { ...scriptBars(cache, key, info, bars, finer), all, ledger: null }
}

/** The first user; before there is one, tries are nobody's. */
export async function ownerIn(kv: Kv): Promise<string> {
  for await (const { id, role } of users(kv).each('all')) if (role === 'owner') return id
  return NOBODY
}
const NOBODY = 'cli'

function scriptBars(
  cache: BarCache,
  key: SeriesKey,
  symbol: SymbolInfo,
  bars: Bars,
  finer: ScriptBars['finer'],
): Omit<ScriptBars, 'all' | 'ledger'> {
  return {
    key,
    bars,
    symbol,
    interval: key.interval,
    finer,
    async series(exchange, ticker, interval) {
      const seen = barsSeenBy(cache, null)
      const sided = await sidedBars(seen, exchange, ticker, interval)
      if (sided !== undefined) return sided && { ...sided, symbol }
      const other = seriesKey(
        exchange === '' ? await exchangeOf(cache, ticker) : exchange,
        ticker,
        normalizeInterval(interval) ?? interval,
      )
      const found = await seen.read(other)
      if (found.length === 0) return null
      const own = other.exchange === key.exchange && other.symbol === key.symbol
      return {
        bars: found,
        symbol: own ? symbol : await seen.symbol(other.exchange, other.symbol),
        interval: other.interval,
      }
    },
  }
}

/** A currency pair is requested without an exchange, so any that has it will do. */
async function exchangeOf(cache: BarCache, ticker: string): Promise<string> {
  return (await cache.store.list()).find(({ symbol }) => symbol === marketName(ticker))?.exchange ?? ''
}

/** The bars of a file, and the symbol that its name tells. */
export async function barsOfFile(
  path: string,
): Promise<{ readonly bars: Bars; readonly symbol: SymbolInfo }> {
  const { exchange, symbol } = fileSymbol(path)
  const bars = await readBarsFile(path, defaultSymbol(exchange, symbol))
  return { bars, symbol: defaultSymbol(exchange, symbol, bars) }
}

async function readBarsFile(path: string, symbol: SymbolInfo): Promise<Bars> {
  const file = Bun.file(path)
  if (!(await file.exists())) throw new UsageError(`There is no file ${path}.`)
  return readBars(file.stream(), { symbol, fileName: path })
}

export function intervalOf(text: string): string {
  const interval = normalizeInterval(text)
  if (interval === null) throw new UsageError(`"${text}" is no interval. Write 15m, 1h, 1d, 1w or 1M.`)
  return interval
}

/** `--symbol NASDAQ:AAPL` or `--exchange NASDAQ --symbol AAPL`. */
export function tickerOf(flags: {
  readonly exchange?: string | undefined
  readonly symbol?: string | undefined
}) {
  const [prefix = '', ticker] = (flags.symbol ?? '').split(':')
  return ticker === undefined
    ? { exchange: flags.exchange ?? '', symbol: prefix }
    : { exchange: flags.exchange ?? prefix, symbol: ticker }
}

async function symbolOf(flags: BarsFlags, base: SymbolInfo): Promise<SymbolInfo> {
  if (flags.syminfo === undefined) return base
  const text = await Bun.file(flags.syminfo)
    .text()
    .catch(() => {
      throw new UsageError(`There is no file ${flags.syminfo}.`)
    })
  const value = parseJsonObject(text, '--syminfo')
  const named = symbolOfSyminfo(value)
  // Facts that the file does not state are guessed from its name, or else from the flags.
  return named.symbol === '' ? symbolOfSyminfo(value, base) : named
}

async function finerOf(flags: BarsFlags, symbol: SymbolInfo): Promise<ScriptBars['finer']> {
  if (flags.finer === undefined) return null
  const colon = flags.finer.lastIndexOf(':')
  if (colon < 1) throw new UsageError('--finer is FILE:INTERVAL, for example minutes.csv:1m.')
  const interval = intervalOf(flags.finer.slice(colon + 1))
  return { bars: await readBarsFile(flags.finer.slice(0, colon), symbol), interval }
}

function lastOf(bars: Bars, last: string | undefined): Bars {
  if (last === undefined) return bars
  const count = Number(last)
  if (!/^\d+$/.test(last) || count < 1) throw new UsageError('--last is a number of bars, 1 or more.')
  return selectBars(bars, { last: count })
}

export function parseJsonObject(text: string, flag: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // A missing part is refused below.
  }
  throw new UsageError(`${flag} is not a JSON object.`)
}

async function nothingCached(cache: BarCache, key: SeriesKey): Promise<Problem> {
  const all = await cache.store.list()
  const cached = all.map(seriesName)
  return new Problem(
    404,
    'bars_not_found',
    contractLacking(all, key) ??
      `No bars of ${seriesName(key)} are cached. There are: ${cached.slice(0, 20).join(', ') || 'none'}.`,
  )
}

/** Exchange and ticker of a name with both, as TradingView and Binance write it, or else of any other what is left of it. */
function fileSymbol(path: string): { readonly exchange: string; readonly symbol: string } {
  const told = marketTold(path)
  if (told !== null && told.exchange !== '') return told
  const name = path.split('/').at(-1)?.split('.')[0] ?? ''
  const symbol = name
    .normalize()
    .toUpperCase()
    .replace(/[^\p{L}\p{N}_]/gu, '')
  return { exchange: '', symbol: symbol || 'BARS' }
}
