// Alerts of the caller, and their firings.

import { Type, type Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  CHANNELS,
  FREQUENCIES,
  KINDS,
  STATES,
  withoutMemory,
  type Alert,
  type Firing,
} from '../alerts/alert.ts'
import { OPERATORS } from '../alerts/condition.ts'
import { LETTER_STATES, type Letter } from '../mail/mail.ts'
import { access, type ApiDeps } from './access.ts'
import {
  Instant,
  doc,
  idOf,
  instantOf,
  Listed,
  listed,
  nullable,
  oneOf,
  PageQuery,
  pageOf,
  Text,
  Time,
  Prose,
} from './schemas.ts'

const AlertBody = Type.Object({
  name: Type.Optional(Text(200, 0)),
  symbol: Text(60),
  exchange: Text(30),
  interval: Text(10),
  kind: oneOf(KINDS),
  op: Type.Optional(oneOf(OPERATORS)),
  price: Type.Optional(nullable(Type.Number())),
  price2: Type.Optional(nullable(Type.Number())),
  percent: Type.Optional(nullable(Type.Number())),
  bars: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  scriptId: Type.Optional(nullable(idOf('scr'))),
  inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  plot: Type.Optional(Text(200, 0)),
  channels: Type.Array(oneOf(CHANNELS), { maxItems: 10 }),
  webhookIds: Type.Optional(Type.Array(idOf('wh'), { maxItems: 10 })),
  frequency: Type.Optional(oneOf(FREQUENCIES)),
  message: Type.Optional(Prose(2000, 0)),
  cooldownSec: Type.Optional(Type.Integer({ minimum: 0, maximum: 31_536_000 })),
  expiresAt: Type.Optional(nullable(Instant)),
})

export const AlertWire = Type.Object(
  {
    id: idOf('al'),
    name: Type.String(),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    kind: oneOf(KINDS),
    op: nullable(oneOf(OPERATORS)),
    price: nullable(Type.Number()),
    price2: nullable(Type.Number()),
    percent: nullable(Type.Number()),
    bars: Type.Integer(),
    scriptId: nullable(Type.String()),
    inputs: Type.Record(Type.String(), Type.Unknown()),
    plot: Type.String(),
    channels: Type.Array(oneOf(CHANNELS)),
    webhookIds: Type.Array(Type.String()),
    frequency: oneOf(FREQUENCIES),
    message: Type.String(),
    cooldownSec: Type.Integer(),
    expiresAt: nullable(Time),
    state: oneOf(STATES),
    problem: nullable(Type.String()),
    firings: Type.Integer(),
    lastFiredAt: nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Alert' },
)

export const FiringWire = Type.Object(
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
    channels: Type.Array(oneOf(CHANNELS)),
  },
  { $id: 'Firing' },
)

const LetterWire = Type.Object(
  {
    id: idOf('mail'),
    to: Type.String(),
    subject: Type.String(),
    text: Type.String(),
    state: oneOf(LETTER_STATES),
    attempts: Type.Integer(),
    nextAt: nullable(Time),
    problem: nullable(Type.String()),
    createdAt: Time,
    sentAt: nullable(Time),
  },
  { $id: 'Letter' },
)

const letterWire = ({ ownerId: _owner, ...shown }: Letter): Static<typeof LetterWire> => shown

const wire = (alert: Alert): Static<typeof AlertWire> => {
  const { inputs, channels, webhookIds, ...shown } = withoutMemory(alert)
  return {
    ...shown,
    inputs: { ...inputs },
    channels: [...channels],
    webhookIds: [...webhookIds],
  }
}
const firingWire = ({ ownerId: _owner, channels, ...shown }: Firing): Static<typeof FiringWire> => ({
  ...shown,
  channels: [...channels],
})

export function alertRoutes(deps: ApiDeps) {
  const { alerts, mail } = deps.rooms
  /** Mail that cannot leave yet waits in the outbox; whoever asked for it should know. */
  const warningsFor = (alert: Alert) =>
    alert.channels.includes('email') && !mail.configured
      ? {
          warnings: [
            {
              code: 'channel_not_configured',
              path: `/channels/${alert.channels.indexOf('email')}`,
              message: 'No mail server is set (SMTP_URL). Mail is kept in the outbox until one is.',
            },
          ],
        }
      : {}

  return new Elysia({ prefix: '/api/platform/alerts', tags: ['Alerts'], normalize: false })
    .use(access(deps))
    .post(
      '',
      async ({ caller, body, once }) => {
        const fields = { ...body, expiresAt: instantOf(body.expiresAt, '/expiresAt') }
        return once(
          (alert: Alert) => ({ id: alert.id, alert: wire(alert), ...warningsFor(alert) }),
          (also) => alerts.create(caller.user.id, fields, also),
        )
      },
      {
        access: 'session alerts:write',
        body: AlertBody,
        detail: doc(
          'Create an alert',
          { id: idOf('al'), alert: AlertWire },
          'At least one of `channels`; `webhookIds` are your own. Every bar behind the newest one is looked at once, however late: cooldown, `once_per_minute`, throttling and `expiresAt` are judged by the times at which bars closed, so that bars that come all at once fire what they fire one by one.',
        ),
      },
    )
    .get(
      '',
      ({ caller, query }) =>
        listed('alerts', alerts.list(caller.user.id, pageOf(query, alerts.pageMax)), wire),
      {
        access: 'session alerts:read',
        query: Type.Object(PageQuery),
        detail: doc('List alerts', Listed('alerts', AlertWire)),
      },
    )
    .get(
      '/firings',
      ({ caller, query }) =>
        listed('firings', alerts.firingsOf(caller.user.id, pageOf(query, 500)), firingWire),
      {
        access: 'session alerts:read',
        query: Type.Object(PageQuery),
        detail: doc('The newest firings of all alerts', Listed('firings', FiringWire)),
      },
    )
    .get(
      '/outbox',
      ({ caller, query }) => listed('letters', mail.list(caller.user.id, pageOf(query, 500)), letterWire),
      {
        access: 'session alerts:read',
        query: Type.Object(PageQuery),
        detail: doc(
          'The newest mails of alerts',
          Listed('letters', LetterWire),
          'Without a mail server (SMTP_URL) they wait here.',
        ),
      },
    )
    .get('/:id', ({ caller, params }) => ({ alert: wire(alerts.get(caller.user.id, params.id)) }), {
      access: { to: 'session alerts:read', etag: true },
      detail: doc('One alert', { alert: AlertWire }),
    })
    .get(
      '/:id/firings',
      ({ caller, params, query }) =>
        listed('firings', alerts.firings(caller.user.id, params.id, pageOf(query, 500)), firingWire),
      {
        access: 'session alerts:read',
        query: Type.Object(PageQuery),
        detail: doc('Firings of an alert', Listed('firings', FiringWire)),
      },
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => {
        const { expiresAt, ...rest } = body
        const fields =
          expiresAt === undefined ? rest : { ...rest, expiresAt: instantOf(expiresAt, '/expiresAt') }
        const alert = await alerts.change(caller.user.id, params.id, fields)
        return { alert: wire(alert), ...warningsFor(alert) }
      },
      {
        access: 'session alerts:write',
        body: Type.Object({
          ...Type.Partial(AlertBody).properties,
          state: Type.Optional(oneOf(['active', 'paused'] as const)),
        }),
        detail: doc('Change, pause or resume an alert', { alert: AlertWire }),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await alerts.remove(caller.user.id, params.id)
        return { id: params.id }
      },
      { access: 'session alerts:write', detail: doc('Delete an alert', { id: idOf('al') }) },
    )
}
