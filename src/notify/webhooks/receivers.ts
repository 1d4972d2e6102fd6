// Receivers: the addresses that a user's events go to, each with its secret.
//
// The secret is shown once and stored sealed, since deliveries have to be signed with it. A rotation makes a new secret and
// keeps the old one. For 24 h the Standard Webhooks header carries both signatures; `X-Service-Signature` has room for one,
// so it keeps the old secret until the owner confirms that the receiver knows the new one.

import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import type { Random } from '../../lib/random.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import { ownedIn } from '../../store/owned.ts'
import { transact, type Also } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'
import { parseReceiverUrl, permittedAddresses, type AllowList, type Resolve } from './address.ts'
import type { SecretBox } from './secret-box.ts'
import { newSecret } from './signing.ts'

export const EVENTS = [
  'backtest.reportReady',
  'alert.triggered',
  'order.placed',
  'order.filled',
  'order.cancelled',
] as const
export type EventKind = (typeof EVENTS)[number]

export const RECEIVERS_PER_USER = 10
const ROTATION_MS = 24 * 3_600_000

export interface Receiver {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  readonly url: string
  readonly events: readonly EventKind[]
  readonly status: 'active' | 'disabled'
  /**
   * `owner`, `gone` (it answered 410), `failing` (only failures for 120 h) or `secret_lost` (the server's key has changed,
   * so it needs a new secret); null while active.
   */
  readonly disabledReason: 'owner' | 'gone' | 'failing' | 'secret_lost' | null
  readonly sealedSecret: string
  /** The secret before the last rotation, until the rotation is confirmed. */
  readonly sealedOldSecret: string | null
  /** Until when the old secret signs the standard header as well. */
  readonly oldSecretUntil: number | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly lastSuccessAt: number | null
  /** The time of the first failure since the last success; null if that was the last attempt. */
  readonly failingSince: number | null
}

/** What the API shows: everything except the secrets. Times are UTC ms. */
export interface ReceiverView extends Omit<
  Receiver,
  'ownerId' | 'sealedSecret' | 'sealedOldSecret' | 'oldSecretUntil'
> {
  readonly rotating: boolean
}

export interface ReceiverDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly box: SecretBox
  readonly allow: AllowList
  readonly resolve: Resolve
}

export interface ReceiverFields {
  readonly name: string
  readonly url: string
  readonly events: readonly string[]
}

export function receiverCollection(kv: Kv): Collection<Receiver> {
  return collection<Receiver>(kv, 'webhooks', {
    indexes: { owner: (receiver) => [receiver.ownerId] },
    // Every delivery writes down how the receiver is.
    facets: { wanted: ({ status, events }) => [status, events] },
    counts: { owner: { of: (receiver) => [receiver.ownerId], max: RECEIVERS_PER_USER, noun: 'webhooks' } },
  })
}

export function viewOf(receiver: Receiver): ReceiverView {
  const {
    ownerId: _owner,
    sealedSecret: _secret,
    sealedOldSecret,
    oldSecretUntil: _until,
    ...shown
  } = receiver
  return { ...shown, rotating: sealedOldSecret !== null }
}

/** A receiver with its newly made secret. */
export interface ReceiverSecret {
  readonly receiver: Receiver
  readonly secret: string
}

export type Receivers = ReturnType<typeof createReceivers>

/**
 * Throws Problem 422 for wrong fields, `webhook_url_blocked` and `quota_exceeded`, and 404 `webhook_not_found` for another
 * user's receiver.
 */
