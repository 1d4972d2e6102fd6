// Commits that wait at the same time go to the database together: one flush to disk for all of them.
//
// A few groups are on their way at a time, and what is asked for meanwhile becomes the next group. A group is sent again
// whole, under its id, until it is known what became of it. One that the database refuses as a whole is sent again commit
// by commit, so that only the commit at fault is refused.

import { assert } from '../../lib/assert.ts'
import { encodeKey } from '../key.ts'
import { AboveMax, type Commit, type Key, type Sum, type Version } from '../kv.ts'
import { booleanArray, byteaArray, intArray } from './arrays.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'

export interface GroupDeps extends Pick<Connection, 'schema' | 'node' | 'newId' | 'written'> {
  readonly writing: Pick<Database, 'query'>
}

/** A commit with its keys as bytes. */
interface Ready {
  readonly checks: readonly { readonly key: Buffer; readonly version: Version | null }[]
  readonly sets: readonly { readonly key: Buffer; readonly value: Buffer }[]
  readonly deletes: readonly Buffer[]
  readonly sums: readonly { readonly key: Buffer; readonly sum: Sum }[]
  readonly bytes: number
}

interface WaitingCommit {
  readonly ready: Ready
  readonly resolve: (done: boolean) => void
  readonly reject: (error: unknown) => void
}

const GROUP_MAX = 512
/** What a group may weigh; a commit above it goes alone. */
const GROUP_BYTES = 4 << 20
/** The most commits on the same keys in one group, since each is a round of a few statements. */
const ROUNDS_MAX = 16
const GROUPS_AT_ONCE = 3

/** How many locks the keys are shared out to. Every node must agree on it, and on which key gets which. */
const SLOTS = 1024

/** What `layout/1-documents.sql` answers of a commit; a number above zero is that of the sum which would have risen too far. */
const DONE = -1
const CHECK_FAILED = 0

export class GroupCommit {
  readonly #deps: GroupDeps
  #waiting: WaitingCommit[] = []
  #underWay = 0
  #isAsked = false

  constructor(deps: GroupDeps) {
    this.#deps = deps
  }

  /** As `Kv.commit`. */
  add(commit: Commit): Promise<boolean> {
    const ready = readyOf(commit)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ready, resolve, reject })
      this.#ask()
    })
  }

  /** Sends a group once everything that is asked for in this turn has been added. */
  #ask(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    queueMicrotask(() => {
      this.#isAsked = false
      while (this.#waiting.length > 0 && this.#underWay < GROUPS_AT_ONCE) void this.#sendNext()
    })
  }

  async #sendNext(): Promise<void> {
    const { group, rounds } = nextGroup(this.#waiting)
    this.#waiting = this.#waiting.slice(group.length)
    this.#underWay++
    try {
      await this.#send(group, rounds)
    } finally {
      this.#underWay--
      this.#ask()
    }
  }

  async #send(group: readonly WaitingCommit[], rounds: readonly number[]): Promise<void> {
    let outcomes: readonly number[]
    try {
      outcomes = await this.#call(
        group.map(({ ready }) => ready),
        rounds,
      )
    } catch (error) {
      if (group.length === 1 || isAway(error)) for (const { reject } of group) reject(error)
      else for (const one of group) await this.#send([one], [1])
      return
    }
    this.#deps.written()
    const sums = group.flatMap(({ ready }) => ready.sums.map(({ sum }) => sum))
    for (const [i, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[i] ?? CHECK_FAILED
      const sum = outcome > 0 ? sums[outcome - 1] : undefined
      if (sum) reject(new AboveMax(sum))
      else resolve(outcome === DONE)
    }
  }

  async #call(commits: readonly Ready[], rounds: readonly number[]): Promise<readonly number[]> {
    const { writing, schema, node, newId } = this.#deps
    const values = parameters(commits, rounds)
    const names = values.map((_, i) => `$${i + 3}`).join(', ')
    const [row] = await writing.query<{ outcomes: Iterable<number> }>(
      `select ${schema}.commit_1($1, $2, ${names}) as outcomes`,
      [newId(), node, ...values],
    )
    assert(row !== undefined, 'a group of commits without an answer')
    return Array.from(row.outcomes)
  }
}

function isAway(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'store_unavailable'
}

