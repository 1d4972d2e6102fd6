// Channels: ways to be told beside e-mail and webhooks. Each was set up once, and alerts name it by its id.

import { Type } from '@sinclair/typebox'
import type { LinkAction } from './link.ts'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, nullable, oneOf, PageQuery, Raw, Text, Time, type Wire } from './schema.ts'
import { ATTEMPT, PARCEL } from './webhook.ts'
import { words } from '../lib/words.ts'

export const CHANNEL_KINDS = words('ntfy telegram discord slack gotify pushover matrix http push')
export type ChannelKindName = (typeof CHANNEL_KINDS)[number]

const Kind = oneOf(CHANNEL_KINDS)

const Quiet = Type.Object(
  { from: Text(5), to: Text(5), timezone: Text(60) },
  {
    description:
      'Hours in which the channel is silent, as `22:00`, by the clocks of a zone like `Europe/Berlin`; `from` may be later than `to`. What fires in them is held, and sent as one message when they are over.',
  },
)
const DigestMinutes = Type.Integer({
  minimum: 0,
  maximum: 1440,
  description:
    'At most one message in as many minutes: the first alert goes out at once, and what fires within that time after it is joined into the next message. 0 = each alert at once.',
})

export const PICTURE_CHOICES = ['dark', 'light', 'off'] as const
export type PictureChoice = (typeof PICTURE_CHOICES)[number]
const Picture = oneOf(
  PICTURE_CHOICES,
  'How the chart looks that goes with an alert, up to the bar that fired and with the level; `off` = none does. Slack, Gotify and `{{pictureUrl}}` of HTTP show it by an address of this server, so they need PUBLIC_URL. A notice whose picture cannot be made, or is refused, goes without.',
)

const Channel = Type.Object(
  {
    id: idOf('ch'),
    name: Type.String(),
    kind: Kind,
    settings: Type.Record(Type.String(), Type.String(), {
      description: 'What is not secret of its settings.',
    }),
    secrets: Type.Array(Type.String(), { description: 'Names of the secret settings that are set.' }),
    quiet: nullable(Quiet),
    digestMinutes: DigestMinutes,
    picture: Picture,
    status: oneOf(['active', 'disabled']),
    disabledReason: nullable(oneOf(['owner', 'gone', 'failing', 'secret_lost'])),
    createdAt: Time,
    updatedAt: Time,
    lastSuccessAt: nullable(Time),
    failingSince: nullable(Time),
  },
  { $id: 'Channel' },
)
export type Channel = Wire<typeof Channel>

const ChannelKind = Type.Object(
  {
    kind: Kind,
    label: Type.String(),
    fields: Type.Array(
      Type.Object({
        name: Type.String(),
        label: Type.String(),
        hint: Type.String({ description: 'Where the value is found.' }),
        secret: Type.Boolean(),
        required: Type.Boolean(),
        lines: Type.Boolean({ description: 'It may have several lines.' }),
        default: Type.String(),
      }),
    ),
  },
  { $id: 'ChannelKind' },
)
export type ChannelKind = Wire<typeof ChannelKind>

const Notification = Type.Object(
  {
    id: idOf('ntc'),
    channelId: idOf('ch'),
    title: nullable(Type.String()),
    text: nullable(Type.String()),
    ...PARCEL,
    attempts: Type.Array(
      Type.Object({
        ...ATTEMPT,
        note: Type.Optional(
          Type.String({
            description:
              'Why it went without a picture of the chart, if it should have had one; with the failure `not_the_service` or `wrong_setting`: why the answer does not count, whatever its status says.',
          }),
        ),
      }),
    ),
    state: oneOf(['pending', 'delivered', 'failed', 'cancelled', 'joined']),
    digestId: nullable(
      Type.String({
        description: 'In the state `joined`: the notification that was sent for it and others.',
      }),
    ),
    joined: Type.Integer({
      description: 'How many notifications it was sent for; 1 for one that is no digest.',
    }),
  },
  { $id: 'Notification' },
)
export type Notification = Wire<typeof Notification>

