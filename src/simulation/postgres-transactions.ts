// Transactions of the simulated PostgreSQL: what they see and write, and the locks by which they wait for each other.

import type { Timeline } from './timeline.ts'

export type Row = object

/** Rows by a text that sorts as their key does. */
export class Table<T extends Row> {
  readonly #rows = new Map<string, T>()
  readonly #sorted: string[] = []

  get(key: string): T | undefined {
    return this.#rows.get(key)
  }

  set(key: string, row: T | null): void {
    const at = this.#at(key)
    if (row === null) {
      if (this.#rows.delete(key)) this.#sorted.splice(at, 1)
      return
    }
    if (!this.#rows.has(key)) this.#sorted.splice(at, 0, key)
    this.#rows.set(key, row)
  }

  /** In order; `start` is inclusive, `end` exclusive. */
  keys(start = '', end?: string): string[] {
    return this.#sorted.slice(this.#at(start), end === undefined ? undefined : this.#at(end))
  }

  all(start?: string, end?: string): T[] {
    return this.keys(start, end).map((key) => this.#rows.get(key)!)
  }

  count(isMeant: (row: T) => boolean): number {
    let count = 0
    for (const row of this.#rows.values()) if (isMeant(row)) count++
    return count
  }

  #at(key: string): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

export interface Change {
  readonly xid: number
  readonly n: number
  readonly node: string
  readonly keys: readonly Buffer[]
}

export class Tables {
  /** The keys of rows as bytes, as far as somebody has read them. */
  readonly keyBytes = new WeakMap<Row, Buffer>()
  readonly documents = new Table<{ value: Buffer; version: number }>()
  readonly commits = new Table<{ outcomes: readonly number[]; change: number | null; at: number }>()
  readonly leases = new Table<{ node: string; fence: number; until: number }>()
  readonly nodes = new Table<{
    xid: number
    started: number
    seen: number
    version: string | null
    lag: number | null
  }>()
  readonly shards = new Table<{ shard: number; holder: string | null }>()
  shardsChangedAt = 0
  readonly series = new Table<{
    id: number
    change: number
    count: number
    first: number
    last: number
    begun: number | null
  }>()
  readonly chunks = new Table<{ first: number; last: number; bars: number; bytes: Buffer }>()
  readonly drafts = new Table<{ at: number }>()
  readonly notes = new Table<{ first: number; last: number; change: number }>()
  readonly symbols = new Table<{ info: Buffer }>()
  /** Who is told what becomes of documents whose keys begin so, and which node does it; null: it is not there. */
  readonly watchers: {
    readonly prefix: string
    readonly told: (before: Buffer | null, after: Buffer | null, node: string) => void
  }[] = []
  /** In the order of their transactions. */
  changes: Change[] = []
  pruned = 0

  constructor() {
    for (let shard = 0; shard < 256; shard++) this.shards.set(numbered(shard), { shard, holder: null })
  }
}

/** A number as a text that sorts as numbers do. */
export const numbered = (value: number) => String(value + 2 ** 52).padStart(16, '0')

interface Lock {
  readonly holders: Map<Tx, boolean>
  readonly waiting: { readonly tx: Tx; readonly isExclusive: boolean; readonly got: () => void }[]
}

/** One transaction: it sees what was committed before each of its statements, and what it has written itself. */
export class Tx {
  readonly tables: Tables
  readonly #all: Transactions
  readonly #written: (() => void)[] = []
  readonly #own = new Map<Table<never>, Map<string, Row | null>>()
  readonly #held: string[] = []
  #xid: number | null = null

  constructor(all: Transactions) {
    this.#all = all
    this.tables = all.tables
  }

  get now(): number {
    return this.#all.timeline.now
  }

  /** The oldest transaction that may still commit. */
  get xmin(): number {
    return this.#all.xmin
  }

  /** Whether one is over that began after one that may still commit. */
  get isBehind(): boolean {
    return this.#all.xmin < this.#all.over + 1
  }

  get hasWritten(): boolean {
    return this.#xid !== null
  }

  /** The next of the sequence, which no rollback gives back. */
  number(): number {
    return this.#all.nextNumber()
  }

  get<T extends Row>(table: Table<T>, key: string): T | undefined {
    const own = this.#own.get(table as never)
    return own?.has(key) === true ? ((own.get(key) ?? undefined) as T | undefined) : table.get(key)
  }

  /** Writes a row, or removes it. Whoever may be at it at the same time must have its lock. */
  put<T extends Row>(table: Table<T>, key: string, row: T | null): void {
    this.#xid ??= this.#all.begins()
    let own = this.#own.get(table as never)
    if (!own) this.#own.set(table as never, (own = new Map()))
    own.set(key, row)
  }

  change(n: number, node: string, keys: readonly Buffer[]): void {
    const xid = (this.#xid ??= this.#all.begins())
    this.onCommit(() => {
      const { changes } = this.tables
      let at = changes.length
      while (
        at > 0 &&
        (changes[at - 1]!.xid > xid || (changes[at - 1]!.xid === xid && changes[at - 1]!.n > n))
      )
        at--
      changes.splice(at, 0, { xid, n, node, keys })
    })
  }

  onCommit(work: () => void): void {
    this.#xid ??= this.#all.begins()
    this.#written.push(work)
  }

  /** Of a row or an advisory lock; until the end of the transaction. */
  lock(name: string, isExclusive = true): Promise<void> | void {
    this.#held.push(name)
    return this.#all.lock(this, name, isExclusive)
  }

  notify(): readonly Row[] {
    this.#all.notify()
    return []
  }

  isLocked(name: string): boolean {
    return this.#all.isLocked(this, name)
  }

  commit(): void {
    for (const [table, rows] of this.#own) for (const [key, row] of rows) table.set(key, row as never)
    for (const work of this.#written) work()
  }

  end(): void {
    if (this.#xid !== null) this.#all.ended(this.#xid)
    for (const name of this.#held) this.#all.unlock(this, name)
  }
}

/** All of them: who waits for whom, which are under way, and the numbers that they are given. */
export class Transactions {
  readonly tables = new Tables()
  readonly timeline: Timeline
  readonly listeners = new Set<() => void>()
  #xids = 1
  #numbers = 0
  readonly #active = new Set<number>()
  /** The last of those that are over. */
  over = 0
  #locks = new Map<string, Lock>()

  constructor(timeline: Timeline) {
    this.timeline = timeline
  }

  get xmin(): number {
    return this.#active.size === 0 ? this.#xids : Math.min(...this.#active)
  }

  nextNumber(): number {
    return ++this.#numbers
  }

  begins(): number {
    const xid = this.#xids++
    this.#active.add(xid)
    return xid
  }

  ended(xid: number): void {
    this.#active.delete(xid)
    this.over = Math.max(this.over, xid)
  }

  notify(): void {
    for (const told of this.listeners) told()
  }

  /** None of them is under way any more, and nobody listens until they do so again. */
  lose(): void {
    this.#locks = new Map()
    this.#active.clear()
    this.listeners.clear()
  }

  lock(tx: Tx, name: string, isExclusive: boolean): Promise<void> | void {
    let lock = this.#locks.get(name)
    if (!lock) this.#locks.set(name, (lock = { holders: new Map(), waiting: [] }))
    const { holders, waiting } = lock
    if (holders.get(tx) === true || (holders.has(tx) && !isExclusive)) return
    if (waiting.length === 0 && isFree(lock, tx, isExclusive)) {
      holders.set(tx, isExclusive)
      return
    }
    return new Promise((got) => waiting.push({ tx, isExclusive, got }))
  }

  isLocked(tx: Tx, name: string): boolean {
    const lock = this.#locks.get(name)
    return lock !== undefined && !isFree(lock, tx, true)
  }

  unlock(tx: Tx, name: string): void {
    const lock = this.#locks.get(name)
    if (!lock?.holders.delete(tx)) return
    for (
      let next = lock.waiting[0];
      next && isFree(lock, next.tx, next.isExclusive);
      next = lock.waiting[0]
    ) {
      lock.waiting.shift()
      lock.holders.set(next.tx, next.isExclusive)
      next.got()
    }
  }
}

function isFree({ holders }: Lock, tx: Tx, isExclusive: boolean): boolean {
  for (const [holder, holdsExclusive] of holders)
    if (holder !== tx && (isExclusive || holdsExclusive)) return false
  return true
}