function readyOf({ checks = [], sets = [], deletes = [], sums = [] }: Commit): Ready {
  const rows = sets.map(({ key, value }) => ({ key: encodeKey(key), value: Buffer.from(value) }))
  return {
    checks: checks.map(({ key, version }) => ({ key: encodeKey(key), version })),
    sets: rows,
    deletes: deletes.map((key: Key) => encodeKey(key)),
    sums: sums.map((sum) => ({ key: encodeKey(sum.key), sum })),
    bytes: rows.reduce((total, { value }) => total + value.length, 0),
  }
}

const writesOf = ({ sets, deletes, sums }: Ready) => [
  ...sets.map(({ key }) => key),
  ...deletes,
  ...sums.map(({ key }) => key),
]

/** As many of the first that wait as fit in a group, each with its round: after those before it that share a key with it. */
function nextGroup(waiting: readonly WaitingCommit[]): {
  readonly group: readonly WaitingCommit[]
  readonly rounds: readonly number[]
} {
  const touched = new Map<string, { written: number; read: number }>()
  const rounds: number[] = []
  let bytes = 0
  for (const { ready } of waiting) {
    bytes += ready.bytes
    if (rounds.length === GROUP_MAX || (rounds.length > 0 && bytes > GROUP_BYTES)) break
    const written = writesOf(ready).map(textOf)
    const read = ready.checks.map(({ key }) => textOf(key))
    let round = 1
    for (const key of written) {
      const before = touched.get(key)
      round = Math.max(round, (before?.written ?? 0) + 1, (before?.read ?? 0) + 1)
    }
    for (const key of read) round = Math.max(round, (touched.get(key)?.written ?? 0) + 1)
    if (round > ROUNDS_MAX) break
    for (const key of written) touched.set(key, { written: round, read: touched.get(key)?.read ?? 0 })
    for (const key of read) {
      const before = touched.get(key)
      touched.set(key, { written: before?.written ?? 0, read: Math.max(before?.read ?? 0, round) })
    }
    rounds.push(round)
  }
  return { group: waiting.slice(0, rounds.length), rounds }
}

const textOf = (key: Buffer) => key.toString('latin1')

/** The arguments of `commit_1` after id and node. */
function parameters(commits: readonly Ready[], rounds: readonly number[]): unknown[] {
  const rows = commits.map((ready, i) => ({ ready, round: rounds[i] ?? 1, commit: i + 1 }))
  const each = <T>(of: (ready: Ready) => readonly T[]) =>
    rows.flatMap(({ ready, round, commit }) => of(ready).map((item) => ({ item, round, commit })))
  const where = (list: readonly { round: number; commit: number }[]) => [
    intArray(list.map(({ round }) => round)),
    intArray(list.map(({ commit }) => commit)),
  ]
  const checks = each(({ checks: list }) => list)
  const sets = each(({ sets: list }) => list)
  const deletes = each(({ deletes: list }) => list)
  const sums = each(({ sums: list }) => list)
  let from = 1
  const starts = sets.map(({ item }) => {
    const start = from
    from += item.value.length
    return start
  })
  const locks = locksOf(commits)
  return [
    commits.length,
    Math.max(...rounds),
    intArray(locks.map(([slot]) => slot)),
    booleanArray(locks.map(([, isExclusive]) => isExclusive)),
    ...where(checks),
    byteaArray(checks.map(({ item }) => item.key)),
    intArray(checks.map(({ item }) => versionNumber(item.version))),
    ...where(sets),
    byteaArray(sets.map(({ item }) => item.key)),
    intArray(starts),
    intArray(sets.map(({ item }) => item.value.length)),
    Buffer.concat(sets.map(({ item }) => item.value)),
    ...where(deletes),
    byteaArray(deletes.map(({ item }) => item)),
    ...where(sums),
    byteaArray(sums.map(({ item }) => item.key)),
    intArray(sums.map(({ item }) => item.sum.step)),
    intArray(sums.map(({ item }) => item.sum.max ?? null)),
  ]
}

/** A version that is no number was never given by this store, and matches nothing. */
function versionNumber(version: Version | null): string | null {
  return version === null || /^\d{1,18}$/.test(version) ? version : '-1'
}

/** The locks in the order in which everybody takes them; exclusive where something is written. */
function locksOf(commits: readonly Ready[]): [slot: number, isExclusive: boolean][] {
  const slots = new Map<number, boolean>()
  for (const { checks } of commits) for (const { key } of checks) slots.set(slotOf(key), false)
  for (const ready of commits) for (const key of writesOf(ready)) slots.set(slotOf(key), true)
  return [...slots].sort(([a], [b]) => a - b)
}

/** CRC-32, since every node of every version must find the same. */
export const slotOf = (key: Buffer) => Bun.hash.crc32(key) % SLOTS
