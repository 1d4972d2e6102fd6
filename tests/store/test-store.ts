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
  const counted = <T>(work: (bars: BarStore) => Promise<T>) => underWay(store.then(work))
  return {
    upsert: (key, more, pieces) => counted((bars) => bars.upsert(key, more, pieces)),
    read: (key, range, make) => counted((bars) => bars.read(key, range, make)),
    info: (key) => counted((bars) => bars.info(key)),
    list: (of) => counted((bars) => bars.list(of)),
    remove: (key) => counted((bars) => bars.remove(key)),
    notes: () => counted((bars) => bars.notes()),
    clearNote: (note) => counted((bars) => bars.clearNote(note)),
    sweep: () => counted((bars) => bars.sweep()),
    symbol: (exchange, symbol, owner) => counted((bars) => bars.symbol(exchange, symbol, owner)),
    symbols: () => counted((bars) => bars.symbols()),
    putSymbol: (info) => counted((bars) => bars.putSymbol(info)),
    removeSymbol: (exchange, symbol, owner) => counted((bars) => bars.removeSymbol(exchange, symbol, owner)),
    draft(key) {
      const draft = store.then((bars) => bars.draft(key))
      return {
        add: (bars) => underWay(draft.then((one) => one.add(bars))),
        read: (range) => underWay(draft.then((one) => one.read(range))),
        commit: (pieces) => underWay(draft.then((one) => one.commit(pieces))),
        discard: () => underWay(draft.then((one) => one.discard())),
      }
    },
  }
}
