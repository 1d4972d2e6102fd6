// What all nodes have written, in one order, as each of them hears of it.
//
// The order is that of the transactions, and a row is read once no transaction before it can still commit: numbers are
// given before a commit and may become visible in another order, so a reader that went on from the greatest number it
// has seen would lose rows. NOTIFY says that there may be something to read, and is only ever a hint: rows are looked
// for every other second anyhow, and four times in one where something that was just heard of may wait for another transaction, or rows
// came that nobody was told of, as where nothing can be listened to behind pgbouncer.
//
// Rows are kept until every node that is alive has read them. One that was away for longer is told that it has missed some.

import { Listeners } from '../../lib/listeners.ts'
import type { Clock } from '../../lib/clock.ts'
import { createLoop } from '../../lib/loop.ts'
import type { Log } from '../../lib/log.ts'
import { decodeKey } from '../key.ts'
import type { Key } from '../kv.ts'
import type { Connection } from './connection.ts'
import type { SqlClient } from './database.ts'
import type { Schema } from './schema.ts'
import { channelOf } from './waker.ts'

export interface FeedChange {
  readonly node: string
  /** Written by this very process. */
  readonly isOwn: boolean
  /** What was written, changed or deleted. */
  readonly keys: readonly Key[]
}

interface ChangeRow {
  readonly xid: string
  readonly n: string
  readonly node: string
  /** null: there is nothing to read. */
  readonly keys: readonly Uint8Array[] | null
}

interface FoundRow extends ChangeRow {
  /** Rows behind the last one that was read are gone. */
  readonly pruned: boolean
  /** A transaction is over that began after one that is not. */
  readonly behind: boolean
}

const POLL_MS = 250
/** How often while nothing is heard, where what is written can be heard of. */
const QUIET_POLL_MS = 2000
/** For how long what it was just told of may wait for another transaction. */
const TOLD_MS = 1000
const PAGE = 500
const SEEN_MS = 5000
/** Rows are not kept any longer for a node that has been silent for this long. */
const ALIVE = `interval '1 minute'`
/** No answer is asked for again after this long. */
const ASKED_AGAIN = `interval '1 hour'`
/** No limit has a longer window than an hour. */
const BUCKET_FULL = `interval '2 hours'`
const FORGOTTEN = `interval '1 day'`

export class ChangeFeed {
  readonly #connection: Connection
  readonly #listeners = new Listeners<[change: FeedChange]>()
  readonly #missed = new Listeners<[]>()
  #at: { readonly xid: string; readonly n: string } | null = null
  #seenAt = -Infinity
  /** When this node had last read everything there was, by the clock of `run`. */
  #caughtUpAt: number | null = null
  /** Whether rows may have been written that are not to be read yet. */
  #isWaiting = false
  /** When it was last told that there may be something to read. */
  #toldAt = -Infinity
  /** Nothing tells it what is written, as far as it knows. */
  #isDeaf = true

