// Converts data of version 0.1.0 into today's layout at the first start.
//
// Version 0.1.0 let lmdb encode the keys of bars and symbols ("ordered-binary"); documents always had our own keys. The new
// database is made beside the old one, which nobody writes to, and compared with it, count for count and byte for byte,
// before it replaces it. So the old one stays until the new one has proved whole:
//
//     db                         old; `db.new` is thrown away and made again
//     db.old and db.new          the old one is out of the way, the new one, proved, is not yet in place
//     db and db.old              done but for taking the old one away
//
// Two series whose names are the same once composed (`marketName`) become one, in which the newer bars win.

import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assert } from '../lib/assert.ts'
import { marketName } from '../lib/market-name.ts'
import { seriesKey } from '../market/bar-store.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { chunkLength, decodeAll } from './bar-chunks.ts'
import { checkDatabase } from './check-database.ts'
import { DataRefused } from './data-refused.ts'
import { syncPath } from './files.ts'
import { prefixRange } from './key.ts'
import { inUse, processWithDatabase } from './server-lock.ts'
import {
  COUNTER_KEY,
  lmdbBars,
  RECORDS,
  type SeriesRecord,
  seriesRecordKey,
  symbolRecordKey,
} from './lmdb-bars.ts'
import { CHUNKS, chunkKey } from './lmdb-chunks.ts'
import {
  DOCUMENTS,
  durable,
  type Environment,
  lmdbKv,
  openEnvironment,
  openTable,
  type Table,
} from './lmdb.ts'

const OLD_CHUNKS = { name: 'bars', encoding: 'binary' } as const
const OLD_RECORDS = { name: 'series', encoding: 'string' } as const
/** How many documents and chunks are in memory at a time. */
const PAGE = 64
/** The size of a database beyond its records. */
const SPARE_BYTES = 16 << 20

export interface CarryOverOptions {
  /** Called once, before the work starts. */
  readonly tell?: ((sentence: string) => void) | undefined
  /** Called between the steps; tests die there. */
  readonly step?: (name: string) => void
}

/**
 * Brings the database in `folder` up to date; does nothing if it is up to date, or missing. Call it only under the lock of
 * a server (`server-lock.ts`), since no other process may do the same. Throws `DataRefused` while a process of version
 * 0.1.0 has the database open, because what it writes would be lost.
 */
export async function carryOver(
  folder: string,
  { tell = () => {}, step = () => {} }: CarryOverOptions = {},
): Promise<void> {
  const [fresh, old] = [`${folder}.new`, `${folder}.old`]
  finishRenaming(folder)
  if (isOld(folder)) {
    tell(
      'The database was made by version 0.1.0. It is carried over now; the old one is kept until that is proved whole.',
    )
    const other = processWithDatabase(folder)
    if (other !== null) throw inUse(other)
    assertSpace(folder)
    rmSync(fresh, { recursive: true, force: true })
    try {
      step('begin')
      await makeAnew(folder, fresh, step)
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true })
      throw error
    }
    step('proved')
    renameSync(folder, old)
    step('old moved')
    renameSync(fresh, folder)
    syncPath(dirname(folder))
    step('new moved')
  }
  rmSync(old, { recursive: true, force: true })
  rmSync(fresh, { recursive: true, force: true })
}

/** Completes a conversion that was cut short between its two renames, when there is no `db`. */
export function finishRenaming(folder: string): void {
  const [fresh, old] = [`${folder}.new`, `${folder}.old`]
  if (existsSync(folder) || !existsSync(old)) return
  renameSync(existsSync(fresh) ? fresh : old, folder)
  syncPath(dirname(folder))
}

/** Whether `carryOver` has anything to do. Throws `DataRefused` for a database that cannot be trusted. */
export function isToBeCarriedOver(folder: string): boolean {
  return existsSync(`${folder}.old`) || isOld(folder)
}

/** Old tables have other names. The layout of documents (`migrate.ts`) is a separate matter. */
function isOld(folder: string): boolean {
  const tables = checkDatabase(folder)?.tables
  return tables !== undefined && (tables.has(OLD_CHUNKS.name) || tables.has(OLD_RECORDS.name))
}

