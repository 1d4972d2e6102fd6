// The bars that one user sees: everybody's, and in front of them their own.
//
// What a member imports is private: that member finds it before a shared series of the same name, and nobody else finds it.
// So a name (exchange, symbol, interval) may mean different series to two users, and code that takes a name from a user
// asks here which one is meant. A series is never built from another owner's bars, and a stored series of the exact name
// goes before one that would have to be built.

import type { BarCache } from './bar-cache.ts'
import { owned, ownerOf, type SeriesInfo, type SeriesKey } from './bar-store.ts'
import type { BarRange, Bars } from './bars.ts'
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
  const { store } = cache
  const resolve = (key: SeriesKey) => resolveSeries(cache, userId, key)
  const symbol = (exchange: string, ticker: string) => cache.symbol(exchange, ticker, userId ?? '')
  return {
    resolve,
    source: async (key) => cache.source(await resolve(key)),
    read: async (key, range = {}) =>
      cache.read(await resolve(key), range, await symbol(key.exchange, key.symbol)),
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
