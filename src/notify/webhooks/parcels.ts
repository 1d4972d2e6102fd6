// What the outboxes of webhooks and of channels have in common: how parcels are found, and when they are forgotten.

import type { Clock } from '../../lib/clock.ts'
import type { Collection } from '../../store/collection.ts'
import type { Parcel } from './deliverer.ts'
import { LOG_MS } from './schedule.ts'

export const PARCEL_INDEXES = {
  // User and receiver come first, so that finding one's next parcel never reads past what waits for another.
  turn: ({ ownerId, receiverId, nextAt }: Parcel) => (nextAt === null ? null : [ownerId, receiverId, nextAt]),
  receiver: (parcel: Parcel) => [parcel.receiverId],
  age: (parcel: Parcel) => [parcel.createdAt],
}

/** Removes what the log no longer keeps, and answers how much. */
export async function forgetOld<P extends Parcel>(parcels: Collection<P>, clock: Clock): Promise<number> {
  let forgotten = 0
  for await (const parcel of parcels.each('age')) {
    if (parcel.createdAt > clock.now() - LOG_MS) break
    if (parcel.state !== 'pending' && (await parcels.delete(parcel.id))) forgotten++
  }
  return forgotten
}
