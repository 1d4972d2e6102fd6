// Forward runs: a strategy that is followed on a market from now on.

import { Type } from '@sinclair/typebox'
import { FORWARD_STATES } from './job-state.ts'
import type { OperationTable } from './operation.ts'
import { Report, ReportOrder } from './report.ts'
import { Track } from './track.ts'
import {
  asksDay,
  hasDay,
  hasGiven,
  idOf,
  Listed,
  namesSeries,
  nullable,
  oneOf,
  PageQuery,
  Raw,
  Text,
  Time,
  type Wire,
} from './schema.ts'

const ForwardRunBody = Type.Object({
  name: Text(200),
  ...namesSeries,
  source: Raw(1 << 20),
  inputs: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values by the input’s title or variable name, as for a backtest.',
    }),
  ),
  overrides: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Boolean()])),
  ),
  ...asksDay,
  warmup: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 20_000,
      description:
        'Bars of the past that the script sees first, so that its averages have settled: 1,000 if not given. It trades on them as in a backtest, and may begin with a position.',
    }),
  ),
  provisional: Type.Optional(
    Type.Boolean({
      description:
        'Whether it also tells, every two seconds at most, what the bar that is not over would do to its orders if it closed now. Such events are `provisional`, and `confirmed` or `retracted` later.',
    }),
  ),
})
export type ForwardRunBody = Wire<typeof ForwardRunBody>

const WaitingOrder = Type.Object({
  id: Type.String({ description: 'The order’s id in the script.' }),
  type: oneOf(['market', 'limit', 'stop', 'trail']),
  side: oneOf(['buy', 'sell']),
  qty: Type.Number({ description: 'In contracts.' }),
  price: nullable(Type.Number({ description: 'null: at the market.' })),
})
export type WaitingOrder = Wire<typeof WaitingOrder>

const ForwardRun = Type.Object(
  {
    id: idOf('fwd'),
    name: Type.String(),
    exchange: Type.String(),
    symbol: Type.String(),
    interval: Type.String(),
    state: oneOf(FORWARD_STATES),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    createdAt: Time,
    stoppedAt: nullable(Time),
    warmup: Type.Integer({ description: 'Bars of the past before the first that it followed.' }),
    bars: Type.Integer({ description: 'Closed bars that it has followed.' }),
    first: nullable(Time),
    last: Type.Integer({ description: 'The newest bar that it has seen, UTC ms.' }),
    position: Type.Number({ description: 'In contracts; negative when short.' }),
    equity: Type.Number({ description: 'At the close of the newest bar, in `currency`.' }),
    startEquity: Type.Number({ description: 'As it began, after the warm-up.' }),
    currency: Type.String(),
    trades: Type.Integer({ description: 'Closed trades, those of the warm-up among them.' }),
    fills: Type.Integer({ description: 'Orders that filled since it began.' }),
    waiting: Type.Array(WaitingOrder, { description: 'Orders that wait for the next bar.' }),
    provisional: Type.Boolean({ description: 'Whether it tells of bars that are not over, too.' }),
    ...hasDay,
    ...hasGiven,
  },
  { $id: 'ForwardRun' },
)
export type ForwardRun = Wire<typeof ForwardRun>

const OrderStatus = oneOf(
  ['final', 'provisional', 'confirmed', 'retracted'],
  '`final`: of a closed bar. Only where the run was begun with `provisional`: `provisional` of a bar that is not over, `confirmed` when it closed so, `retracted` when it is not so any more.',
)

/** The `data` of events about its orders. */
export const ORDER_EVENT = {
  forwardRunId: idOf('fwd'),
  sequence: Type.Integer({
    description:
      'Counts the events of the run from 1, of all three kinds: an event that is tried again may arrive behind later ones.',
  }),
  name: Type.String(),
  exchange: Type.String(),
  symbol: Type.String(),
  interval: Type.String(),
  barTime: Type.String({ description: 'The bar it happened on, ISO 8601.' }),
  orderId: Type.String({
    description:
      'An order that is placed again with the same `orderId`, `side` and `type` replaces the one before, and no `order.cancelled` comes for that. Only with pyramiding may the exits of several entries wait side by side under one.',
  }),
  type: nullable(
    oneOf(
      ['market', 'limit', 'stop', 'trail'],
      'null of a fill, and of an order that is placed and fills on one bar, which replaces nothing that waits.',
    ),
  ),
  side: oneOf(['buy', 'sell']),
  qty: Type.Number(),
  price: nullable(Type.Number()),
  status: OrderStatus,
  position: Type.Number({ description: 'After it; after the bar for an order that waits or was withdrawn.' }),
  comment: nullable(Type.String()),
  alertMessage: nullable(Type.String()),
} as const

