// What a bar that is not over would do to the orders of a forward run if it closed as it stands now: told as provisional, and
// later confirmed or retracted. Nothing of it counts: position, equity and report are those of closed bars.

import type { ForwardOrder } from '../../wire/forward-run.ts'
import { words } from '../../lib/words.ts'

/** An event without what became of it. */
export type BareOrder = Omit<ForwardOrder, 'status'>

const nameOf = ({ event, time, orderId, type, side, qty, price }: BareOrder): string =>
  JSON.stringify([event, time, orderId, type, side, qty, price])

const FIELDS = words('event time orderId type side qty price position comment alertMessage')
const bare = (order: BareOrder) =>
  Object.fromEntries(FIELDS.map((field) => [field, order[field]])) as unknown as BareOrder

/** The events of a bar that is over, after what was told while it formed. */
export function settledEvents(told: readonly BareOrder[], events: readonly BareOrder[]): ForwardOrder[] {
  const before = new Set(told.map(nameOf))
  return [
    ...retracted(told, events),
    ...events.map((event) => ({
      ...bare(event),
      status: before.has(nameOf(event)) ? ('confirmed' as const) : ('final' as const),
    })),
  ]
}

/** What is to be told while a bar forms: what would no longer be so, and what is new. */
export function foreseenEvents(told: readonly BareOrder[], events: readonly BareOrder[]): ForwardOrder[] {
  const before = new Set(told.map(nameOf))
  return [
    ...retracted(told, events),
    ...events
      .filter((event) => !before.has(nameOf(event)))
      .map((event) => ({ ...bare(event), status: 'provisional' as const })),
  ]
}

/** Newest first, so that who undoes them one by one undoes a fill before the order that it filled. */
export function retracted(told: readonly BareOrder[], events: readonly BareOrder[] = []): ForwardOrder[] {
  const now = new Set(events.map(nameOf))
  return told
    .filter((event) => !now.has(nameOf(event)))
    .map((event) => ({ ...bare(event), status: 'retracted' as const }))
    .toReversed()
}
