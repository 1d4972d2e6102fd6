// The store on PostgreSQL: documents as rows of bytes, several nodes at a time.
//
// A list is one statement, and so is every other read, however many keys it asks for. A version is the number of the
// group of commits that wrote the key (`layout/1-documents.sql`); the numbers never repeat, not even in a database that was
// restored from a dump.

import { decodeKey, encodeKey } from '../key.ts'
import type { Entry, Key, Kv, Version } from '../kv.ts'
import { pageRange } from '../memory.ts'
import { byteaArray } from './arrays.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { GroupCommit, type GroupDeps } from './group-commit.ts'

interface EntryRow {
  readonly key: Uint8Array
  readonly value: Uint8Array
  readonly version: Version
}

interface KvDeps extends GroupDeps, Pick<Connection, 'close'> {
  readonly reading: Pick<Database, 'query'>
}

export function postgresKv(connection: KvDeps): Kv {
  const { schema, reading } = connection
  const groups = new GroupCommit(connection)

  const readOf = (columns: string) =>
    `select ${columns} from ${schema}.documents where key = any($1::bytea[])`
  const readVersions = readOf('key, version')
  const readEntries = readOf('key, value, version')
  const listOf = (columns: string) => {
    const ordered = (order: string) =>
      `select ${columns} from ${schema}.documents where key >= $1 and key < $2 order by key ${order} limit $3`
    return { up: ordered('asc'), down: ordered('desc') }
  }
  const listKeys = listOf('key')
  const listEntries = listOf('key, value, version')

  async function found<R extends { readonly key: Uint8Array }>(
    keys: readonly Key[],
    text: string,
  ): Promise<(R | null)[]> {
    if (keys.length === 0) return []
    const asked = keys.map(encodeKey)
    const rows = await reading.query<R>(text, [byteaArray(asked)])
    if (asked.length === 1) return [rows[0] ?? null]
    const byKey = new Map(rows.map((row) => [latin1(row.key), row]))
    return asked.map((key) => byKey.get(latin1(key)) ?? null)
  }

  async function versions(keys: readonly Key[]): Promise<(Version | null)[]> {
    const rows = await found<Omit<EntryRow, 'value'>>(keys, readVersions)
    return rows.map((row) => row && row.version)
  }

  async function getMany(keys: readonly Key[]): Promise<(Entry | null)[]> {
    const rows = await found<EntryRow>(keys, readEntries)
    return rows.map((row, i) => row && entryOf(row, keys[i]))
  }

  return {
    get: async (key) => (await getMany([key]))[0] ?? null,
    getMany,
    versions,
    async list(selector, options) {
      const { start, end } = pageRange(selector, options)
      const { limit, reverse = false, keysOnly = false } = options
      const listing = keysOnly ? listKeys : listEntries
      const rows = await reading.query<EntryRow>(reverse ? listing.down : listing.up, [start, end, limit])
      return rows.map((row) =>
        keysOnly ? { key: decodeKey(row.key), value: '', version: '' } : entryOf(row),
      )
    },
    async commit(commit) {
      const { checks = [], sets = [], deletes = [], sums = [] } = commit
      if (sets.length + deletes.length + sums.length > 0) return groups.add(commit)
      // One statement sees one moment, so nobody has to be kept out of it.
      const seen = await versions(checks.map(({ key }) => key))
      return checks.every(({ version }, i) => version === seen[i])
    },
    close: () => connection.close(),
  }
}

const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

/** `asked`: the key that it was asked for by, which need not be decoded. */
function entryOf({ key, value, version }: EntryRow, asked: Key = decodeKey(key)): Entry {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  return { key: asked, value: bytes.toString('utf8'), version }
}
