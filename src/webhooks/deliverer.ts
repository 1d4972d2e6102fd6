// The deliverer sends what is in the outbox: at least once, in no particular order, one at a time for each receiver.
//
// An attempt is two commits with the request between them. The first records that it begins: a store that cannot take this
// (a full disk) could not take the outcome either, so nothing is sent. The second records the outcome. While it cannot be
// written it is held back and written later, without repeating the request. After a crash between the two the delivery is
// still due, and is sent again under the same id. `turns.ts` decides whose turn it is.

import { Backoff, untilDone } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createLoop } from '../lib/loop.ts'
import { Problem } from '../lib/problem.ts'
import { ALL_SHARDS, type Shards } from '../lib/shards.ts'
import { within } from '../lib/within.ts'
import { transact, type Tx } from '../store/transaction.ts'
import type { Kv } from '../store/kv.ts'
import { parseReceiverUrl, permittedAddresses, type AllowList, type Resolve } from './address.ts'
import { deliveryCollection, type AttemptRecord, type Delivery } from './deliveries.ts'
import { receiverCollection, type Receiver } from './receivers.ts'
import { ATTEMPTS, DEAD_AFTER_MS, parseRetryAfter, retryDelay } from './schedule.ts'
import type { SecretBox } from './secret-box.ts'
import type { Reply, Send } from './send.ts'
import { serviceSignature, standardSignature } from './signing.ts'
import { Turns, type Head, type Turn } from './turns.ts'

export interface DelivererDeps {
  readonly kv: Kv
  readonly clock: Clock
  /** A random number in [0, 1), which spreads the retries. */
  readonly spread: () => number
  readonly box: SecretBox
  readonly allow: AllowList
  readonly resolve: Resolve
  readonly send: Send
  /** The User-Agent: product and version. */
  readonly userAgent: string
  readonly log: Log
  /** The users whose deliveries this server sends. */
  readonly shards?: Shards
}

/** The most receivers served at a time. */
const SLOTS = 64
/** The longest nap between looks at the outbox, so that a changed clock is noticed. */
const NAP_MS = 60_000
/** Time limits for resolving the name, and for one attempt as a whole. */
const RESOLVE_MS = 5000
const ATTEMPT_MS = 15_000
/** When the server stops, attempts under way may take this long; the others are repeated at the next start. */
const STOP_MS = 2000
/** How many deliveries of a deleted receiver are cancelled at once. */
const CANCELLED_AT_ONCE = 200
/** How many deliveries of a receiver are rescheduled at once after the clock was set. */
const PLANNED_AT_ONCE = 200
/** A correction of the clock up to this does not count as setting it. */
const SLEWED_MS = 1000

interface Claim {
  readonly receiver: Receiver
  readonly delivery: Delivery
}
const NO_ANSWER: Reply = { status: 0, retryAfter: null, excerpt: '', failure: null }

