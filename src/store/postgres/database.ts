// The way to PostgreSQL: Bun's client, and what is done when the database does not answer.
//
// Every statement of ours may be sent twice: reads change nothing, and what writes is known by an id or does the same
// again. So an answer that was lost, a failover, and a transaction that lost to another are all handled alike: the
// statement is sent again, for a few seconds, and then its caller is told 503. A connection that is cut shows at once. One
// that went silent shows only after a time, and everything on it waits, so the pool is thrown away for a new one.

import { SQL } from 'bun'
import type { Clock } from '../../lib/clock.ts'
import { Problem } from '../../lib/problem.ts'
import { DataRefused } from '../data-refused.ts'
import { storageFull } from '../memory.ts'
import { away, Silence } from './silence.ts'

/** What is asked of Bun's client, so that there may be another in its place. */
export interface SqlClient {
  unsafe(text: string, values?: unknown[]): PromiseLike<unknown>
  /** One transaction; `options` are those of SQL's BEGIN. */
  begin<T>(options: string, work: (tx: Pick<SqlClient, 'unsafe'>) => Promise<T>): Promise<T>
  listen(channel: string, told: () => void, again: () => void): PromiseLike<unknown>
  /** `timeout`: for how many seconds what is under way may go on. */
  close(options: { readonly timeout: number }): Promise<void>
}
/** `max`: the most connections. */
export type OpenSql = (url: string, options: { readonly max: number }) => SqlClient

export interface DatabaseOptions {
  readonly url: string
  /** Absent: Bun's client. */
  readonly open?: OpenSql
  readonly clock: Clock
  /** The most connections. */
  readonly connections: number
  /**
   * While the database is away only one statement at a time finds out whether it is back, and all others are refused at once.
   * Not for what must not be late when it is back, as a lease is.
   */
  readonly sparing?: boolean
  /** For how long a statement is sent again once the database has answered; absent: as long as a person waits for a page. */
  readonly patienceMs?: number
}

export type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>

/** For how long a statement is sent again. A shorter failover is a slow answer rather than a refusal. */
const PATIENCE_MS = 5000
/** An answer that takes longer than this is taken to be lost. */
const SILENCE_MS = 15_000
/** A database that has not answered yet is asked so often at least, however long that takes. */
const FIRST_TRIES = 2
const FIRST_PAUSE_MS = 25
const PAUSE_MS = 500
const CONNECT_SECONDS = 5

export const openSql: OpenSql = (url, { max }) => new SQL(url, { max, connectionTimeout: CONNECT_SECONDS })

/**
 * Values of SQLSTATE: a lost connection, a server that starts or stops, one of its limits of time, a standby, a transaction
 * that lost to another.
 */
const AGAIN = /^(?:08|57P0[1235]$|57014$|25P0[34]$|25006$|53300$|40001$|40P01$|55P03$)/

