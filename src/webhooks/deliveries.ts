// Deliveries: one event for one receiver, from the outbox to the log.
//
// An event is written to the outbox in the same commit as what it reports, so neither can be there without the other.
// The loop then hands each over until its receiver says 2xx: at least once, in no particular order, one at a time for each
// receiver. Every attempt's outcome is committed; after a crash the delivery is still due and goes out again under the
// same id. The same records are the log, for 30 days.

import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import { Problem } from '../lib/problem.ts'
import {
  collection,
  transact,
  type Also,
  type Changes,
  type Collection,
  type Page,
  type PageOptions,
} from '../store/collection.ts'
import type { Kv } from '../store/kv.ts'
import { parseReceiverUrl, permittedAddresses, type AllowList, type Resolve } from './address.ts'
import { receiverCollection, type EventKind, type Receiver } from './receivers.ts'
import { ATTEMPTS, DEAD_AFTER_MS, LOG_MS, parseRetryAfter, retryDelay } from './schedule.ts'
import type { SecretBox } from './secret-box.ts'
import type { Answer, Send } from './send.ts'
import { serviceSignature, standardSignature } from './signing.ts'

export interface AttemptRecord {
  readonly at: number
  /** HTTP status, 0 without an answer. */
  readonly status: number
  readonly durationMs: number
  /** Why there was no status; `blocked` when the address is no longer permitted. */
  readonly failure: string | null
  /** The first 4 kB of the answer. */
  readonly excerpt: string
}

export interface Delivery {
  readonly id: string
  readonly receiverId: string
  readonly ownerId: string
  readonly event: EventKind | 'webhook.test'
  readonly data: Readonly<Record<string, unknown>>
  /** cancelled: the receiver was deleted or disabled while it waited. */
  readonly state: 'pending' | 'delivered' | 'failed' | 'cancelled'
  readonly attempts: readonly AttemptRecord[]
  /** Due at, while pending. */
  readonly nextAt: number | null
  readonly createdAt: number
  /** Sent again by hand: the delivery it repeats. */
  readonly resendOf: string | null
}

function deliveryCollection(kv: Kv): Collection<Delivery> {
  return collection<Delivery>(kv, 'deliveries', {
    indexes: {
      due: (delivery) => (delivery.nextAt === null ? null : [delivery.nextAt]),
      receiver: (delivery) => [delivery.receiverId],
      owner: (delivery) => [delivery.ownerId],
      age: (delivery) => [delivery.createdAt],
    },
  })
}

export interface OutboxDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
}

export type Outbox = ReturnType<typeof createOutbox>

