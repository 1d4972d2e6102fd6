// Events: those of the stream, which open pages follow, and those sent to receivers of webhooks. Receivers parse them, so a
// field is never renamed or removed.

import { Type, type TObject } from '@sinclair/typebox'
import { Alert, Firing } from './alert.ts'
import { RunState } from './backtest.ts'
import { FormingBar } from './bars.ts'
import { ORDER_EVENT } from './forward-run.ts'
import { ReportSummary } from './report.ts'
import { idOf, nullable, type Wire } from './schema.ts'
import { SweepState } from './sweep.ts'

const series = { exchange: Type.String(), symbol: Type.String(), interval: Type.String() }

/** The data of each kind of event of `GET /api/platform/stream`. */
export const STREAM_EVENTS = {
  bars: Type.Object({
    ...series,
    last: Type.Integer({ description: 'Opening time of the newest bar, UTC ms.' }),
    inserted: Type.Integer(),
    updated: Type.Integer(),
  }),
  forming: Type.Object({ ...series, bar: FormingBar }),
  firing: Firing,
  backtest: Type.Object({
    id: idOf('bt'),
    name: Type.String(),
    state: RunState,
    summary: nullable(ReportSummary),
  }),
  drawings: Type.Object({
    exchange: Type.String(),
    symbol: Type.String(),
    revision: Type.Integer(),
  }),
  layout: Type.Object({ id: idOf('lay'), updatedAt: Type.Integer() }),
  sweep: Type.Object({
    id: idOf('sw'),
    name: Type.String(),
    state: SweepState,
    tried: Type.Integer(),
    sentence: nullable(Type.String()),
  }),
} as const
export type StreamEvents = { readonly [E in keyof typeof STREAM_EVENTS]: Wire<(typeof STREAM_EVENTS)[E]> }

const OrderEvent = Type.Object(ORDER_EVENT, { $id: 'OrderEvent' })

/** The `data` of each kind of event that receivers are sent. */
export const RECEIVER_EVENTS = {
  'backtest.reportReady': Type.Object(
    {
      backtestId: idOf('bt'),
      name: Type.String(),
      symbol: Type.String(),
      interval: Type.String(),
      ...ReportSummary.properties,
    },
    { $id: 'ReportReady' },
  ),
  'alert.triggered': Type.Object(
    {
      alertId: Type.String({
        pattern: '^(al|scan)_[0-9a-zA-Z]{1,64}$',
        description: 'The alert, or the watched scan, that fired.',
      }),
      firingId: idOf('fir'),
      name: Type.String(),
      ...series,
      kind: Alert.properties.kind,
      op: Alert.properties.op,
      price: Alert.properties.price,
      price2: Alert.properties.price2,
      percent: Alert.properties.percent,
      barTime: Type.String({ description: 'ISO 8601.' }),
      close: Type.Number({ description: 'Of the bar it fired at.' }),
      plot: nullable(Type.String({ description: 'What an `indicator` alert compared.' })),
      value: nullable(Type.Number({ description: 'Of the plot, at that bar.' })),
      message: Type.String(),
      firedAt: Type.String({ description: 'ISO 8601.' }),
    },
    { $id: 'AlertTriggered' },
  ),
  'order.placed': OrderEvent,
  'order.filled': OrderEvent,
  'order.cancelled': OrderEvent,
  'webhook.test': Type.Object({ webhookId: idOf('wh'), name: Type.String() }, { $id: 'WebhookTest' }),
} as const
export type ReceiverEvent = keyof typeof RECEIVER_EVENTS
export type ReceiverData = { readonly [E in ReceiverEvent]: Wire<(typeof RECEIVER_EVENTS)[E]> }

/** The body posted to a receiver. */
export const deliveredBody = (event: ReceiverEvent): TObject =>
  Type.Object({
    event: Type.Literal(event),
    delivered_at: Type.String({ description: 'When this attempt was made, ISO 8601.' }),
    data: RECEIVER_EVENTS[event],
  })
