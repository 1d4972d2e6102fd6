// Typed records with indexes, over the key-value port.
//
//     const alerts = collection<Alert>(kv, 'alerts', {
//       indexes: { owner: (alert) => [alert.ownerId] },
//       counts: { owner: { of: (alert) => [alert.ownerId], max: 200, noun: 'alerts' } },
//     })
//     await transact(kv, () => alerts.insert(alert))
//     await alerts.list('owner', [userId], { limit: 50, cursor })
//     await alerts.update(id, (alert) => ({ ...alert, state: 'paused' }))
//
// A write is a value: `insert`, `replace` and `remove` answer `Changes`, which a plan (`transaction.ts`) commits. So a
// record, its index entries, unique names and counters, and whatever another collection adds, are written together or not
// at all, and every index can be rebuilt from the records. A plan reads through `alerts.at(tx)`.
//
// Keys: [name, 'id', id] the record · [name, 'by', index, …parts, id] · [name, 'unique', index, …parts] → id ·
// [name, 'count', counter, …parts] → number · [name, 'stamp', index, …parts], whose version is the stamp ·
// [name, 'facet', facet, id], whose version changes with that facet of the record.

import { assert } from '../lib/assert.ts'
import type { Log } from '../lib/log.ts'
import { Problem } from '../lib/problem.ts'
import { wholeOnes } from './damage.ts'
import type { Check, Entry, Key, KeyPart, Kv, Reader, Selector, Version } from './kv.ts'
import { decide, type Also, type Changes, type CountStep, type Name } from './transaction.ts'

export interface Stored<T> {
  readonly record: T
  readonly version: Version
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null
}

export interface PageOptions {
  readonly limit: number
  readonly cursor?: string | null | undefined
  /** Newest first if ids are time-ordered. Default: true. */
  readonly reverse?: boolean
}

export interface CollectionSpec<T> {
  /**
   * The key a record is listed under; null = it is not in this index. The id is appended, so records with equal parts list
   * in order of creation.
   */
  readonly indexes?: Readonly<Record<string, (record: T) => Key | null>>
  /** Indexes whose lists have a stamp. */
  readonly stamped?: readonly string[]
  /** Parts of a record that a plan may read without being disturbed when the rest of it changes. */
  readonly facets?: Readonly<Record<string, (record: T) => unknown>>
  /** Names that no two records may share; null = the record takes none. */
  readonly unique?: Readonly<Record<string, (record: T) => Key | null>>
  /** Numbers kept in step with the records; `max` makes a number a quota. */
  readonly counts?: Readonly<
    Record<string, { readonly of: (record: T) => Key | null; readonly max?: number; readonly noun?: string }>
  >
}

/** How a collection is read. */
interface Records<T> {
  get(id: string): Promise<T | null>
  /**
   * The records that exist of these ids, in the order of the ids. With `leaving`, as in `each`, one that is damaged is left
   * out, and this log says so; without it Damage is thrown.
   */
  getMany(ids: readonly string[], leaving?: Log): Promise<T[]>
  /**
   * As `getMany`, but a plan runs again only if this facet of them has changed meanwhile. It does not notice that one was
   * deleted, nor that the rest of one has changed.
   */
  getFacets(facet: string, ids: readonly string[]): Promise<T[]>
  stored(id: string): Promise<Stored<T> | null>
  storedMany(ids: readonly string[]): Promise<Stored<T>[]>
  /** The record that holds a unique name. */
  find(unique: string, parts: Key): Promise<T | null>
  findStored(unique: string, parts: Key): Promise<Stored<T> | null>
  list(index: string, parts: Key, options: PageOptions): Promise<Page<T>>
  /** The ids of that list alone. */
  ids(index: string, parts: Key, options: PageOptions): Promise<Page<string>>
  /** Every record of an index, or of the whole collection, page by page; for jobs and rebuilds. */
  each(index?: string, parts?: Key, leaving?: Log): AsyncGenerator<T>
  /**
   * The first key of every group of an index, without the part that all keys share. The first `depth` parts behind `parts`
   * make a group. Each group costs one read, however many entries it has.
   */
  firsts(index: string, parts: Key, depth: number): AsyncGenerator<Key>
  /**
   * The entries of an index from `start` to `end`, both included with all keys below them, in pages. The last part of each
   * key is the id.
   */
  entries(index: string, start: Key, end: Key): AsyncGenerator<readonly Key[]>
  count(counter: string, parts: Key): Promise<number>
}

/**
 * A stamp changes with every write. A reader of a stamp and then of the data who later finds the same stamp knows that the
 * data is still current. It is '' before the first write.
 */