const ForwardOrder = Type.Object(
  {
    event: oneOf(['order.placed', 'order.filled', 'order.cancelled']),
    time: Time,
    orderId: ORDER_EVENT.orderId,
    type: ORDER_EVENT.type,
    side: ORDER_EVENT.side,
    qty: ORDER_EVENT.qty,
    price: ORDER_EVENT.price,
    status: ORDER_EVENT.status,
    position: ORDER_EVENT.position,
    comment: ORDER_EVENT.comment,
    alertMessage: ORDER_EVENT.alertMessage,
  },
  { $id: 'ForwardOrder' },
)
export type ForwardOrder = Wire<typeof ForwardOrder>

const Divergence = Type.Object(
  {
    equal: Type.Boolean({
      description: 'Whether a backtest of the bars as they are stored now trades alike.',
    }),
    said: Type.String({ description: 'What differs and why, as a sentence.' }),
    corrected: Type.Integer({ description: 'Bars that were stored otherwise when the run saw them.' }),
    bars: Type.Array(
      Type.Object({
        time: Time,
        seen: Type.Array(Type.Number(), { description: 'Open, high, low, close, volume.' }),
        now: nullable(Type.Array(Type.Number(), { description: 'null: the bar is gone.' })),
      }),
      { description: 'The first fifty of them.' },
    ),
    onlyForward: Type.Array(ReportOrder, { description: 'Fills that a backtest has not; the first twenty.' }),
    onlyBacktest: Type.Array(ReportOrder, { description: 'Fills that the run has not; the first twenty.' }),
    equity: Type.Number({ description: 'Of the run.' }),
    backtestEquity: Type.Number(),
  },
  { $id: 'Divergence' },
)
export type Divergence = Wire<typeof Divergence>

export const FORWARD_RUNS = {
  'POST /api/platform/forward-runs': {
    access: 'session backtests:write',
    summary: 'Follow a strategy from now on',
    description:
      'On paper: it sees each bar of the market once it is closed, by the same engine as a backtest, for as long as it is not stopped. What it did is never changed afterwards: it keeps the bars as it saw them, and its report is byte for byte that of a backtest of these bars. Its orders are events for receivers that are registered for `order.placed`, `order.filled` or `order.cancelled`. Its market has to be followed, or bars to come in another way; a bar is closed once the next one is there, or where a stream brings it. Fifty of a user run at a time or are kept.',
    body: ForwardRunBody,
    answer: { id: idOf('fwd'), forwardRun: ForwardRun },
  },
  'GET /api/platform/forward-runs': {
    access: 'session backtests:read',
    summary: 'List forward runs, newest first',
    query: PageQuery,
    answer: Listed('forwardRuns', ForwardRun),
  },
  'GET /api/platform/forward-runs/{id}': {
    access: 'session backtests:read',
    summary: 'One forward run',
    description: 'With its position, equity and waiting orders at the close of the newest bar.',
    answer: { forwardRun: ForwardRun },
  },
  'GET /api/platform/forward-runs/{id}/report': {
    access: 'session backtests:read',
    summary: 'The report of a forward run',
    description:
      'Of the bars as it saw them, the warm-up among them: that of a backtest of the same bars, timings apart.',
    answer: { report: Report },
  },
  'GET /api/platform/forward-runs/{id}/tracks': {
    access: 'session backtests:read',
    summary: 'The tracks of a forward run',
    description:
      'Equity, markers and plots over the bars as it saw them, the warm-up among them: those of a backtest of the same bars. `bars=stored` answers those of a backtest of the bars as they are stored now, and none where they are gone.',
    query: Type.Object({ bars: Type.Optional(oneOf(['seen', 'stored'])) }),
    answer: { tracks: Type.Array(Track) },
  },
  'GET /api/platform/forward-runs/{id}/orders': {
    access: 'session backtests:read',
    summary: 'What became of the orders of a forward run',
    description: 'Since it began, oldest first: the newest five thousand.',
    answer: { orders: Type.Array(ForwardOrder) },
  },
  'GET /api/platform/forward-runs/{id}/divergence': {
    access: 'session backtests:read',
    summary: 'How a backtest of today differs from a forward run',
    description:
      'Runs a backtest over the bars as they are stored now and says which bars were corrected since the run saw them, and which fills differ.',
    answer: { divergence: Divergence },
  },
  'POST /api/platform/forward-runs/{id}/stop': {
    access: 'session backtests:write',
    summary: 'Stop a forward run',
    description: 'It is kept as it is, and does not go on again. One that is over stays as it is.',
    answer: { id: idOf('fwd'), forwardRun: ForwardRun },
  },
  'DELETE /api/platform/forward-runs/{id}': {
    access: 'session backtests:write',
    summary: 'Stop and remove a forward run',
    description: 'With the bars that it saw and its orders.',
    answer: { id: idOf('fwd'), deleted: Type.Boolean() },
  },
} as const satisfies OperationTable
