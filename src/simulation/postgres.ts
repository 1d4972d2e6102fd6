// The database of several servers, as PostgreSQL keeps it at READ COMMITTED: transactions that wait for each other's
// locks, are seen once they are flushed, and may end in another order than they began in. What each statement of
// `store/postgres` does stands in `postgres-statements.ts`; how the answer of one is late or lost, in `Client` below.

import { SQL } from 'bun'
import { encodeKey } from '../store/key.ts'
import type { Key } from '../store/kv.ts'
import type { OpenSql, SqlClient } from '../store/postgres/database.ts'
import type { Life } from './life.ts'
import { type Row, Transactions, Tx } from './postgres-transactions.ts'
import { STATEMENTS, type Statement } from './postgres-statements.ts'
import type { Timeline } from './timeline.ts'

type Done = (error: Error | null, rows?: unknown) => void

/** How long the database is away when another takes its place, at most. */
const FAILOVER_MS = 20_000

export class Postgres {
  readonly #transactions: Transactions
  readonly timeline: Timeline
  /** How long a flush takes at most. */
  flushMs = 8
  isFull = false
  #awayUntil = 0
  #standsUntil = 0
  /** Counts failovers: what began before one ends without having been. */
  #term = 0
  readonly #known = new Map<string, Statement>()
  readonly #lost = new Set<(ms: number) => void>()

  constructor(timeline: Timeline) {
    this.timeline = timeline
    this.#transactions = new Transactions(timeline)
  }

  /** Whether a lease is this node's, and has not run out. */
  isHeld(node: string): boolean {
    const { leases } = this.#transactions.tables
    return leases.all().some((lease) => lease.node === node && lease.until > this.timeline.now)
  }

  /** Whether nobody has buried it. */
  isMember(node: string): boolean {
    return this.#transactions.tables.leases.all().some((lease) => lease.node === node)
  }

