// Typed records with indexes, over the key-value port.
//
//     const alerts = collection<Alert>(kv, 'alerts', {
//       indexes: { owner: (alert) => [alert.ownerId] },
//       counts: { owner: { of: (alert) => [alert.ownerId], max: 200, noun: 'alerts' } },
//     })
//     await transact(kv, () => alerts.insert(alert))
//     alerts.list('owner', [userId], { limit: 50, cursor })
//     await alerts.update(id, (alert) => ({ ...alert, state: 'paused' }))
//
// A write is a value: `insert`, `replace` and `remove` read what they need and answer the `Changes` to be made.
// `transact` runs such a plan, commits what it says in one commit, and runs it again when somebody was faster. So a
// record, its index entries, its unique names, its counters and whatever another collection adds are written
// together or not at all, and every index can be rebuilt from the records.
//
// Keys: [name, 'id', id] the record · [name, 'by', index, …parts, id] · [name, 'unique', index, …parts] → id ·
// [name, 'count', counter, …parts] → number.

import { assert } from '../lib/assert.ts'
import { Problem } from '../lib/problem.ts'
import {
  AboveMax,
  type Check,
  type Commit,
  type Key,
  type KeyPart,
  type Kv,
  type Sum,
  type Version,
} from './kv.ts'

export interface Changes extends Commit {
  /** Steps of one counter in one commit are added up; one above its bound is 422 `quota_exceeded`. */
  readonly sums?: readonly CountStep[]
}

interface CountStep extends Sum {
  /** What is counted, in words. */
  readonly noun?: string
}

/** What to commit together with what was made or changed. Part of a plan: it may be asked more than once. */
export type Also<T> = (record: T) => Changes

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
  /** Newest first, where ids are time-ordered. Default true. */
  readonly reverse?: boolean
}

export interface CollectionSpec<T> {
  /** Where a record is listed; null = not in this index. The id is appended, so equal parts list in order of making. */
  readonly indexes?: Readonly<Record<string, (record: T) => Key | null>>
  /** Names no two records may share; null = none taken. */
  readonly unique?: Readonly<Record<string, (record: T) => Key | null>>
  /** Numbers kept in step with the records; `max` makes one a quota. */
  readonly counts?: Readonly<
    Record<string, { readonly of: (record: T) => Key | null; readonly max?: number; readonly noun?: string }>
  >
}

export interface Collection<T extends { readonly id: string }> {
  get(id: string): T | null
  stored(id: string): Stored<T> | null
  /** The record that holds a unique name. */
  find(unique: string, parts: Key): T | null
  list(index: string, parts: Key, options: PageOptions): Page<T>
  /** Every record of an index, or of the collection, page by page; for jobs and rebuilds. */
  each(index?: string, parts?: Key): Generator<T>
  /**
   * The first key of every group of an index, without what all of them begin with: groups are told apart by `depth` parts behind
   * `parts`. It costs one read a group, however many entries a group has.
   */
  firsts(index: string, parts: Key, depth: number): Generator<Key>
  /** Entries of an index from `start` to `end`, both themselves and all below them, in pages. The id is the last part. */
  entries(index: string, start: Key, end: Key): Generator<readonly Key[]>
  count(counter: string, parts: Key): number
  /** That a counter is what it was when this was read: steps alone do not notice each other. */
  sameCount(counter: string, parts: Key): Changes
  insert(record: T): Changes
  replace(before: Stored<T>, record: T): Changes
  remove(before: Stored<T>): Changes
  /** Read, change, commit, again on conflict. `change` answers null to leave the record alone. null when it is absent. */
  update(id: string, change: (record: T) => T | null, also?: Also<T>): Promise<T | null>
  /** false when it was absent already. */
  delete(id: string, also?: Also<T>): Promise<boolean>
}

/** Thrown by a plan whose unique name is taken. A 409, which rooms catch to say it better. */
export class NameTaken extends Problem {
  readonly index: string
  constructor(collection: string, index: string) {
    super(409, 'already_exists', `One of the ${collection} with this ${index} exists already.`)
    this.index = index
  }
}

/**
 * Commits what `plan` answers. `plan` reads and decides; it runs again when a check failed, so it must have no effect of its own.
 * What it throws ends the transaction with nothing written. `undefined` in its list is nothing: `also?.(record)`.
 */
