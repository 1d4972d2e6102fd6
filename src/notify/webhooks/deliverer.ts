// The deliverer sends what is in the outbox: at least once, in no particular order, one at a time for each receiver.
//
// An attempt is two commits with the request between them. The first records that it begins: a store that cannot take this
// (a full disk) could not take the outcome either, so nothing is sent. The second records the outcome. While it cannot be
// written it is held back and written later, without repeating the request. After a crash between the two the delivery is
// still due, and is sent again under the same id. `turns.ts` decides whose turn it is.

import { Backoff, untilDone } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { createLoop } from '../../lib/loop.ts'
import { Problem } from '../../lib/problem.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import { within } from '../../lib/within.ts'
import { besideDamage, Damage } from '../../store/damage.ts'
import { decide, transact, type Changes, type Tx } from '../../store/transaction.ts'
import { settle, type OutcomeDeps, type Rest } from './outcome.ts'
import { plannedAt, type AttemptRecord, type Claim, type Destination, type Parcel } from './parcels.ts'
import { parseRetryAfter } from './schedule.ts'
import { NO_REPLY, UnreadableSecret, type Reply } from './send.ts'
import { Turns, type Head, type Turn } from './turns.ts'

export interface DelivererDeps<D extends Destination, P extends Parcel> extends OutcomeDeps<D, P> {
  readonly clock: Clock
  /** Makes one attempt. Rejects with Problem if the address is no longer permitted. */
  readonly post: (claim: Claim<D, P>, now: number) => Promise<Reply>
  /** What to commit instead of an attempt, after which the receiver's turn comes again; null = it is made. */
  readonly instead?: (tx: Tx, receiver: D, delivery: P) => Promise<readonly Changes[] | null>
  /** The users whose deliveries this server sends. */
  readonly shards?: Shards
}

/** What of these whoever makes a deliverer of a kind is handed. */
export type SendingDeps = Pick<DelivererDeps<Destination, Parcel>, 'kv' | 'spread' | 'log' | 'shards'>

/** The most receivers served at a time. */
const SLOTS = 64
/** The longest nap between looks at the outbox, so that a changed clock is noticed. */
const NAP_MS = 60_000
/**
 * How long attempts under way are waited for when the server stops: for as long as a receiver has (15 s), and a moment to
 * store it. One cut short is made again at the next start, however it was answered.
 */
const STOP_MS = 20_000
/** How many deliveries of a deleted receiver are cancelled at once. */
const CANCELLED_AT_ONCE = 200
/** How many deliveries of a receiver are rescheduled at once after the clock was set. */
const PLANNED_AT_ONCE = 200
/** A correction of the clock up to this does not count as setting it. */
const SLEWED_MS = 1000

export class Deliverer<D extends Destination, P extends Parcel> {
  readonly #deps: DelivererDeps<D, P>
  readonly #shards: Shards
  readonly #turns = new Turns(SLOTS)
  readonly #store: Backoff
  readonly #busy = new Map<string, { readonly ownerId: string; readonly work: Promise<void> }>()
  /** Owners for whom something was added to the outbox. */
  readonly #told = new Set<string>()
  /** Receivers that asked to be left alone. After a restart the first answer says it again. */
  readonly #rests = new Map<string, Rest>()
  /** Receivers of which something is damaged, left alone until the outbox is looked at the next time. */
  readonly #damaged = new Set<string>()
  readonly #loop
  #lookedAt = Number.NEGATIVE_INFINITY
  #stopping: AbortSignal = new AbortController().signal
  /** The server has stopped, and the store may be closed. */
  #over = false

