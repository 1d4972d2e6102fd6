// Channels: ways in which users are told of alerts, and the notifications that went through them.

import { withoutLinks } from '../notify/channels/alert-links.ts'
import { CHANNELS_PER_USER, type Channel, type Notification } from '../notify/channels/channel.ts'
import { KINDS } from '../notify/channels/kinds.ts'
import {
  CHANNEL_KINDS,
  type Channel as ChannelWire,
  type Notification as NotificationWire,
} from '../wire/channel.ts'
import type { Scope } from '../wire/scopes.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

function wire({ ownerId: _owner, sealedSecrets: _sealed, ...shown }: Channel): ChannelWire {
  const { quiet = null, digestMinutes = 0, picture = 'dark' } = shown
  const settings = { ...shown.settings }
  return { ...shown, settings, secrets: [...shown.secrets], quiet, digestMinutes, picture }
}

const channelAnswer = (channel: Channel) => ({ id: channel.id, channel: wire(channel) })

/** A log must not show what its reader could not read at the source. */
const notificationWire =
  (may: (scope: Scope) => boolean) =>
  ({
    ownerId: _owner,
    begunAt: _begun,
    waits: _waits,
    isHeld: _held,
    isPutOff: _putOff,
    isEscalation: _escalation,
    digest,
    digestId,
    receiverId,
    notice,
    attempts,
    state,
    ...shown
  }: Notification): NotificationWire => ({
    ...shown,
    channelId: receiverId,
    state: digestId === undefined ? state : 'joined',
    digestId: digestId ?? null,
    joined: digest?.count ?? 1,
    title: may('alerts:read') ? notice.title : null,
    text: may('alerts:read') ? notice.text : null,
    // A service's answer may repeat the whole message, and old records hold its links, too.
    attempts: attempts.map(({ note, ...attempt }) => ({
      ...attempt,
      excerpt: may('alerts:read') ? withoutLinks(attempt.excerpt) : null,
      ...(note !== undefined && may('alerts:read') && { note: withoutLinks(note) }),
    })),
  })

const KIND_LIST = CHANNEL_KINDS.map((kind) => ({
  kind,
  label: KINDS[kind].label,
  fields: Object.entries(KINDS[kind].fields).map(([name, field]) => ({
    name,
    label: field.label,
    hint: field.hint,
    secret: field.secret ?? false,
    required: field.required ?? false,
    lines: field.lines ?? false,
    default: field.default ?? '',
  })),
}))

export const CHANNEL_ROUTES: Routes = {
  'GET /api/platform/channels/kinds': () => ({ kinds: KIND_LIST }),
  'GET /api/platform/channels/push-key': async ({ deps }) => ({
    publicKey: await deps.features.pushSigner.publicKey(),
  }),
  'POST /api/platform/channels': ({ deps, caller, body, once }) =>
    once(channelAnswer, (also) => deps.features.channels.create(caller.user.id, body, also)),
  'GET /api/platform/channels': async ({ deps, caller, query }) =>
    listed(
      'channels',
      await deps.features.channels.list(caller.user.id, pageOf(query, CHANNELS_PER_USER)),
      wire,
    ),
  'GET /api/platform/channels/{id}': {
    etag: true,
    handle: async ({ deps, caller, params }) => ({
      channel: wire(await deps.features.channels.get(caller.user.id, params.id)),
    }),
  },
  'PATCH /api/platform/channels/{id}': async ({ deps, caller, params, body }) => {
    const channel = await deps.features.channels.change(caller.user.id, params.id, body)
    deps.features.wakeNotifications(caller.user.id)
    return { channel: wire(channel) }
  },
  'DELETE /api/platform/channels/{id}': async ({ deps, caller, params }) => {
    await deps.features.channels.remove(caller.user.id, params.id)
    return { id: params.id }
  },
  'POST /api/platform/channels/{id}/test': ({ deps, caller, params, once, may }) =>
    once(
      (sent: Notification) => ({ id: sent.id, notification: notificationWire(may)(sent) }),
      async (also) => {
        const channel = await deps.features.channels.get(caller.user.id, params.id)
        const sent = await deps.features.channels.test(channel, deps.features.testNotice(channel.name), also)
        deps.features.wakeNotifications(caller.user.id)
        return sent
      },
    ),
  'GET /api/platform/channels/{id}/notifications': async ({ deps, caller, params, query, may }) =>
    listed(
      'notifications',
      await deps.features.channels.log(
        (await deps.features.channels.get(caller.user.id, params.id)).id,
        pageOf(query, 100),
      ),
      notificationWire(may),
    ),
  'POST /api/platform/channels/notifications/{id}/resend': ({ deps, caller, params, once, may }) =>
    once(
      (sent: Notification) => ({ id: sent.id, notification: notificationWire(may)(sent) }),
      async (also) => {
        const sent = await deps.features.channels.resend(caller.user.id, params.id, also)
        deps.features.wakeNotifications(caller.user.id)
        return sent
      },
    ),
}
