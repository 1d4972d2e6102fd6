// What is kept of a channel, and of the notifications that wait or were sent.

import type { NewId } from '../../lib/ids.ts'
import { collection, type Collection } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { byOwner } from '../../store/owned.ts'
import type { Tx } from '../../store/transaction.ts'
import { PARCEL_INDEXES, type Destination, type Parcel } from '../webhooks/parcels.ts'
import type { PostDeps } from '../webhooks/post.ts'
import type { ChannelKindName, PictureChoice } from '../../wire/channel.ts'
import type { Digest } from './digest.ts'
import type { ChannelTools, Notice, Settings } from './kind.ts'
import type { Pace } from './pace.ts'

export const CHANNELS_PER_USER = 20

export interface Channel extends Destination, Partial<Pace> {
  readonly name: string
  readonly kind: ChannelKindName
  /** What is not secret. */
  readonly settings: Settings
  /** The secret ones, as JSON in a sealed box, and their names. */
  readonly sealedSecrets: string
  readonly secrets: readonly string[]
  /** The chart that goes with an alert; missing in old records. */
  readonly picture?: PictureChoice
  /** `secret_lost`: the server's key has changed, so the secret settings are needed again. */
  readonly disabledReason: 'owner' | 'gone' | 'failing' | 'secret_lost' | null
  readonly createdAt: number
  readonly updatedAt: number
}

export interface Notification extends Parcel {
  readonly notice: Notice
  /** The notification that this one repeats at a user's request. */
  readonly resendOf: string | null
  /** It waits for its channel's quiet hours and digest; a test and what is sent again do not. */
  readonly isHeld?: boolean
  /** It has waited for one of them, and may be joined with others. */
  readonly isPutOff?: boolean
  /** What a digest was made of. */
  readonly digest?: Digest
  /** It is sent only if nobody has acknowledged its firing by the time it is due. */
  readonly isEscalation?: boolean
  /** The digest that it is part of, for which it was cancelled. */
  readonly digestId?: string
}

export interface ChannelFields extends Partial<Pace> {
  readonly name: string
  readonly kind: ChannelKindName
  readonly settings: Settings
  readonly picture?: PictureChoice
}

/** What channels are told by. */
export interface ChannelPostDeps extends PostDeps {
  readonly newId: NewId
  readonly tools: ChannelTools
  /** Where browsers reach the server; null or missing = not known. */
  readonly publicUrl?: string | null
  /** Whether somebody has acknowledged a firing, or it is gone. */
  readonly isAcknowledged: (tx: Tx, firingId: string) => Promise<boolean>
}

export function channelCollection(kv: Kv): Collection<Channel> {
  return collection<Channel>(kv, 'channels', {
    ...byOwner(CHANNELS_PER_USER, 'channels'),
    // Every notification writes down how the channel is. When it is told next is decided again at its turn.
    facets: { wanted: ({ status, quiet, digestMinutes }) => [status, quiet, digestMinutes] },
  })
}

export function notificationCollection(kv: Kv): Collection<Notification> {
  return collection<Notification>(kv, 'notifications', { indexes: PARCEL_INDEXES })
}
