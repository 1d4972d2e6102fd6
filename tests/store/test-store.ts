// The stores that suites run on: maps, or, with `STORE_SEED=7 bun test …`, maps that answer late and out of order, or,
// with `TEST_STORE=postgres bun test …`, a PostgreSQL.

import { type BarStore, memoryBars } from '../../src/market/bar-store.ts'
import type { Kv } from '../../src/store/kv.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { postgresBars } from '../../src/store/postgres/postgres-bars.ts'
import { postgresKv } from '../../src/store/postgres/postgres-kv.ts'
import { delayedBars } from '../market/delayed-bars.ts'
import { delayedKv } from './delayed-kv.ts'
import { underWay } from './under-way.ts'
import { postgresStores } from './postgres-stores.ts'

const SEED = process.env['STORE_SEED']
/** It ends with the process. */
const postgres = process.env['TEST_STORE'] === 'postgres' ? await postgresStores() : null

export function testKv(options?: Parameters<typeof memoryKv>[0]): Kv {
  if (postgres && options === undefined) return postgresInWaiting(postgres.share().then(postgresKv))
  const kv = memoryKv(options)
  return SEED === undefined ? kv : delayedKv(kv, Number(SEED))
}

export function testBars(): BarStore {
  if (postgres) return barsInWaiting(postgres.share().then(postgresBars))
  const bars = memoryBars()
  return SEED === undefined ? bars : delayedBars(bars, Number(SEED))
}

/** Each of its methods waits until the store is there, and is counted while it is under way. */
function postgresInWaiting(kv: Promise<Kv>): Kv {
  const counted = <T>(work: (kv: Kv) => Promise<T>) => underWay(kv.then(work))
  return {
    get: (key) => counted((store) => store.get(key)),
    getMany: (keys) => counted((store) => store.getMany(keys)),
    versions: (keys) => counted((store) => store.versions(keys)),
    list: (selector, options) => counted((store) => store.list(selector, options)),
    commit: (commit) => counted((store) => store.commit(commit)),
    close: async () => (await kv).close(),
  }
}

function barsInWaiting(store: Promise<BarStore>): BarStore {
  return {
    upsert: async (key, bars) => (await store).upsert(key, bars),
    read: async (key, range, make) => (await store).read(key, range, make),
    info: async (key) => (await store).info(key),
    list: async (of) => (await store).list(of),
    remove: async (key) => (await store).remove(key),
    notes: async () => (await store).notes(),
    clearNote: async (note) => (await store).clearNote(note),
    sweep: async () => (await store).sweep(),
    symbol: async (exchange, symbol, owner) => (await store).symbol(exchange, symbol, owner),
    symbols: async () => (await store).symbols(),
    putSymbol: async (info) => (await store).putSymbol(info),
    removeSymbol: async (exchange, symbol, owner) => (await store).removeSymbol(exchange, symbol, owner),
    draft(key) {
      const draft = store.then((bars) => bars.draft(key))
      return {
        add: async (bars) => (await draft).add(bars),
        read: async (range) => (await draft).read(range),
        commit: async () => (await draft).commit(),
        discard: async () => (await draft).discard(),
      }
    },
  }
}