export interface Stamps {
  /** The stamp of one record. */
  stamp(id: string): Promise<string>
  /** The stamp of a list of a stamped index: it changes with any record that is, or was, in the list. */
  listStamp(index: string, parts: Key): Promise<string>
}

export interface Collection<T extends { readonly id: string }> extends Records<T>, Stamps {
  /** The key of a record in the store. */
  keyOf(id: string): Key
  /** The version of each record, null where there is none: it tells whether what was made of the record still holds. */
  versions(ids: readonly string[]): Promise<(Version | null)[]>
  /** The collection as a plan reads it. */
  at(tx: Reader): Records<T>
  insert(record: T): Changes
  replace(before: Stored<T>, record: T): Changes
  remove(before: Stored<T>): Changes
  /**
   * Reads, changes and commits, and starts again on conflict. `change` answers null to leave the record as it is. Answers
   * null if the record is absent.
   */
  update(id: string, change: (record: T) => T | null, also?: Also<T>): Promise<T | null>
  /** Answers false if the record was already absent. */
  delete(id: string, also?: Also<T>): Promise<boolean>
}

/**
 * Keeps one collection for each store, since code that every request runs calls `users(kv)`. The collection is forgotten
 * together with its store.
 */
export function collectionIn<T extends { readonly id: string }>(
  name: string,
  spec?: CollectionSpec<T>,
): (kv: Kv) => Collection<T> {
  const made = new WeakMap<Kv, Collection<T>>()
  return (kv) => {
    const known = made.get(kv)
    if (known) return known
    const fresh = collection(kv, name, spec)
    made.set(kv, fresh)
    return fresh
  }
}

export function collection<T extends { readonly id: string }>(
  kv: Kv,
  name: string,
  spec: CollectionSpec<T> = {},
): Collection<T> {
  const keys = keysOf(name, spec)
  const { recordKey } = keys
  const records = (tx: Reader) => recordsIn(kv, keys, tx)
  const stampAt = async (key: Key) => (await kv.versions([key]))[0] ?? ''
  return {
    ...recordsIn(kv, keys),
    keyOf: recordKey,
    versions: (ids) => kv.versions(ids.map(recordKey)),
    stamp: (id) => stampAt(recordKey(id)),
    listStamp(index, parts) {
      assert(keys.stamped.includes(index), `the lists of ${name} by ${index} have no stamps`)
      return stampAt(keys.stampKey(index, parts))
    },
    at: records,
    insert: (record) => insert(keys, record),
    replace: (before, record) => replace(keys, before, record),
    remove: (before) => remove(keys, before),
    update: (id, change, also) =>
      decide(kv, async (tx) => {
        const before = await records(tx).stored(id)
        const after = before && change(before.record)
        if (before === null || after === null) return [null, {}]
        return [after, [replace(keys, before, after), also?.(after, tx)]]
      }),
    delete: (id, also) =>
      decide(kv, async (tx) => {
        const before = await records(tx).stored(id)
        return before ? [true, [remove(keys, before), also?.(before.record, tx)]] : [false, {}]
      }),
  }
}

function insert<T extends { readonly id: string }>(keys: Keys<T>, record: T): Changes {
  const names = keys.namesOf(record)
  return {
    checks: [absent(keys.recordKey(record.id))],
    names,
    sets: [
      { key: keys.recordKey(record.id), value: JSON.stringify(record) },
      ...names.map(({ key }) => ({ key, value: JSON.stringify(record.id) })),
      ...keys.indexKeys(record).map((key) => ({ key, value: 'null' })),
    ],
    sums: keys.countSteps(record, 1),
    stamps: keys.stampsOf(record),
  }
}

function replace<T extends { readonly id: string }>(
  keys: Keys<T>,
  { record: before, version }: Stored<T>,
  record: T,
): Changes {
  assert(before.id === record.id, 'a record keeps its id')
  const oldNames = keys.namesOf(before)
  const newNames = keys.namesOf(record)
  const gained = without(newNames, oldNames, ({ key }) => key)
  const oldKeys = keys.indexKeys(before)
  const newKeys = keys.indexKeys(record)
  return {
    checks: [{ key: keys.recordKey(record.id), version }],
    names: gained,
    sets: [
      { key: keys.recordKey(record.id), value: JSON.stringify(record) },
      ...gained.map(({ key }) => ({ key, value: JSON.stringify(record.id) })),
      ...without(newKeys, oldKeys).map((key) => ({ key, value: 'null' })),
    ],
    deletes: [
      ...without(oldNames, newNames, ({ key }) => key).map(({ key }) => key),
      ...without(oldKeys, newKeys),
    ],
    sums: [...keys.countSteps(before, -1), ...keys.countSteps(record, 1)],
    stamps: [...keys.stampsOf(before, record), ...keys.changedFacets(before, record)],
  }
}

