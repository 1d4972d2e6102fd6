// A database that a test takes away: then every request to a store is refused, as the one on PostgreSQL refuses it, or, if
// it is silent, has no answer before it is back.

import { Problem } from '../../src/lib/problem.ts'
import type { BarStore } from '../../src/market/bar-store.ts'
import type { Kv } from '../../src/store/kv.ts'
import type { Silence } from '../../src/store/postgres/silence.ts'

export function goingAway(silence?: Silence) {
  let back: PromiseWithResolvers<void> | null = null
  const asked = async <T>(ask: () => Promise<T>): Promise<T> => {
    silence?.asked()
    await back?.promise
    if (database.isAway)
      throw new Problem(503, 'store_unavailable', 'The database does not answer.', { retryAfter: 5 })
    try {
      return await ask()
    } finally {
      silence?.answered()
    }
  }
  const database = {
    isAway: false,
    goSilent(): void {
      back ??= Promise.withResolvers()
    },
    comeBack(): void {
      back?.resolve()
      back = null
    },
    kv: (kv: Kv): Kv => ({
      get: (key) => asked(() => kv.get(key)),
      getMany: (keys) => asked(() => kv.getMany(keys)),
      versions: (keys) => asked(() => kv.versions(keys)),
      list: (selector, options) => asked(() => kv.list(selector, options)),
      commit: (commit) => asked(() => kv.commit(commit)),
      close: () => kv.close(),
    }),
    bars: (store: BarStore): BarStore => ({
      ...store,
      upsert: (key, bars) => asked(() => store.upsert(key, bars)),
      read: (key, range, make) => asked(() => store.read(key, range, make)),
      info: (key) => asked(() => store.info(key)),
      list: (of) => asked(() => store.list(of)),
      remove: (key) => asked(() => store.remove(key)),
      symbol: (...name) => asked(() => store.symbol(...name)),
      symbols: () => asked(() => store.symbols()),
      putSymbol: (symbol) => asked(() => store.putSymbol(symbol)),
    }),
  }
  return database
}