export function createReceivers(deps: ReceiverDeps) {
  const { kv, clock, random, newId, box, allow, resolve } = deps
  const receivers = receiverCollection(kv)
  const randomBytes = (count: number) => random.bytes(count)

  const owned = ownedIn(receivers, () => new Problem(404, 'webhook_not_found', 'There is no such webhook.'))

  async function checkedUrl(text: string): Promise<string> {
    const url = parseReceiverUrl(text, allow)
    await permittedAddresses(url, allow, resolve)
    return url.href
  }

  return {
    has: async (ownerId: string, id: string) => (await receivers.get(id))?.ownerId === ownerId,
    async create(
      ownerId: string,
      fields: ReceiverFields,
      also?: Also<ReceiverSecret>,
    ): Promise<ReceiverSecret> {
      const events = checkedEvents(fields.events)
      const url = await checkedUrl(fields.url)
      const secret = newSecret(randomBytes)
      const id = newId('wh')
      const now = clock.now()
      const receiver: Receiver = {
        id,
        ownerId,
        name: fields.name,
        url,
        events,
        status: 'active',
        disabledReason: null,
        sealedSecret: await box.seal(secret, id),
        sealedOldSecret: null,
        oldSecretUntil: null,
        createdAt: now,
        updatedAt: now,
        lastSuccessAt: null,
        failingSince: null,
      }
      const made = { receiver, secret }
      await transact(kv, (tx) => [receivers.insert(receiver), also?.(made, tx)])
      return made
    },

    get: owned,

    list: (ownerId: string, options: PageOptions): Promise<Page<Receiver>> =>
      receivers.list('owner', [ownerId], options),

    /** Enabling a receiver forgets its failures. */
    async change(
      ownerId: string,
      id: string,
      fields: Partial<ReceiverFields> & { readonly status?: Receiver['status'] },
    ): Promise<Receiver> {
      if ((await owned(ownerId, id)).disabledReason === 'secret_lost' && fields.status === 'active')
        throw new Problem(
          409,
          'conflict',
          'The secret of this webhook is lost. Rotate it, which enables it too.',
        )
      const events = fields.events && checkedEvents(fields.events)
      const url = fields.url === undefined ? undefined : await checkedUrl(fields.url)
      const changed = await receivers.update(id, (before) => ({
        ...before,
        ...(fields.name !== undefined && { name: fields.name }),
        ...(url !== undefined && { url }),
        ...(events && { events }),
        ...(fields.status === 'active' && { status: 'active', disabledReason: null, failingSince: null }),
        ...(fields.status === 'disabled' && {
          status: 'disabled',
          disabledReason: before.disabledReason ?? 'owner',
        }),
        updatedAt: clock.now(),
      }))
      return changed ?? owned(ownerId, id)
    },

    async remove(ownerId: string, id: string): Promise<void> {
      await owned(ownerId, id)
      await receivers.delete(id)
    },

    /** A second rotation before the first is confirmed is refused: one of three secrets would silently stop working. */
    async rotate(ownerId: string, id: string, also?: Also<ReceiverSecret>): Promise<ReceiverSecret> {
      if ((await owned(ownerId, id)).sealedOldSecret !== null)
        throw new Problem(409, 'conflict', 'The last rotation is not confirmed yet. Confirm it first.')
      const secret = newSecret(randomBytes)
      const sealedSecret = await box.seal(secret, id)
      const now = clock.now()
      const changed = await receivers.update(
        id,
        (before) =>
          before.sealedOldSecret === null
            ? {
                ...before,
                sealedSecret,
                ...(before.disabledReason === 'secret_lost'
                  ? { status: 'active', disabledReason: null, failingSince: null }
                  : { sealedOldSecret: before.sealedSecret, oldSecretUntil: now + ROTATION_MS }),
                updatedAt: now,
              }
            : null,
        also && ((receiver, tx) => also({ receiver, secret }, tx)),
      )
      if (!changed)
        throw new Problem(409, 'conflict', 'The webhook was changed at the same time. Look at it again.')
      return { receiver: changed, secret }
    },

    /** The receiver knows the new secret, so the old one is forgotten. */
    async confirmRotation(ownerId: string, id: string): Promise<Receiver> {
      await owned(ownerId, id)
      const changed = await receivers.update(id, (before) => ({
        ...before,
        sealedOldSecret: null,
        oldSecretUntil: null,
        updatedAt: clock.now(),
      }))
      return changed ?? owned(ownerId, id)
    },
  }
}

function checkedEvents(events: readonly string[]): readonly EventKind[] {
  if (events.length === 0)
    throw invalidField('/events', 'min_items', `Name at least one of: ${EVENTS.join(', ')}.`)
  for (const [i, event] of events.entries())
    if (!EVENTS.includes(event as EventKind))
      throw invalidField(
        `/events/${i}`,
        'unknown_event',
        `There is no such event. Events: ${EVENTS.join(', ')}.`,
      )
  return [...new Set(events as readonly EventKind[])]
}
