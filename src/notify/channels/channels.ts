// Channels of users: what was set up, its secrets sealed, and the notifications that wait or were sent.
//
// A notification is written in the same commit as the firing that it tells of, and handed over by the deliverer that also
// serves webhooks: the same turns, retries and log.

import { Problem } from '../../lib/problem.ts'
import type { Page, PageOptions } from '../../store/collection.ts'
import { OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import { ACTIVE, disabledBy, forgetOld, freshParcel } from '../webhooks/parcels.ts'
import { WAITS } from '../webhooks/schedule.ts'
import {
  channelCollection,
  notificationCollection,
  type Channel,
  type ChannelFields,
  type ChannelPostDeps,
  type Notification,
} from './channel.ts'
import type { Notice } from './kind.ts'
import { KINDS } from './kinds.ts'
import { checkQuiet, freeAt, type Pace } from './pace.ts'
import { changedSettings, checkedSettings, sealedSettings, secretNames, withoutSecrets } from './settings.ts'

export type ChannelDeps = ChannelPostDeps & RecordDeps

type ChannelChanges = Partial<Pick<ChannelFields, 'name' | 'settings' | 'picture' | keyof Pace>> & {
  readonly status?: Channel['status']
}

/**
 * Throws Problem 422 for wrong settings, `webhook_url_blocked` and `quota_exceeded`, and 404 `channel_not_found` for
 * another user's channel.
 */
export class Channels extends OwnedRecords<Channel, ChannelDeps> {
  readonly #notifications = notificationCollection(this.deps.kv)

  constructor(deps: ChannelDeps) {
    super(deps, channelCollection(deps.kv), 'channel_not_found', 'There is no such channel.')
  }

  async create(ownerId: string, fields: ChannelFields, also?: Also<Channel>): Promise<Channel> {
    const kind = KINDS[fields.kind]
    const channel = await this.#made(ownerId, fields, (id) =>
      sealedSettings(this.deps, kind, id, checkedSettings(kind, fields.settings)),
    )
    return this.keep(channel, channel, also)
  }

  /** One that comes from elsewhere without its secrets, if its kind has some: it waits for them, disabled. */
  async takeIn(ownerId: string, fields: ChannelFields): Promise<Channel> {
    const kind = KINDS[fields.kind]
    if (secretNames(kind.fields).length === 0) return this.create(ownerId, fields)
    const waiting = await this.#made(ownerId, fields, (id) =>
      withoutSecrets(this.deps, kind, id, fields.settings),
    )
    const channel: Channel = { ...waiting, status: 'disabled', disabledReason: 'secret_lost' }
    return this.keep(channel, channel)
  }

  /** A new channel, whose settings `settled` are kept under its id. */
  async #made(
    ownerId: string,
    fields: ChannelFields,
    settled: (id: string) => Promise<Pick<Channel, 'settings' | 'sealedSecrets' | 'secrets'>>,
  ): Promise<Channel> {
    if (fields.quiet) checkQuiet(fields.quiet)
    const id = this.deps.newId('ch')
    const now = this.deps.clock.now()
    return {
      id,
      ownerId,
      name: fields.name,
      kind: fields.kind,
      ...(await settled(id)),
      quiet: fields.quiet ?? null,
      digestMinutes: fields.digestMinutes ?? 0,
      ...(fields.picture && { picture: fields.picture }),
      status: 'active',
      disabledReason: null,
      createdAt: now,
      updatedAt: now,
      lastSuccessAt: null,
      failingSince: null,
    }
  }

  /**
   * Settings that are not given stay; enabling a channel forgets its failures. If its secrets can no longer be opened,
   * all of them have to be given again, which enables it too.
   */
  async change(ownerId: string, id: string, fields: ChannelChanges): Promise<Channel> {
    const { quiet, digestMinutes, picture, status } = fields
    if (quiet) checkQuiet(quiet)
    const before = await this.get(ownerId, id)
    if (before.disabledReason === 'secret_lost' && status === 'active' && !fields.settings)
      throw new Problem(
        409,
        'conflict',
        'The secrets of this channel are lost. Enter them again, which enables it too.',
      )
    const settings = fields.settings && (await changedSettings(this.deps, before, fields.settings))
    const changed = await this.records.update(id, (stored) => {
      if (settings && stored.sealedSecrets !== before.sealedSecrets) return null
      const isMended = settings !== undefined && stored.disabledReason === 'secret_lost'
      const channel: Channel = isMended ? { ...stored, ...ACTIVE } : stored
      return {
        ...channel,
        ...(fields.name !== undefined && { name: fields.name }),
        ...settings,
        ...(quiet !== undefined && { quiet }),
        ...(digestMinutes !== undefined && { digestMinutes }),
        ...(picture !== undefined && { picture }),
        ...(status === 'active' && ACTIVE),
        ...(status === 'disabled' && disabledBy(channel)),
        updatedAt: this.deps.clock.now(),
      }
    })
    if (changed && (quiet !== undefined || digestMinutes !== undefined))
      await this.#lookAgain(changed, 'pace')
    if (changed && settings) await this.#lookAgain(changed, 'settings')
    if (changed) return changed
    await this.get(ownerId, id)
    throw new Problem(409, 'conflict', 'The channel was changed at the same time. Look at it again.')
  }

  /**
   * What was put off may be due now, by another pace, and what waits to be tried again, by other settings. Its turn decides.
   */
  async #lookAgain({ id, ownerId }: Channel, by: 'pace' | 'settings'): Promise<void> {
    const { clock } = this.deps
    const notifications = this.#notifications
    const later = ({ isHeld, isEscalation, attempts, waits = 0, nextAt }: Notification) =>
      (nextAt ?? 0) > clock.now() &&
      (by === 'pace'
        ? isHeld === true && !isEscalation && attempts.length === 0
        : attempts.length > 0 && waits < WAITS)
    for (let cursor: string | null = null, more = true; more;) {
      const page: Page<Notification> = await notifications.list('turn', [ownerId, id], { limit: 200, cursor })
      const ids = page.items.filter(later).map((one) => one.id)
      await transact(this.deps.kv, async (tx) =>
        (await notifications.at(tx).storedMany(ids)).flatMap((one) =>
          later(one.record)
            ? notifications.replace(one, {
                ...one.record,
                nextAt: clock.now(),
                // An attempt with other settings is none of the schedule's.
                ...(by === 'settings' && { waits: (one.record.waits ?? 0) + 1 }),
              })
            : [],
        ),
      )
      cursor = page.nextCursor
      more = cursor !== null
    }
  }

  /**
   * What to commit so that the named channels of the owner that are active are told of each; with `escalatesAt` only then,
   * and if the firing is not acknowledged by then. Part of a plan, which what is being sent does not disturb.
   */
  async enqueue(
    tx: Tx,
    ownerId: string,
    ids: readonly string[],
    each: readonly { readonly notice: Notice; readonly escalatesAt?: number }[],
  ): Promise<Changes[]> {
    const named = (await this.records.at(tx).getFacets('wanted', ids)).filter(
      (channel) => channel.ownerId === ownerId && channel.status === 'active',
    )
    const now = this.deps.clock.now()
    return each.flatMap(({ notice, escalatesAt }) =>
      named.map((channel) => {
        const at = freeAt(channel, now)
        return this.#notifications.insert({
          ...freshParcel(this.deps.newId('ntc'), channel, { notice }, now),
          isHeld: true,
          nextAt: escalatesAt ?? at,
          ...(escalatesAt === undefined ? at > now && { isPutOff: true } : { isEscalation: true }),
        })
      }),
    )
  }

  /** Sends a sample. */
  test(channel: Channel, notice: Notice, also?: Also<Notification>): Promise<Notification> {
    const { newId, clock } = this.deps
    return this.#put(freshParcel(newId('ntc'), channel, { notice }, clock.now()), also)
  }

  /** Sends the same notice again. */
  async resend(ownerId: string, id: string, also?: Also<Notification>): Promise<Notification> {
    const { newId, clock } = this.deps
    const before = await this.#notifications.get(id)
    if (before?.ownerId !== ownerId)
      throw new Problem(404, 'notification_not_found', 'There is no such notification.')
    const channel = await this.get(ownerId, before.receiverId)
    if (channel.status !== 'active')
      throw new Problem(409, 'conflict', 'The channel is disabled. Enable it before sending again.')
    const { notice, digest } = before
    const again = freshParcel(newId('ntc'), channel, { notice }, clock.now(), before.id)
    return this.#put({ ...again, ...(digest && { digest }) }, also)
  }

  async #put(notification: Notification, also?: Also<Notification>): Promise<Notification> {
    await transact(this.deps.kv, (tx) => [this.#notifications.insert(notification), also?.(notification, tx)])
    return notification
  }

  /** What a notification says; null if it is forgotten. */
  async notice(id: string): Promise<Notice | null> {
    return (await this.#notifications.get(id))?.notice ?? null
  }

  log(channelId: string, options: PageOptions): Promise<Page<Notification>> {
    return this.#notifications.list('receiver', [channelId], options)
  }

  purge(): Promise<number> {
    return forgetOld(this.#notifications, this.deps.clock)
  }
}