export function createDeliverer(deps: DelivererDeps) {
  const { kv, clock, spread, log, shards = ALL_SHARDS } = deps
  const receivers = receiverCollection(kv)
  const deliveries = deliveryCollection(kv)
  const turns = new Turns(SLOTS)
  const store = new Backoff(deps, 'writing down deliveries')
  const busy = new Map<string, { readonly ownerId: string; readonly work: Promise<void> }>()
  /** Owners for whom something was added to the outbox. */
  const told = new Set<string>()
  let lookedAt = Number.NEGATIVE_INFINITY
  let stopping: AbortSignal = new AbortController().signal
  /** The server has stopped, and the store may be closed. */
  let over = false
  const loop = createLoop(deps, 'delivering webhooks', startDue)
  shards.onGained(() => {
    lookedAt = Number.NEGATIVE_INFINITY
    loop.wake()
  })
  shards.beforeGiving(async () => {
    for (const ownerId of turns.owners()) if (!shards.holds(ownerId)) turns.learn(ownerId, [])
    const given = [...busy.values()].filter(({ ownerId }) => !shards.holds(ownerId))
    await Promise.all(given.map(({ work }) => work))
  })

  /** Starts what is due while there are slots. Answers how many ms to nap. */
  async function startDue(): Promise<number> {
    const sinceMs = clock.now() - lookedAt
    if (sinceMs >= NAP_MS || sinceMs < 0) await lookAtAll()
    const owners = [...told]
    for (const ownerId of owners) {
      // Cleared first, so that an owner added during the queries is asked about again.
      told.delete(ownerId)
      if (!shards.holds(ownerId)) continue
      try {
        turns.learn(ownerId, await headsOf(ownerId))
      } catch (error) {
        told.add(ownerId)
        throw error
      }
    }
    if (store.waitMs > 0) return store.waitMs
    const now = clock.now()
    for (let turn = turns.take(now); turn !== null && !stopping.aborted; turn = turns.take(now)) start(turn)
    const next = turns.nextAt(now)
    return next === null ? NAP_MS : Math.min(NAP_MS, next - now)
  }

  /** Called at the start and now and then, since another process may have written to the outbox. */
  async function lookAtAll(): Promise<void> {
    const found = new Map<string, Head[]>(turns.owners().map((ownerId) => [ownerId, []]))
    for await (const [ownerId, receiverId, at] of deliveries.firsts('turn', [], 2)) {
      if (!shards.holds(String(ownerId))) continue
      await planAnew(String(ownerId), String(receiverId))
      const heads = found.get(String(ownerId)) ?? []
      heads.push(await headOf(String(receiverId), Number(at)))
      found.set(String(ownerId), heads)
    }
    for (const [ownerId, heads] of found) turns.learn(ownerId, heads)
    lookedAt = clock.now()
  }

  /** The clock was set back. Deliveries that were planned from a time still to come now wait as long from the present. */
  async function planAnew(ownerId: string, receiverId: string): Promise<void> {
    const now = clock.now()
    const isAhead = (delivery: Delivery) => plannedAt(delivery) > now + SLEWED_MS
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
        const nextAt = now + Math.max(0, record.nextAt - plannedAt(record))
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
    const { lastSuccessAt = null, failingSince = null } = (await receivers.get(receiverId)) ?? {}
    return { receiverId, at, proven: lastSuccessAt !== null && failingSince === null }
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
    }
    const retryAfterMs = parseRetryAfter(answer.retryAfter, clock.now())
    await untilDone(clock, store, stopping, async () => {
      if (!over) await settle(claim, record, retryAfterMs)
    })
  }

  /** Commits that an attempt of the receiver's first delivery begins. Answers null if none is due after all. */
  async function begin({ ownerId, receiverId }: Turn): Promise<Claim | null> {
    let claim: Claim | null = null
    await transact(kv, async (tx) => {
      claim = null
      const receiver = await receivers.at(tx).get(receiverId)
      if (receiver?.status !== 'active') return cancelled(tx, ownerId, receiverId)
      const turn = await deliveries.at(tx).list('turn', [ownerId, receiverId], { limit: 1, reverse: false })
      const [first] = turn.items
      const delivery = first && (await deliveries.at(tx).stored(first.id))
      if (!delivery || (delivery.record.nextAt ?? Number.POSITIVE_INFINITY) > clock.now()) return []
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
  async function post(claim: Claim, now: number): Promise<Reply> {
    try {
      return await sendTo(deps, claim, now)
    } catch (error) {
      if (error instanceof Problem) return { ...NO_ANSWER, failure: 'blocked', excerpt: error.message }
      if (error instanceof UnreadableSecret)
        return { ...NO_ANSWER, failure: 'secret_unreadable', excerpt: error.message }
      log('error', 'a delivery failed for a reason of ours', {
        delivery: claim.delivery.id,
        error: String(error),
      })
      return { ...NO_ANSWER, failure: 'internal_error' }
    }
  }

  /** Commits the outcome: the delivery's next state and the receiver's health together. */
  async function settle(claim: Claim, record: AttemptRecord, retryAfterMs: number | null): Promise<void> {
    const random = spread()
    const now = record.at + record.durationMs
    let before: Receiver | null = null
    let after: Receiver | null = null
    await transact(kv, async (tx) => {
      const delivery = await deliveries.at(tx).stored(claim.delivery.id)
      if (!delivery) return []
      const attempts = [...delivery.record.attempts, record]
      const receiver = await receivers.at(tx).stored(claim.receiver.id)
      before = receiver?.record ?? null
      after = before && healthAfter(before, record, now)
      const gone = after?.status === 'disabled'
      const delay = succeeded(record) || gone ? null : retryDelay(attempts.length, random, retryAfterMs)
      const next: Delivery = {
        ...delivery.record,
        attempts: attempts.slice(-ATTEMPTS),
        state: succeeded(record) ? 'delivered' : delay === null ? 'failed' : 'pending',
        nextAt: delay === null ? null : now + delay,
        begunAt: null,
      }
      return [
        { ...deliveries.replace(delivery, next), essential: true },
        ...(receiver && after ? [receivers.replace(receiver, after)] : []),
      ]
    })
    tell(claim, record, before, after)
  }

  /** The log of deliveries has every attempt; the server's log gets a line only when something changes. */
  function tell(
    { delivery, receiver: { id: webhook } }: Claim,
    { status, failure, durationMs }: AttemptRecord,
    before: Receiver | null,
    after: Receiver | null,
  ): void {
    log('debug', 'webhook attempt', { delivery: delivery.id, webhook, status, failure, ms: durationMs })
    if (before === null || after === null) return
    const { disabledReason: reason } = after
    if (before.failingSince === null && after.failingSince !== null)
      log('warn', 'a webhook fails', { webhook, status, failure })
    if (before.failingSince !== null && after.failingSince === null)
      log('info', 'a webhook works again', { webhook })
    if (before.status !== after.status) log('warn', 'a webhook was disabled', { webhook, reason })
  }

  return {
    /** Says that something was added to the owner's outbox. */
    wake(ownerId: string): void {
      told.add(ownerId)
      loop.wake()
    },
    /** Runs until `signal` aborts. */
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
function plannedAt({ createdAt, attempts }: Delivery): number {
  const last = attempts.at(-1)
  return last ? last.at + last.durationMs : createdAt
}

const succeeded = ({ status }: AttemptRecord) => status >= 200 && status < 300

/** The receiver after this attempt: since when it has been failing, and whether it is disabled now. */
function healthAfter(receiver: Receiver, record: AttemptRecord, now: number): Receiver {
  if (succeeded(record)) return { ...receiver, failingSince: null, lastSuccessAt: now }
  const failingSince = receiver.failingSince ?? record.at
  const reason = record.status === 410 ? 'gone' : now - failingSince >= DEAD_AFTER_MS ? 'failing' : null
  if (reason === null) return { ...receiver, failingSince }
  return { ...receiver, failingSince, status: 'disabled', disabledReason: reason }
}

/**
 * Sends one request, to the first of the receiver's addresses that accepts a connection. Throws Problem if none is
 * permitted.
 */
async function sendTo(
  { allow, resolve, clock, box, userAgent, send }: DelivererDeps,
  { receiver, delivery }: Claim,
  now: number,
): Promise<Reply> {
  const url = parseReceiverUrl(receiver.url, allow)
  const addresses = await within(clock, RESOLVE_MS, permittedAddresses(url, allow, resolve))
  if (addresses === null)
    return { ...NO_ANSWER, failure: 'timeout', excerpt: 'The host name was not resolved within 5 s.' }
  const body = new TextEncoder().encode(
    JSON.stringify({
      event: delivery.event,
      delivered_at: new Date(now).toISOString(),
      data: delivery.data,
    }),
  )
  const headers = await signedHeaders({ box, userAgent }, { receiver, delivery }, now, body)
  let answer = NO_ANSWER
  // The next address is tried only if this one did not accept a connection.
  for (const address of addresses.slice(0, 4)) {
    // Limited to the whole time of an attempt, even if the clock was set back meanwhile.
    const budgetMs = Math.min(ATTEMPT_MS, now + ATTEMPT_MS - clock.now())
    if (budgetMs <= 0) return { ...NO_ANSWER, failure: 'timeout' }
    answer = await send({ url, address, headers, body, budgetMs })
    if (answer.failure !== 'connection_refused' && answer.failure !== 'network') break
  }
  return answer
}

async function signedHeaders(
  { box, userAgent }: Pick<DelivererDeps, 'box' | 'userAgent'>,
  { receiver, delivery }: Claim,
  now: number,
  body: Uint8Array<ArrayBuffer>,
): Promise<Record<string, string>> {
  const opened = (sealed: string) =>
    box.open(sealed, receiver.id).catch(() => {
      throw new UnreadableSecret()
    })
  const secret = await opened(receiver.sealedSecret)
  const old = receiver.sealedOldSecret === null ? null : await opened(receiver.sealedOldSecret)
  const overlapping = old !== null && (receiver.oldSecretUntil ?? 0) > now
  const seconds = Math.floor(now / 1000)
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'X-Service-Signature': await serviceSignature(old ?? secret, body),
    'X-Service-Event': delivery.event,
    'X-Service-Attempt': String(delivery.attempts.length + 1),
    'webhook-id': delivery.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': await standardSignature(
      overlapping ? [secret, old] : [secret],
      delivery.id,
      seconds,
      body,
    ),
  }
}

/** The secret was sealed with another key than the one in the key file. */
class UnreadableSecret extends Error {
  constructor() {
    super(
      'The secret of this webhook cannot be read with this server’s key file. Delete it and register it again.',
    )
  }
}