function remove<T extends { readonly id: string }>(keys: Keys<T>, { record, version }: Stored<T>): Changes {
  return {
    checks: [{ key: keys.recordKey(record.id), version }],
    deletes: [
      keys.recordKey(record.id),
      ...keys.namesOf(record).map(({ key }) => key),
      ...keys.indexKeys(record),
      ...keys.facetKeys(record.id),
    ],
    sums: keys.countSteps(record, -1),
    stamps: keys.stampsOf(record),
  }
}

type Keys<T extends { readonly id: string }> = ReturnType<typeof keysOf<T>>

/** The keys under which a record stands, and all that is kept in step with it. */
function keysOf<T extends { readonly id: string }>(
  name: string,
  { indexes = {}, stamped = [], facets = {}, unique = {}, counts = {} }: CollectionSpec<T>,
) {
  const recordKey = (id: string): Key => [name, 'id', id]

  const indexKeys = (record: T) =>
    Object.entries(indexes).flatMap(([index, of]) => {
      const parts = of(record)
      return parts ? [[name, 'by', index, ...parts, record.id]] : []
    })
  const stampKey = (index: string, parts: Key): Key => [name, 'stamp', index, ...parts]
  const stampsOf = (...records: readonly T[]) =>
    records.flatMap((record) =>
      stamped.flatMap((index) => {
        const parts = indexes[index]?.(record)
        return parts ? [stampKey(index, parts)] : []
      }),
    )
  const facetKey = (facet: string, id: string): Key => [name, 'facet', facet, id]
  const facetKeys = (id: string) => Object.keys(facets).map((facet) => facetKey(facet, id))
  const changedFacets = (before: T, after: T) =>
    Object.entries(facets).flatMap(([facet, of]) =>
      JSON.stringify(of(before)) === JSON.stringify(of(after)) ? [] : [facetKey(facet, after.id)],
    )
  const namesOf = (record: T) =>
    Object.entries(unique).flatMap(([index, of]): Name[] => {
      const parts = of(record)
      return parts ? [{ collection: name, index, key: [name, 'unique', index, ...parts] }] : []
    })
  const countSteps = (record: T, step: number) =>
    Object.entries(counts).flatMap(([counter, { of, max, noun }]): CountStep[] => {
      const parts = of(record)
      if (parts === null) return []
      return [
        {
          key: [name, 'count', counter, ...parts],
          step,
          ...(max !== undefined && { max }),
          noun: noun ?? name,
        },
      ]
    })
  return {
    name,
    stamped,
    facets,
    recordKey,
    indexKeys,
    stampKey,
    stampsOf,
    facetKey,
    facetKeys,
    changedFacets,
    namesOf,
    countSteps,
  }
}

/** `reader` is the store itself, or a plan that notes what it reads. */
function recordsIn<T extends { readonly id: string }>(kv: Reader, keys: Keys<T>, reader = kv): Records<T> {
  const { name, recordKey } = keys
  const named = async (index: string, parts: Key): Promise<Entry | null> => {
    const found = await reader.get([name, 'unique', index, ...parts])
    return found && reader.get(recordKey(JSON.parse(found.value) as string))
  }
  const self: Records<T> = {
    async stored(id) {
      const entry = await reader.get(recordKey(id))
      return entry && storedAs<T>(entry)
    },
    async storedMany(ids) {
      const entries = await reader.getMany(ids.map(recordKey))
      return entries.flatMap((entry) => (entry ? storedAs<T>(entry) : []))
    },
    // These ask the store directly: wrapping a promise in a promise costs a request as much as the read itself.
    async get(id) {
      const entry = await reader.get(recordKey(id))
      return entry && storedAs<T>(entry).record
    },
    async getMany(ids, leaving) {
      const recordKeys = ids.map(recordKey)
      const entries = await (leaving ? wholeOnes(leaving, reader, recordKeys) : reader.getMany(recordKeys))
      return entries.flatMap((entry) => (entry ? storedAs<T>(entry).record : []))
    },
    async getFacets(facet, ids) {
      assert(facet in keys.facets, `${name} have no facet ${facet}`)
      // Before the records: what has changed by then is in them, and what changes later is noticed.
      await reader.getMany(ids.map((id) => keys.facetKey(facet, id)))
      return recordsIn(kv, keys).getMany(ids)
    },
    async find(index, parts) {
      const entry = await named(index, parts)
      return entry && storedAs<T>(entry).record
    },
    async findStored(index, parts) {
      const entry = await named(index, parts)
      return entry && storedAs<T>(entry)
    },
    async list(index, parts, options) {
      const { items, nextCursor } = await self.ids(index, parts, options)
      return { items: await self.getMany(items), nextCursor }
    },
    ids: (index, parts, options) => idsBehind(reader, [name, 'by', index, ...parts], options),
    async *each(index, parts = [], leaving) {
      const prefix: Key = index === undefined ? [name, 'id'] : [name, 'by', index, ...parts]
      for await (const page of pages(reader, { prefix }, EACH_PAGE))
        for (let at = 0; at < page.length; at += AT_ONCE)
          yield* await self.getMany(page.slice(at, at + AT_ONCE).map(idOf), leaving)
    },
    async *entries(index, start, end) {
      const root: Key = [name, 'by', index]
      const range = { start: [...root, ...start], end: [...root, ...end, BEHIND_ALL] }
      for await (const page of pages(reader, range, ENTRIES_PAGE))
        yield page.map(({ key }) => key.slice(root.length))
    },
    firsts: (index, parts, depth) => firstsBehind(reader, [name, 'by', index, ...parts], depth),
    async count(counter, parts) {
      const entry = await reader.get([name, 'count', counter, ...parts])
      return Number(entry?.value ?? 0)
    },
  }
  return self
}