  constructor(deps: DelivererDeps<D, P>) {
    this.#deps = deps
    this.#shards = deps.shards ?? ALL_SHARDS
    this.#store = new Backoff(deps, 'writing down deliveries')
    this.#loop = createLoop(deps, `delivering ${deps.noun}s`, () => this.#startDue())
    this.#shards.onGained(() => {
      this.#lookedAt = Number.NEGATIVE_INFINITY
      this.#loop.wake()
    })
    this.#shards.beforeGiving(
      () => this.#giveUp(),
      () => this.#busy.values().map(({ ownerId }) => ownerId),
    )
  }

  /** Says that something was added to the owner's outbox. */
  wake(ownerId: string): void {
    this.#told.add(ownerId)
    this.#loop.wake()
  }

  /** Begins attempts until `signal` aborts, and ends those under way. */
  async run(signal: AbortSignal): Promise<void> {
    this.#stopping = signal
    await this.#loop.run(signal)
    const works = [...this.#busy.values()].map(({ work }) => work)
    if (works.length > 0) await within(this.#deps.clock, STOP_MS, Promise.all(works))
    this.#over = true
  }

  async #giveUp(): Promise<void> {
    for (const ownerId of this.#turns.owners())
      if (!this.#shards.holds(ownerId)) this.#turns.learn(ownerId, [])
    const given = [...this.#busy.values()].filter(({ ownerId }) => !this.#shards.holds(ownerId))
    await Promise.all(given.map(({ work }) => work))
  }

  /** Starts what is due while there are slots. Answers how many ms to nap. */
  async #startDue(): Promise<number> {
    const { clock } = this.#deps
    const sinceMs = clock.now() - this.#lookedAt
    // The clock was set back: nobody asked to be left alone for that long.
    if (sinceMs < 0) this.#rests.clear()
    if (sinceMs >= NAP_MS || sinceMs < 0) {
      // Set first: owners who come from another server while this reads are looked at next.
      this.#lookedAt = clock.now()
      await this.#lookAtAll().catch((error: unknown) => {
        this.#lookedAt = Number.NEGATIVE_INFINITY
        throw error
      })
    }
    await this.#lookAtTold()
    if (this.#store.waitMs > 0) return this.#store.waitMs
    const now = clock.now()
    for (let turn = this.#turns.take(now); turn && !this.#stopping.aborted; turn = this.#turns.take(now))
      this.#start(turn)
    if (this.#told.size > 0) return 0
    const next = this.#turns.nextAt(now)
    return next === null ? NAP_MS : Math.min(NAP_MS, next - now)
  }

  async #lookAtTold(): Promise<void> {
    const owners = [...this.#told]
    for (const ownerId of owners) {
      // Cleared first, so that an owner added during the queries is asked about again.
      this.#told.delete(ownerId)
      try {
        const heads = this.#shards.holds(ownerId) ? await this.#headsOf(ownerId) : []
        // The clock of the server that planned it may be ahead of this one.
        if (this.#shards !== ALL_SHARDS)
          for (const { receiverId, at } of heads)
            if (at > this.#deps.clock.now() + SLEWED_MS)
              await besideDamage(this.#deps.log, () => this.#replan(ownerId, receiverId), undefined)
        this.#learn(ownerId, heads)
      } catch (error) {
        this.#told.add(ownerId)
        throw error
      }
    }
  }

  /** Called at the start and now and then, since another process may have written to the outbox. */
  async #lookAtAll(): Promise<void> {
    for (const [receiverId, { until }] of this.#rests)
      if (until <= this.#deps.clock.now()) this.#rests.delete(receiverId)
    this.#damaged.clear()
    const found = new Map<string, Head[]>(this.#turns.owners().map((ownerId) => [ownerId, []]))
    for await (const [ownerId, receiverId, at] of this.#deps.deliveries.firsts('turn', [], 2)) {
      if (!this.#shards.holds(String(ownerId))) continue
      await besideDamage(this.#deps.log, () => this.#replan(String(ownerId), String(receiverId)), undefined)
      const heads = found.get(String(ownerId)) ?? []
      heads.push(...(await this.#headOf(String(receiverId), Number(at))))
      found.set(String(ownerId), heads)
    }
    for (const [ownerId, heads] of found) this.#learn(ownerId, heads)
  }

  /**
   * An owner may have gone to another server while it was being asked about. Nothing of theirs may stay in line here: it
   * would be due for ever, since nobody makes the attempt.
   */
  #learn(ownerId: string, heads: readonly Head[]): void {
    this.#turns.learn(ownerId, this.#shards.holds(ownerId) ? heads : [])
  }

  /** The clock was set back. Deliveries that were planned from a time still to come now wait as long from the present. */
  async #replan(ownerId: string, receiverId: string): Promise<void> {
    const { kv, clock, deliveries } = this.#deps
    const now = clock.now()
    // One that is due before its wait begins has been planned again already.
    const isAhead = (delivery: P) =>
      plannedAt(delivery) > now + SLEWED_MS && (delivery.nextAt ?? 0) >= plannedAt(delivery)
    // Deliveries made later are due earlier, so those to change are at the end, and the last one tells whether there are
    // any.
    const lastOnes = (limit: number) =>
      deliveries.list('turn', [ownerId, receiverId], { limit, reverse: true })
    if (!(await lastOnes(1)).items.some(isAhead)) return
    const { items } = await lastOnes(PLANNED_AT_ONCE)
    const ahead = items.filter(isAhead)
    if (ahead.length === 0) return
    await transact(kv, async (tx) => {
      const stored = await deliveries.at(tx).storedMany(ahead.map(({ id }) => id))
      return stored.flatMap((delivery) => {
        const { record } = delivery
        if (record.nextAt === null || !isAhead(record)) return []
        const nextAt = now + record.nextAt - plannedAt(record)
        return [deliveries.replace(delivery, { ...record, nextAt })]
      })
    })
    this.#told.add(ownerId)
  }

  async #headsOf(ownerId: string): Promise<Head[]> {
    const firsts = this.#deps.deliveries.firsts('turn', [ownerId], 1)
    const heads = await Array.fromAsync(firsts, ([receiverId, at]) =>
      this.#headOf(String(receiverId), Number(at)),
    )
    return heads.flat()
  }

  /** None if something of the receiver is damaged. */
  async #headOf(receiverId: string, at: number): Promise<Head[]> {
    if (this.#damaged.has(receiverId)) return []
    const read = async () => [await this.#readHead(receiverId, at)]
    return besideDamage(this.#deps.log, read, [])
  }

  async #readHead(receiverId: string, at: number): Promise<Head> {
    const receiver = await this.#deps.receivers.get(receiverId)
    const rest = this.#rests.get(receiverId)
    const isAsked = rest !== undefined && receiver !== null && this.#deps.asks?.(receiver) === rest.asker
    return {
      receiverId,
      at: isAsked ? Math.max(at, rest.until) : at,
      proven: receiver !== null && receiver.lastSuccessAt !== null && receiver.failingSince === null,
    }
  }

  #start(turn: Turn): void {
    const work = this.#attempt(turn)
      .catch((error: unknown) => {
        if (error instanceof Damage) {
          this.#damaged.add(turn.receiverId)
          this.#deps.log('error', 'a delivery waits for what is damaged', { error: error.message })
        }
        // The outcome could not be written. The slot is released, and the loop waits until the store may work again.
        else this.#store.failed(error)
      })
      .finally(() => {
        this.#busy.delete(turn.receiverId)
        this.#turns.done(turn)
        this.wake(turn.ownerId)
      })
    this.#busy.set(turn.receiverId, { ownerId: turn.ownerId, work })
  }

  async #attempt(turn: Turn): Promise<void> {
    // It may have gone to another server since its turn was planned.
    if (!this.#shards.holds(turn.ownerId)) return
    const { clock } = this.#deps
    const claim = await this.#begin(turn)
    this.#store.worked()
    if (claim === null) return
    const startedAt = clock.now()
    const { status, failure, excerpt, note, retryAfter } = await this.#post(claim, startedAt)
    const record: AttemptRecord = {
      at: startedAt,
      status,
      durationMs: clock.now() - startedAt,
      failure,
      excerpt,
      ...(note !== undefined && { note }),
    }
    const retryAfterMs = parseRetryAfter(retryAfter, clock.now())
    await untilDone(clock, this.#store, this.#stopping, async () => {
      if (this.#over) return
      const rest = await settle(this.#deps, claim, record, retryAfterMs)
      if (rest) this.#rests.set(turn.receiverId, rest)
    })
  }

  /** Commits that an attempt of the receiver's first delivery begins. Answers null if none is due after all. */
  #begin({ ownerId, receiverId }: Turn): Promise<Claim<D, P> | null> {
    const { kv, clock, receivers, deliveries } = this.#deps
    return decide<Claim<D, P> | null>(kv, async (tx) => {
      // Together, since a database may be far away.
      const [receiver, { items }] = await Promise.all([
        receivers.at(tx).get(receiverId),
        deliveries.at(tx).ids('turn', [ownerId, receiverId], { limit: 1, reverse: false }),
      ])
      if (receiver?.status !== 'active') return [null, await this.#cancelled(tx, ownerId, receiverId)]
      const [first] = items
      const stored = first === undefined ? null : await deliveries.at(tx).stored(first)
      const now = clock.now()
      if (!stored || (stored.record.nextAt ?? Number.POSITIVE_INFINITY) > now) return [null, []]
      const { record: delivery } = stored
      const instead = await this.#deps.instead?.(tx, receiver, delivery)
      if (instead) return [null, instead]
      // An attempt that is not recorded would be repeated again and again.
      const begun = deliveries.replace(stored, { ...delivery, begunAt: clock.now() })
      return [
        { receiver, delivery },
        { ...begun, essential: true },
      ]
    })
  }

  async #cancelled(tx: Tx, ownerId: string, receiverId: string): Promise<Changes[]> {
    const { deliveries } = this.#deps
    const waiting = deliveries.at(tx)
    const { items } = await waiting.list('turn', [ownerId, receiverId], { limit: CANCELLED_AT_ONCE })
    const stored = await waiting.storedMany(items.map(({ id }) => id))
    return stored.map((one) => deliveries.replace(one, { ...one.record, state: 'cancelled', nextAt: null }))
  }

  /** Never rejects: a mistake of ours is an outcome too, or the delivery would be tried without end. */
  async #post(claim: Claim<D, P>, now: number): Promise<Reply> {
    try {
      return await this.#deps.post(claim, now)
    } catch (error) {
      if (error instanceof Problem) return { ...NO_REPLY, failure: 'blocked', excerpt: error.message }
      if (error instanceof UnreadableSecret)
        return { ...NO_REPLY, failure: 'secret_unreadable', excerpt: error.message }
      this.#deps.log('error', 'a delivery failed for a reason of ours', {
        delivery: claim.delivery.id,
        error: String(error),
      })
      return { ...NO_REPLY, failure: 'internal_error' }
    }
  }
}