export class Database {
  readonly silence: Silence
  readonly #options: DatabaseOptions
  #sql: SqlClient
  readonly #closed = new AbortController()
  /** When each statement under way was sent, the oldest first. */
  readonly #sentAt = new Map<object, number>()
  #isWatched = false
  #retries = 0
  /** Why the last statement was given up; null: it was answered. */
  #awayFor: unknown = null
  #isTrying = false
  /** A database that has never answered may be none, and whoever named it wrongly should hear so soon. */
  #hasAnswered = false

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.silence = new Silence(options.clock)
    this.#sql = this.#pool()
  }

  /** How often something was sent again, because the database was away or somebody else was faster. */
  get retries(): number {
    return this.#retries
  }

  /** Runs a statement that may be run twice, and answers its rows. Rejects with 503 if the database is away. */
  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#patiently((sql) => rowsOf<Row>(sql, text, values))
  }

  /** Several statements that all see the same moment. `read` may be run more than once. */
  snapshot<T>(read: (query: Query) => Promise<T>): Promise<T> {
    return this.#patiently((sql) =>
      sql.begin('isolation level repeatable read read only', (tx) =>
        read((text, values) => rowsOf(tx, text, values)),
      ),
    )
  }

  /** Several statements without parameters, which change the database together or not at all. */
  async script(text: string): Promise<void> {
    try {
      await this.#sql.begin('isolation level read committed', async (tx) => tx.unsafe(text))
    } catch (error) {
      throw isPassing(error) ? away(error) : meant(error)
    }
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.#sql.close({ timeout: 5 })
  }

  #pool(): SqlClient {
    const { url, connections, open = openSql } = this.#options
    return open(url, { max: connections })
  }

  #patiently<T>(ask: (sql: SqlClient) => PromiseLike<T>): Promise<T> {
    const { patienceMs = PATIENCE_MS } = this.#options
    if (this.#awayFor === null)
      return this.#hasAnswered
        ? this.#untilAway(ask, patienceMs)
        : this.#untilAway(ask, PATIENCE_MS, FIRST_TRIES)
    // Somebody has waited in vain already.
    if (this.#options.sparing !== true) return this.#untilAway(ask, 0)
    if (this.#isTrying) return Promise.reject(away(this.#awayFor))
    this.#isTrying = true
    return this.#untilAway(ask, 0).finally(() => (this.#isTrying = false))
  }

  async #untilAway<T>(
    ask: (sql: SqlClient) => PromiseLike<T>,
    patienceMs: number,
    triesLeast = 1,
  ): Promise<T> {
    const { clock } = this.#options
    const until = clock.now() + patienceMs
    for (let pause = FIRST_PAUSE_MS, tries = 1; ; pause = Math.min(PAUSE_MS, pause * 2), tries++) {
      const statement = this.#sent()
      try {
        const answer = await ask(this.#sql)
        this.#sentAt.delete(statement)
        this.silence.answered()
        this.#awayFor = null
        this.#hasAnswered = true
        return answer
      } catch (error) {
        this.#sentAt.delete(statement)
        if (!isPassing(error) || isBeaten(error)) this.silence.answered()
        if (!isPassing(error) || this.#closed.signal.aborted) throw meant(error)
        // While a machine stands still its clock goes on, and nothing was tried in that time.
        if (clock.now() + pause > until && tries >= triesLeast) {
          if (!isBeaten(error)) this.#awayFor = error
          throw away(error)
        }
        this.#retries++
        await clock.sleep(pause)
      }
    }
  }

  /** A statement is about to be sent. */
  #sent(): object {
    const statement = {}
    this.silence.asked()
    this.#sentAt.set(statement, this.#options.clock.now())
    if (!this.#isWatched) void this.#watch()
    return statement
  }

  /** While a statement is under way; one timer for all of them, since a server sends dozens a second. */
  async #watch(): Promise<void> {
    const { clock } = this.#options
    this.#isWatched = true
    for (;;) {
      const [oldest] = this.#sentAt
      if (!oldest || this.#closed.signal.aborted) break
      const [statement, sentAt] = oldest
      await clock.sleep(Math.max(0, sentAt + SILENCE_MS - clock.now()), this.#closed.signal)
      if (!this.#sentAt.has(statement)) continue
      const sql = this.#sql
      this.#sql = this.#pool()
      this.#sentAt.clear()
      // Statements that wait for an answer on the old pool fail here, and are sent again on the new one.
      void sql.close({ timeout: 0 })
    }
    this.#isWatched = false
  }
}

const rowsOf = <Row>(sql: Pick<SqlClient, 'unsafe'>, text: string, values: readonly unknown[] = []) =>
  sql.unsafe(text, [...values]) as Promise<Row[]>

/** Whether the cause may pass by itself, so that the same statement is worth sending again. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof SQL.PostgresError)) return false
  return error.errno === undefined
    ? error.code.startsWith('ERR_POSTGRES_CONNECTION')
    : AGAIN.test(error.errno)
}

/** The database answers, and another transaction was faster, or this one too slow. */
function isBeaten(error: unknown): boolean {
  return error instanceof SQL.PostgresError && /^40|^55P03$|^57014$/.test(error.errno ?? '')
}

/** Whether a script found that another had just made the same, or lost to it. */
export function isMadeElsewhere(error: unknown): boolean {
  const cause = error instanceof Problem ? error.cause : error
  return isBeaten(cause) || (cause instanceof SQL.PostgresError && MADE.test(cause.errno ?? ''))
}
/** Of a row, a schema, a table, a function, anything; and what PostgreSQL calls a row of its catalogue that two change. */
const MADE = /^(?:23505|42P06|42P07|42723|42710|XX000)$/

function meant(error: unknown): unknown {
  if (!(error instanceof SQL.PostgresError)) return error
  // The disk of the database is full.
  if (error.errno === '53100') return storageFull()
  if (PREPARED.test(error.errno ?? ''))
    return new DataRefused(
      'STORE: something between this and the database, such as pgbouncer in transaction mode, mixes up prepared statements. Write prepare=false in --store, as in postgres://…/name?prepare=false.',
    )
  return error
}

/** A prepared statement that is there already, or that is not there: another session answers than the one it was made in. */
const PREPARED = /^(?:42P05|26000)$/

const causeOf = ({ cause }: Problem) => (cause instanceof SQL.PostgresError ? cause.errno : undefined)

/** Says to the person who starts the program why the database cannot be used. The address is never shown: it may hold a password. */
export function refused(error: unknown): unknown {
  const lasting = error instanceof Problem ? LASTING[causeOf(error) ?? ''] : undefined
  if (lasting !== undefined) return new DataRefused(`STORE: ${lasting}`)
  if (error instanceof Problem && error.code === 'store_unavailable')
    return new DataRefused(
      'STORE: the database does not answer. Check that it runs, and that address, port and sslmode of --store are right.',
    )
  if (!(error instanceof Error)) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (message.includes('does not support SSL'))
    return new DataRefused(
      'STORE: the database does not encrypt connections. Set ssl = on there, or leave sslmode out of --store.',
    )
  // The message of a failed certificate check can be shown: it contains nothing of the address.
  if (/certificate|^ERR_TLS_|_CERT(?:_|$)/.test(`${code} ${message}`))
    return new DataRefused(
      `STORE: the certificate of the database is refused (${message}). Give the database one that is signed for its host, name the authority's file as sslrootcert in --store, or, on a network you trust, write sslmode=require there.`,
    )
  if (!(error instanceof SQL.PostgresError) || error.errno === undefined) return error
  const remedy = REMEDIES[error.errno]
  return remedy === undefined ? error : new DataRefused(`STORE: ${remedy}`)
}

/** What was tried for a while, and will not pass by itself. */
const LASTING: Readonly<Record<string, string>> = {
  '53300':
    'the database has no connection left. Each server takes ten: raise max_connections there, or put pgbouncer between.',
  '25006':
    'the database takes no writes: it is a standby, or default_transaction_read_only is on. Name the one that takes them in --store, or a proxy that leads to it.',
  '57014':
    'the database ends statements before they are done. Set statement_timeout there to 0, or to more than 15 s.',
}

const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'the database refuses the user or its password. Check both in --store.',
  '28000': 'the database refuses the user. Check the user and sslmode in --store, and pg_hba.conf.',
  '3D000': 'there is no database of that name. Create it, or name another in --store.',
  '53100': 'the disk of the database is full. Make room there.',
  '42501':
    'the user may not make a schema in the database. Run GRANT CREATE ON DATABASE … TO … as its owner, or name another user in --store.',
}
