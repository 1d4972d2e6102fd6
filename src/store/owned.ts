// Records that belong to a user: somebody else's is not there, and nothing tells whether it exists.

import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import type { ProblemCode } from '../lib/problem-codes.ts'
import type { Collection, Page, PageOptions, Stored } from './collection.ts'
import type { Key, Kv } from './kv.ts'
import { transact, type Also, type Tx } from './transaction.ts'

export interface StoreDeps {
  readonly kv: Kv
  readonly clock: Clock
}

/** What rooms need that keep records. */
export interface RecordDeps extends StoreDeps {
  readonly newId: NewId
}

interface Owned {
  readonly id: string
  readonly ownerId: string
}

/** The spec of a collection whose records are listed by their owner, who may have `max` of them. */
export function byOwner<T extends Owned>(max: number, noun: string) {
  const owner = ({ ownerId }: T): Key => [ownerId]
  return { indexes: { owner }, counts: { owner: { of: owner, max, noun } } }
}

/** How users see their records, by the index `owner`. Throws Problem 404 with `missing` for an id that is not the user's. */
export class OwnedRecords<T extends Owned, Deps extends RecordDeps = RecordDeps> {
  protected readonly deps: Deps
  /** For caches of what is made of records, which are checked by the versions. */
  readonly records: Collection<T>
  readonly #missing: readonly [code: ProblemCode, message: string]

  constructor(deps: Deps, records: Collection<T>, ...missing: [code: ProblemCode, message: string]) {
    this.deps = deps
    this.records = records
    this.#missing = missing
  }

  protected notFound(): Problem {
    return new Problem(404, ...this.#missing)
  }

  async get(ownerId: string, id: string): Promise<T> {
    const record = await this.records.get(id)
    if (record?.ownerId !== ownerId) throw this.notFound()
    return record
  }

  /** The same as part of a plan. */
  protected async storedAt(tx: Tx, ownerId: string, id: string): Promise<Stored<T>> {
    const stored = await this.records.at(tx).stored(id)
    if (stored?.record.ownerId !== ownerId) throw this.notFound()
    return stored
  }

  async has(ownerId: string, id: string): Promise<boolean> {
    return (await this.records.get(id))?.ownerId === ownerId
  }

  list(ownerId: string, options: PageOptions): Promise<Page<T>> {
    return this.records.list('owner', [ownerId], options)
  }

  ids(ownerId: string, options: PageOptions): Promise<Page<string>> {
    return this.records.ids('owner', [ownerId], options)
  }

  eachOf(ownerId: string): AsyncGenerator<T> {
    return this.records.each('owner', [ownerId])
  }

  /** Changes when the record does. */
  stamp(id: string): Promise<string> {
    return this.records.stamp(id)
  }

  /** Changes when one of the owner's records does; the collection stamps its lists by owner. */
  listStamp(ownerId: string): Promise<string> {
    return this.records.listStamp('owner', [ownerId])
  }

  async remove(ownerId: string, id: string): Promise<void> {
    await this.get(ownerId, id)
    await this.records.delete(id)
  }

  /** Stores a new record, and answers what was made with it, of which `also` is told. */
  protected async keep<M>(record: T, made: M, also?: Also<M>): Promise<M> {
    await transact(this.deps.kv, (tx) => [this.records.insert(record), also?.(made, tx)])
    return made
  }
}