function assertSpace(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const needed = statSync(join(folder, 'data.mdb')).size + SPARE_BYTES
  if (bavail * bsize >= needed) return
  const [need, free] = [needed, bavail * bsize].map((bytes) => `${Math.ceil(bytes / 1e6)} MB`)
  throw new DataRefused(
    `Carrying the data of version 0.1.0 over takes ${need} beside the old database, and ${free} are free. Nothing was changed: free some space and start again.`,
  )
}

interface Plan {
  /** The series of the new database; their chunks are copied unchanged. */
  readonly kept: readonly SeriesRecord[]
  /** Series whose composed name equals that of a kept one; the one written to last comes last. */
  readonly merged: readonly SeriesRecord[]
  readonly symbols: readonly SymbolInfo[]
  readonly counter: string | undefined
}

async function makeAnew(from: string, to: string, step: (name: string) => void): Promise<void> {
  const environment = openEnvironment(from, { readOnly: true })
  try {
    const old = oldTables(environment)
    const plan = planOf(old.records)
    const ids = new Set(plan.kept.map(({ id }) => id))
    const sum = await copy(old, ids, plan, to, step)
    step('copied')
    prove(to, sum, plan)
    await merge(to, old, plan)
  } finally {
    await environment.close()
  }
}

type OldTables = ReturnType<typeof oldTables>

function oldTables(environment: Environment) {
  return {
    documents: openTable<Buffer>(environment, { ...DOCUMENTS, encoding: 'binary' }),
    // Absent if the server was stopped before it stored any.
    chunks: openTable<Buffer>(environment, OLD_CHUNKS) as Table<Buffer> | undefined,
    records: openTable<string>(environment, OLD_RECORDS) as Table<string> | undefined,
  }
}

function newTables(environment: Environment) {
  return {
    documents: openTable<Buffer>(environment, { ...DOCUMENTS, encoding: 'binary' }),
    chunks: openTable<Buffer>(environment, CHUNKS),
    records: openTable<string>(environment, RECORDS),
  }
}

function planOf(records: Table<string> | undefined): Plan {
  const rows = records
    ? Array.from(records.getRange(), ({ key, value }) => ({ kind: kindOf(key), value }))
    : []
  const valuesOf = (kind: string) => rows.filter((row) => row.kind === kind).map(({ value }) => value)
  const kept = new Map<string, SeriesRecord>()
  const merged: SeriesRecord[] = []
  const series = valuesOf('series').map((value) => JSON.parse(value) as SeriesRecord)
  for (const record of series.sort((a, b) => a.change - b.change)) {
    const named = { ...record, ...seriesKey(record.exchange, record.symbol, record.interval) }
    const name = JSON.stringify([named.exchange, named.symbol, named.interval])
    if (kept.has(name)) merged.push(named)
    else kept.set(name, named)
  }
  const symbols = valuesOf('symbol').map((value) => {
    const info = JSON.parse(value) as SymbolInfo
    return { ...info, exchange: marketName(info.exchange), symbol: marketName(info.symbol) }
  })
  return { kept: [...kept.values()], merged, symbols, counter: valuesOf('counter')[0] }
}

/** The kind is ASCII, which the old encoding wrote unchanged. The names that follow it in the key are in the values too. */
function kindOf(key: Uint8Array): string {
  const end = key.indexOf(0)
  return Buffer.from(end < 0 ? key : key.subarray(0, end)).toString('latin1')
}

/** The number of rows and the total of their bytes. */
interface Sum {
  readonly count: number
  readonly hash: string
}

async function copy(
  old: OldTables,
  ids: ReadonlySet<number>,
  plan: Plan,
  to: string,
  step: (name: string) => void,
): Promise<Sum> {
  const environment = openEnvironment(to, { noSync: true })
  const fresh = newTables(environment)
  const total = new Total()
  const write = (change: () => void) => durable(() => environment.transaction(change))
  for (const rows of pages(old.documents)) {
    await write(() => {
      for (const { key, value, version = 0 } of rows) void fresh.documents.put(key, value, version)
    })
    for (const { key, value, version = 0 } of rows) total.add(key, value, version)
    step('documents')
  }
  for (const rows of old.chunks ? pages(old.chunks) : []) {
    const wanted = rows
      .map(({ key, value }) => ({ key: oldChunkKey(key), value }))
      .filter(({ key: [id] }) => ids.has(id))
    await write(() => {
      for (const { key, value } of wanted) void fresh.chunks.put(chunkKey(...key), value)
    })
    for (const { key, value } of wanted) total.add(chunkKey(...key), value)
    step('bars')
  }
  await write(() => {
    for (const series of plan.kept) void fresh.records.put(seriesRecordKey(series), JSON.stringify(series))
    for (const info of plan.symbols)
      void fresh.records.put(symbolRecordKey(info.exchange, info.symbol), JSON.stringify(info))
    if (plan.counter !== undefined) void fresh.records.put(COUNTER_KEY, plan.counter)
  })
  await environment.close()
  syncPath(join(to, 'data.mdb'))
  return total.sum()
}

