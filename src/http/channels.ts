// Channels: ways in which users are told of alerts, and the notifications that went through them.

import { Elysia } from 'elysia'
import { withoutLinks } from '../notify/channels/alert-links.ts'
import { CHANNELS_PER_USER, type Channel, type Notification } from '../notify/channels/channels.ts'
import { KINDS } from '../notify/channels/kinds.ts'
import {
  CHANNEL_KINDS,
  type Channel as ChannelWire,
  type Notification as NotificationWire,
} from '../wire/channel.ts'
import type { Scope } from '../wire/scopes.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

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

export function channelRoutes(deps: ApiDeps) {
  const { channels, wakeNotifications } = deps.features
  return new Elysia({ prefix: '/api/platform/channels', tags: ['Channels'], normalize: false })
    .use(access(deps))
    .get('/kinds', () => ({ kinds: KIND_LIST }), route('GET /api/platform/channels/kinds'))
    .get(
      '/push-key',
      async () => ({ publicKey: await deps.features.pushSigner.publicKey() }),
      route('GET /api/platform/channels/push-key'),
    )
    .post(
      '',
      ({ caller, body, once }) => once(channelAnswer, (also) => channels.create(caller.user.id, body, also)),
      route('POST /api/platform/channels'),
    )
    .get(
      '',
      async ({ caller, query }) =>
        listed('channels', await channels.list(caller.user.id, pageOf(query, CHANNELS_PER_USER)), wire),
      route('GET /api/platform/channels'),
    )
    .get(
      '/:id',
      async ({ caller, params }) => ({ channel: wire(await channels.get(caller.user.id, params.id)) }),
      route('GET /api/platform/channels/{id}', { etag: true }),
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => {
        const channel = await channels.change(caller.user.id, params.id, body)
        wakeNotifications(caller.user.id)
        return { channel: wire(channel) }
      },
      route('PATCH /api/platform/channels/{id}'),
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await channels.remove(caller.user.id, params.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/channels/{id}'),
    )
    .post(
      '/:id/test',
      ({ caller, params, once, may }) =>
        once(
          (sent: Notification) => ({ id: sent.id, notification: notificationWire(may)(sent) }),
          async (also) => {
            const channel = await channels.get(caller.user.id, params.id)
            const sent = await channels.test(channel, deps.features.testNotice(channel.name), also)
            wakeNotifications(caller.user.id)
            return sent
          },
        ),
      route('POST /api/platform/channels/{id}/test'),
    )
    .get(
      '/:id/notifications',
      async ({ caller, params, query, may }) =>
        listed(
          'notifications',
          await channels.log((await channels.get(caller.user.id, params.id)).id, pageOf(query, 100)),
          notificationWire(may),
        ),
      route('GET /api/platform/channels/{id}/notifications'),
    )
    .post(
      '/notifications/:id/resend',
      ({ caller, params, once, may }) =>
        once(
          (sent: Notification) => ({ id: sent.id, notification: notificationWire(may)(sent) }),
          async (also) => {
            const sent = await channels.resend(caller.user.id, params.id, also)
            wakeNotifications(caller.user.id)
            return sent
          },
        ),
      route('POST /api/platform/channels/notifications/{id}/resend'),
    )
}
