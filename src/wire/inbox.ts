// Inboxes: addresses to which TradingView, or anything that can post, sends its alerts, so that a half-moved user has all
// of them in one place.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, nullable, oneOf, PageQuery, Text, Time, type Wire } from './schema.ts'

const Senders = oneOf(['anyone', 'tradingview'])

const Inbox = Type.Object(
  {
    id: idOf('inb'),
    name: Type.String(),
    senders: Senders,
    channelIds: Type.Array(Type.String(), { description: 'Channels to which everything is forwarded.' }),
    received: Type.Integer({ description: 'How many messages have come.' }),
    lastAt: nullable(Time),
    circleAt: nullable(
      Type.Integer({
        description:
          'When a message was last refused, in ms UTC, that had come through five inboxes and so goes in a circle.',
      }),
    ),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Inbox' },
)
export type Inbox = Wire<typeof Inbox>

const InboxMessage = Type.Object(
  {
    id: idOf('inm'),
    inboxId: idOf('inb'),
    text: Type.String(),
    receivedAt: Time,
  },
  { $id: 'InboxMessage' },
)
export type InboxMessage = Wire<typeof InboxMessage>

const InboxBody = Type.Object({
  name: Text(200),
  senders: Type.Optional(Senders),
  channelIds: Type.Optional(Type.Array(idOf('ch'), { maxItems: 10 })),
})

export const INBOXES = {
  'POST /api/platform/inboxes': {
    access: 'session webhooks:write',
    summary: 'Make an inbox',
    description:
      '`path` is where to post: `/api/hooks/…` with a secret in it that is shown once and not stored. `senders: tradingview` takes messages only from the addresses that TradingView publishes.',
    body: InboxBody,
    answer: { id: idOf('inb'), path: Type.String(), inbox: Inbox },
  },
  'GET /api/platform/inboxes': {
    access: 'session webhooks:read',
    summary: 'List inboxes',
    query: PageQuery,
    answer: Listed('inboxes', Inbox),
  },
  'PATCH /api/platform/inboxes/{id}': {
    access: 'session webhooks:write',
    summary: 'Change an inbox',
    body: Type.Partial(InboxBody),
    answer: { inbox: Inbox },
  },
  'DELETE /api/platform/inboxes/{id}': {
    access: 'session webhooks:write',
    summary: 'Delete an inbox and its messages',
    answer: { id: idOf('inb') },
  },
  'GET /api/platform/inboxes/{id}/messages': {
    access: 'session alerts:read',
    summary: 'What an inbox has received',
    description: 'The newest 500, newest first.',
    query: PageQuery,
    answer: Listed('messages', InboxMessage),
  },
  'POST /api/hooks/{secret}': {
    access: 'none',
    summary: 'Send a message to an inbox',
    description:
      'For TradingView and whatever else can post: text or JSON of at most 16 kB. Of a JSON object the text of `message` or `text` is what is forwarded, if there is one. The limit of anonymous requests holds for each inbox, wherever they come from; with a wrong secret it holds for each address.',
    answer: { id: idOf('inm') },
  },
} as const satisfies OperationTable
