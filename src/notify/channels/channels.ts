// Channels of users: what was set up, its secrets sealed, and the notifications that wait or were sent.
//
// A notification is written in the same commit as the firing that it tells of, and handed over by the deliverer that also
// serves webhooks: the same turns, retries and log.

import type { NewId } from '../../lib/ids.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { ownedIn } from '../../store/owned.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import { parseReceiverUrl, permittedAddresses } from '../webhooks/address.ts'
import {
  createDeliverer,
  type Claim,
  type DelivererDeps,
  type Destination,
  type Parcel,
} from '../webhooks/deliverer.ts'
import { forgetOld, PARCEL_INDEXES } from '../webhooks/parcels.ts'
import { sendTo, type PostDeps } from '../webhooks/post.ts'
import { WAITS } from '../webhooks/schedule.ts'
import { EXCERPT_BYTES, UnreadableSecret, type Reply } from '../webhooks/send.ts'
import type { ChannelKindName, PictureChoice } from '../../wire/channel.ts'
import type { LinkAction } from '../../wire/link.ts'
import { withoutLinks } from './alert-links.ts'
import { linkedLines, type Digest, type DigestLine } from './digest.ts'
import { insteadOfSending } from './held.ts'
import {
  bytesOf,
  cut,
  jsonOf,
  linksOf,
  refusalText,
  type ChannelKind,
  type ChannelRequest,
  type ChannelTools,
  type Notice,
  type NoticePicture,
  type Settings,
} from './kind.ts'
import { KINDS } from './kinds.ts'
import { masker } from './masked.ts'
import { checkQuiet, freeAt, type Pace } from './pace.ts'

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

type ChannelChanges = Partial<Pick<ChannelFields, 'name' | 'settings' | 'picture' | keyof Pace>> & {
  readonly status?: Channel['status']
}

export interface ChannelPostDeps extends PostDeps {
  readonly newId: NewId
  readonly tools: ChannelTools
  /** Where browsers reach the server; null or missing = not known. */
  readonly publicUrl?: string | null
  /** Whether somebody has acknowledged a firing, or it is gone. */
  readonly isAcknowledged: (tx: Tx, firingId: string) => Promise<boolean>
}

export interface ChannelDeps extends ChannelPostDeps {
  readonly kv: Kv
}

export function channelCollection(kv: Kv): Collection<Channel> {
  return collection<Channel>(kv, 'channels', {
    indexes: { owner: (channel) => [channel.ownerId] },
    // Every notification writes down how the channel is. When it is told next is decided again at its turn.
    facets: { wanted: ({ status, quiet, digestMinutes }) => [status, quiet, digestMinutes] },
    counts: { owner: { of: (channel) => [channel.ownerId], max: CHANNELS_PER_USER, noun: 'channels' } },
  })
}

function notificationCollection(kv: Kv): Collection<Notification> {
  return collection<Notification>(kv, 'notifications', {
    indexes: {
      ...PARCEL_INDEXES,
    },
  })
}

const ACTIVE = { status: 'active', disabledReason: null, failingSince: null } as const

export type Channels = ReturnType<typeof createChannels>

/**
 * Throws Problem 422 for wrong settings, `webhook_url_blocked` and `quota_exceeded`, and 404 `channel_not_found` for
 * another user's channel.
 */
