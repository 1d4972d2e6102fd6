// Receivers: the addresses that a user's events go to, each with its secret.
//
// The secret is shown once and stored sealed, since deliveries have to be signed with it. A rotation makes a new secret and
// keeps the old one. For 24 h the Standard Webhooks header carries both signatures; `X-Service-Signature` has room for one,
// so it keeps the old secret until the owner confirms that the receiver knows the new one.

import { invalidField, Problem } from '../../lib/problem.ts'
import type { Random } from '../../lib/random.ts'
import { collection, type Collection } from '../../store/collection.ts'
import { byOwner, OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import type { Also } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../wire/webhook.ts'
import { parseReceiverUrl, permittedAddresses, type AllowList, type Resolve } from './address.ts'
import { ACTIVE, disabledBy, type Destination } from './parcels.ts'
import type { SecretBox } from './secret-box.ts'
import { newSecret } from './signing.ts'

export const RECEIVERS_PER_USER = 10
const ROTATION_MS = 24 * 3_600_000

export interface Receiver extends Destination {
  readonly name: string
  readonly url: string
  readonly events: readonly WebhookEvent[]
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
}

export interface ReceiverDeps extends RecordDeps {
  readonly random: Random
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
    ...byOwner(RECEIVERS_PER_USER, 'webhooks'),
    // Every delivery writes down how the receiver is.
    facets: { wanted: ({ status, events }) => [status, events] },
  })
}

/** A receiver with its newly made secret. */
export interface ReceiverSecret {
  readonly receiver: Receiver
  readonly secret: string
}

/**
 * Throws Problem 422 for wrong fields, `webhook_url_blocked` and `quota_exceeded`, and 404 `webhook_not_found` for another
 * user's receiver.
 */
export class Receivers extends OwnedRecords<Receiver, ReceiverDeps> {
  constructor(deps: ReceiverDeps) {
    super(deps, receiverCollection(deps.kv), 'webhook_not_found', 'There is no such webhook.')
  }

  async create(
    ownerId: string,
    fields: ReceiverFields,
    also?: Also<ReceiverSecret>,
  ): Promise<ReceiverSecret> {
    const { newId, clock } = this.deps
    const events = checkedEvents(fields.events)
    const url = await this.#checkedUrl(fields.url)
    const id = newId('wh')
    const { secret, sealedSecret } = await this.#newSecret(id)
    const now = clock.now()
    const receiver: Receiver = {
      id,
      ownerId,
      name: fields.name,
      url,
      events,
      status: 'active',
      disabledReason: null,
      sealedSecret,
      sealedOldSecret: null,
      oldSecretUntil: null,
      createdAt: now,
      updatedAt: now,
      lastSuccessAt: null,
      failingSince: null,
    }
    return this.keep(receiver, { receiver, secret }, also)
  }

  async #checkedUrl(text: string): Promise<string> {
    const { allow, resolve } = this.deps
    const url = parseReceiverUrl(text, allow)
    await permittedAddresses(url, allow, resolve)
    return url.href
  }

  async #newSecret(id: string) {
    const { random, box } = this.deps
    const secret = newSecret((count) => random.bytes(count))
    return { secret, sealedSecret: await box.seal(secret, id) }
  }

  /** Enabling a receiver forgets its failures. */
  async change(
    ownerId: string,
    id: string,
    fields: Partial<ReceiverFields> & { readonly status?: Receiver['status'] },
  ): Promise<Receiver> {
    if ((await this.get(ownerId, id)).disabledReason === 'secret_lost' && fields.status === 'active')
      throw new Problem(
        409,
        'conflict',
        'The secret of this webhook is lost. Rotate it, which enables it too.',
      )
    const events = fields.events && checkedEvents(fields.events)
    const url = fields.url === undefined ? undefined : await this.#checkedUrl(fields.url)
    const changed = await this.records.update(id, (before) => ({
      ...before,
      ...(fields.name !== undefined && { name: fields.name }),
      ...(url !== undefined && { url }),
      ...(events && { events }),
      ...(fields.status === 'active' && ACTIVE),
      ...(fields.status === 'disabled' && disabledBy(before)),
      updatedAt: this.deps.clock.now(),
    }))
    return changed ?? this.get(ownerId, id)
  }

  /** A second rotation before the first is confirmed is refused: one of three secrets would silently stop working. */
  async rotate(ownerId: string, id: string, also?: Also<ReceiverSecret>): Promise<ReceiverSecret> {
    if ((await this.get(ownerId, id)).sealedOldSecret !== null)
      throw new Problem(409, 'conflict', 'The last rotation is not confirmed yet. Confirm it first.')
    const { secret, sealedSecret } = await this.#newSecret(id)
    const now = this.deps.clock.now()
    const rotated = (before: Receiver): Receiver => ({
      ...before,
      sealedSecret,
      ...(before.disabledReason === 'secret_lost'
        ? ACTIVE
        : { sealedOldSecret: before.sealedSecret, oldSecretUntil: now + ROTATION_MS }),
      updatedAt: now,
    })
    const changed = await this.records.update(
      id,
      (before) => (before.sealedOldSecret === null ? rotated(before) : null),
      also && ((receiver, tx) => also({ receiver, secret }, tx)),
    )
    if (!changed)
      throw new Problem(409, 'conflict', 'The webhook was changed at the same time. Look at it again.')
    return { receiver: changed, secret }
  }

  /** The receiver knows the new secret, so the old one is forgotten. */
  async confirmRotation(ownerId: string, id: string): Promise<Receiver> {
    await this.get(ownerId, id)
    const changed = await this.records.update(id, (before) => ({
      ...before,
      sealedOldSecret: null,
      oldSecretUntil: null,
      updatedAt: this.deps.clock.now(),
    }))
    return changed ?? this.get(ownerId, id)
  }
}

function checkedEvents(events: readonly string[]): readonly WebhookEvent[] {
  if (events.length === 0)
    throw invalidField('/events', 'min_items', `Name at least one of: ${WEBHOOK_EVENTS.join(', ')}.`)
  for (const [i, event] of events.entries())
    if (!WEBHOOK_EVENTS.includes(event as WebhookEvent))
      throw invalidField(
        `/events/${i}`,
        'unknown_event',
        `There is no such event. Events: ${WEBHOOK_EVENTS.join(', ')}.`,
      )
  return [...new Set(events as readonly WebhookEvent[])]
}
