// Deliveries: one event for one receiver, from the outbox to the log.
//
// An event is written to the outbox in the same commit as the change it reports, so neither can exist without the other.
// `deliverer.ts` then hands each over until its receiver says 2xx. The same records are the log, for 30 days.

import { Problem } from '../../lib/problem.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import { OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import { type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'
import type { ReceiverData, ReceiverEvent } from '../../wire/event.ts'
import type { WebhookEvent } from '../../wire/webhook.ts'
import { receiverCollection, RECEIVERS_PER_USER, type Receiver } from './receivers.ts'
import { forgetOld, freshParcel, PARCEL_INDEXES, type Parcel } from './parcels.ts'

export interface Delivery extends Parcel {
  readonly event: ReceiverEvent
  /** The event's data. */
  readonly data: ReceiverData[ReceiverEvent]
  /** The delivery that this one repeats at a user's request. */
  readonly resendOf: string | null
}

export function deliveryCollection(kv: Kv): Collection<Delivery> {
  return collection<Delivery>(kv, 'deliveries', {
    indexes: { ...PARCEL_INDEXES, owner: (delivery) => [delivery.ownerId] },
  })
}

export class Outbox extends OwnedRecords<Delivery> {
  readonly #receivers = receiverCollection(this.deps.kv)

  constructor(deps: RecordDeps) {
    super(deps, deliveryCollection(deps.kv), 'delivery_not_found', 'There is no such delivery.')
  }

  /**
   * Answers what to commit so that every active receiver of the owner that listens to `event` gets each of them; `only`
   * narrows this to some receivers. It is part of a plan, so it has no side effects.
   *
   * The deliveries that are under way do not disturb the plan: a large one would else lose to them again and again. A
   * receiver that is deleted meanwhile has its deliveries cancelled at its turn.
   */
  enqueue<E extends WebhookEvent>(
    tx: Tx,
    ownerId: string,
    event: E,
    each: readonly ReceiverData[E][],
    only: readonly string[] = [],
  ): Promise<Changes[]> {
    const events = each.map((data) => ({ event, data }))
    return this.enqueueAll(tx, ownerId, events, only)
  }

  /** `enqueue` of events of several kinds, which are sent in their order. */
  async enqueueAll(
    tx: Tx,
    ownerId: string,
    each: readonly Pick<Delivery, 'event' | 'data'>[],
    only: readonly string[] = [],
  ): Promise<Changes[]> {
    if (each.length === 0) return []
    const read = this.#receivers.at(tx)
    // This count is a check for receivers that are added meanwhile, which reading the list would not notice.
    await read.count('owner', [ownerId])
    const { items } = await read.ids('owner', [ownerId], { limit: RECEIVERS_PER_USER, reverse: false })
    const active = (await read.getFacets('wanted', items)).filter(
      ({ id, status }) => status === 'active' && (only.length === 0 || only.includes(id)),
    )
    return each.flatMap(({ event, data }) =>
      active
        .filter(({ events }) => events.some((one) => one === event))
        .map((receiver) => this.records.insert(this.#fresh(receiver, { event, data }))),
    )
  }

  #fresh(receiver: Receiver, content: Pick<Delivery, 'event' | 'data'>, resendOf?: string): Delivery {
    const { newId, clock } = this.deps
    return freshParcel(newId('msg'), receiver, content, clock.now(), resendOf)
  }

  /** Sends a sample event, whatever the receiver listens to. */
  test(receiver: Receiver, also?: Also<Delivery>): Promise<Delivery> {
    const { id: webhookId, name } = receiver
    const delivery = this.#fresh(receiver, { event: 'webhook.test', data: { webhookId, name } })
    return this.keep(delivery, delivery, also)
  }

  /** Sends the same event again, as a delivery of its own. */
  async resend(ownerId: string, id: string, also?: Also<Delivery>): Promise<Delivery> {
    const before = await this.get(ownerId, id)
    const receiver = await this.#receivers.get(before.receiverId)
    if (!receiver) throw new Problem(404, 'webhook_not_found', 'The webhook of this delivery was deleted.')
    if (receiver.status !== 'active')
      throw new Problem(409, 'conflict', 'The webhook is disabled. Enable it before sending again.')
    const { event, data } = before
    const delivery = this.#fresh(receiver, { event, data }, before.id)
    return this.keep(delivery, delivery, also)
  }

  log(receiverId: string, options: PageOptions): Promise<Page<Delivery>> {
    return this.records.list('receiver', [receiverId], options)
  }

  purge(): Promise<number> {
    return forgetOld(this.records, this.deps.clock)
  }
}
