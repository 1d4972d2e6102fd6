// The deliverer sends what is in the outbox: at least once, in no particular order, one at a time for each receiver.
//
// An attempt is two commits with the request between them. The first records that it begins: a store that cannot take this
// (a full disk) could not take the outcome either, so nothing is sent. The second records the outcome. While it cannot be
// written it is held back and written later, without repeating the request. After a crash between the two the delivery is
// still due, and is sent again under the same id. `turns.ts` decides whose turn it is.

import { Backoff, untilDone } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { createLoop } from '../../lib/loop.ts'
import { Problem } from '../../lib/problem.ts'
import { ALL_SHARDS, type Shards } from '../../lib/shards.ts'
import { within } from '../../lib/within.ts'
import { transact, type Changes, type Tx } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'
import type { Collection } from '../../store/collection.ts'
import {
  askedDelay,
  ATTEMPTS,
  DEAD_AFTER_MS,
  parseRetryAfter,
  retryDelay,
  SPAN_MS,
  WAITS,
} from './schedule.ts'
import { NO_REPLY, UnreadableSecret, type Reply } from './send.ts'
import { Turns, type Head, type Turn } from './turns.ts'

/** Whom something is delivered to, as far as the deliverer knows and changes it. */
export interface Destination {
  readonly id: string
  readonly ownerId: string
  readonly status: 'active' | 'disabled'
  readonly disabledReason: string | null
  readonly lastSuccessAt: number | null
  /** The time of the first failure since the last success; null if that was the last attempt. */
  readonly failingSince: number | null
}

export interface AttemptRecord {
  readonly at: number
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number
  readonly durationMs: number
  /** Why there was no status; `blocked` if the address is no longer permitted. */
  readonly failure: string | null
  /** The first 4 kB of the answer. */
  readonly excerpt: string
  /** What else there is to say of it; missing = nothing. */
  readonly note?: string
}

/** What is delivered, as far as the deliverer knows and changes it. */
export interface Parcel {
  readonly id: string
  readonly receiverId: string
  readonly ownerId: string
  /** cancelled: the receiver was deleted or disabled before the delivery was sent. */
  readonly state: 'pending' | 'delivered' | 'failed' | 'cancelled'
  readonly attempts: readonly AttemptRecord[]
  /** When it is due, if it is pending. */
  readonly nextAt: number | null
  /** When the unfinished attempt began; missing in old records. */
  readonly begunAt?: number | null
  /**
   * How many of the attempts are none of the schedule's: behind an answer that named a time to wait, or since the receiver
   * worked again; missing = none.
   */
  readonly waits?: number
  readonly createdAt: number
}

export interface Claim<D, P> {
  readonly receiver: D
  readonly delivery: P
}

export interface DelivererDeps<D extends Destination, P extends Parcel> {
  readonly kv: Kv
  readonly clock: Clock
  /** A random number in [0, 1), which spreads the retries. */
  readonly spread: () => number
  readonly log: Log
  /** What a receiver is called in the log: `webhook`. */
  readonly noun: string
  readonly receivers: Collection<D>
  /** With the index `turn`: owner, receiver, and when it is due. */
  readonly deliveries: Collection<P>
  /** Makes one attempt. Rejects with Problem if the address is no longer permitted. */
  readonly post: (claim: Claim<D, P>, now: number) => Promise<Reply>
  /** What to commit instead of an attempt, after which the receiver's turn comes again; null = it is made. */
  readonly instead?: (tx: Tx, receiver: D, delivery: P) => Promise<readonly Changes[] | null>
  /** Whether what came of an attempt says that trying again is of no use. */
  readonly isFinal: (attempt: AttemptRecord) => boolean
  /** Whether it says that the receiver is gone for ever, and is to be disabled. */
  readonly isGone: (receiver: D, status: number) => boolean
  /**
   * Whose wait it is that a 429 asks for, taken at its word for all of the receiver's deliveries: it ends once this text of
   * the receiver is another. Missing = nobody's.
   */
  readonly asks?: (receiver: D) => string
  /** Whether the first success after failures lets what waits to be tried again go at once. */
  readonly releasesWaiting?: boolean
  /** The users whose deliveries this server sends. */
  readonly shards?: Shards
}

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
/** How many deliveries of a receiver that works again are tried at once. */
const RELEASED_AT_ONCE = 200
/** A correction of the clock up to this does not count as setting it. */
const SLEWED_MS = 1000

