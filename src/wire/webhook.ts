// Receivers of events, and their deliveries.

import { Type } from '@sinclair/typebox'
import { RECEIVER_EVENTS, type ReceiverEvent } from './event.ts'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, nullable, oneOf, PageQuery, Raw, Text, Time, type Wire } from './schema.ts'

/** What a receiver may ask for. */
export const WEBHOOK_EVENTS = [
  'backtest.reportReady',
  'alert.triggered',
  'order.placed',
  'order.filled',
  'order.cancelled',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]
const Event = oneOf(WEBHOOK_EVENTS)

const Webhook = Type.Object(
  {
    id: idOf('wh'),
    name: Type.String(),
    url: Type.String(),
    events: Type.Array(Event),
    status: oneOf(['active', 'disabled']),
    disabledReason: nullable(oneOf(['owner', 'gone', 'failing', 'secret_lost'])),
    rotating: Type.Boolean(),
    createdAt: Time,
    updatedAt: Time,
    lastSuccessAt: nullable(Time),
    failingSince: nullable(Time),
  },
  { $id: 'Webhook' },
)
export type Webhook = Wire<typeof Webhook>

export const ATTEMPT = {
  at: Time,
  status: Type.Integer(),
  durationMs: Type.Integer(),
  failure: nullable(Type.String()),
  excerpt: nullable(Type.String()),
}

/** How far something has come that is handed over to a receiver or a channel. */
export const PARCEL = {
  state: oneOf(['pending', 'delivered', 'failed', 'cancelled']),
  attempts: Type.Array(Type.Object(ATTEMPT)),
  nextAt: nullable(Time),
  createdAt: Time,
  resendOf: nullable(Type.String()),
}

const deliveryOf = <E extends ReceiverEvent>(event: E, ...others: readonly E[]) =>
  Type.Object({
    id: idOf('msg'),
    webhookId: idOf('wh'),
    event: oneOf([event, ...others]),
    data: nullable(RECEIVER_EVENTS[event]),
    ...PARCEL,
  })

const Delivery = Type.Union(
  [
    deliveryOf('backtest.reportReady'),
    deliveryOf('alert.triggered'),
    deliveryOf('order.placed', 'order.filled', 'order.cancelled'),
    deliveryOf('webhook.test'),
  ],
  { $id: 'Delivery' },
)
export type Delivery = Wire<typeof Delivery>

const WebhookBody = Type.Object({
  name: Text(200),
  url: Raw(2000),
  // Any text here: the room checks the events, and its refusal names those that exist.
  events: Type.Array(Text(100), { minItems: 1, maxItems: 20 }),
})

const ABOUT_DATA =
  '`data`, and the `excerpt` of answers, which may repeat it, are null for a token that may not read what the event is about: a firing requires `alerts:read`, a report or an order of a forward run `backtests:read`.'

export const WEBHOOKS = {
  'POST /api/platform/webhooks': {
    access: 'session webhooks:write',
    summary: 'Register a webhook',
    description: 'The signing secret is shown once.',
    body: WebhookBody,
    answer: { id: idOf('wh'), secret: Type.String(), webhook: Webhook },
  },
  'GET /api/platform/webhooks': {
    access: 'session webhooks:read',
    summary: 'List webhooks',
    query: PageQuery,
    answer: Listed('webhooks', Webhook),
  },
  'GET /api/platform/webhooks/deliveries': {
    access: 'session webhooks:read',
    summary: 'The newest deliveries of all webhooks',
    description: ABOUT_DATA,
    query: PageQuery,
    answer: Listed('deliveries', Delivery),
  },
  'POST /api/platform/webhooks/deliveries/{id}/resend': {
    access: 'session webhooks:write',
    summary: 'Send a delivery again',
    answer: { id: idOf('msg'), delivery: Delivery },
  },
  'GET /api/platform/webhooks/{id}': {
    access: 'session webhooks:read',
    summary: 'One webhook',
    answer: { webhook: Webhook },
  },
  'GET /api/platform/webhooks/{id}/deliveries': {
    access: 'session webhooks:read',
    summary: 'Deliveries of a webhook',
    description: ABOUT_DATA,
    query: PageQuery,
    answer: Listed('deliveries', Delivery),
  },
  'PATCH /api/platform/webhooks/{id}': {
    access: 'session webhooks:write',
    summary: 'Change a webhook',
    description: 'Enabling one forgets its failures.',
    body: Type.Object({
      ...Type.Partial(WebhookBody).properties,
      status: Type.Optional(oneOf(['active', 'disabled'])),
    }),
    answer: { webhook: Webhook },
  },
  'POST /api/platform/webhooks/{id}/test': {
    access: 'session webhooks:write',
    summary: 'Send a test event',
    answer: { id: idOf('msg'), delivery: Delivery },
  },
  'POST /api/platform/webhooks/{id}/rotate': {
    access: 'session webhooks:write',
    summary: 'Make a new signing secret',
    description:
      'webhook-signature carries both for 24 hours; X-Service-Signature stays with the old one until the rotation is confirmed.',
    answer: { id: idOf('wh'), secret: Type.String(), webhook: Webhook },
  },
  'POST /api/platform/webhooks/{id}/rotate/confirm': {
    access: 'session webhooks:write',
    summary: 'The receiver knows the new secret',
    answer: { id: idOf('wh'), webhook: Webhook },
  },
  'DELETE /api/platform/webhooks/{id}': {
    access: 'session webhooks:write',
    summary: 'Delete a webhook',
    answer: { id: idOf('wh') },
  },
} as const satisfies OperationTable