const storedAs = <T>({ value, version }: Entry): Stored<T> => ({ record: JSON.parse(value) as T, version })

/** All keys of a range, in order, in pages of `limit`. */
async function* pages(reader: Reader, range: Selector, limit: number): AsyncGenerator<readonly Entry[]> {
  let after: { after?: Key } = {}
  for (;;) {
    const page = await reader.list(range, { limit, keysOnly: true, ...after })
    const last = page.at(-1)
    if (!last) return
    yield page
    if (page.length < limit) return
    after = { after: last.key }
  }
}

async function idsBehind(
  reader: Reader,
  prefix: Key,
  { limit, cursor, reverse = true }: PageOptions,
): Promise<Page<string>> {
  const after = cursor ? { after: [...prefix, ...decodeCursor(cursor)] } : {}
  // Reading one more than requested tells whether there is a next page.
  const entries = await reader.list({ prefix }, { limit: limit + 1, reverse, keysOnly: true, ...after })
  const page = entries.slice(0, limit)
  const last = entries.length > limit ? page.at(-1) : undefined
  return {
    items: page.map(idOf),
    nextCursor: last ? encodeCursor(last.key.slice(prefix.length)) : null,
  }
}

async function* firstsBehind(reader: Reader, prefix: Key, depth: number): AsyncGenerator<Key> {
  let after: { after?: Key } = {}
  for (;;) {
    const [entry] = await reader.list({ prefix }, { limit: 1, keysOnly: true, ...after })
    if (!entry) return
    const tail = entry.key.slice(prefix.length)
    yield tail
    after = { after: [...prefix, ...tail.slice(0, depth), BEHIND_ALL] }
  }
}

const idOf = ({ key }: Entry) => String(key.at(-1))

/** Sorts behind every id and every number that a key part may be. */
const BEHIND_ALL = '\u{10FFFF}'
const EACH_PAGE = 500
/** How many records are read in one go, since some have hundreds of kilobytes. */
const AT_ONCE = 32
const ENTRIES_PAGE = 256

const absent = (key: Key): Check => ({ key, version: null })

/** The items that `others` lacks, compared by the text of their keys. */
function without<I>(
  items: readonly I[],
  others: readonly I[],
  keyOf: (item: I) => unknown = (item) => item,
): I[] {
  const texts = new Set(others.map((item) => JSON.stringify(keyOf(item))))
  return items.filter((item) => !texts.has(JSON.stringify(keyOf(item))))
}

// A cursor is only the part of the last key that its list does not already know, so it can never point outside that list.

export function encodeCursor(tail: Key): string {
  return Buffer.from(JSON.stringify(tail)).toString('base64url')
}

export function decodeCursor(cursor: string): Key {
  const tail = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'))
  const valid =
    Array.isArray(tail) &&
    tail.length > 0 &&
    tail.length < 10 &&
    tail.every((part): part is KeyPart =>
      typeof part === 'string'
        ? part.length < 300 && part.isWellFormed()
        : typeof part === 'boolean' || typeof part === 'number',
    )
  if (valid) return tail
  throw wrongCursor()
}

/** Where a page begins in a list that is put in order as a whole. */
export function positionAt(cursor: string | undefined): number {
  const [at, ...more] = cursor === undefined ? [0] : decodeCursor(cursor)
  if (typeof at === 'number' && Number.isSafeInteger(at) && at >= 0 && more.length === 0) return at
  throw wrongCursor()
}

const wrongCursor = () =>
  new Problem(422, 'validation_failed', 'The cursor is not one that this list has answered.', {
    fields: [{ in: 'query', path: '/cursor', code: 'cursor', message: 'expected a cursor from this list' }],
  })

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