export function createOutbox({ kv, clock, newId }: OutboxDeps) {
  const receivers = receiverCollection(kv)
  const deliveries = deliveryCollection(kv)
  const fresh = (
    receiver: Receiver,
    event: Delivery['event'],
    data: Delivery['data'],
    resendOf: string | null,
  ): Delivery => ({
    id: newId('msg'),
    receiverId: receiver.id,
    ownerId: receiver.ownerId,
    event,
    data,
    state: 'pending',
    attempts: [],
    nextAt: clock.now(),
    createdAt: clock.now(),
    resendOf,
  })
  const owned = (ownerId: string, id: string): Delivery => {
    const delivery = deliveries.get(id)
    if (delivery?.ownerId !== ownerId)
      throw new Problem(404, 'delivery_not_found', 'There is no such delivery.')
    return delivery
  }
  return {
    /**
     * What to commit so that every active receiver of the owner that wants `event` gets it; `only` narrows to some receivers.
     * Part of a `transact` plan: it reads, and has no effect of its own.
     */
    enqueue(
      ownerId: string,
      event: EventKind,
      data: Delivery['data'],
      only: readonly string[] = [],
    ): Changes[] {
      const changes: Changes[] = []
      for (const receiver of receivers.each('owner', [ownerId])) {
        const wanted = receiver.status === 'active' && receiver.events.includes(event)
        if (wanted && (only.length === 0 || only.includes(receiver.id)))
          changes.push(deliveries.insert(fresh(receiver, event, data, null)))
      }
      return changes
    },
    /** A sample event, whatever the receiver listens to. */
    async test(receiver: Receiver, also?: Also<Delivery>): Promise<Delivery> {
      const delivery = fresh(receiver, 'webhook.test', { webhookId: receiver.id, name: receiver.name }, null)
      await transact(kv, () => [deliveries.insert(delivery), also?.(delivery)])
      return delivery
    },
    /** The same event once more, as a delivery of its own. */
    async resend(ownerId: string, id: string, also?: Also<Delivery>): Promise<Delivery> {
      const before = owned(ownerId, id)
      const receiver = receivers.get(before.receiverId)
      if (!receiver) throw new Problem(404, 'webhook_not_found', 'The webhook of this delivery was deleted.')
      if (receiver.status !== 'active')
        throw new Problem(409, 'conflict', 'The webhook is disabled. Enable it before sending again.')
      const delivery = fresh(receiver, before.event, before.data, before.id)
      await transact(kv, () => [deliveries.insert(delivery), also?.(delivery)])
      return delivery
    },
    get: owned,
    list: (receiverId: string, options: PageOptions): Page<Delivery> =>
      deliveries.list('receiver', [receiverId], options),
    listOfOwner: (ownerId: string, options: PageOptions): Page<Delivery> =>
      deliveries.list('owner', [ownerId], options),
    /** Forgets what is older than the log is kept. Answers how many. */
    async purge(): Promise<number> {
      let forgotten = 0
      for (const delivery of deliveries.each('age')) {
        if (delivery.createdAt > clock.now() - LOG_MS) break
        if (delivery.state !== 'pending' && (await deliveries.delete(delivery.id))) forgotten++
      }
      return forgotten
    },
  }
}

export interface DelivererDeps {
  readonly kv: Kv
  readonly clock: Clock
  /** In [0, 1): spreads the retries. */
  readonly spread: () => number
  readonly box: SecretBox
  readonly allow: AllowList
  readonly resolve: Resolve
  readonly send: Send
  /** Product and version. */
  readonly userAgent: string
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void
}

export type Deliverer = ReturnType<typeof createDeliverer>

/** At most this many receivers are served at a time. */
const PARALLEL = 16
/** Longest nap between looks at the outbox, so that a changed clock is noticed. */
const NAP_MS = 60_000