export function createChannels(deps: ChannelDeps) {
  const { kv, clock, newId, box } = deps
  const channels = channelCollection(kv)
  const notifications = notificationCollection(kv)

  const owned = ownedIn(channels, () => new Problem(404, 'channel_not_found', 'There is no such channel.'))
  const ownedNotification = ownedIn(
    notifications,
    () => new Problem(404, 'notification_not_found', 'There is no such notification.'),
  )
  /** `now` is read once: a notification due before it was made would pass for one that was planned again. */
  const fresh = (
    channel: Channel,
    notice: Notice,
    resendOf: string | null,
    now = clock.now(),
  ): Notification => ({
    id: newId('ntc'),
    receiverId: channel.id,
    ownerId: channel.ownerId,
    notice,
    state: 'pending',
    attempts: [],
    nextAt: now,
    createdAt: now,
    resendOf,
  })
  async function put(notification: Notification, also?: Also<Notification>): Promise<Notification> {
    await transact(kv, (tx) => [notifications.insert(notification), also?.(notification, tx)])
    return notification
  }
  /**
   * What was put off may be due now, by another pace, and what waits to be tried again, by other settings. Its turn decides.
   */
  async function lookAgain({ id, ownerId }: Channel, by: 'pace' | 'settings'): Promise<void> {
    const later = ({ isHeld, isEscalation, attempts, waits = 0, nextAt }: Notification) =>
      (nextAt ?? 0) > clock.now() &&
      (by === 'pace'
        ? isHeld === true && !isEscalation && attempts.length === 0
        : attempts.length > 0 && waits < WAITS)
    for (let cursor: string | null = null, more = true; more;) {
      const page: Page<Notification> = await notifications.list('turn', [ownerId, id], { limit: 200, cursor })
      const ids = page.items.filter(later).map((one) => one.id)
      await transact(kv, async (tx) =>
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
  /** The settings as they are kept: what is secret in a sealed box. */
  async function sealedSettings(kind: ChannelKind, id: string, settings: Settings) {
    await checkAddress(deps, kind, settings)
    const isSecret = (name: string) => kind.fields[name]?.secret === true && settings[name] !== ''
    const names = Object.keys(settings)
    const secrets = names.filter(isSecret)
    const some = (chosen: readonly string[]) =>
      Object.fromEntries(chosen.map((name) => [name, settings[name] ?? '']))
    return {
      settings: some(names.filter((name) => kind.fields[name]?.secret !== true)),
      sealedSecrets: await box.seal(JSON.stringify(some(secrets)), id),
      secrets,
    }
  }
  /** A new channel, whose settings `settled` are kept under its id. */
  async function made(
    ownerId: string,
    fields: ChannelFields,
    settled: (id: string) => Promise<Pick<Channel, 'settings' | 'sealedSecrets' | 'secrets'>>,
  ): Promise<Channel> {
    if (fields.quiet) checkQuiet(fields.quiet)
    const id = newId('ch')
    const now = clock.now()
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
  async function changedSettings(before: Channel, given: Settings) {
    const kind = KINDS[before.kind]
    const kept = await settingsOf(box, before).catch((error: unknown) => {
      if (!(error instanceof UnreadableSecret)) throw error
      refuseLost(kind, before.secrets, given)
      return openSettingsOf(before)
    })
    const settings = checkedSettings(kind, { ...kept, ...given })
    refuseMoved(kind, kept, settings, given)
    return sealedSettings(kind, before.id, settings)
  }

  return {
    has: async (ownerId: string, id: string) => (await channels.get(id))?.ownerId === ownerId,
    get: owned,
    list: (ownerId: string, options: PageOptions): Promise<Page<Channel>> =>
      channels.list('owner', [ownerId], options),

    async create(ownerId: string, fields: ChannelFields, also?: Also<Channel>): Promise<Channel> {
      const kind = KINDS[fields.kind]
      const channel = await made(ownerId, fields, (id) =>
        sealedSettings(kind, id, checkedSettings(kind, fields.settings)),
      )
      await transact(kv, (tx) => [channels.insert(channel), also?.(channel, tx)])
      return channel
    },

    /** One that comes from elsewhere without its secrets, if its kind has some: it waits for them, disabled. */
    async takeIn(ownerId: string, fields: ChannelFields): Promise<Channel> {
      const kind = KINDS[fields.kind]
      const secrets = Object.keys(kind.fields).filter((name) => kind.fields[name]?.secret === true)
      if (secrets.length === 0) return this.create(ownerId, fields)
      const shown = Object.keys(kind.fields).filter((name) => !secrets.includes(name))
      const waiting = await made(ownerId, fields, async (id) => ({
        settings: Object.fromEntries(shown.map((name) => [name, fields.settings[name] ?? ''])),
        sealedSecrets: await box.seal('{}', id),
        secrets,
      }))
      const channel: Channel = { ...waiting, status: 'disabled', disabledReason: 'secret_lost' }
      await transact(kv, () => channels.insert(channel))
      return channel
    },

    /**
     * Settings that are not given stay; enabling a channel forgets its failures. If its secrets can no longer be opened,
     * all of them have to be given again, which enables it too.
     */
    async change(ownerId: string, id: string, fields: ChannelChanges): Promise<Channel> {
      if (fields.quiet) checkQuiet(fields.quiet)
      const before = await owned(ownerId, id)
      if (before.disabledReason === 'secret_lost' && fields.status === 'active' && !fields.settings)
        throw new Problem(
          409,
          'conflict',
          'The secrets of this channel are lost. Enter them again, which enables it too.',
        )
      const settings = fields.settings && (await changedSettings(before, fields.settings))
      const changed = await channels.update(id, (stored) => {
        if (settings && stored.sealedSecrets !== before.sealedSecrets) return null
        const isMended = settings !== undefined && stored.disabledReason === 'secret_lost'
        const channel: Channel = isMended ? { ...stored, ...ACTIVE } : stored
        return {
          ...channel,
          ...(fields.name !== undefined && { name: fields.name }),
          ...settings,
          ...(fields.quiet !== undefined && { quiet: fields.quiet }),
          ...(fields.digestMinutes !== undefined && { digestMinutes: fields.digestMinutes }),
          ...(fields.picture !== undefined && { picture: fields.picture }),
          ...(fields.status === 'active' && ACTIVE),
          ...(fields.status === 'disabled' && {
            status: 'disabled',
            disabledReason: channel.disabledReason ?? 'owner',
          }),
          updatedAt: clock.now(),
        }
      })
      if (changed && (fields.quiet !== undefined || fields.digestMinutes !== undefined))
        await lookAgain(changed, 'pace')
      if (changed && settings) await lookAgain(changed, 'settings')
      if (changed) return changed
      await owned(ownerId, id)
      throw new Problem(409, 'conflict', 'The channel was changed at the same time. Look at it again.')
    },

    async remove(ownerId: string, id: string): Promise<void> {
      await owned(ownerId, id)
      await channels.delete(id)
    },

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
      const named = (await channels.at(tx).getFacets('wanted', ids)).filter(
        (channel) => channel.ownerId === ownerId && channel.status === 'active',
      )
      const now = clock.now()
      return each.flatMap(({ notice, escalatesAt }) =>
        named.map((channel) => {
          const at = freeAt(channel, now)
          return notifications.insert({
            ...fresh(channel, notice, null, now),
            isHeld: true,
            nextAt: escalatesAt ?? at,
            ...(escalatesAt === undefined ? at > now && { isPutOff: true } : { isEscalation: true }),
          })
        }),
      )
    },

    /** Sends a sample. */
    test: (channel: Channel, notice: Notice, also?: Also<Notification>): Promise<Notification> =>
      put(fresh(channel, notice, null), also),

    /** Sends the same notice again. */
    async resend(ownerId: string, id: string, also?: Also<Notification>): Promise<Notification> {
      const before = await ownedNotification(ownerId, id)
      const channel = await owned(ownerId, before.receiverId)
      if (channel.status !== 'active')
        throw new Problem(409, 'conflict', 'The channel is disabled. Enable it before sending again.')
      const again = fresh(channel, before.notice, before.id)
      return put({ ...again, ...(before.digest && { digest: before.digest }) }, also)
    },

    /** What a notification says; null if it is forgotten. */
    notice: async (id: string): Promise<Notice | null> => (await notifications.get(id))?.notice ?? null,

    log: (channelId: string, options: PageOptions): Promise<Page<Notification>> =>
      notifications.list('receiver', [channelId], options),

    purge: () => forgetOld(notifications, clock),
  }
}

// ——— settings ———

/** What comes along when something is copied from a page or a chat: blanks, and signs that nobody sees. */
const AROUND = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu

/** The settings with their defaults. Throws Problem 422 that names the one that is missing, unknown or malformed. */
function checkedSettings({ label, fields, mistake }: ChannelKind, given: Settings): Settings {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(fields, name))
      throw invalidField(
        `/settings/${name}`,
        'unknown_field',
        `${label} has no such setting; it has ${Object.keys(fields).join(', ')}.`,
      )
  const settings = Object.fromEntries(
    Object.entries(fields).map(([name, { label: called, required, form, default: usual = '' }]) => {
      const value = given[name]?.replace(AROUND, '') || usual
      if (value === '' && required)
        throw invalidField(`/settings/${name}`, 'required', `${label} needs this: ${called}.`)
      if (value !== '' && form && !form[0].test(value))
        throw invalidField(`/settings/${name}`, 'format', `${called} must be ${form[1]}.`)
      return [name, value]
    }),
  )
  const wrong = mistake?.(settings)
  if (wrong) throw invalidField(`/settings/${wrong.field}`, 'format', wrong.message)
  return settings
}

async function settingsOf(box: PostDeps['box'], channel: Channel): Promise<Settings> {
  if (channel.secrets.length === 0) return openSettingsOf(channel)
  const opened = await box.open(channel.sealedSecrets, channel.id).catch(() => {
    throw new UnreadableSecret('channel')
  })
  return { ...openSettingsOf(channel), ...(JSON.parse(opened) as Settings) }
}

/** What is not secret, with the defaults of settings that a later version added. */
function openSettingsOf({ kind, settings }: Channel): Settings {
  const usual = Object.entries(KINDS[kind].fields).map(([name, field]) => [name, field.default ?? ''])
  return { ...Object.fromEntries(usual), ...settings }
}

/** Throws Problem 422 that names the lost secrets that are not given. An empty one takes an optional secret away. */
function refuseLost({ fields }: ChannelKind, secrets: readonly string[], given: Settings): void {
  const missing = secrets.filter((name) => given[name] === undefined)
  if (missing.length === 0) return
  throw askedAgain(
    missing,
    (name) =>
      `${fields[name]?.label ?? name} can no longer be read, since the key of the server has changed. Enter it again.`,
  )
}

/** Throws Problem 422 if the address leads to another server, which would be sent stored secrets that are not given. */
function refuseMoved(kind: ChannelKind, kept: Settings, settings: Settings, given: Settings): void {
  const { fields, address } = kind
  const missing = Object.keys(fields).filter(
    (name) => fields[name]?.secret && name !== address && kept[name] && given[name] === undefined,
  )
  const originOf = (of: Settings) => URL.parse(kind.request(of, SAMPLE, 'ntc_0').url)?.origin
  if (missing.length === 0 || originOf(kept) === originOf(settings)) return
  throw askedAgain(
    missing,
    (name) =>
      `${fields[address]?.label ?? address} is another server now, which is not sent what was entered for the old one. Enter ${fields[name]?.label ?? name} again.`,
  )
}

function askedAgain(missing: readonly string[], message: (name: string) => string): Problem {
  return new Problem(422, 'validation_failed', message(missing[0] ?? ''), {
    fields: missing.map((name) => ({
      in: 'body',
      path: `/settings/${name}`,
      code: 'required',
      message: message(name),
    })),
  })
}

const SAMPLE: Notice = {
  title: '',
  text: '',
  url: null,
  at: 0,
  symbol: '',
  exchange: '',
  interval: '',
  price: null,
}

async function checkAddress(deps: ChannelPostDeps, kind: ChannelKind, settings: Settings) {
  const { allow, resolve } = deps
  const request = kind.request(settings, SAMPLE, 'ntc_0')
  try {
    const url = parseReceiverUrl(request.url, allow)
    await permittedAddresses(url, allow, resolve)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // The rules are those of webhooks; the field is one of the settings.
    throw invalidField(`/settings/${kind.address}`, error.code, error.message)
  }
  await kind.finish?.(request, settings, deps.tools).catch((error: unknown) => {
    // This is what Web Crypto throws for a key that is not one.
    if (!(error instanceof DOMException)) throw error
    throw invalidField('/settings/p256dh', 'format', 'This is not the public key of a browser.')
  })
}

// ——— delivering ———

/** Answers by which a service says that the same request will never be taken: what was set up is wrong, or gone. */
const FINAL: readonly number[] = [400, 401, 403, 404, 405, 410, 413, 422]

const WRONG_SETTING = 'wrong_setting'

/** Hands over the notifications that wait. */
export function createChannelDeliverer(
  deps: ChannelPostDeps & Pick<DelivererDeps<Channel, Notification>, 'kv' | 'spread' | 'log' | 'shards'>,
) {
  const { kv, clock, spread, log, shards } = deps
  const channels = channelCollection(kv)
  const notifications = notificationCollection(kv)
  return createDeliverer<Channel, Notification>({
    kv,
    clock,
    spread,
    log,
    ...(shards && { shards }),
    noun: 'channel',
    receivers: channels,
    deliveries: notifications,
    post: (claim) =>
      post(deps, claim, async (moved) => {
        const isSame = (stored: Channel) =>
          Object.keys(moved).every((name) => stored.settings[name] === claim.receiver.settings[name])
        await channels.update(claim.receiver.id, (stored) =>
          isSame(stored)
            ? { ...stored, settings: { ...stored.settings, ...moved }, updatedAt: clock.now() }
            : null,
        )
      }),
    isFinal: ({ status, failure }) => FINAL.includes(status) || failure === WRONG_SETTING,
    // The service that a channel is set up for: other settings may be another account, or another service.
    asks: ({ settings, sealedSecrets }) => JSON.stringify([settings, sealedSecrets]),
    releasesWaiting: true,
    instead: (tx, channel, notification) =>
      insteadOfSending(
        { ...deps, notifications, publicUrl: deps.publicUrl ?? null },
        tx,
        channel,
        notification,
      ),
    isGone: ({ kind }, status) => KINDS[kind].isGone?.(status) ?? status === 410,
  })
}

const LABELS = { pause: 'Pause the alert', acknowledge: 'I have seen it' } as const

async function withLinks(deps: ChannelPostDeps, { notice, digest }: Notification): Promise<Notice> {
  if (!digest) return withActions(deps, notice)
  const linksTo = async ({ url, ...line }: DigestLine) => {
    const pause = linksOf(await withActions(deps, { ...notice, ...line })).map((link) => ({
      ...link,
      label: 'Pause',
    }))
    return [...(url === null ? [] : [{ label: 'Chart', url }]), ...pause]
  }
  return { ...notice, lines: await linkedLines(digest, linksTo) }
}

async function withActions({ tools: { links } }: ChannelPostDeps, notice: Notice): Promise<Notice> {
  const { alertId, firingId, escalates, at } = notice
  if (alertId === undefined || firingId === undefined) return notice
  const wanted: readonly LinkAction[] = escalates ? ['acknowledge', 'pause'] : ['pause']
  const actions = wanted.map(async (action) => {
    const token = await links.token(action, alertId, firingId, at)
    return { action, label: LABELS[action], token, url: links.url(token) }
  })
  return { ...notice, actions: await Promise.all(actions) }
}

/** `keep` keeps settings for the next messages. */
async function post(
  deps: ChannelPostDeps,
  { receiver: channel, delivery }: Claim<Channel, Notification>,
  keep: (moved: Settings) => Promise<void>,
): Promise<Reply> {
  const kind = KINDS[channel.kind]
  let settings = await settingsOf(deps.box, channel)
  const notice = await withLinks(deps, delivery)
  const { picture, why } = await pictureOf(deps, kind, settings, channel, delivery)
  const send = (request: ChannelRequest) =>
    sendTo(deps, request.url, deps.clock.now(), async () => {
      const { headers, body } = (await kind.finish?.(request, settings, deps.tools)) ?? {
        headers: request.headers,
        body: bytesOf(request.body),
      }
      return {
        method: request.method,
        headers: { 'user-agent': deps.userAgent, ...headers },
        body,
        excerptBytes: ANSWER_BYTES,
      }
    })
  const tell = async (told: Notice) =>
    ownAnswer(kind, settings, await send(kind.request(settings, told, delivery.id)))
  // A repetition by hand has an id of its own: a service that knows the first one's would ignore it.
  const whole = picture ? { ...notice, picture } : notice
  let reply = await tell(whole)
  let note = why
  const moved = kind.moved?.(jsonOf(reply))
  if (moved) {
    settings = { ...settings, ...moved }
    reply = await tell(whole)
    // It has moved, whatever became of the message. What is not kept the next message finds out again.
    await keep(moved).catch(() => undefined)
  }
  // Only a plain refusal is followed by the text alone: after any other failure the first request may have arrived.
  if (picture && (MAY_REFUSE_PICTURE.includes(reply.status) || kind.refusesPicture?.(reply))) {
    note = `The chart was refused: ${refusalText(reply)}`
    reply = await tell(notice)
  } else if (picture && kind.sendPicture && reply.status >= 200 && reply.status < 300) {
    const problem = await kind.sendPicture(settings, picture, delivery.id, send)
    if (problem !== null) note = `The chart was not sent: ${problem}`
  }
  reply = ownRefusal(kind, reply)
  const seconds =
    reply.status === 429 ? kind.waits?.(jsonOf(reply), reply.headers ?? {}, deps.clock.now()) : undefined
  note = reply.note ?? note
  const masked = masker(kind, settings)
  const kept = (text: string) => masked(withoutLinks(text))
  return {
    ...reply,
    // Cut behind that: half of a secret would not be found.
    excerpt: Buffer.from(kept(reply.excerpt)).subarray(0, EXCERPT_BYTES).toString(),
    ...(seconds !== undefined && { retryAfter: String(Math.ceil(seconds)) }),
    ...(note !== null && { note: cut(kept(note), NOTE_MOST) }),
  }
}

/** A note may repeat an answer. */
const NOTE_MOST = 300

/** An answer repeats the message, in which each letter may be escaped to six. */
const ANSWER_BYTES = 64 * 1024

/** The answer, as none at all if it has a status of success and is not what the service says. */
function ownAnswer({ label, isTaken, misset }: ChannelKind, settings: Settings, reply: Reply): Reply {
  const isSuccess = reply.status >= 200 && reply.status < 300
  const wrong = isSuccess ? misset?.(jsonOf(reply), settings) : null
  if (wrong) return { ...foreign(reply, wrong), failure: WRONG_SETTING }
  if (!isSuccess || (isTaken?.(reply) ?? true)) return reply
  return foreign(
    reply,
    `This is no answer of ${label}, though its status is ${reply.status}. Perhaps a proxy or the sign-in page of a network gave it.`,
  )
}

/** What a proxy answers of itself. Of other refusals, such as 413, it is no matter whose they are. */
const SAID_BY_PROXIES: readonly number[] = [401, 403, 404, 405]

/** The answer, as none at all if it refuses for good and is not what the service says. */
function ownRefusal({ label, refuses }: ChannelKind, reply: Reply): Reply {
  if (!SAID_BY_PROXIES.includes(reply.status) || (refuses?.(reply) ?? true)) return reply
  return foreign(
    reply,
    `The status ${reply.status} came, but not in the words of ${label}. Perhaps a proxy gave it, or the address is that of another server.`,
  )
}

const foreign = (reply: Reply, note: string): Reply => ({
  ...reply,
  status: 0,
  failure: 'not_the_service',
  note,
})

/** Answers by which a service may refuse a picture and take the text. */
const MAY_REFUSE_PICTURE: readonly number[] = [400, 403, 405, 413, 415, 422]

/** The chart that goes with a notification, or why none does where one should. */
async function pictureOf(
  { tools: { pictures }, publicUrl = null }: ChannelPostDeps,
  { picture: way, wantsPicture, sendPicture }: ChannelKind,
  settings: Settings,
  { picture: theme = 'dark', quiet }: Channel,
  { id, notice, attempts }: Notification,
): Promise<{ readonly picture: NoticePicture | null; readonly why: string | null }> {
  const isWanted = way !== undefined && theme !== 'off' && (wantsPicture?.(settings) ?? true)
  if (!isWanted || !notice.chart || (way === 'address' && publicUrl === null))
    return { picture: null, why: null }
  // Behind a text that was taken it cannot be to blame.
  if (!sendPicture && attempts.some(mayBeForPicture))
    return { picture: null, why: 'The chart was left out of another try.' }
  const look = { theme, zone: quiet?.timezone ?? 'UTC' }
  const made = await pictures.of(notice, look)
  if ('why' in made) return { picture: null, why: `There was no chart: ${made.why}` }
  const path = await pictures.path(id, notice, look)
  return { picture: { ...made, path, url: publicUrl && publicUrl + path }, why: null }
}

/** Whether an attempt may have failed because of what it carried: it was neither put off nor without a connection. */
const mayBeForPicture = ({ status, failure }: Notification['attempts'][number]): boolean =>
  status >= 500 || failure === 'timeout' || failure === 'connection_reset'
