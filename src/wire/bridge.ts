// Bridges: the orders of a forward run, or the firings of an alert, as orders elsewhere.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { TEMPLATE_NAMES } from './order-templates.ts'
import { idOf, Listed, nullable, oneOf, PageQuery, Raw, Text, Time, type Wire } from './schema.ts'
import { PARCEL } from './webhook.ts'
import { words } from '../lib/words.ts'

const Side = nullable(oneOf(['buy', 'sell']))
const Amount = nullable(Type.Number({ exclusiveMinimum: 0, maximum: 1e15 }))

/** What its owner sets and sees. */
const SET = {
  name: Text(200),
  account: Text(200, 0),
  body: Raw(8000),
  honoursKeys: Type.Boolean({
    description:
      'Whether the receiver takes one Idempotency-Key once. If not, none is sent again whose answer is unknown.',
  }),
  dryRun: Type.Boolean({ description: 'Nothing is sent. Only a session ends it.' }),
  side: Side,
  qty: Amount,
  maxPosition: Amount,
  maxDayLoss: Amount,
  marketHours: Type.Boolean({ description: 'Orders wait until the market opens.' }),
  validSeconds: Type.Integer({
    minimum: 5,
    maximum: 604_800,
    description: 'After that it is not sent any more.',
  }),
  channelIds: Type.Array(idOf('ch'), { maxItems: 20 }),
}
const SOURCE = Type.String({
  pattern: '^(fwd|al)_[0-9a-zA-Z]{1,64}$',
  expected: 'the id of a forward run or an alert',
})
const Template = oneOf(TEMPLATE_NAMES)

const Bridge = Type.Object(
  {
    id: idOf('br'),
    template: Template,
    sourceId: SOURCE,
    exchange: Type.String(),
    symbol: Type.String(),
    interval: Type.String(),
    host: Type.String(),
    ...SET,
    expected: Type.Number({ description: 'Contracts that the strategy has, or has sent for.' }),
    held: Type.Number({
      description: 'Contracts by the orders that were taken; in a dry run, if they were.',
    }),
    difference: Type.Number({
      description: 'Contracts that the receiver lacks. What a limit holds back is none.',
    }),
    waitsForFlat: Type.Boolean({
      description: 'Until the strategy has left the position that it began with.',
    }),
    status: oneOf(['active', 'disabled']),
    disabledReason: nullable(oneOf(['owner', 'gone', 'failing', 'secret_lost'])),
    createdAt: Time,
    updatedAt: Time,
    lastSuccessAt: nullable(Time),
    failingSince: nullable(Time),
  },
  { $id: 'Bridge' },
)
export type Bridge = Wire<typeof Bridge>

const ORDER_REASONS = words('dry_run stopped size loss before_flat late nothing_to_do refused unsure test')

const BridgeOrder = Type.Object(
  {
    id: idOf('bo'),
    bridgeId: idOf('br'),
    sourceId: Type.String(),
    key: Type.String(),
    orderId: Type.String(),
    side: oneOf(['buy', 'sell']),
    qty: Type.Number(),
    barTime: Time,
    reason: nullable(oneOf(ORDER_REASONS)),
    state: PARCEL.state,
    attempts: PARCEL.attempts,
    nextAt: PARCEL.nextAt,
    createdAt: PARCEL.createdAt,
  },
  { $id: 'BridgeOrder' },
)
export type BridgeOrder = Wire<typeof BridgeOrder>

const SECRETS = { url: Type.Optional(Raw(2000)), secret: Type.Optional(Raw(2000)) }

export const BRIDGES = {
  'POST /api/platform/bridges': {
    access: 'session webhooks:write',
    summary: 'Make a bridge to a broker',
    description:
      'Of a forward run, or of an alert, which needs `side` and `qty`. It begins as a dry run; what is not given is as its template has it. Address and secret are sealed.',
    body: Type.Object({
      template: Template,
      sourceId: SOURCE,
      ...Type.Partial(Type.Object(SET)).properties,
      name: SET.name,
      ...SECRETS,
    }),
    answer: { id: idOf('br'), bridge: Bridge },
  },
  'GET /api/platform/bridges': {
    access: 'session webhooks:read',
    summary: 'List bridges',
    query: PageQuery,
    answer: { ...Listed('bridges', Bridge), stopped: Type.Boolean() },
  },
  'PATCH /api/platform/bridges/{id}': {
    access: 'session webhooks:write',
    summary: 'Change a bridge',
    description:
      '`held` says what the receiver really holds. `dryRun` turned on or off begins anew, without a position. Disabled, it sends nothing, and what waits is cancelled.',
    body: Type.Object({
      ...Type.Partial(Type.Object(SET)).properties,
      ...SECRETS,
      held: Type.Optional(Type.Number({ minimum: -1e15, maximum: 1e15 })),
      status: Type.Optional(oneOf(['active', 'disabled'])),
    }),
    answer: { bridge: Bridge },
  },
  'DELETE /api/platform/bridges/{id}': {
    access: 'session webhooks:write',
    summary: 'Delete a bridge',
    answer: { id: idOf('br') },
  },
  'POST /api/platform/bridges/{id}/test': {
    access: 'session webhooks:write',
    summary: 'Try a bridge',
    description: 'With an order named TEST for no contracts. A dry run answers it and sends nothing.',
    answer: { id: idOf('bo'), order: BridgeOrder, body: Type.String() },
  },
  'GET /api/platform/bridges/orders': {
    access: 'session webhooks:read',
    summary: 'Orders of all bridges, newest first',
    query: PageQuery,
    answer: Listed('orders', BridgeOrder),
  },
  'POST /api/platform/bridges/orders/{id}/resend': {
    access: 'session webhooks:write',
    summary: 'Send an order again, with its key',
    answer: { id: idOf('bo'), order: BridgeOrder },
  },
  'PUT /api/platform/bridges/switch': {
    access: 'session webhooks:write',
    summary: 'Stop all bridges, or let them go on',
    description: 'Stopped, none sends anything. Positions at the broker stay.',
    body: Type.Object({ stopped: Type.Boolean() }),
    answer: { stopped: Type.Boolean() },
  },
} as const satisfies OperationTable
