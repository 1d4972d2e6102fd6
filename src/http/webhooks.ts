// Webhooks: receivers and their deliveries, and the actions on both.

import { Elysia } from 'elysia'
import type { Scope } from '../wire/scopes.ts'
import {
  RECEIVERS_PER_USER,
  viewOf,
  type Receiver,
  type ReceiverSecret,
} from '../notify/webhooks/receivers.ts'
import type { Delivery } from '../notify/webhooks/deliveries.ts'
import type { Webhook as WebhookWire, Delivery as DeliveryWire } from '../wire/webhook.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

const wire = (receiver: Receiver): WebhookWire => {
  const { events, ...shown } = viewOf(receiver)
  return { ...shown, events: [...events] }
}
/** The scope that covers an event's data; a test has no data. */
const TOLD: Readonly<Record<Delivery['event'], Scope | null>> = {
  'alert.triggered': 'alerts:read',
  'backtest.reportReady': 'backtests:read',
  'order.placed': 'backtests:read',
  'order.filled': 'backtests:read',
  'order.cancelled': 'backtests:read',
  'webhook.test': null,
}

type May = (scope: Scope) => boolean

/** A log of deliveries must not show data that its reader could not read at the source. */
const deliveryWire =
  (may: May) =>
  ({ ownerId: _owner, begunAt: _begun, receiverId, attempts, data, ...shown }: Delivery) => {
    const scope = TOLD[shown.event]
    const mayRead = scope === null || may(scope)
    const told = mayRead ? data : null
    // A delivery's data depends on its event, which the outbox's type does not express; tests check the answers against the
    // schema.
    return {
      ...shown,
      data: told,
      webhookId: receiverId,
      attempts: attempts.map((one) => (mayRead ? one : { ...one, excerpt: null })),
    } as DeliveryWire
  }

const secretAnswer = ({ receiver, secret }: ReceiverSecret) => ({
  id: receiver.id,
  secret,
  webhook: wire(receiver),
})
const deliveryAnswer = (may: May) => (delivery: Delivery) => ({
  id: delivery.id,
  delivery: deliveryWire(may)(delivery),
})

export function webhookRoutes(deps: ApiDeps) {
  const { receivers, outbox, wakeDeliveries } = deps.features
  return new Elysia({ prefix: '/api/platform/webhooks', tags: ['Webhooks'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ caller, body, once }) => once(secretAnswer, (also) => receivers.create(caller.user.id, body, also)),
      route('POST /api/platform/webhooks', { secret: true }),
    )
    .get(
      '',
      async ({ caller, query }) =>
        listed('webhooks', await receivers.list(caller.user.id, pageOf(query, RECEIVERS_PER_USER)), wire),
      route('GET /api/platform/webhooks'),
    )
    .get(
      '/deliveries',
      async ({ caller, query, may }) =>
        listed('deliveries', await outbox.listOfOwner(caller.user.id, pageOf(query, 100)), deliveryWire(may)),
      route('GET /api/platform/webhooks/deliveries'),
    )
    .post(
      '/deliveries/:id/resend',
      ({ caller, params, once, may }) =>
        once(deliveryAnswer(may), async (also) => {
          const delivery = await outbox.resend(caller.user.id, params.id, also)
          wakeDeliveries(caller.user.id)
          return delivery
        }),
      route('POST /api/platform/webhooks/deliveries/{id}/resend'),
    )
    .get(
      '/:id',
      async ({ caller, params }) => ({ webhook: wire(await receivers.get(caller.user.id, params.id)) }),
      route('GET /api/platform/webhooks/{id}', { etag: true }),
    )
    .get(
      '/:id/deliveries',
      async ({ caller, params, query, may }) =>
        listed(
          'deliveries',
          await outbox.list((await receivers.get(caller.user.id, params.id)).id, pageOf(query, 100)),
          deliveryWire(may),
        ),
      route('GET /api/platform/webhooks/{id}/deliveries'),
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => ({
        webhook: wire(await receivers.change(caller.user.id, params.id, body)),
      }),
      route('PATCH /api/platform/webhooks/{id}'),
    )
    .post(
      '/:id/test',
      ({ caller, params, once, may }) =>
        once(deliveryAnswer(may), async (also) => {
          const delivery = await outbox.test(await receivers.get(caller.user.id, params.id), also)
          wakeDeliveries(caller.user.id)
          return delivery
        }),
      route('POST /api/platform/webhooks/{id}/test'),
    )
    .post(
      '/:id/rotate',
      ({ caller, params, once }) =>
        once(secretAnswer, (also) => receivers.rotate(caller.user.id, params.id, also)),
      route('POST /api/platform/webhooks/{id}/rotate', { secret: true }),
    )
    .post(
      '/:id/rotate/confirm',
      async ({ caller, params }) => ({
        id: params.id,
        webhook: wire(await receivers.confirmRotation(caller.user.id, params.id)),
      }),
      route('POST /api/platform/webhooks/{id}/rotate/confirm'),
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await receivers.remove(caller.user.id, params.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/webhooks/{id}'),
    )
}
