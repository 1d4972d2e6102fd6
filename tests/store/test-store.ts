// The stores that suites run on: maps, or, with `STORE_SEED=7 bun test …`, maps that answer late and out of order, or,
// with `TEST_STORE=postgres bun test …`, a PostgreSQL.

import { type BarStore, memoryBars } from '../../src/market/bar-store.ts'
import type { Kv } from '../../src/store/kv.ts'
import { memoryKv } from '../../src/store/memory.ts'
import type { Connection } from '../../src/store/postgres/connection.ts'
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
  if (postgres && options === undefined) return documentsIn(inSchema('documents', postgresKv))
  const kv = memoryKv(options)
  return SEED === undefined ? kv : delayedKv(kv, Number(SEED))
}

export function testBars(): BarStore {
  if (postgres) return barsIn(inSchema('bars', postgresBars))
  const bars = memoryBars()
  return SEED === undefined ? bars : delayedBars(bars, Number(SEED))
}

/** What the stores of one file of tests have together, by their number among those of their kind. */
interface Schemas {
  readonly file: string
  readonly connections: Promise<Connection>[]
  readonly made: { documents: number; bars: number }
  readonly underWay: Set<Promise<unknown>>
  /** Once nothing of the files before it is under way. */
  readonly alone: Promise<unknown>
}
let schemas = schemasOf('', Promise.resolve())
/** Those there are, by number. */
const names: string[] = []

function schemasOf(file: string, alone: Promise<unknown>): Schemas {
  return { file, alone, connections: [], made: { documents: 0, bars: 0 }, underWay: new Set() }
}

/** Does something with a store, which is made before the first. */
type With<T> = <R>(work: (store: T) => Promise<R>) => Promise<R>

/**
 * Making schemas was three quarters of what PostgreSQL did: each takes a tenth of a second of a processor. So documents of one
 * store and bars of another share one, and the next file that this process runs has those again, emptied. Whoever still asks
 * something of a store of the file before is not answered.
 */
function inSchema<T>(kind: keyof Schemas['made'], make: (connection: Connection) => T): With<T> {
  if (schemas.file !== Bun.main)
    schemas = schemasOf(Bun.main, Promise.allSettled([schemas.alone, ...schemas.underWay]))
  const own = schemas
  const number = own.made[kind]++
  let store: Promise<T> | undefined
  return (work) => {
    if (own !== schemas) return new Promise(() => {})
    store ??= (own.connections[number] ??= connected(number, own.alone)).then(make)
    const done = underWay(store.then(work))
    own.underWay.add(done)
    const ended = () => own.underWay.delete(done)
    done.then(ended, ended)
    return done
  }
}

async function connected(number: number, alone: Promise<unknown>): Promise<Connection> {
  const isThere = names[number] !== undefined
  const connection = await postgres!.share((names[number] ??= crypto.randomUUID()))
  await alone
  if (isThere) await connection.writing.script(emptying(connection.schema))
  return connection
}

/** What its layout put there itself stays. */
const emptying = (schema: string) => `do $do$
  declare name text;
  begin
    for name in select tablename from pg_tables where format('%I', schemaname) = '${schema}'
      and tablename not in ('layout', 'feed', 'shards') loop
      execute format('delete from ${schema}.%I', name);
    end loop;
    alter sequence ${schema}.change_number restart;
    alter sequence ${schema}.series_id restart;
  end $do$`

function documentsIn(kv: With<Kv>): Kv {
  return {
    get: (key) => kv((store) => store.get(key)),
    getMany: (keys) => kv((store) => store.getMany(keys)),
    versions: (keys) => kv((store) => store.versions(keys)),
    list: (selector, options) => kv((store) => store.list(selector, options)),
    commit: (commit) => kv((store) => store.commit(commit)),
    close: () => kv((store) => store.close()),
  }
}

function barsIn(store: With<BarStore>): BarStore {
  return {
    upsert: (key, more, pieces) => store((bars) => bars.upsert(key, more, pieces)),
    read: (key, range, make) => store((bars) => bars.read(key, range, make)),
    info: (key) => store((bars) => bars.info(key)),
    list: (of) => store((bars) => bars.list(of)),
    remove: (key) => store((bars) => bars.remove(key)),
    notes: () => store((bars) => bars.notes()),
    clearNote: (note) => store((bars) => bars.clearNote(note)),
    sweep: () => store((bars) => bars.sweep()),
    symbol: (exchange, symbol, owner) => store((bars) => bars.symbol(exchange, symbol, owner)),
    symbols: () => store((bars) => bars.symbols()),
    putSymbol: (info) => store((bars) => bars.putSymbol(info)),
    removeSymbol: (exchange, symbol, owner) => store((bars) => bars.removeSymbol(exchange, symbol, owner)),
    draft(key) {
      const draft = store(async (bars) => bars.draft(key))
      return {
        add: (bars) => store(async () => (await draft).add(bars)),
        read: (range) => store(async () => (await draft).read(range)),
        commit: (pieces) => store(async () => (await draft).commit(pieces)),
        discard: () => store(async () => (await draft).discard()),
      }
    },
  }
}