export function createDeliverer<D extends Destination, P extends Parcel>(deps: DelivererDeps<D, P>) {
  const { kv, clock, spread, log, noun, receivers, deliveries, shards = ALL_SHARDS } = deps
  const turns = new Turns(SLOTS)
  const store = new Backoff(deps, 'writing down deliveries')
  const busy = new Map<string, { readonly ownerId: string; readonly work: Promise<void> }>()
  /** Owners for whom something was added to the outbox. */
  const told = new Set<string>()
  /** Until when receivers asked to be left alone. After a restart the first answer says it again. */
  const rests = new Map<string, { readonly until: number; readonly asker: string }>()
  let lookedAt = Number.NEGATIVE_INFINITY
  let stopping: AbortSignal = new AbortController().signal
  /** The server has stopped, and the store may be closed. */
  let over = false
  const loop = createLoop(deps, `delivering ${noun}s`, startDue)
  shards.onGained(() => {
    lookedAt = Number.NEGATIVE_INFINITY
    loop.wake()
  })
  shards.beforeGiving(
    async () => {
      for (const ownerId of turns.owners()) if (!shards.holds(ownerId)) turns.learn(ownerId, [])
      const given = [...busy.values()].filter(({ ownerId }) => !shards.holds(ownerId))
      await Promise.all(given.map(({ work }) => work))
    },
    () => busy.values().map(({ ownerId }) => ownerId),
  )

  /** Starts what is due while there are slots. Answers how many ms to nap. */
  async function startDue(): Promise<number> {
    const sinceMs = clock.now() - lookedAt
    // The clock was set back: nobody asked to be left alone for that long.
    if (sinceMs < 0) rests.clear()
    if (sinceMs >= NAP_MS || sinceMs < 0) {
      // Set first: owners who come from another server while this reads are looked at next.
      lookedAt = clock.now()
      await lookAtAll().catch((error: unknown) => {
        lookedAt = Number.NEGATIVE_INFINITY
        throw error
      })
    }
    const owners = [...told]
    for (const ownerId of owners) {
      // Cleared first, so that an owner added during the queries is asked about again.
      told.delete(ownerId)
      try {
        const heads = shards.holds(ownerId) ? await headsOf(ownerId) : []
        // The clock of the server that planned it may be ahead of this one.
        if (shards !== ALL_SHARDS)
          for (const { receiverId, at } of heads)
            if (at > clock.now() + SLEWED_MS) await replan(ownerId, receiverId)
        learn(ownerId, heads)
      } catch (error) {
        told.add(ownerId)
        throw error
      }
    }
    if (store.waitMs > 0) return store.waitMs
    const now = clock.now()
    for (let turn = turns.take(now); turn !== null && !stopping.aborted; turn = turns.take(now)) start(turn)
    if (told.size > 0) return 0
    const next = turns.nextAt(now)
    return next === null ? NAP_MS : Math.min(NAP_MS, next - now)
  }

  /** Called at the start and now and then, since another process may have written to the outbox. */
  async function lookAtAll(): Promise<void> {
    for (const [receiverId, { until }] of rests) if (until <= clock.now()) rests.delete(receiverId)
    const found = new Map<string, Head[]>(turns.owners().map((ownerId) => [ownerId, []]))
    for await (const [ownerId, receiverId, at] of deliveries.firsts('turn', [], 2)) {
      if (!shards.holds(String(ownerId))) continue
      await replan(String(ownerId), String(receiverId))
      const heads = found.get(String(ownerId)) ?? []
      heads.push(await headOf(String(receiverId), Number(at)))
      found.set(String(ownerId), heads)
    }
    for (const [ownerId, heads] of found) learn(ownerId, heads)
  }

  /**
   * An owner may have gone to another server while it was being asked about. Nothing of theirs may stay in line here: it
   * would be due for ever, since nobody makes the attempt.
   */
  function learn(ownerId: string, heads: readonly Head[]): void {
    turns.learn(ownerId, shards.holds(ownerId) ? heads : [])
  }

  /** The clock was set back. Deliveries that were planned from a time still to come now wait as long from the present. */
  async function replan(ownerId: string, receiverId: string): Promise<void> {
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
    told.add(ownerId)
  }

  function headsOf(ownerId: string): Promise<Head[]> {
    const firsts = deliveries.firsts('turn', [ownerId], 1)
    return Array.fromAsync(firsts, ([receiverId, at]) => headOf(String(receiverId), Number(at)))
  }

  async function headOf(receiverId: string, at: number): Promise<Head> {
    const receiver = await receivers.get(receiverId)
    const rest = rests.get(receiverId)
    const isAsked = rest !== undefined && receiver !== null && deps.asks?.(receiver) === rest.asker
    return {
      receiverId,
      at: isAsked ? Math.max(at, rest.until) : at,
      proven: receiver !== null && receiver.lastSuccessAt !== null && receiver.failingSince === null,
    }
  }

  function start(turn: Turn): void {
    const work = attempt(turn)
      // The outcome could not be written. The slot is released, and the loop waits until the store may work again.
      .catch((error: unknown) => store.failed(error))
      .finally(() => {
        busy.delete(turn.receiverId)
        turns.done(turn)
        told.add(turn.ownerId)
        loop.wake()
      })
    busy.set(turn.receiverId, { ownerId: turn.ownerId, work })
  }

  async function attempt(turn: Turn): Promise<void> {
    // It may have gone to another server since its turn was planned.
    if (!shards.holds(turn.ownerId)) return
    const claim = await begin(turn)
    store.worked()
    if (claim === null) return
    const startedAt = clock.now()
    const answer = await post(claim, startedAt)
    const record: AttemptRecord = {
      at: startedAt,
      status: answer.status,
      durationMs: clock.now() - startedAt,
      failure: answer.failure,
      excerpt: answer.excerpt,
      ...(answer.note !== undefined && { note: answer.note }),
    }
    const retryAfterMs = parseRetryAfter(answer.retryAfter, clock.now())
    await untilDone(clock, store, stopping, async () => {
      if (!over) await settle(claim, record, retryAfterMs)
    })
  }

  /** Commits that an attempt of the receiver's first delivery begins. Answers null if none is due after all. */
  async function begin({ ownerId, receiverId }: Turn): Promise<Claim<D, P> | null> {
    let claim: Claim<D, P> | null = null
    await transact(kv, async (tx) => {
      claim = null
      // Together, since a database may be far away.
      const [receiver, { items }] = await Promise.all([
        receivers.at(tx).get(receiverId),
        deliveries.at(tx).ids('turn', [ownerId, receiverId], { limit: 1, reverse: false }),
      ])
      if (receiver?.status !== 'active') return cancelled(tx, ownerId, receiverId)
      const [first] = items
      const delivery = first === undefined ? null : await deliveries.at(tx).stored(first)
      if (!delivery || (delivery.record.nextAt ?? Number.POSITIVE_INFINITY) > clock.now()) return []
      const instead = await deps.instead?.(tx, receiver, delivery.record)
      if (instead) return instead
      claim = { receiver, delivery: delivery.record }
      // An attempt that is not recorded would be repeated again and again.
      return {
        ...deliveries.replace(delivery, { ...delivery.record, begunAt: clock.now() }),
        essential: true,
      }
    })
    return claim
  }

  async function cancelled(tx: Tx, ownerId: string, receiverId: string) {
    const waiting = deliveries.at(tx)
    const { items } = await waiting.list('turn', [ownerId, receiverId], { limit: CANCELLED_AT_ONCE })
    const stored = await waiting.storedMany(items.map(({ id }) => id))
    return stored.map((delivery) =>
      deliveries.replace(delivery, { ...delivery.record, state: 'cancelled', nextAt: null }),
    )
  }

  /** Never rejects: a mistake of ours is an outcome too, or the delivery would be tried without end. */
  async function post(claim: Claim<D, P>, now: number): Promise<Reply> {
    try {
      return await deps.post(claim, now)
    } catch (error) {
      if (error instanceof Problem) return { ...NO_REPLY, failure: 'blocked', excerpt: error.message }
      if (error instanceof UnreadableSecret)
        return { ...NO_REPLY, failure: 'secret_unreadable', excerpt: error.message }
      log('error', 'a delivery failed for a reason of ours', {
        delivery: claim.delivery.id,
        error: String(error),
      })
      return { ...NO_REPLY, failure: 'internal_error' }
    }
  }

  /** Commits the outcome: the delivery's next state and the receiver's health together. */
  async function settle(
    claim: Claim<D, P>,
    record: AttemptRecord,
    retryAfterMs: number | null,
  ): Promise<void> {
    const random = spread()
    const now = record.at + record.durationMs
    const asker = record.status === 429 ? deps.asks?.(claim.receiver) : undefined
    const asked = asker !== undefined && retryAfterMs !== null ? askedDelay(random, retryAfterMs) : null
    let before: D | null = null
    let after: D | null = null
    await transact(kv, async (tx) => {
      const [delivery, receiver] = await Promise.all([
        deliveries.at(tx).stored(claim.delivery.id),
        receivers.at(tx).stored(claim.receiver.id),
      ])
      if (!delivery) return []
      const attempts = [...delivery.record.attempts, record]
      const { waits = 0, createdAt } = delivery.record
      const wait = waits < WAITS && now - createdAt < SPAN_MS ? asked : null
      before = receiver?.record ?? null
      after = before && healthAfter(before, record, now, deps.isGone)
      const gone = after?.status === 'disabled' || deps.isFinal(record)
      const later = wait ?? retryDelay(attempts.length - waits, random, retryAfterMs)
      const delay = succeeded(record) || gone ? null : later
      const next: P = {
        ...delivery.record,
        attempts: attempts.slice(-(ATTEMPTS + WAITS)),
        ...(wait !== null && { waits: waits + 1 }),
        state: succeeded(record) ? 'delivered' : delay === null ? 'failed' : 'pending',
        nextAt: delay === null ? null : now + delay,
        begunAt: null,
      }
      const worksAgain = deps.releasesWaiting === true && succeeded(record) && before?.failingSince != null
      return [
        { ...deliveries.replace(delivery, next), essential: true },
        ...(receiver && after ? [receivers.replace(receiver, after)] : []),
        ...(worksAgain ? await released(tx, claim, now) : []),
      ]
    })
    if (asker !== undefined && asked !== null) rests.set(claim.receiver.id, { until: now + asked, asker })
    tell(claim, record, before, after)
  }

  /** The attempt that comes of it is none of the schedule's, or a receiver that works now and then would use them up. */
  async function released(tx: Tx, { delivery: { id, ownerId }, receiver }: Claim<D, P>, nextAt: number) {
    const waiting = deliveries.at(tx)
    const index = [ownerId, receiver.id]
    const { items } = await waiting.list('turn', index, { limit: RELEASED_AT_ONCE, reverse: false })
    const mayGo = items.filter(
      (one) =>
        one.id !== id && one.attempts.length > 0 && (one.nextAt ?? 0) > nextAt && (one.waits ?? 0) < WAITS,
    )
    const stored = await waiting.storedMany(mayGo.map((one) => one.id))
    return stored.map((one) =>
      deliveries.replace(one, { ...one.record, nextAt, waits: (one.record.waits ?? 0) + 1 }),
    )
  }

  /** The log of deliveries has every attempt; the server's log gets a line only when something changes. */
  function tell(
    { delivery, receiver: { id } }: Claim<D, P>,
    { status, failure, durationMs }: AttemptRecord,
    before: D | null,
    after: D | null,
  ): void {
    log('debug', `${noun} attempt`, { delivery: delivery.id, [noun]: id, status, failure, ms: durationMs })
    if (before === null || after === null) return
    const { disabledReason: reason } = after
    if (before.failingSince === null && after.failingSince !== null)
      log('warn', `a ${noun} fails`, { [noun]: id, status, failure })
    if (before.failingSince !== null && after.failingSince === null)
      log('info', `a ${noun} works again`, { [noun]: id })
    if (before.status !== after.status) log('warn', `a ${noun} was disabled`, { [noun]: id, reason })
  }

  return {
    /** Says that something was added to the owner's outbox. */
    wake(ownerId: string): void {
      told.add(ownerId)
      loop.wake()
    },
    /** Begins attempts until `signal` aborts, and ends those under way. */
    async run(signal: AbortSignal): Promise<void> {
      stopping = signal
      await loop.run(signal)
      const works = [...busy.values()].map(({ work }) => work)
      if (works.length > 0) await within(clock, STOP_MS, Promise.all(works))
      over = true
    },
  }
}

/** The time from which a delivery's wait is counted. */
function plannedAt({ createdAt, attempts }: Parcel): number {
  const last = attempts.at(-1)
  return last ? last.at + last.durationMs : createdAt
}

const succeeded = ({ status }: AttemptRecord) => status >= 200 && status < 300

/** The receiver after this attempt: since when it has been failing, and whether it is disabled now. */
function healthAfter<D extends Destination>(
  receiver: D,
  record: AttemptRecord,
  now: number,
  isGone: (receiver: D, status: number) => boolean,
): D {
  if (succeeded(record)) return { ...receiver, failingSince: null, lastSuccessAt: now }
  const failingSince = receiver.failingSince ?? record.at
  const reason = isGone(receiver, record.status)
    ? 'gone'
    : now - failingSince >= DEAD_AFTER_MS
      ? 'failing'
      : null
  if (reason === null) return { ...receiver, failingSince }
  return { ...receiver, failingSince, status: 'disabled', disabledReason: reason }
}
