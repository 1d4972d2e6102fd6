// The bars that one user sees: everybody's, and in front of them their own.
// Series that are made of others, formulas (spread.ts) and continuous futures (continuous.ts), are known here alone.
//
// What a member imports is private: that member finds it before a shared series of the same name, and nobody else finds it.
// So a name (exchange, symbol, interval) may mean different series to two users, and code that takes a name from a user
// asks here which one is meant. A series is never built from another owner's bars, and a stored series of the exact name
// goes before one that would have to be built.

import { invalidField, Problem } from '../lib/problem.ts'
import type { BarCache } from './bar-cache.ts'
import { owned, ownerOf, seriesName, type SeriesInfo, type SeriesKey } from './bar-store.ts'
import { selectBars, type BarRange, type Bars } from './bars.ts'
import {
  continuousName,
  contractsOf,
  joinSpans,
  contractSpans,
  type ContinuousName,
  type ContractSpan,
  type TradedContract,
} from './continuous.ts'
import { SPREAD_EXCHANGE, spreadBars, spreadOf, type Spread } from './spread.ts'
import type { SymbolInfo } from './symbol.ts'

/** How one user reads bars. If `userId` is null nobody is signed in, and only shared bars are seen. */
export interface SeenBars {
  /** The series a name means to this user. */
  resolve(key: SeriesKey): Promise<SeriesKey>
  /** Like the cache's `source`: the stored series that answers; null if there is none. */
  source(key: SeriesKey): Promise<SeriesInfo | null>
  read(key: SeriesKey, range?: BarRange): Promise<Bars>
  symbol(exchange: string, symbol: string): Promise<SymbolInfo>
  /** Lists one series a name. */
  list(): Promise<SeriesInfo[]>
  symbols(): Promise<SymbolInfo[]>
  /** Which contracts a continuous future consists of; null if the name means something else. */
  contractSpans(key: SeriesKey): Promise<readonly ContractSpan[] | null>
}

/** Which series `key` means to the user, whatever owner `key` names. */
export async function resolveSeries(
  cache: BarCache,
  userId: string | null,
  key: SeriesKey,
): Promise<SeriesKey> {
  const { exchange, symbol, interval } = key
  const shared = { exchange, symbol, interval }
  if (userId === null) return shared
  const own = { owner: userId, ...shared }
  if (await cache.store.info(own)) return own
  if (await cache.store.info(shared)) return shared
  return (await cache.source(own)) ? own : shared
}

export function barsSeenBy(cache: BarCache, userId: string | null): SeenBars {
  return withSpreads(withContinuous(storedSeenBy(cache, userId)))
}

/**
 * The bars of the very series that something of this user ran on, whoever's it was and whatever the name means to them now. A
 * series that is not stored is made again of what the user sees. `known`: what answers for it, of whoever has just asked.
 */
export async function barsRunOn(
  cache: BarCache,
  userId: string | null,
  key: SeriesKey,
  range: BarRange,
  known?: SeriesInfo | null,
): Promise<Bars> {
  const seen = barsSeenBy(cache, userId)
  const source = known === undefined ? await cache.source(key) : known
  if (!source && mayBeMade(key)) return seen.read(key, range)
  return (await cache.lookFrom(source, key, range, () => seen.symbol(key.exchange, key.symbol))).bars
}

/** A continuous future is a series too, unless one is stored under that very name. */
function withContinuous(seen: Omit<SeenBars, 'contractSpans'>): SeenBars {
  const made = async (key: SeriesKey) => {
    const name = continuousName(key.symbol)
    return name && !(await seen.source(key))
      ? { name, contracts: await tradedContracts(seen, name, key) }
      : null
  }
  const spans = async (key: SeriesKey) => {
    const found = await made(key)
    return found && contractSpans(found.contracts, found.name)
  }
  return {
    ...seen,
    contractSpans: spans,
    async source(key) {
      const { exchange, symbol, interval } = key
      const all = await spans(key)
      if (!all) return seen.source(key)
      const parts = await Promise.all(all.map(async (part) => seen.source({ ...key, symbol: part.symbol })))
      const sources: SeriesInfo[] = []
      for (const [i, { symbol: contract, from, to }] of all.entries()) {
        const one = parts[i]
        // A contract may have bars before and behind its span, and none within.
        if (one && (await seen.read({ ...key, symbol: contract }, { from, to, first: 1 })).length > 0)
          sources.push(one)
      }
      if (sources.length === 0) return null
      return {
        exchange,
        symbol,
        interval,
        count: sources.reduce((sum, { count }) => sum + count, 0),
        first: sources[0]!.first,
        last: sources.at(-1)!.last,
        change: sources.reduce((sum, { change }) => sum + change, 0),
      }
    },
    async read(key, range = {}) {
      const all = await spans(key)
      return all ? readSpans(seen, all, key, range) : seen.read(key, range)
    },
    async symbol(exchange, symbol) {
      const name = continuousName(symbol)
      const newest = name && contractsOf(await tickersOf(seen, exchange), name.root).at(-1)
      if (!newest) return seen.symbol(exchange, symbol)
      const facts = await seen.symbol(exchange, newest.symbol)
      return { ...facts, type: 'futures', symbol, description: `${name.root}, continuous` }
    },
  }
}