/** Reads the copy from the disk again, as a stranger would. */
function prove(folder: string, expected: Sum, plan: Plan): void {
  const environment = openEnvironment(folder, { readOnly: true })
  try {
    const { documents, chunks, records } = newTables(environment)
    const total = new Total()
    for (const rows of pages(documents))
      for (const { key, value, version = 0 } of rows) total.add(key, value, version)
    for (const rows of pages(chunks)) for (const { key, value } of rows) total.add(key, value)
    const found = total.sum()
    assert(
      found.count === expected.count && found.hash === expected.hash,
      `the copy has ${found.count} rows of ${expected.count}, or others`,
    )
    for (const series of plan.kept) {
      const bars = chunks.getRange(prefixRange([series.id])).map(({ value }) => chunkLength(value))
      const count = Array.from(bars).reduce((sum, length) => sum + length, 0)
      assert(count === series.count, `a series has ${count} bars of ${series.count}`)
      assert(records.get(seriesRecordKey(series)) === JSON.stringify(series), 'a series is missing')
    }
  } finally {
    void environment.close()
  }
}

/** Merges series whose names have become equal. */
async function merge(folder: string, old: OldTables, { merged }: Plan): Promise<void> {
  const kv = lmdbKv({ path: folder })
  try {
    const bars = lmdbBars(kv)
    for (const series of merged)
      for (const rows of old.chunks ? pages(old.chunks) : [])
        for (const { key, value } of rows) {
          if (oldChunkKey(key)[0] !== series.id) continue
          const part = decodeAll([value])
          await bars.upsert(series, part)
        }
  } finally {
    await kv.close()
  }
}

/** All rows in pages, so that no read transaction stays open during the writes. */
function* pages(table: Table<Buffer>) {
  let start: Uint8Array = Buffer.of(0)
  for (;;) {
    const rows = Array.from(
      table.getRange({ start, exclusiveStart: true, limit: PAGE, versions: true }) as Iterable<CarriedEntry>,
      // Copied, because a value is a view of the map, which the next transaction may move.
      ({ key, value, version }) => ({ key, value: Buffer.from(value), version }),
    )
    const last = rows.at(-1)
    if (!last) return
    yield rows
    start = last.key
  }
}
interface CarriedEntry {
  readonly key: Uint8Array
  readonly value: Buffer
  readonly version?: number
}

class Total {
  #count = 0
  readonly #hash = createHash('sha256')

  add(key: Uint8Array, value: Uint8Array, version = 0): void {
    this.#count += 1
    this.#hash.update(`${key.length} ${value.length} ${version} `).update(key).update(value)
  }

  sum(): Sum {
    return { count: this.#count, hash: this.#hash.digest('hex') }
  }
}

/**
 * Decodes `[series, first time]`: each takes nine bytes, with a zero between them. Half a byte says "number" (1, or 0 for a
 * negative one), and the 64 bits of the double follow; for a negative one, all but the sign are flipped.
 */
export function oldChunkKey(key: Uint8Array): [id: number, first: number] {
  assert(key.length >= 18, `an old key of ${key.length} bytes`)
  return [oldNumber(key.subarray(0, 9)), oldNumber(key.subarray(10))]
}

function oldNumber(bytes: Uint8Array): number {
  const whole = Buffer.alloc(9)
  whole.set(bytes)
  const bits = BigInt.asUintN(64, (whole.readBigUInt64BE(0) << 4n) | BigInt(whole[8]! >> 4))
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, whole[0]! < 0x10 ? bits ^ 0x7fff_ffff_ffff_ffffn : bits)
  return view.getFloat64(0)
}
