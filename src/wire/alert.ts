// Alerts of the caller, their firings, and the mails they were told by.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import {
  asksDay,
  hasDay,
  idOf,
  Instant,
  Listed,
  namesSeries,
  nullable,
  oneOf,
  PageQuery,
  Prose,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { words } from '../lib/words.ts'

/** Kinds of alerts. Those that run a stored script come last. */
export const ALERT_KINDS = ['price', 'volume', 'change', 'indicator', 'script', 'strategy'] as const
export type AlertKind = (typeof ALERT_KINDS)[number]
const Kind = oneOf(ALERT_KINDS)

export const OPERATORS = words(
  'above below crossing crossing_up crossing_down entering_channel exiting_channel inside_channel',
  'outside_channel moving_up moving_down moving_up_pct moving_down_pct',
)
export type Operator = (typeof OPERATORS)[number]
const Operator = oneOf(OPERATORS)

const Channel = oneOf(['email', 'webhook'])
export const FREQUENCIES = [
  'once',
  'once_per_bar',
  'once_per_bar_close',
  'once_per_minute',
  'every_time',
] as const
const Frequency = oneOf(
  FREQUENCIES,
  '`once`: then it rests. `once_per_bar`, `once_per_bar_close`, `once_per_minute`: when the condition comes true after it was not, and not again while it goes on to hold. `every_time`: on each bar where it holds, once a bar.',
)

const Escalation = Type.Object(
  { channelId: idOf('ch'), minutes: Type.Integer({ minimum: 1, maximum: 1440 }) },
  {
    description:
      'The channel that is told as well if nobody acknowledges a firing within so many minutes: by the link in its message, on the page of alerts, or by `POST /api/platform/alerts/firings/{id}/acknowledge`.',
  },
)

/** What is written as it is read. */
const SETTINGS = {
  price: nullable(Type.Number()),
  price2: nullable(Type.Number()),
  percent: nullable(Type.Number()),
  bars: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'How many bars back `moving_…` compares with.',
  }),
  scriptId: nullable(idOf('scr')),
  inputs: Type.Record(Type.String(), Type.Unknown(), {
    description: "Input values that differ from the script's defaults, by label.",
  }),
  webhookIds: Type.Array(idOf('wh'), {
    maxItems: 10,
    description: 'Empty = all webhooks that listen to alerts.',
  }),
  channelIds: Type.Array(idOf('ch'), {
    maxItems: 10,
    description: 'Channels that are told besides, such as a phone or a chat.',
  }),
  escalation: nullable(Escalation),
  frequency: Frequency,
  cooldownSec: Type.Integer({ minimum: 0, maximum: 31_536_000 }),
}

const AlertBody = Type.Object({
  ...asksDay,
  name: Type.Optional(Text(200, 0)),
  ...namesSeries,
  kind: Kind,
  op: Type.Optional(Operator),
  plot: Type.Optional(Text(200, 0)),
  channels: Type.Array(Channel, { maxItems: 10 }),
  message: Type.Optional(Prose(2000, 0)),
  ...Type.Partial(Type.Object(SETTINGS)).properties,
  expiresAt: Type.Optional(nullable(Instant)),
})

export const Alert = Type.Object(
  {
    id: idOf('al'),
    name: Type.String(),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    kind: Kind,
    op: nullable(Operator),
    plot: Type.String({
      description: 'Title of the plot that is compared with the price; empty = the first plot.',
    }),
    channels: Type.Array(Channel),
    message: Type.String(),
    ...SETTINGS,
    ...hasDay,
    expiresAt: nullable(Time),
    state: oneOf(['active', 'triggered', 'paused', 'expired', 'throttled', 'error']),
    problem: nullable(Type.String({ description: 'What went wrong, in the state `error`.' })),
    firings: Type.Integer({ description: 'How often it has fired.' }),
    lastFiredAt: nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Alert' },
)
export type Alert = Wire<typeof Alert>

export const Firing = Type.Object(
  {
    id: idOf('fir'),
    alertId: idOf('al'),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    barTime: Time,
    price: Type.Number(),
    message: Type.String(),
    firedAt: Time,
    channels: Type.Array(Channel),
    escalatesAt: nullable(Time),
    acknowledgedAt: nullable(Time),
  },
  { $id: 'Firing' },
)
export type Firing = Wire<typeof Firing>

const Letter = Type.Object(
  {
    id: idOf('mail'),
    to: Type.String(),
    subject: Type.String(),
    text: Type.String(),
    state: oneOf(['waiting', 'sent', 'failed']),
    attempts: Type.Integer(),
    nextAt: nullable(Time),
    problem: nullable(Type.String()),
    createdAt: Time,
    sentAt: nullable(Time),
  },
  { $id: 'Letter' },
)
export type Letter = Wire<typeof Letter>

export const ALERTS = {
  'POST /api/platform/alerts': {
    access: 'session alerts:write',
    summary: 'Create an alert',
    description:
      'At least one of `channels` or `channelIds`; `webhookIds` and `channelIds` are your own. Every bar that comes after the newest one is looked at once, however late: cooldown, `once_per_minute`, throttling and `expiresAt` go by the times at which bars closed, so that bars that arrive all at once fire the same as if they had arrived one by one.',
    body: AlertBody,
    answer: { id: idOf('al'), alert: Alert },
  },
  'GET /api/platform/alerts': {
    access: 'session alerts:read',
    summary: 'List alerts',
    query: PageQuery,
    answer: Listed('alerts', Alert),
  },
  'GET /api/platform/alerts/firings': {
    access: 'session alerts:read',
    summary: 'The newest firings of all alerts',
    query: PageQuery,
    answer: Listed('firings', Firing),
  },
  'POST /api/platform/alerts/firings/{id}/acknowledge': {
    access: 'session alerts:write',
    summary: 'Acknowledge a firing',
    description:
      'Somebody has seen it, so the channel of `escalation` is not told. Doing it again changes nothing.',
    answer: { firing: Firing },
  },
  'GET /api/platform/alerts/outbox': {
    access: 'session alerts:read',
    summary: 'The newest mails of alerts',
    description: 'Without a mail server (SMTP_URL) they wait here.',
    query: PageQuery,
    answer: {
      ...Listed('letters', Letter),
      mailServer: Type.Boolean({ description: 'Whether a mail server is set (SMTP_URL).' }),
    },
  },
  'GET /api/platform/alerts/{id}': {
    access: 'session alerts:read',
    summary: 'One alert',
    answer: { alert: Alert },
  },
  'GET /api/platform/alerts/{id}/firings': {
    access: 'session alerts:read',
    summary: 'Firings of an alert',
    query: PageQuery,
    answer: Listed('firings', Firing),
  },
  'PATCH /api/platform/alerts/{id}': {
    access: 'session alerts:write',
    summary: 'Change, pause or resume an alert',
    body: Type.Object({
      ...Type.Partial(AlertBody).properties,
      state: Type.Optional(oneOf(['active', 'paused'])),
    }),
    answer: { alert: Alert },
  },
  'DELETE /api/platform/alerts/{id}': {
    access: 'session alerts:write',
    summary: 'Delete an alert',
    answer: { id: idOf('al') },
  },
} as const satisfies OperationTable