/** What a browser is told by web push, encrypted; its service worker reads it. */
export interface PushMessage {
  readonly id: string
  readonly title: string
  readonly text: string
  /** The page to open, within the dashboard. */
  readonly path: string
  readonly at: number
  /** Of the chart, within the dashboard. */
  readonly picture?: string
  /** What can be done at a tap; see `POST /api/links/follow`. */
  readonly actions?: readonly {
    readonly action: LinkAction
    readonly label: string
    readonly token: string
  }[]
}

const Settings = Type.Record(Type.String({ maxLength: 40 }), Raw(4000, 0), {
  description: 'By field; `GET /api/platform/channels/kinds` lists the fields of every kind.',
})

const MANNER = {
  quiet: Type.Optional(nullable(Quiet)),
  digestMinutes: Type.Optional(DigestMinutes),
  picture: Type.Optional(Picture),
}

const ABOUT_TEXT =
  '`title`, `text` and the `excerpt` of answers, which may repeat them, are null for a token without the scope `alerts:read`. Links to pause or acknowledge are left out of every excerpt.'

export const CHANNELS = {
  'GET /api/platform/channels/kinds': {
    access: 'session webhooks:read',
    summary: 'Kinds of channels, and what each needs',
    answer: { kinds: Type.Array(ChannelKind) },
  },
  'GET /api/platform/channels/push-key': {
    access: 'session webhooks:read',
    summary: 'The key for which a browser subscribes',
    description:
      '`applicationServerKey` of `PushManager.subscribe`. What that answers are the settings of a channel of the kind `push`: `endpoint`, and `p256dh` and `auth` of its keys. The pair is made at first use and stays.',
    answer: { publicKey: Type.String({ description: 'A point on P-256, uncompressed, as base64url.' }) },
  },
  'POST /api/platform/channels': {
    access: 'session webhooks:write',
    summary: 'Set up a channel',
    description:
      'Secret settings are sealed and never shown again. Alerts name channels in `channelIds`. Addresses are bound by the same rules as webhooks.',
    body: Type.Object({ name: Text(200), kind: Kind, settings: Settings, ...MANNER }),
    answer: { id: idOf('ch'), channel: Channel },
  },
  'GET /api/platform/channels': {
    access: 'session webhooks:read',
    summary: 'List channels',
    query: PageQuery,
    answer: Listed('channels', Channel),
  },
  'GET /api/platform/channels/{id}': {
    access: 'session webhooks:read',
    summary: 'One channel',
    answer: { channel: Channel },
  },
  'PATCH /api/platform/channels/{id}': {
    access: 'session webhooks:write',
    summary: 'Change a channel',
    description:
      'What is not given stays as it is; an empty setting gets its default. If the address leads to another server, the secret settings have to be given again: the new one is not sent those of the old. Enabling a channel forgets its failures. If the key of the server was lost (`secret_lost`), every secret setting has to be given again, which enables the channel too.',
    body: Type.Object({
      name: Type.Optional(Text(200)),
      settings: Type.Optional(Settings),
      ...MANNER,
      status: Type.Optional(oneOf(['active', 'disabled'])),
    }),
    answer: { channel: Channel },
  },
  'DELETE /api/platform/channels/{id}': {
    access: 'session webhooks:write',
    summary: 'Delete a channel',
    description: 'What waits for it is cancelled. Alerts that name it are told through their other ways.',
    answer: { id: idOf('ch') },
  },
  'POST /api/platform/channels/{id}/test': {
    access: 'session webhooks:write',
    summary: 'Send a test notification',
    answer: { id: idOf('ntc'), notification: Notification },
  },
  'GET /api/platform/channels/{id}/notifications': {
    access: 'session webhooks:read',
    summary: 'Notifications of a channel',
    description: ABOUT_TEXT,
    query: PageQuery,
    answer: Listed('notifications', Notification),
  },
  'POST /api/platform/channels/notifications/{id}/resend': {
    access: 'session webhooks:write',
    summary: 'Send a notification again',
    answer: { id: idOf('ntc'), notification: Notification },
  },
} as const satisfies OperationTable
