// Deliveries: one event for one receiver, from the outbox to the log.
//
// An event is written to the outbox in the same commit as the change it reports, so neither can exist without the other.
// `deliverer.ts` then hands each over until its receiver says 2xx. The same records are the log, for 30 days.

import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { Problem } from '../../lib/problem.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import { ownedIn } from '../../store/owned.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'
import type { ReceiverData, ReceiverEvent } from '../../wire/event.ts'
import type { Parcel } from './deliverer.ts'
import { receiverCollection, RECEIVERS_PER_USER, type EventKind, type Receiver } from './receivers.ts'
import { forgetOld, PARCEL_INDEXES } from './parcels.ts'

export interface Delivery extends Parcel {
  readonly event: ReceiverEvent
  /** The event's data. */
  readonly data: ReceiverData[ReceiverEvent]
  /** The delivery that this one repeats at a user's request. */
  readonly resendOf: string | null
}

export function deliveryCollection(kv: Kv): Collection<Delivery> {
  return collection<Delivery>(kv, 'deliveries', {
    indexes: {
      ...PARCEL_INDEXES,
      owner: (delivery) => [delivery.ownerId],
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
    // Read once: a delivery due before it was made would pass for one that was planned again.
    now = clock.now(),
  ): Delivery => ({
    id: newId('msg'),
    receiverId: receiver.id,
    ownerId: receiver.ownerId,
    event,
    data,
    state: 'pending',
    attempts: [],
    nextAt: now,
    createdAt: now,
    resendOf,
  })
  /** `enqueue` of events of several kinds, which are sent in their order. */
  async function enqueueAll(
    tx: Tx,
    ownerId: string,
    each: readonly Pick<Delivery, 'event' | 'data'>[],
    only: readonly string[] = [],
  ): Promise<Changes[]> {
    if (each.length === 0) return []
    const read = receivers.at(tx)
    // This count is a check for receivers that are added meanwhile, which reading the list would not notice.
    await read.count('owner', [ownerId])
    const { items } = await read.ids('owner', [ownerId], { limit: RECEIVERS_PER_USER, reverse: false })
    const active = (await read.getFacets('wanted', items)).filter(
      ({ id, status }) => status === 'active' && (only.length === 0 || only.includes(id)),
    )
    return each.flatMap(({ event, data }) =>
      active
        .filter(({ events }) => events.some((one) => one === event))
        .map((receiver) => deliveries.insert(fresh(receiver, event, data, null))),
    )
  }
  const owned = ownedIn(
    deliveries,
    () => new Problem(404, 'delivery_not_found', 'There is no such delivery.'),
  )
  return {
    /**
     * Answers what to commit so that every active receiver of the owner that listens to `event` gets each of them; `only`
     * narrows this to some receivers. It is part of a plan, so it has no side effects.
     *
     * The deliveries that are under way do not disturb the plan: a large one would else lose to them again and again. A
     * receiver that is deleted meanwhile has its deliveries cancelled at its turn.
     */
    enqueue<E extends EventKind>(
      tx: Tx,
      ownerId: string,
      event: E,
      each: readonly ReceiverData[E][],
      only: readonly string[] = [],
    ): Promise<Changes[]> {
      return enqueueAll(
        tx,
        ownerId,
        each.map((data) => ({ event, data })),
        only,
      )
    },
    enqueueAll,
    /** Sends a sample event, whatever the receiver listens to. */
    async test(receiver: Receiver, also?: Also<Delivery>): Promise<Delivery> {
      const delivery = fresh(receiver, 'webhook.test', { webhookId: receiver.id, name: receiver.name }, null)
      await transact(kv, (tx) => [deliveries.insert(delivery), also?.(delivery, tx)])
      return delivery
    },
    /** Sends the same event again, as a delivery of its own. */
    async resend(ownerId: string, id: string, also?: Also<Delivery>): Promise<Delivery> {
      const before = await owned(ownerId, id)
      const receiver = await receivers.get(before.receiverId)
      if (!receiver) throw new Problem(404, 'webhook_not_found', 'The webhook of this delivery was deleted.')
      if (receiver.status !== 'active')
        throw new Problem(409, 'conflict', 'The webhook is disabled. Enable it before sending again.')
      const delivery = fresh(receiver, before.event, before.data, before.id)
      await transact(kv, (tx) => [deliveries.insert(delivery), also?.(delivery, tx)])
      return delivery
    },
    get: owned,
    list: (receiverId: string, options: PageOptions): Promise<Page<Delivery>> =>
      deliveries.list('receiver', [receiverId], options),
    listOfOwner: (ownerId: string, options: PageOptions): Promise<Page<Delivery>> =>
      deliveries.list('owner', [ownerId], options),
    purge: () => forgetOld(deliveries, clock),
  }
}
