// The store on LMDB: one environment, one named database for documents, one for bars (`lmdb-bars.ts`).
//
// A commit is one asynchronous LMDB transaction; lmdb-js runs many of them in one write to disk (41,000 commits a
// second from 128 writers here, 6,900 from one) and resolves when it is synced. A version is the id of the LMDB
// transaction that wrote the key, with a checksum (`damage.ts`): it never repeats, and commits that share a transaction see
// each other's writes while nobody else does, so no version is ever seen with two values.

import { join } from 'node:path'
import { getLastVersion, open, type Database, type RootDatabase } from 'lmdb'
import { Problem } from '../lib/problem.ts'
import type { BackupSource } from './backup/backup.ts'
import { Damage, documentName, isWhole, versionOf } from './damage.ts'
import { DataRefused } from './data-refused.ts'
import { decodeKey, decodeLetters, encodeKey } from './key.ts'
import type { Commit, Entry, Key, Kv, ListOptions, Selector, Version } from './kv.ts'
import { mapLockFile, momentIn } from './lmdb-moment.ts'
import { pageRange, storageFull } from './memory.ts'
import { mayUseReserve, type Reserve, RESERVE_BYTES } from './reserve.ts'
import { withoutSums } from './sums.ts'

export interface LmdbOptions {
  /** The folder of the database; created if it is missing. */
  readonly path: string
  /** Once the documents and bars exceed this, writes are refused as on a full disk. */
  readonly maxBytes?: number
  /** The reserve on the disk; a command beside a server has none. */
  readonly reserve?: Reserve
}

export interface LmdbKv extends Kv {
  /** For the bar store, which is in the same file. */
  readonly environment: Environment
  /** For continuous backup, which reads the file itself. */
  readonly pages: BackupSource
  /** Opens a further named database, which counts towards `maxBytes`. */
  openDatabase<V>(options: TableOptions): Table<V>
  /** Throws `storage_full` if `bytes` more would exceed `maxBytes`. Call it inside a transaction before it writes. */
  assertRoom(bytes?: number): void
  /** Runs a write and waits until it is synced. `mayUseReserve` is asked if the write found no room. */
  durable<T>(write: () => Promise<T>, mayUseReserve?: () => boolean): Promise<T>
}

/** A named database whose keys are encoded by `key.ts`. */
export type Table<V> = Database<V, Uint8Array>

interface TableOptions {
  readonly name: string
  readonly encoding: 'string' | 'binary'
  readonly useVersions?: boolean
}

export const DOCUMENTS = { name: 'documents', encoding: 'string', useVersions: true } as const

export type Environment = RootDatabase

interface EnvironmentOptions {
  readonly readOnly?: boolean
  /** Commits do not wait for the disk; only a sync makes them certain. */
  readonly noSync?: boolean
}

/**
 * All keys are bytes of our own encoding, even those of the root: lmdb generates its own encoder at run time from the text
 * of a function, which a bundler has changed by then.
 */
export function openEnvironment(path: string, options: EnvironmentOptions = {}): Environment {
  return orRefused(path, () =>
    open({
      path,
      maxDbs: 16,
      noSubdir: false,
      keyEncoding: 'binary',
      encoding: 'binary',
      ...ONLY_FOR_US,
      ...options,
    }),
  )
}

function orRefused<T>(path: string, opened: () => T): T {
  try {
    return opened()
  } catch (error) {
    throw new DataRefused(
      `The database ${path} cannot be opened (${error instanceof Error ? error.message : String(error)}). The directory must be writable for the user who starts Chartroom. Nothing was changed.`,
    )
  }
}

/** The mode of new files. lmdb accepts it, but its types lack it. */
const ONLY_FOR_US = { permissionsMode: 0o600 }

export function openTable<V>(environment: Environment, options: TableOptions): Table<V> {
  return environment.openDB({ ...options, keyEncoding: 'binary' })
}

