// Notifications that a channel holds back: until its quiet hours are over, and until its last message is long enough ago.
// Then they go out as one.
//
// It is decided when a notification's turn has come, so nothing but the outbox itself remembers what is held: a server that
// dies, or hands its users over to another, loses none. The decision is a commit of its own, after which the turn comes
// again. A notification that may have been sent once is never joined, since under another id it would arrive twice.

import type { Collection, Stored } from '../../store/collection.ts'
import type { Changes, Tx } from '../../store/transaction.ts'
import { freshParcel } from '../webhooks/parcels.ts'
import type { Channel, ChannelPostDeps, Notification } from './channel.ts'
import { joined, noticeOf } from './digest.ts'
import { freeAt } from './pace.ts'

export interface HeldDeps extends Pick<ChannelPostDeps, 'clock' | 'newId' | 'publicUrl' | 'isAcknowledged'> {
  readonly notifications: Collection<Notification>
}

/** How many are put off, or joined, in one commit. */
const AT_ONCE = 200

/** What to commit instead of sending the notification; null = it goes out as it is. Part of a transaction's plan. */
export async function insteadOfSending(
  deps: HeldDeps,
  tx: Tx,
  channel: Channel,
  notification: Notification,
): Promise<readonly Changes[] | null> {
  if (!notification.isHeld) return null
  if (await isOver(deps, tx, notification)) {
    const stored = await deps.notifications.at(tx).stored(notification.id)
    return stored ? [cancelled(deps, stored)] : []
  }
  const at = freeAt(channel, deps.clock.now())
  if (at > deps.clock.now()) return putOff(deps, tx, channel, at)
  return isJoinable(channel, notification) ? join(deps, tx, channel) : null
}

/** An escalation of what somebody has acknowledged. */
async function isOver(deps: HeldDeps, tx: Tx, { isEscalation, notice }: Notification): Promise<boolean> {
  return isEscalation === true && (await deps.isAcknowledged(tx, notice.firingId ?? ''))
}

const cancelled = ({ notifications }: HeldDeps, stored: Stored<Notification>) =>
  notifications.replace(stored, { ...stored.record, state: 'cancelled', nextAt: null })

/** Alerts that come at once are told one by one, unless the channel sends digests or was silent. */
const isJoinable = (
  { digestMinutes = 0 }: Channel,
  { isHeld, isPutOff, attempts, begunAt, digest }: Notification,
): boolean =>
  isHeld === true &&
  (isPutOff === true || digestMinutes > 0) &&
  attempts.length === 0 &&
  (begunAt ?? null) === null &&
  !digest?.isComplete

async function due({ clock, notifications }: HeldDeps, tx: Tx, { id, ownerId }: Channel) {
  const listed = await notifications.at(tx).list('turn', [ownerId, id], { limit: AT_ONCE, reverse: false })
  const ids = listed.items.flatMap((one) => ((one.nextAt ?? Infinity) <= clock.now() ? [one.id] : []))
  return notifications.at(tx).storedMany(ids)
}

async function putOff(deps: HeldDeps, tx: Tx, channel: Channel, nextAt: number): Promise<Changes[]> {
  const stored = await due(deps, tx, channel)
  return stored
    .filter(({ record }) => record.isHeld)
    .map((one) => deps.notifications.replace(one, { ...one.record, nextAt, isPutOff: true }))
}

async function join(deps: HeldDeps, tx: Tx, channel: Channel): Promise<Changes[] | null> {
  const { clock, newId, notifications, publicUrl = null } = deps
  const stored = await due(deps, tx, channel)
  const joinable = stored.filter(({ record }) => isJoinable(channel, record))
  const areOver = await Promise.all(joinable.map(({ record }) => isOver(deps, tx, record)))
  const held = joinable.filter((_, i) => !areOver[i])
  const over = joinable.filter((_, i) => areOver[i]).map((one) => cancelled(deps, one))
  if (held.length < 2) return over.length > 0 ? over : null
  const now = clock.now()
  const made = joined(
    held.map(({ record }) => record),
    channel.quiet ?? null,
    stored.length < AT_ONCE,
  )
  const content = { notice: noticeOf(made, publicUrl, now), digest: made, isHeld: true, isPutOff: true }
  const whole: Notification = {
    ...freshParcel(newId('ntc'), channel, content, now),
    // In front of what came later, which waits for the next one.
    nextAt: Math.min(...held.map(({ record }) => record.nextAt ?? now)),
  }
  return [
    ...over,
    notifications.insert(whole),
    ...held.map((one) => {
      const { record } = one
      return notifications.replace(one, { ...record, state: 'cancelled', nextAt: null, digestId: whole.id })
    }),
  ]
}
