// Reads, decides, commits, and starts again if another commit was faster.
//
//     await transact(kv, async (tx) => {
//       const stored = await alerts.at(tx).stored(id)
//       if (!stored) throw alertNotFound()
//       return [alerts.replace(stored, paused(stored.record)), await also?.(stored.record, tx)]
//     })
//
// A plan reads only through its `tx`, and answers what to write. Every read, even of an absent key, becomes a check of the
// commit, so everything the plan decided on still holds at the moment of writing, however long the answers took. Only an
// addition to a range goes unnoticed, since the checks cover just the entries that were read: if additions matter, read a
// counter that each of them moves.

import { assert } from '../lib/assert.ts'
import { Problem } from '../lib/problem.ts'
import { AboveMax, type Check, type Commit, type Entry, type Key, type Kv } from './kv.ts'
import type { ListOptions, Reader, Selector, Sum } from './kv.ts'

export interface Changes extends Commit {
  /** Steps of one counter in one commit are added up; exceeding a bound is 422 `quota_exceeded`. */
  readonly sums?: readonly CountStep[]
  /** Keys that must still be free; otherwise the plan ends with `NameTaken`. */
  readonly names?: readonly Name[]
  /** Keys that get a new version, for those who watch them; a key may occur more than once. */
  readonly stamps?: readonly Key[]
}

export interface CountStep extends Sum {
  /** What is counted, in words for the user. */
  readonly noun?: string
}

export interface Name {
  readonly key: Key
  readonly collection: string
  readonly index: string
}

type PlannedChanges = Changes | undefined
export type Planned = Changes | readonly (PlannedChanges | Promise<PlannedChanges>)[]
/**
 * Answers what to commit together with a record that was made or changed. It is part of a plan, so it may be called more
 * than once.
 */
export type Also<T> = (record: T, tx: Tx) => Changes | Promise<Changes>

/** Thrown if a unique name is taken. It is a 409, which rooms catch to word it better. */
export class NameTaken extends Problem {
  readonly index: string
  constructor({ collection, index }: Name) {
    super(409, 'already_exists', `One of the ${collection} with this ${index} exists already.`)
    this.index = index
  }
}

/** The store as a plan reads it. */
export class Tx implements Reader {
  readonly #reader: Reader
  readonly #checks: Check[] = []

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /** A check for everything that was read. */
  get checks(): readonly Check[] {
    return this.#checks
  }

  async get(key: Key): Promise<Entry | null> {
    const entry = await this.#reader.get(key)
    this.#checks.push({ key, version: entry?.version ?? null })
    return entry
  }

  async getMany(keys: readonly Key[]): Promise<(Entry | null)[]> {
    const entries = await this.#reader.getMany(keys)
    for (const [i, key] of keys.entries()) this.#checks.push({ key, version: entries[i]?.version ?? null })
    return entries
  }

  /** Notices when an entry of the page changes or goes, but not when one is added. */
  async list(selector: Selector, options: ListOptions): Promise<Entry[]> {
    // A check needs the version, whatever the plan itself makes of the entry.
    const entries = await this.#reader.list(selector, { ...options, keysOnly: false })
    for (const { key, version } of entries) this.#checks.push({ key, version })
    return entries
  }
}

/**
 * Commits what `plan` answers. The plan runs again if something it has read has changed, so it must have no side effects.
 * If it throws, nothing is written. `undefined` in its list is skipped, so it may say `also?.(record, tx)`.
 */
export async function transact(kv: Kv, plan: (tx: Tx) => Planned | Promise<Planned>): Promise<void> {
  // A commit fails only if another one succeeded, so somebody always makes progress. The bound is for a plan that conflicts
  // with itself.
  for (let attempt = 0; attempt < 1000; attempt++) {
    const tx = new Tx(kv)
    let changes: Changes
    try {
      changes = merged(await partsOf(plan, tx))
    } catch (error) {
      // The plan may have failed only because its reads are of different moments.
      if (await stillHolds(kv, tx)) throw error
      continue
    }
    if (writesNothing(changes) ? await stillHolds(kv, tx) : await committed(kv, changes, tx)) return
    await refuseTakenNames(kv, changes, tx)
  }
  assert(false, 'a transaction that conflicts for ever')
}