  /** `told` hears of each document of these that a node writes, as it was and as it is. */
  watch<T>(prefix: Key, told: (before: T | null, after: T | null, node: string) => void): void {
    const read = (value: Buffer | null) => value && (JSON.parse(value.toString()) as T)
    this.#transactions.tables.watchers.push({
      prefix: encodeKey(prefix).toHex(),
      told: (before, after, node) => told(read(before), read(after), node),
    })
  }

  get shardsChangedAt(): number {
    return this.#transactions.tables.shardsChangedAt
  }

  /** One statement is one transaction, as everything is that servers send. */
  run(text: string, values: readonly unknown[], done: Done): void {
    if (this.timeline.now >= this.#standsUntil && this.timeline.now >= this.#awayUntil) {
      const tx = new Tx(this.#transactions)
      const rows = this.#statement(text)(tx, values, text)
      if (!(rows instanceof Promise) && !tx.hasWritten) return done(null, rows)
      this.#finish(tx, rows).then(
        (all) => done(null, all),
        (error: Error) => done(error),
      )
    } else
      void this.#stands().then(() => {
        if (this.timeline.now < this.#awayUntil) done(lost('refused'))
        else this.run(text, values, done)
      })
  }

  async #finish(tx: Tx, begun: readonly Row[] | Promise<readonly Row[]>): Promise<readonly Row[]> {
    const { timeline } = this
    const term = this.#term
    const isOver = () => this.#term !== term
    try {
      const rows = await begun
      if (isOver()) throw lost('closed')
      if (!tx.hasWritten) return rows
      if (this.isFull) throw failed('53100', 'could not extend file: No space left on device')
      await timeline.pause(timeline.between(1, this.flushMs))
      await this.#stands()
      if (isOver()) throw lost('closed')
      tx.commit()
      return rows
    } finally {
      if (!isOver()) tx.end()
    }
  }

  /** At once, and as nobody's statement: for whoever looks from outside. */
  look(text: string, values: readonly unknown[]): readonly Row[] {
    return this.#statement(text)(new Tx(this.#transactions), values, text) as readonly Row[]
  }

  #statement(text: string): Statement {
    let known = this.#known.get(text)
    if (!known) {
      known = STATEMENTS.find(([begins]) => begins.test(text))?.[1]
      if (!known) throw new Error(`nobody has said what this statement does: ${text}`)
      this.#known.set(text, known)
    }
    return known
  }

  /** `lost` is called when nothing is heard any more, `ms` before it can be listened to again. */
  listen(told: () => void, lost: (ms: number) => void): () => void {
    const { listeners } = this.#transactions
    listeners.add(told)
    this.#lost.add(lost)
    return () => {
      listeners.delete(told)
      this.#lost.delete(lost)
    }
  }

  /** Another takes its place, with everything that was flushed and no connection. */
  failOver(): number {
    const ms = this.timeline.between(200, FAILOVER_MS)
    this.#term++
    this.#transactions.lose()
    this.#awayUntil = this.timeline.now + ms
    const lost = [...this.#lost]
    this.#lost.clear()
    for (const tell of lost) tell(ms)
    return ms
  }

  standStill(ms: number): void {
    this.#standsUntil = this.timeline.now + ms
  }

  async #stands(): Promise<void> {
    while (this.timeline.now < this.#standsUntil)
      await this.timeline.pause(this.#standsUntil - this.timeline.now)
  }
}

export function failed(errno: string, message: string): Error {
  return new SQL.PostgresError(message, {
    code: 'ERR_POSTGRES_SERVER_ERROR',
    errno,
    detail: '',
    hint: '',
    severity: 'ERROR',
  })
}

function lost(how: 'refused' | 'closed'): Error {
  return new SQL.PostgresError(`connection ${how}`, {
    code: 'ERR_POSTGRES_CONNECTION_CLOSED',
    detail: '',
    hint: '',
    severity: 'FATAL',
  })
}

/** The way from one server to the database. */
export interface Line {
  /** closed: whatever is sent fails at once. silent: nothing arrives, and nobody says so. */
  state: 'open' | 'closed' | 'silent'
}

/** What a server's client is opened by. */
export function clientsOf(postgres: Postgres, life: Life, line: Line): OpenSql {
  return (_, { max }) => new Client(postgres, life, line, max)
}

class Client implements SqlClient {
  readonly #postgres: Postgres
  readonly #life: Life
  readonly #line: Line
  readonly #max: number
  #busy = 0
  readonly #waiting: (() => void)[] = []
  /** Who waits for an answer, which never comes once this is closed. */
  readonly #pending = new Set<(error: Error) => void>()
  #isClosed = false
  #unlisten = () => {}

  constructor(postgres: Postgres, life: Life, line: Line, max: number) {
    this.#postgres = postgres
    this.#life = life
    this.#line = line
    this.#max = max
  }

  unsafe(text: string, values: unknown[] = []): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const send = () => this.#ask((done) => this.#postgres.run(text, values, done), resolve, reject)
      if (this.#busy < this.#max) send()
      else this.#waiting.push(send)
    })
  }

  /** Only reads are made of several statements, and all of them see one moment: no time passes between them. */
  async begin<T>(_: string, work: (tx: Pick<SqlClient, 'unsafe'>) => Promise<T>): Promise<T> {
    await new Promise((resolve, reject) => this.#ask((done) => done(null, []), resolve, reject))
    return work({ unsafe: async (text, values = []) => this.#postgres.look(text, values) })
  }

  listen(_: string, told: () => void, again: () => void): Promise<unknown> {
    const { timeline } = this.#life
    const hear = () =>
      this.#line.state === 'open' && timeline.after(timeline.random.uniform(), () => this.#life.reach(told))
    // As Bun's client does: it connects anew, and says so.
    const relisten = (ms: number) => {
      timeline.after(ms + timeline.between(1, 1000), () => {
        if (this.#isClosed || this.#life.isOver) return
        if (this.#line.state !== 'open') return relisten(1000)
        this.#unlisten = this.#postgres.listen(hear, relisten)
        this.#life.reach(again)
      })
    }
    return new Promise((resolve, reject) => {
      this.#ask(
        (done) => {
          this.#unlisten = this.#postgres.listen(hear, relisten)
          done(null, [])
        },
        resolve,
        reject,
      )
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unlisten()
    for (const reject of this.#pending) reject(lost('closed'))
    // As Bun's pool does: who waits for a connection of it gets none.
    for (const send of this.#waiting.splice(0)) send()
  }

  /** `work` is what the database does once it hears of it. */
  #ask(work: (done: Done) => void, resolve: (rows: unknown) => void, reject: (error: Error) => void): void {
    const fail = (error: Error) => this.#life.reach(() => reject(error))
    if (this.#isClosed) return fail(lost('closed'))
    this.#busy++
    this.#pending.add(fail)
    const answered = (error: Error | null, rows?: unknown) => {
      if (!this.#pending.delete(fail)) return
      this.#busy--
      this.#waiting.shift()?.()
      if (error) fail(error)
      else this.#life.reach(() => resolve(rows))
    }
    this.#travel(answered, () =>
      work((error, rows) => {
        // Most answers come at once, since the way there was as long as both.
        if (this.#line.state === 'open' && !this.#life.timeline.once(4)) answered(error, rows)
        else this.#travel(answered, () => answered(error, rows))
      }),
    )
  }

  #travel(answered: Done, arrive: () => void): void {
    const { timeline } = this.#life
    timeline.after(timeline.random.uniform() * 2, () => {
      if (this.#line.state === 'open') arrive()
      else if (this.#line.state === 'closed') answered(lost('closed'))
    })
  }
}