export function createDeliverer(deps: DelivererDeps) {
  const { kv, clock, spread, box, allow, resolve, send, userAgent, log } = deps
  const receivers = receiverCollection(kv)
  const deliveries = deliveryCollection(kv)
  const busy = new Map<string, Promise<void>>()
  let woken = new AbortController()

  /** Starts every delivery that is due and whose receiver is idle. Answers when the next one will be, null for never. */
  function startDue(): number | null {
    for (const delivery of deliveries.each('due')) {
      const dueAt = delivery.nextAt ?? 0
      if (dueAt > clock.now()) return dueAt
      if (busy.size >= PARALLEL) return null
      if (busy.has(delivery.receiverId)) continue
      const work = attempt(delivery)
        .catch((error: unknown) =>
          log('delivery failed for a reason of ours', { delivery: delivery.id, error: String(error) }),
        )
        .finally(() => {
          busy.delete(delivery.receiverId)
          woken.abort()
        })
      busy.set(delivery.receiverId, work)
    }
    return null
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const receiver = receivers.get(delivery.receiverId)
    if (receiver?.status !== 'active') {
      await deliveries.update(delivery.id, (before) => ({ ...before, state: 'cancelled', nextAt: null }))
      return
    }
    const startedAt = clock.now()
    const answer = await post(receiver, delivery, startedAt)
    const record: AttemptRecord = {
      at: startedAt,
      status: answer.status,
      durationMs: clock.now() - startedAt,
      failure: answer.failure,
      excerpt: answer.excerpt,
    }
    await settle(delivery.id, receiver.id, record, parseRetryAfter(answer.retryAfter, clock.now()))
  }

  async function post(receiver: Receiver, delivery: Delivery, now: number): Promise<Answer> {
    const blocked: Answer = { status: 0, retryAfter: null, excerpt: '', failure: 'blocked' }
    let url: URL
    let addresses: readonly string[]
    try {
      url = parseReceiverUrl(receiver.url, allow)
      addresses = await permittedAddresses(url, allow, resolve)
    } catch (error) {
      if (error instanceof Problem) return { ...blocked, excerpt: error.message }
      throw error
    }
    const body = new TextEncoder().encode(
      JSON.stringify({
        event: delivery.event,
        delivered_at: new Date(now).toISOString(),
        data: delivery.data,
      }),
    )
    const secret = await box.open(receiver.sealedSecret, receiver.id)
    const old =
      receiver.sealedOldSecret === null ? null : await box.open(receiver.sealedOldSecret, receiver.id)
    const overlapping = old !== null && (receiver.oldSecretUntil ?? 0) > now
    const seconds = Math.floor(now / 1000)
    const headers = {
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
    let answer: Answer = blocked
    // The next address only when this one could not even be connected to.
    for (const address of addresses.slice(0, 4)) {
      answer = await send({ url, address, headers, body })
      if (answer.failure !== 'connection_refused' && answer.failure !== 'network') break
    }
    return answer
  }

  /** Commits the outcome: the delivery's next state and the receiver's health, together. */
  async function settle(
    deliveryId: string,
    receiverId: string,
    record: AttemptRecord,
    retryAfterMs: number | null,
  ): Promise<void> {
    const random = spread()
    await transact(kv, () => {
      const delivery = deliveries.stored(deliveryId)
      if (!delivery) return []
      const now = record.at + record.durationMs
      const attempts = [...delivery.record.attempts, record]
      const succeeded = record.status >= 200 && record.status < 300
      const receiver = receivers.stored(receiverId)
      const failingSince = succeeded ? null : (receiver?.record.failingSince ?? record.at)
      const reason = disablingReason(record, failingSince, now)
      const delay = succeeded || reason ? null : retryDelay(attempts.length, random, retryAfterMs)
      const next: Delivery = {
        ...delivery.record,
        attempts: attempts.slice(-ATTEMPTS),
        state: succeeded ? 'delivered' : delay === null ? 'failed' : 'pending',
        nextAt: delay === null ? null : now + delay,
      }
      const health = receiver && {
        ...receiver.record,
        failingSince,
        ...(succeeded && { lastSuccessAt: now }),
        ...(reason && { status: 'disabled' as const, disabledReason: reason }),
      }
      return [
        deliveries.replace(delivery, next),
        ...(receiver && health ? [receivers.replace(receiver, health)] : []),
      ]
    })
    log('webhook attempt', {
      delivery: deliveryId,
      webhook: receiverId,
      status: record.status,
      failure: record.failure,
      ms: record.durationMs,
    })
  }

  return {
    /** Something was put into the outbox. */
    wake: () => woken.abort(),
    /** Resolves when what is on its way now has come to an end; undefined when nothing is. */
    idle: (): Promise<unknown> | undefined =>
      busy.size === 0 ? undefined : Promise.allSettled(busy.values()),
    /** Runs until `signal` aborts, then waits for what is on its way. */
    async run(signal: AbortSignal): Promise<void> {
      const stop = () => woken.abort()
      signal.addEventListener('abort', stop, { once: true })
      while (!signal.aborted) {
        woken = new AbortController()
        const next = startDue()
        const nap = next === null ? NAP_MS : Math.min(NAP_MS, Math.max(0, next - clock.now()))
        // A signal that came in between is seen here, since `aborted` stays set.
        if (signal.aborted) break
        await clock.sleep(nap, woken.signal)
      }
      signal.removeEventListener('abort', stop)
      await Promise.allSettled(busy.values())
    },
  }
}

/** Why a receiver is not tried any more after this attempt; null = it stays. */
function disablingReason(
  record: AttemptRecord,
  failingSince: number | null,
  now: number,
): 'gone' | 'failing' | null {
  if (record.status === 410) return 'gone'
  return failingSince !== null && now - failingSince >= DEAD_AFTER_MS ? 'failing' : null
}