const tickersOf = async (seen: Pick<SeenBars, 'list'>, exchange: string) =>
  (await seen.list()).flatMap((one) => (one.exchange === exchange ? [one.symbol] : []))

/** The contracts of the name that have bars of the interval, with their days. */
async function tradedContracts(
  seen: Omit<SeenBars, 'contractSpans'>,
  { root }: ContinuousName,
  { exchange, interval }: SeriesKey,
): Promise<TradedContract[]> {
  const all = contractsOf(await tickersOf(seen, exchange), root)
  const traded = await Promise.all(
    all.map(async (contract) => {
      const key = { exchange, symbol: contract.symbol, interval }
      if (!(await seen.source(key))) return []
      const daily = { ...key, interval: '1d' }
      const days = await seen.read((await seen.source(daily)) ? daily : key)
      return days.length > 0 ? [{ ...contract, days }] : []
    }),
  )
  return traded.flat()
}

/** Reads no more of the contracts than the range asks for. */
async function readSpans(
  seen: Omit<SeenBars, 'contractSpans'>,
  all: readonly ContractSpan[],
  { exchange, interval }: SeriesKey,
  { from = -Infinity, to = Infinity, first = Infinity, last = Infinity }: BarRange,
): Promise<Bars> {
  const isForwards = first < Infinity
  const within = all.filter((one) => one.from < to && one.to > from)
  const parts: (readonly [ContractSpan, Bars])[] = []
  let room = isForwards ? first : last
  for (const one of isForwards ? within : within.toReversed()) {
    if (room <= 0) break
    const range = { from: Math.max(from, one.from), to: Math.min(to, one.to) }
    const some = room === Infinity ? {} : isForwards ? { first: room } : { last: room }
    const bars = await seen.read({ exchange, symbol: one.symbol, interval }, { ...range, ...some })
    room -= bars.length
    parts.push([one, bars])
  }
  return selectBars(joinSpans(isForwards ? parts : parts.toReversed()), { last })
}

/** Whether a name is that of a formula or a continuous future, which is made of other series unless it is stored itself. */
export function mayBeMade({ exchange, symbol }: Omit<SeriesKey, 'interval'>): boolean {
  return exchange === SPREAD_EXCHANGE || continuousName(symbol) !== null
}

/**
 * Throws Problem 422 for a series that is made of others: what waits for new bars hears of those that are stored. A name that
 * means nothing yet passes.
 */
export async function requireStored(cache: BarCache, userId: string, key: SeriesKey): Promise<void> {
  if (!mayBeMade(key)) return
  const seen = barsSeenBy(cache, userId)
  if (await cache.source(await seen.resolve(key))) return
  const newest = key.exchange === SPREAD_EXCHANGE ? null : (await seen.contractSpans(key))?.at(-1)
  if (newest === undefined) return
  const remedy = newest
    ? `and ${key.symbol} is made of contracts. Follow the contract itself, ${newest.symbol}.`
    : 'and a spread has none of its own. Follow one of its symbols.'
  throw invalidField('/symbol', 'unsupported', `This waits for bars that are stored, ${remedy}`)
}