/** `transact` for a plan that has an answer besides what to write; the answer is of the run that was committed. */
export async function decide<A>(
  kv: Kv,
  plan: (tx: Tx) => Promise<readonly [answer: A, changes: Planned]>,
): Promise<A> {
  let decided: readonly [A, Planned] | undefined
  await transact(kv, async (tx) => {
    decided = await plan(tx)
    return decided[1]
  })
  assert(decided !== undefined, 'a transaction that ended has run its plan')
  return decided[0]
}

async function partsOf(plan: (tx: Tx) => Planned | Promise<Planned>, tx: Tx): Promise<Changes[]> {
  const planned = await plan(tx)
  if (!('length' in planned)) return [planned]
  const parts: Changes[] = []
  for (const part of planned) {
    const ready = await part
    if (ready) parts.push(ready)
  }
  return parts
}

function writesNothing({ checks = [], sets = [], deletes = [], sums = [] }: Changes): boolean {
  return checks.length + sets.length + deletes.length + sums.length === 0
}

/** Whether all reads were true at one moment. A single read always was. */
async function stillHolds(kv: Kv, { checks }: Tx): Promise<boolean> {
  return checks.length <= 1 || (await kv.commit({ checks }))
}

/** A plan that read the name itself runs again and judges for itself. */
async function refuseTakenNames(kv: Kv, { names = [] }: Changes, tx: Tx): Promise<void> {
  if (names.length === 0) return
  const read = new Set(tx.checks.map(({ key }) => JSON.stringify(key)))
  const asked = names.filter(({ key }) => !read.has(JSON.stringify(key)))
  const entries = await kv.getMany(asked.map(({ key }) => key))
  const taken = asked.find((_, i) => entries[i])
  if (taken) throw new NameTaken(taken)
}

/** Joins many changes into one commit, adding up the steps of each counter. */
export function merged(parts: readonly Changes[]): Changes {
  const steps = new Map<string, CountStep>()
  for (const step of parts.flatMap(({ sums = [] }) => sums)) {
    const text = JSON.stringify(step.key)
    steps.set(text, { ...step, step: step.step + (steps.get(text)?.step ?? 0) })
  }
  const names = parts.flatMap((part) => part.names ?? [])
  const stamps = new Map(parts.flatMap((part) => part.stamps ?? []).map((key) => [JSON.stringify(key), key]))
  return {
    checks: [
      ...parts.flatMap(({ checks = [] }) => checks),
      ...names.map(({ key }): Check => ({ key, version: null })),
    ],
    sets: [
      ...parts.flatMap(({ sets = [] }) => sets),
      ...stamps.values().map((key) => ({ key, value: STAMP })),
    ],
    deletes: parts.flatMap(({ deletes = [] }) => deletes),
    sums: [...steps.values()].filter(({ step }) => step !== 0),
    names,
    essential: parts.some(({ essential }) => essential),
  }
}

/** Only the version of a stamp's key matters, not its value. */
const STAMP = '0'

async function committed(kv: Kv, { names: _names, ...changes }: Changes, tx: Tx): Promise<boolean> {
  try {
    return await kv.commit({ ...changes, checks: [...(changes.checks ?? []), ...tx.checks] })
  } catch (error) {
    if (!(error instanceof AboveMax)) throw error
    const text = JSON.stringify(error.sum.key)
    const noun = changes.sums?.find(({ key }) => JSON.stringify(key) === text)?.noun ?? 'entries'
    const { max } = error.sum
    throw new Problem(422, 'quota_exceeded', `You can have at most ${max} ${noun}. Delete some first.`)
  }
}