export async function transact(
  kv: Kv,
  plan: () => Changes | readonly (Changes | undefined)[],
): Promise<void> {
  // A commit fails only when another one succeeded, so somebody always moves on; the bound is against a plan that never reads.
  for (let attempt = 0; attempt < 1000; attempt++) {
    const planned = plan()
    const parts = 'length' in planned ? planned.filter((part) => part !== undefined) : [planned]
    if (await committed(kv, mergeChanges(parts))) return
  }
  assert(false, 'a transaction that conflicts for ever')
}

export function collection<T extends { readonly id: string }>(
  kv: Kv,
  name: string,
  { indexes = {}, unique = {}, counts = {} }: CollectionSpec<T> = {},
): Collection<T> {
  const recordKey = (id: string): Key => [name, 'id', id]
  const parse = (value: string) => JSON.parse(value) as T

  const indexKeys = (record: T) =>
    Object.entries(indexes).flatMap(([index, of]) => {
      const parts = of(record)
      return parts ? [[name, 'by', index, ...parts, record.id]] : []
    })
  const uniqueKeys = (record: T) =>
    Object.entries(unique).flatMap(([index, of]) => {
      const parts = of(record)
      return parts ? [{ index, key: [name, 'unique', index, ...parts] }] : []
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

  function stored(id: string): Stored<T> | null {
    const entry = kv.get(recordKey(id))
    return entry && { record: parse(entry.value), version: entry.version }
  }

  const self: Collection<T> = {
    stored,
    get: (id) => stored(id)?.record ?? null,
    find(index, parts) {
      const entry = kv.get([name, 'unique', index, ...parts])
      return entry && self.get(JSON.parse(entry.value) as string)
    },
    list(index, parts, { limit, cursor, reverse = true }) {
      const prefix = [name, 'by', index, ...parts]
      const after = cursor ? { after: [...prefix, ...decodeCursor(cursor)] } : {}
      // One more than asked for tells whether there is a next page.
      const entries = kv.list({ prefix }, { limit: limit + 1, reverse, ...after })
      const page = entries.slice(0, limit)
      const last = entries.length > limit ? page.at(-1) : undefined
      return {
        items: page.flatMap(({ key }) => self.get(String(key.at(-1))) ?? []),
        nextCursor: last ? encodeCursor(last.key.slice(prefix.length)) : null,
      }
    },
    *each(index, parts = []) {
      const prefix: Key = index === undefined ? [name, 'id'] : [name, 'by', index, ...parts]
      let after: { after?: Key } = {}
      for (;;) {
        const entries = kv.list({ prefix }, { limit: 500, ...after })
        for (const { key } of entries) {
          const record = self.get(String(key.at(-1)))
          if (record) yield record
        }
        const last = entries.at(-1)
        if (!last || entries.length < 500) return
        after = { after: last.key }
      }
    },
    *entries(index, start, end) {
      const root: Key = [name, 'by', index]
      const range = { start: [...root, ...start], end: [...root, ...end, BEHIND_ALL] }
      let after: { after?: Key } = {}
      for (;;) {
        const page = kv.list(range, { limit: ENTRIES_PAGE, ...after })
        if (page.length > 0) yield page.map(({ key }) => key.slice(root.length))
        const last = page.at(-1)
        if (!last || page.length < ENTRIES_PAGE) return
        after = { after: last.key }
      }
    },
    *firsts(index, parts, depth) {
      const prefix: Key = [name, 'by', index, ...parts]
      let after: { after?: Key } = {}
      for (;;) {
        const [entry] = kv.list({ prefix }, { limit: 1, ...after })
        if (!entry) return
        const tail = entry.key.slice(prefix.length)
        yield tail
        after = { after: [...prefix, ...tail.slice(0, depth), BEHIND_ALL] }
      }
    },
    count: (counter, parts) => Number(kv.get([name, 'count', counter, ...parts])?.value ?? 0),
    sameCount(counter, parts) {
      const key = [name, 'count', counter, ...parts]
      return { checks: [{ key, version: kv.get(key)?.version ?? null }] }
    },
    insert(record) {
      const names = uniqueKeys(record)
      for (const { index, key } of names) if (kv.get(key)) throw new NameTaken(name, index)
      return {
        checks: [recordKey(record.id), ...names.map(({ key }) => key)].map(absent),
        sets: [
          { key: recordKey(record.id), value: JSON.stringify(record) },
          ...names.map(({ key }) => ({ key, value: JSON.stringify(record.id) })),
          ...indexKeys(record).map((key) => ({ key, value: 'null' })),
        ],
        sums: countSteps(record, 1),
      }
    },
    replace({ record: before, version }, record) {
      assert(before.id === record.id, 'a record keeps its id')
      const oldNames = uniqueKeys(before)
      const newNames = uniqueKeys(record)
      const gained = without(newNames, oldNames, ({ key }) => key)
      for (const { index, key } of gained) if (kv.get(key)) throw new NameTaken(name, index)
      const oldKeys = indexKeys(before)
      const newKeys = indexKeys(record)
      return {
        checks: [{ key: recordKey(record.id), version }, ...gained.map(({ key }) => absent(key))],
        sets: [
          { key: recordKey(record.id), value: JSON.stringify(record) },
          ...gained.map(({ key }) => ({ key, value: JSON.stringify(record.id) })),
          ...without(newKeys, oldKeys).map((key) => ({ key, value: 'null' })),
        ],
        deletes: [
          ...without(oldNames, newNames, ({ key }) => key).map(({ key }) => key),
          ...without(oldKeys, newKeys),
        ],
        sums: [...countSteps(before, -1), ...countSteps(record, 1)],
      }
    },
    remove({ record, version }) {
      return {
        checks: [{ key: recordKey(record.id), version }],
        deletes: [recordKey(record.id), ...uniqueKeys(record).map(({ key }) => key), ...indexKeys(record)],
        sums: countSteps(record, -1),
      }
    },
    async update(id, change, also) {
      let result: T | null = null
      await transact(kv, () => {
        const before = stored(id)
        result = before && change(before.record)
        if (before === null || result === null) return {}
        return [self.replace(before, result), also?.(result)]
      })
      return result
    },
    async delete(id, also) {
      let found = false
      await transact(kv, () => {
        const before = stored(id)
        found = before !== null
        if (before === null) return {}
        return [self.remove(before), also?.(before.record)]
      })
      return found
    },
  }
  return self
}

/** Sorts behind every id and number that a key part may be. */
const BEHIND_ALL = '\u{10FFFF}'
const ENTRIES_PAGE = 256

const absent = (key: Key): Check => ({ key, version: null })

/** One commit of many changes: steps of one counter are added up. */
function mergeChanges(parts: readonly Changes[]): Changes {
  const steps = new Map<string, CountStep>()
  for (const step of parts.flatMap((part) => part.sums ?? [])) {
    const text = JSON.stringify(step.key)
    steps.set(text, { ...step, step: step.step + (steps.get(text)?.step ?? 0) })
  }
  return {
    checks: parts.flatMap((part) => part.checks ?? []),
    sets: parts.flatMap((part) => part.sets ?? []),
    deletes: parts.flatMap((part) => part.deletes ?? []),
    sums: [...steps.values()].filter(({ step }) => step !== 0),
    essential: parts.some(({ essential }) => essential),
  }
}

async function committed(kv: Kv, commit: Changes): Promise<boolean> {
  try {
    return await kv.commit(commit)
  } catch (error) {
    if (!(error instanceof AboveMax)) throw error
    const text = JSON.stringify(error.sum.key)
    const noun = commit.sums?.find(({ key }) => JSON.stringify(key) === text)?.noun ?? 'entries'
    const { max } = error.sum
    throw new Problem(422, 'quota_exceeded', `You can have at most ${max} ${noun}. Delete some first.`)
  }
}

/** What `items` has and `others` has not, by the text of their keys. */
function without<I>(
  items: readonly I[],
  others: readonly I[],
  keyOf: (item: I) => unknown = (item) => item,
): I[] {
  const texts = new Set(others.map((item) => JSON.stringify(keyOf(item))))
  return items.filter((item) => !texts.has(JSON.stringify(keyOf(item))))
}

// A cursor is the part of the last key that its list does not know already, so it can only point into that list.

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
  throw new Problem(422, 'validation_failed', 'The cursor is not one that a list has answered.', {
    fields: [{ in: 'query', path: '/cursor', code: 'cursor', message: 'expected a cursor from a list' }],
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
