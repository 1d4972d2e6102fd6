// What is stored of users' long work, of whatever kind: a record that says how far it is, and beside it the script that it
// runs, so that lists stay small.

import { assert } from '../../lib/assert.ts'
import { Problem } from '../../lib/problem.ts'
import type { ProblemCode } from '../../lib/problem-codes.ts'
import { collectionIn, type Collection, type CollectionSpec } from '../../store/collection.ts'
import type { Page, PageOptions } from '../../store/collection.ts'
import type { Key, Kv } from '../../store/kv.ts'
import { transact, type Also } from '../../store/transaction.ts'
import { isUnderWay, mayFollow, type WorkState } from '../../wire/job-state.ts'

export interface KeptJob {
  readonly id: string
  readonly userId: string
  readonly state: WorkState
}

/** A script and what the user sets of it, as it is stored beside a record. */
export interface JobScript {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  /** Declaration arguments to run with instead of the script's. */
  readonly overrides: Readonly<Record<string, number | string | boolean>>
  /** The day of whose TradingView it is; missing where it was stored before runs had a day. */
  readonly asOf?: string
}

/** As many and as long values as fit into a line of a list. */
const GIVEN_MAX = 12
const GIVEN_CHARACTERS = 40

/** What lists say was set for a run: a source that is another script, or a long text, is left out. */
export function givenOf({
  inputs,
  overrides,
}: Pick<JobScript, 'inputs' | 'overrides'>): JobScript['overrides'] {
  const short = Object.entries({ ...inputs, ...overrides }).filter(
    (entry): entry is [string, number | string | boolean] =>
      ['number', 'string', 'boolean'].includes(typeof entry[1]) &&
      entry[0].length <= GIVEN_CHARACTERS &&
      String(entry[1]).length <= GIVEN_CHARACTERS,
  )
  return Object.fromEntries(short.slice(0, GIVEN_MAX))
}

/** What a record keeps of an error. */
export interface JobFailure {
  readonly code: string
  readonly message: string
  readonly diagnostics?: readonly unknown[]
}

/** The records of a kind. `max` is the most that a user may keep; with more, one has to be deleted first. */
export function recordsOf<Job extends KeptJob>(
  name: string,
  max: number | undefined,
  {
    indexes,
    counts,
    unfinished = 'unfinished',
  }: Pick<CollectionSpec<Job>, 'indexes' | 'counts'> & { readonly unfinished?: string } = {},
): (kv: Kv) => Collection<Job> {
  const of = ({ userId }: Job): Key => [userId]
  return collectionIn<Job>(name, {
    indexes: { user: of, [unfinished]: (job) => (isUnderWay(job) ? [] : null), ...indexes },
    counts: { user: { of, ...(max !== undefined && { max, noun: name.replaceAll('-', ' ') }) }, ...counts },
  })
}

/** What a kind is called, and where it is stored. */
export interface JobNoun<Job extends KeptJob> {
  /** For use in messages. */
  readonly one: string
  readonly many: string
  /** The code of the problem that there is no such job. */
  readonly missing: ProblemCode
  readonly records: (kv: Kv) => Collection<Job>
  readonly scriptKey: (id: string) => Key
}

/** The jobs of a kind, as users read them. */
export abstract class KeptJobs<Job extends KeptJob, Script = JobScript> {
  protected readonly records: Collection<Job>
  readonly #kv: Kv
  readonly #noun: JobNoun<Job>

  constructor(kv: Kv, noun: JobNoun<Job>) {
    this.#kv = kv
    this.#noun = noun
    this.records = noun.records(kv)
  }

  /** Throws Problem 404 if there is none, or if it belongs to somebody else. */
  async get(userId: string, id: string): Promise<Job> {
    const job = await this.find(userId, id)
    if (!job) throw await this.missing(userId, id)
    return job
  }

  async find(userId: string, id: string): Promise<Job | null> {
    const job = await this.records.get(id)
    return job?.userId === userId ? job : null
  }

  list(userId: string, page: PageOptions): Promise<Page<Job>> {
    return this.records.list('user', [userId], page)
  }

  async script(userId: string, id: string): Promise<Script> {
    await this.get(userId, id)
    return this.scriptOf(id)
  }

  /** Throws Problem 404 if the job was removed meanwhile, and its script with it. */
  protected async scriptOf(id: string): Promise<Script> {
    const script = await this.valueAt<Script>(this.#noun.scriptKey(id))
    if (!script) throw await this.missing()
    return script
  }

  protected async valueAt<T>(key: Key): Promise<T | null> {
    const entry = await this.#kv.get(key)
    return entry && (JSON.parse(entry.value) as T)
  }

  /** Stores a new job with its script. */
  protected async store(job: Job, script: Script, also?: Also<Job>): Promise<Job> {
    await transact(this.#kv, (tx) => [
      this.records.insert(job),
      { sets: [{ key: this.#noun.scriptKey(job.id), value: JSON.stringify(script) }] },
      also?.(job, tx),
    ])
    return job
  }

  /** Changes a job that is under way, unless `change` answers null. Answers null if it is over already, or was removed. */
  protected change(id: string, change: (job: Job) => Job | null, also?: Also<Job>): Promise<Job | null> {
    return this.records.update(
      id,
      (before) => {
        const after = isUnderWay(before) ? change(before) : null
        assert(!after || mayFollow(before.state, after.state), `${before.state} before ${after?.state}`)
        return after
      },
      also,
    )
  }

  protected missing(_userId?: string, _id?: string): Problem | Promise<Problem> {
    return new Problem(404, this.#noun.missing, `There is no such ${this.#noun.one}.`)
  }
}
