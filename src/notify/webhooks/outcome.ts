// What comes of an attempt: the delivery's next state and the receiver's health, in one commit.

import type { Log } from '../../lib/log.ts'
import type { Collection } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { decide, type Changes, type Tx } from '../../store/transaction.ts'
import type { AttemptRecord, Claim, Destination, Parcel } from './parcels.ts'
import { askedDelay, ATTEMPTS, DEAD_AFTER_MS, retryDelay, SPAN_MS, WAITS } from './schedule.ts'

export interface OutcomeDeps<D extends Destination, P extends Parcel> {
  readonly kv: Kv
  /** A random number in [0, 1), which spreads the retries. */
  readonly spread: () => number
  readonly log: Log
  /** What a receiver is called in the log: `webhook`. */
  readonly noun: string
  readonly receivers: Collection<D>
  /** With the index `turn`: owner, receiver, and when it is due. */
  readonly deliveries: Collection<P>
  /** Whether what came of an attempt says that trying again is of no use. */
  readonly isFinal: (attempt: AttemptRecord, receiver: D) => boolean
  /** Whether it says that the receiver is gone for ever, and is to be disabled. */
  readonly isGone: (receiver: D, status: number) => boolean
  /**
   * Whose wait it is that a 429 asks for, taken at its word for all of the receiver's deliveries: it ends once this text of
   * the receiver is another. Missing = nobody's.
   */
  readonly asks?: (receiver: D) => string
  /** Whether the first success after failures lets what waits to be tried again go at once. */
  readonly releasesWaiting?: boolean
  /** How long each retry waits, in ms; missing = as `schedule.ts` has it. */
  readonly delays?: readonly number[]
  /** What both become in the commit of an attempt, and what goes with it. Part of a plan. */
  readonly counted?: (tx: Tx, receiver: D, delivery: P) => Promise<readonly [D, P, readonly Changes[]]>
}

/** Until when a receiver asked to be left alone, and whose wait that is. */
export interface Rest {
  readonly until: number
  readonly asker: string
}

/** How many deliveries of a receiver that works again are tried at once. */
const RELEASED_AT_ONCE = 200

/** Commits the outcome, and answers how long the receiver asked to be left alone. */
export async function settle<D extends Destination, P extends Parcel>(
  deps: OutcomeDeps<D, P>,
  claim: Claim<D, P>,
  record: AttemptRecord,
  retryAfterMs: number | null,
): Promise<Rest | null> {
  const { receivers, deliveries } = deps
  const random = deps.spread()
  const now = record.at + record.durationMs
  const asker = record.status === 429 ? deps.asks?.(claim.receiver) : undefined
  const asked = asker !== undefined && retryAfterMs !== null ? askedDelay(random, retryAfterMs) : null
  const health = await decide(deps.kv, async (tx) => {
    const [delivery, receiver] = await Promise.all([
      deliveries.at(tx).stored(claim.delivery.id),
      receivers.at(tx).stored(claim.receiver.id),
    ])
    if (!delivery) return [null, []]
    const before = receiver?.record ?? null
    const after = before && healthAfter(before, record, now, deps.isGone)
    const gone = after?.status === 'disabled' || deps.isFinal(record, claim.receiver)
    const next = afterAttempt(delivery.record, record, gone, {
      now,
      asked,
      random,
      retryAfterMs,
      delays: deps.delays,
    })
    const counted = after && deps.counted ? await deps.counted(tx, after, next) : null
    const [health, parcel, changes] = counted ?? [after, next, []]
    const worksAgain = deps.releasesWaiting === true && succeeded(record) && before?.failingSince != null
    return [
      before && after && { before, after },
      [
        { ...deliveries.replace(delivery, parcel), essential: true },
        ...(receiver && health ? [receivers.replace(receiver, health)] : []),
        ...changes,
        ...(worksAgain ? await released(deps, tx, claim, now) : []),
      ],
    ]
  })
  tell(deps, claim, record, health)
  return asker !== undefined && asked !== null ? { until: now + asked, asker } : null
}

const succeeded = ({ status }: AttemptRecord) => status >= 200 && status < 300

/** The delivery after this attempt. `asked`: how many ms its receiver wants to be left alone. */
function afterAttempt<P extends Parcel>(
  before: P,
  record: AttemptRecord,
  gone: boolean,
  {
    now,
    asked,
    random,
    retryAfterMs,
    delays,
  }: Record<'now' | 'random', number> &
    Record<'asked' | 'retryAfterMs', number | null> & { readonly delays: readonly number[] | undefined },
): P {
  const { waits = 0, createdAt } = before
  const attempts = [...before.attempts, record]
  const wait = waits < WAITS && now - createdAt < SPAN_MS ? asked : null
  const later = wait ?? retryDelay(attempts.length - waits, random, retryAfterMs, delays)
  const delay = succeeded(record) || gone ? null : later
  return {
    ...before,
    attempts: attempts.slice(-(ATTEMPTS + WAITS)),
    ...(wait !== null && { waits: waits + 1 }),
    state: succeeded(record) ? 'delivered' : delay === null ? 'failed' : 'pending',
    nextAt: delay === null ? null : now + delay,
    begunAt: null,
  }
}

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

/** The attempt that comes of it is none of the schedule's, or a receiver that works now and then would use them up. */
async function released<D extends Destination, P extends Parcel>(
  { deliveries }: OutcomeDeps<D, P>,
  tx: Tx,
  { delivery: { id, ownerId }, receiver }: Claim<D, P>,
  nextAt: number,
): Promise<Changes[]> {
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
function tell<D extends Destination, P extends Parcel>(
  { log, noun }: OutcomeDeps<D, P>,
  { delivery, receiver: { id } }: Claim<D, P>,
  { status, failure, durationMs }: AttemptRecord,
  health: { readonly before: D; readonly after: D } | null,
): void {
  log('debug', `${noun} attempt`, { delivery: delivery.id, [noun]: id, status, failure, ms: durationMs })
  if (health === null) return
  const { before, after } = health
  if (before.failingSince === null && after.failingSince !== null)
    log('warn', `a ${noun} fails`, { [noun]: id, status, failure })
  if (before.failingSince !== null && after.failingSince === null)
    log('info', `a ${noun} works again`, { [noun]: id })
  if (before.status !== after.status)
    log('warn', `a ${noun} was disabled`, { [noun]: id, reason: after.disabledReason })
}