export function lmdbKv({ path, maxBytes, reserve }: LmdbOptions): LmdbKv {
  const lockFile = orRefused(path, () => mapLockFile(path))
  const environment = openEnvironment(path)
  const room = new Room(maxBytes, reserve)
  const openDatabase = <V>(options: TableOptions): Table<V> =>
    room.counted(openTable<V>(environment, options))
  const documents = openDatabase<string>(DOCUMENTS)
  const names = environment.openDB<string, string | Uint8Array>(WITH_LETTERS)

  const valueOf = (key: Key) => entryOf(documents, key)?.value
  const sizeOf = (key: Key) => valueOf(key)?.length ?? null

  const lastTransaction = () => (environment.getStats() as NewestTransaction).lastTxnId
  const newest = momentIn(lockFile, lastTransaction)
  let seen: number | null = null

  function moment(read: () => number): number {
    const now = read()
    // Reads of one turn share a transaction, which may have begun before.
    if (now !== seen) environment.resetReadTxn()
    return (seen = now)
  }

  return {
    environment,
    pages: {
      path: join(path, 'data.mdb'),
      newest: newest ?? lastTransaction,
      pin() {
        const transaction = environment.useReadTransaction()
        return () => transaction.done()
      },
    },
    openDatabase,
    assertRoom: (bytes) => room.assert(bytes),
    durable: (write, mayUse) => room.written(write, mayUse),
    get: async (key) => entryOf(documents, key),
    getMany: async (keys) => keys.map((key) => entryOf(documents, key)),
    versions: async (keys) => keys.map((key) => storedVersion(documents, key)),
    ...(newest && { moment: () => moment(newest) }),
    list: async (selector, options) => page(documents, names, selector, options),
    commit: (commit) =>
      room.written(
        () =>
          environment.transaction(() => apply(documents, commit, (asked) => room.assertFor(asked, sizeOf))),
        () => mayUseReserve(withoutSums(commit, valueOf), sizeOf),
      ),
    async close() {
      const closed = environment.close()
      if (!room.isLastWriteLost) await closed
    },
  }
}

function entryOf(documents: Table<string>, key: Key): Entry | null {
  const found = documents.getEntry(encodeKey(key))
  return found ? wholeEntry(key, found.value, found.version) : null
}

function wholeEntry(key: Key, value: string, version: number | undefined): Entry {
  if (!isWhole(version ?? 0, value)) throw new Damage(documentName(key))
  return { key, value, version: String(version) }
}

/** Reading a version makes no text of the value, which is most of an entry's cost. */
function storedVersion(documents: Table<string>, key: Key): Version | null {
  return documents.getBinaryFast(encodeKey(key)) === undefined ? null : String(getLastVersion())
}

function page(
  documents: Table<string>,
  names: Database<string, string | Uint8Array>,
  selector: Selector,
  options: ListOptions,
): Entry[] {
  const { start, end } = pageRange(selector, options)
  const { limit, reverse = false, keysOnly = false } = options
  // lmdb-js walks a reverse range down from `start`, so both ends have the opposite meaning.
  const range = reverse
    ? { start: end, end: start, reverse, exclusiveStart: true, inclusiveEnd: true, limit }
    : { start, end, limit }
  const prefix = 'prefix' in selector ? selector.prefix : []
  const known = prefix.length > 0 ? encodeKey(prefix).length : 0
  if (keysOnly)
    return Array.from(names.getKeys(range), (letters) => ({
      key: decodeLetters(String(letters), prefix, known),
      value: '',
      version: '',
    }))
  return Array.from(documents.getRange({ ...range, versions: true }), ({ key, value, version }) =>
    wholeEntry(decodeKey(key, prefix, known), value, version),
  )
}

/** How much may still be written: below `maxBytes`, and as long as the disk is not full but for the reserve. */
class Room {
  /** lmdb waits for such a write for ever when it is to close. */
  isLastWriteLost = false
  readonly #maxBytes: number | undefined
  readonly #reserve: Reserve | undefined
  readonly #databases: Database[] = []

  constructor(maxBytes: number | undefined, reserve: Reserve | undefined) {
    this.#maxBytes = maxBytes
    this.#reserve = reserve
  }

  /** A database whose pages count. */
  counted<V>(database: Table<V>): Table<V> {
    this.#databases.push(database)
    return database
  }

