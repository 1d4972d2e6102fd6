// Hands over the notifications that wait: what each kind of channel makes of a notice, with links and chart.

import type { Collection } from '../../store/collection.ts'
import { Deliverer, type SendingDeps } from '../webhooks/deliverer.ts'
import type { Claim } from '../webhooks/parcels.ts'
import { sendTo } from '../webhooks/post.ts'
import { EXCERPT_BYTES, type Reply } from '../webhooks/send.ts'
import type { LinkAction } from '../../wire/link.ts'
import { withoutLinks } from './alert-links.ts'
import { isFinal, mayBeForPicture, MAY_REFUSE_PICTURE, ownAnswer, ownRefusal } from './answers.ts'
import {
  channelCollection,
  notificationCollection,
  type Channel,
  type ChannelPostDeps,
  type Notification,
} from './channel.ts'
import { linkedLines, type DigestLine } from './digest.ts'
import { insteadOfSending } from './held.ts'
import {
  bytesOf,
  cut,
  jsonOf,
  linksOf,
  refusalText,
  type ChannelKind,
  type ChannelRequest,
  type Notice,
  type NoticePicture,
  type Settings,
} from './kind.ts'
import { KINDS } from './kinds.ts'
import { masker } from '../webhooks/masked.ts'
import { settingsOf } from './settings.ts'

export function createChannelDeliverer(deps: ChannelPostDeps & SendingDeps) {
  const channels = channelCollection(deps.kv)
  const notifications = notificationCollection(deps.kv)
  return new Deliverer<Channel, Notification>({
    ...deps,
    noun: 'channel',
    receivers: channels,
    deliveries: notifications,
    post: (claim) => post(deps, claim, channels),
    isFinal,
    // The service that a channel is set up for: other settings may be another account, or another service.
    asks: ({ settings, sealedSecrets }) => JSON.stringify([settings, sealedSecrets]),
    releasesWaiting: true,
    instead: (tx, channel, notification) =>
      insteadOfSending({ ...deps, notifications }, tx, channel, notification),
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

/** Keeps settings that the service has changed for the next messages, unless their owner did so meanwhile. */
async function keepMoved(
  channels: Collection<Channel>,
  { id, settings }: Channel,
  moved: Settings,
  now: number,
): Promise<void> {
  await channels.update(id, (stored) =>
    Object.keys(moved).every((name) => stored.settings[name] === settings[name])
      ? { ...stored, settings: { ...stored.settings, ...moved }, updatedAt: now }
      : null,
  )
}

async function post(
  deps: ChannelPostDeps,
  { receiver: channel, delivery }: Claim<Channel, Notification>,
  channels: Collection<Channel>,
): Promise<Reply> {
  const { clock } = deps
  const kind = KINDS[channel.kind]
  let settings = await settingsOf(deps.box, channel)
  const notice = await withLinks(deps, delivery)
  const { picture, why } = await pictureOf(deps, kind, settings, channel, delivery)
  const send = (request: ChannelRequest) => sendRequest(deps, kind, settings, request)
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
    await keepMoved(channels, channel, moved, clock.now()).catch(() => undefined)
  }
  // Only a plain refusal is followed by the text alone: after any other failure the first request may have arrived.
  if (picture && (MAY_REFUSE_PICTURE.includes(reply.status) || kind.refusesPicture?.(reply))) {
    note = `The chart was refused: ${refusalText(reply)}`
    reply = await tell(notice)
  } else if (picture && kind.sendPicture && reply.status >= 200 && reply.status < 300) {
    const problem = await kind.sendPicture(settings, picture, delivery.id, send)
    if (problem !== null) note = `The chart was not sent: ${problem}`
  }
  return asKept(kind, settings, ownRefusal(kind, reply), note, clock.now())
}

function sendRequest(deps: ChannelPostDeps, kind: ChannelKind, settings: Settings, request: ChannelRequest) {
  return sendTo(deps, request.url, deps.clock.now(), async () => {
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
}

/** The answer as the log keeps it: with how long the service asks to be left alone, and without secrets and links. */
function asKept(
  kind: ChannelKind,
  settings: Settings,
  reply: Reply,
  said: string | null,
  now: number,
): Reply {
  const seconds = reply.status === 429 ? kind.waits?.(jsonOf(reply), reply.headers ?? {}, now) : undefined
  const note = reply.note ?? said
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
