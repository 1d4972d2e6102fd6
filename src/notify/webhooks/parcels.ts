// What is delivered, and to whom, as the deliverer knows it: what webhooks and channels have in common.

import type { Clock } from '../../lib/clock.ts'
import type { Collection } from '../../store/collection.ts'
import { LOG_MS } from './schedule.ts'

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

/** What enabling a receiver makes of it. */
export const ACTIVE = { status: 'active', disabledReason: null, failingSince: null } as const

/** What its owner makes of it by disabling it, unless it is so for another reason. */
export const disabledBy = <R extends string>({ disabledReason }: { readonly disabledReason: R | null }) =>
  ({ status: 'disabled', disabledReason: disabledReason ?? 'owner' }) as const

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

export const PARCEL_INDEXES = {
  // User and receiver come first, so that finding one's next parcel never reads past what waits for another.
  turn: ({ ownerId, receiverId, nextAt }: Parcel) => (nextAt === null ? null : [ownerId, receiverId, nextAt]),
  receiver: (parcel: Parcel) => [parcel.receiverId],
  age: (parcel: Parcel) => [parcel.createdAt],
}

/**
 * A parcel that is due at once. `now` is read once: one due before it was made would pass for one that was planned again.
 * `resendOf`: the one that it repeats at a user's request.
 */
export const freshParcel = <Content extends object>(
  id: string,
  { id: receiverId, ownerId }: Pick<Destination, 'id' | 'ownerId'>,
  content: Content,
  now: number,
  resendOf: string | null = null,
) => ({
  id,
  receiverId,
  ownerId,
  ...content,
  state: 'pending' as const,
  attempts: [],
  nextAt: now,
  createdAt: now,
  resendOf,
})

/** The time from which a parcel's wait is counted. */
export function plannedAt({ createdAt, attempts }: Parcel): number {
  const last = attempts.at(-1)
  return last ? last.at + last.durationMs : createdAt
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