/** A formula over symbols is a series too, unless one is stored under that very name. */
function withSpreads(seen: SeenBars): SeenBars {
  const spreadAt = async (key: SeriesKey) =>
    key.exchange === SPREAD_EXCHANGE && !(await seen.source(key)) ? spreadOf(key) : null
  const partKeys = (spread: Spread, key: SeriesKey) =>
    spread.parts.map((part) => ({ ...part, interval: key.interval }))
  return {
    ...seen,
    async source(key) {
      const spread = await spreadAt(key)
      if (!spread) return seen.source(key)
      const sources = await Promise.all(partKeys(spread, key).map(async (part) => seen.source(part)))
      const missing = partKeys(spread, key).filter((_part, i) => !sources[i])
      if (missing.length > 0)
        throw new Problem(
          404,
          'bars_not_found',
          `The formula needs ${missing.map(seriesName).join(' and ')}, which is not cached. Import or fetch it first.`,
        )
      const all = sources.filter((one) => one !== null)
      return {
        exchange: key.exchange,
        symbol: key.symbol,
        interval: key.interval,
        count: Math.min(...all.map(({ count }) => count)),
        first: Math.max(...all.map(({ first }) => first)),
        last: Math.min(...all.map(({ last }) => last)),
        change: all.reduce((sum, { change }) => sum + change, 0),
      }
    },
    async read(key, range = {}) {
      const spread = await spreadAt(key)
      return spread ? readSpread(seen, spread, partKeys(spread, key), range) : seen.read(key, range)
    },
    async symbol(exchange, symbol) {
      const spread = exchange === SPREAD_EXCHANGE ? spreadOf({ exchange, symbol }) : null
      const [first] = spread?.parts ?? []
      const facts = await seen.symbol(first?.exchange ?? exchange, first?.symbol ?? symbol)
      return first ? { ...facts, ...SPREAD_FACTS, exchange, symbol, description: symbol } : facts
    },
  }
}

/** Zone and session are the first symbol's. */
const SPREAD_FACTS = {
  type: 'index',
  baseCurrency: '',
  mintick: 0.00001,
  priceScale: 100_000,
  minMove: 1,
  pointValue: 1,
  volumeType: 'n/a',
} as const

/** The newest bars of all parts together may begin later than as many of each: then it is asked for more. */
async function readSpread(
  seen: SeenBars,
  spread: Spread,
  keys: readonly SeriesKey[],
  { first, last, ...within }: BarRange,
): Promise<Bars> {
  for (let count = last === undefined ? Infinity : 2 * last; ; count *= 4) {
    const range = count === Infinity ? within : { ...within, last: count }
    const parts = await Promise.all(keys.map(async (key) => seen.read(key, range)))
    const bars = spreadBars(spread, parts)
    if (bars.length >= (last ?? 0) || parts.some(({ length }) => length < count))
      return selectBars(bars, { ...(first !== undefined && { first }), ...(last !== undefined && { last }) })
  }
}

function storedSeenBy(cache: BarCache, userId: string | null): Omit<SeenBars, 'contractSpans'> {
  const { store } = cache
  const resolve = (key: SeriesKey) => resolveSeries(cache, userId, key)
  const symbol = (exchange: string, ticker: string) => cache.symbol(exchange, ticker, userId ?? '')
  return {
    resolve,
    source: async (key) => cache.source(await resolve(key)),
    read: async (key, range = {}) =>
      cache.read(await resolve(key), range, () => symbol(key.exchange, key.symbol)),
    symbol,
    list: async () =>
      seen(await store.list(), userId, ({ exchange, symbol, interval }) => [exchange, symbol, interval]),
    symbols: async () => seen(await store.symbols(), userId, ({ exchange, symbol }) => [exchange, symbol]),
  }
}

/** Shared series and the user's own; if both have a name, the user's own. */
function seen<T extends { readonly owner?: string }>(
  all: readonly T[],
  userId: string | null,
  nameOf: (item: T) => readonly string[],
): T[] {
  const byName = new Map<string, T>()
  for (const item of all) {
    const owner = ownerOf(item)
    const name = nameOf(item).join('\0')
    if (owner === '' ? !byName.has(name) : owner === userId) byName.set(name, item)
  }
  return [...byName.values()]
}

/** The series of exactly this owner, for callers that know the owner already. */
export function seriesOf({ exchange, symbol, interval }: SeriesKey, owner: string): SeriesKey {
  return { ...owned(owner), exchange, symbol, interval }
}