  assert(bytes = 0): void {
    if (this.#isDiskFull(bytes) || this.#isAbove(this.#maxBytes, bytes)) throw storageFull()
  }

  /** Call it inside a transaction. */
  assertFor(commit: Commit, sizeOf: (key: Key) => number | null): void {
    if (!this.#isDiskFull() && !this.#isAbove(this.#maxBytes)) return
    const limit = this.#maxBytes === undefined ? undefined : this.#maxBytes + RESERVE_BYTES
    if (!mayUseReserve(commit, sizeOf) || (commit.essential && this.#isAbove(limit))) throw storageFull()
  }

  async written<T>(write: () => Promise<T>, mayUse: () => boolean = () => false): Promise<T> {
    try {
      const result = await durable(write)
      this.isLastWriteLost = false
      return result
    } catch (error) {
      this.isLastWriteLost ||= error instanceof DiskFull
      if (!this.#reserve || !(error instanceof DiskFull)) throw error
      if (!mayUse()) this.#reserve.full()
      else if (this.#reserve.release()) return this.written(write, mayUse)
      throw error
    }
  }

  /** The file never shrinks, so deleted pages are room too, which the disk does not know of. */
  #isDiskFull(bytes = 0): boolean {
    return this.#reserve?.isLow === true && freeBytes(this.#databases) < FREE_KEPT_BYTES + bytes
  }

  #isAbove(limit: number | undefined, bytes = 0): boolean {
    return limit !== undefined && usedBytes(this.#databases) + bytes > limit
  }
}

/** What lmdb reads a key from; the types of Buffer lack this function. */
interface KeyBytes {
  latin1Slice(start: number, end: number): string
}

/** Reads a key as a text with a letter for each byte: a buffer for each key takes twice as long as all the rest of a list. */
const LETTERS = {
  writeKey(key: Uint8Array, target: Uint8Array, start: number): number {
    target.set(key, start)
    return start + key.length
  },
  readKey: (bytes: KeyBytes, start: number, end: number): string => bytes.latin1Slice(start, end),
}
/** lmdb takes an encoder, though its types lack it. */
const WITH_LETTERS = { ...DOCUMENTS, keyEncoder: LETTERS }

/** Runs a write and waits until it is synced. A full disk makes the commit fail, which becomes 507. */
export async function durable<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof Error && /commit failed|MDB_MAP_FULL|ENOSPC|no space/i.test(error.message))
      throw new DiskFull()
    throw error
  }
}

/** The disk itself is full, not only our limit. */
class DiskFull extends Problem {
  constructor() {
    const { status, code, message } = storageFull()
    super(status, code, message)
  }
}

/** Runs inside a transaction. Everything is checked before anything is written, so a refusal needs no roll-back. */
function apply(documents: Table<string>, asked: Commit, assertRoomFor: (commit: Commit) => void) {
  const { checks = [] } = asked
  const fresh = checks.every(({ key, version }) => {
    const seen = documents.getEntry(encodeKey(key))?.version
    return (seen === undefined ? null : String(seen)) === version
  })
  if (!fresh) return false
  const commit = withoutSums(asked, (key) => entryOf(documents, key)?.value)
  const { sets = [], deletes = [] } = commit
  const rows = sets.map(({ key, value }) => [encodeKey(key), value] as const)
  if (rows.length > 0) assertRoomFor(commit)
  const transaction = documents.getWriteTxnId()
  // Not awaited: inside a transaction writes run in order, and the transaction's promise covers them all.
  for (const key of deletes) void documents.remove(encodeKey(key))
  // lmdb writes bytes as they are, though its type asks for what is read.
  for (const [key, value] of rows) void documents.put(key, value as string, versionOf(transaction, value))
  return true
}

/** Bytes of the pages in use. The file never shrinks, but freed pages are reused before it grows. */
function usedBytes(databases: readonly Database[]): number {
  return databases.reduce((sum, database) => {
    const pages = database.getStats() as Record<(typeof PAGE_COUNTS)[number] | 'pageSize', number>
    return sum + pages.pageSize * PAGE_COUNTS.reduce((count, name) => count + pages[name], 0)
  }, 0)
}

type PageCounts = Record<(typeof PAGE_COUNTS)[number], number>
interface NewestTransaction {
  readonly lastTxnId: number
}
interface FilePages {
  readonly lastPageNumber: number
  readonly pageSize: number
  readonly root: PageCounts
  readonly free: PageCounts
}

/** Bytes of the freed pages, which are reused before the file grows. */
function freeBytes(databases: readonly Database[]): number {
  const file = databases[0]?.getStats() as FilePages | undefined
  if (!file) return 0
  const own = [file.root, file.free].reduce(
    (sum, pages) => sum + PAGE_COUNTS.reduce((count, name) => count + pages[name], 0),
    META_PAGES,
  )
  return (file.lastPageNumber + 1 - own) * file.pageSize - usedBytes(databases)
}
const META_PAGES = 2
/** On a full disk this much stays free for commits that may use the reserve. */
const FREE_KEPT_BYTES = 4 << 20
const PAGE_COUNTS = ['treeBranchPageCount', 'treeLeafPageCount', 'overflowPages'] as const