  readonly #reading: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#reading = readingFrom(connection.schema)
  }

  /** Returns a function that ends the subscription. */
  onChange(listener: (change: FeedChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Calls back when rows were removed before this node had read them, so that what it knows may be out of date. */
  onMissed(listener: () => void): () => void {
    return this.#missed.add(listener)
  }

  /** What others wrote within this time may not have been heard of yet. */
  lagMs(now: number): number {
    return this.#caughtUpAt === null ? 0 : Math.max(0, now - this.#caughtUpAt)
  }

  /** Keeps what is written from now on, for `run` to tell. */
  async begin(): Promise<void> {
    await this.#sayAlive()
  }

  /** Begins with what is written from now on, or from `begin` on. Resolves once the signal aborts. */
  async run(
    { clock, log }: { readonly clock: Clock; readonly log: Log },
    signal: AbortSignal,
  ): Promise<void> {
    const loop = createLoop({ clock, log }, 'following the database', async () => {
      if (clock.now() - this.#seenAt >= SEEN_MS) {
        await this.#sayAlive()
        this.#seenAt = clock.now()
      }
      const count = await this.read()
      const now = clock.now()
      if (count < PAGE) this.#caughtUpAt = now
      const isTold = now - this.#toldAt < TOLD_MS
      if (count > 0) this.#isDeaf = !isTold
      if (count === PAGE) return 0
      return this.#isDeaf || (isTold && this.#isWaiting) ? POLL_MS : QUIET_POLL_MS
    })
    const listening = this.#listen(() => {
      this.#toldAt = clock.now()
      loop.wake()
    })
    await loop.run(signal)
    await (await listening)?.close({ timeout: 0 })
  }

  /** Tells the listeners of the next rows, and answers how many there were. */
  async read(): Promise<number> {
    const { reading } = this.#connection
    const at = (this.#at ??= await this.#now())
    const found = await reading.query<FoundRow>(this.#reading, [at.xid, at.n])
    this.#isWaiting = found[0]?.behind === true
    if (found[0]?.pruned === true) {
      this.#at = await this.#now()
      this.#missed.tell()
      return 0
    }
    const rows = found.filter(({ keys }) => keys !== null)
    for (const { xid, n, node, keys } of rows) {
      this.#at = { xid, n }
      const change = {
        node,
        isOwn: node === this.#connection.node,
        keys: (keys ?? []).map((key) => decodeKey(key)),
      }
      this.#listeners.tell(change)
    }
    return rows.length
  }

  /** Removes what nobody will read any more. Any node may do so, at any time. */
  async prune(): Promise<void> {
    const { schema, writing } = this.#connection
    await writing.query(`
      with horizon as (
        select least(pg_snapshot_xmin(pg_current_snapshot()), min(at_xid)) as xid
        from ${schema}.nodes where seen > clock_timestamp() - ${ALIVE}
      ), gone as (
        delete from ${schema}.changes c using horizon h where c.xid < h.xid
      )
      update ${schema}.feed f set pruned = h.xid from horizon h where h.xid > f.pruned`)
    await writing.query(`delete from ${schema}.commits where at < clock_timestamp() - ${ASKED_AGAIN}`)
    await writing.query(`delete from ${schema}.buckets where at < clock_timestamp() - ${BUCKET_FULL}`)
    await writing.query(`delete from ${schema}.nodes where seen < clock_timestamp() - ${FORGOTTEN}`)
  }

  async #now(): Promise<{ xid: string; n: string }> {
    const [row] = await this.#connection.reading.query<{ xid: string }>(
      `select pg_snapshot_xmin(pg_current_snapshot())::text as xid`,
    )
    return { xid: row?.xid ?? '0', n: '0' }
  }

  async #sayAlive(): Promise<void> {
    const { schema, node, writing } = this.#connection
    const { xid } = (this.#at ??= await this.#now())
    await writing.query(
      `insert into ${schema}.nodes as x (node, at_xid) values ($1, $2::text::xid8)
       on conflict (node) do update set at_xid = excluded.at_xid, seen = clock_timestamp()`,
      [node, xid],
    )
  }

  /** Where nothing can be listened to, polling finds the rows. */
  async #listen(wake: () => void): Promise<SqlClient | null> {
    const sql = this.#connection.listener()
    try {
      await sql.listen(channelOf(this.#connection.schema), wake, wake)
      return sql
    } catch {
      await sql.close({ timeout: 0 })
      return null
    }
  }
}

/** In one statement, since rows may be removed between two. */
const readingFrom = (schema: Schema) =>
  `select f.pruned > $1::text::xid8 as pruned,
     pg_snapshot_xmin(pg_current_snapshot()) < pg_snapshot_xmax(pg_current_snapshot()) as behind, c.*
   from ${schema}.feed f left join lateral (
     select xid::text, n, node, keys from ${schema}.changes
     where (xid, n) > ($1::text::xid8, $2::bigint) and xid < pg_snapshot_xmin(pg_current_snapshot())
     order by changes.xid, n limit ${PAGE}
   ) c on true`
