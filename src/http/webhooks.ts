// Webhooks: receivers and their deliveries, and the actions on both.

import type { Scope } from '../wire/scopes.ts'
import { RECEIVERS_PER_USER, type Receiver, type ReceiverSecret } from '../notify/webhooks/receivers.ts'
import type { Delivery } from '../notify/webhooks/deliveries.ts'
import type { Webhook as WebhookWire, Delivery as DeliveryWire } from '../wire/webhook.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

/** Everything except the secrets. */
const wire = ({
  ownerId: _owner,
  sealedSecret: _secret,
  sealedOldSecret,
  oldSecretUntil: _until,
  events,
  ...shown
}: Receiver): WebhookWire => ({ ...shown, rotating: sealedOldSecret !== null, events: [...events] })

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

export const WEBHOOK_ROUTES: Routes = {
  'POST /api/platform/webhooks': {
    secret: true,
    handle: ({ deps, caller, body, once }) =>
      once(secretAnswer, (also) => deps.features.receivers.create(caller.user.id, body, also)),
  },
  'GET /api/platform/webhooks': async ({ deps, caller, query }) =>
    listed(
      'webhooks',
      await deps.features.receivers.list(caller.user.id, pageOf(query, RECEIVERS_PER_USER)),
      wire,
    ),
  'GET /api/platform/webhooks/deliveries': async ({ deps, caller, query, may }) =>
    listed(
      'deliveries',
      await deps.features.outbox.list(caller.user.id, pageOf(query, 100)),
      deliveryWire(may),
    ),
  'POST /api/platform/webhooks/deliveries/{id}/resend': ({ deps, caller, params, once, may }) =>
    once(deliveryAnswer(may), async (also) => {
      const delivery = await deps.features.outbox.resend(caller.user.id, params.id, also)
      deps.features.wakeDeliveries(caller.user.id)
      return delivery
    }),
  'GET /api/platform/webhooks/{id}': {
    etag: true,
    handle: async ({ deps, caller, params }) => ({
      webhook: wire(await deps.features.receivers.get(caller.user.id, params.id)),
    }),
  },
  'GET /api/platform/webhooks/{id}/deliveries': async ({ deps, caller, params, query, may }) =>
    listed(
      'deliveries',
      await deps.features.outbox.log(
        (await deps.features.receivers.get(caller.user.id, params.id)).id,
        pageOf(query, 100),
      ),
      deliveryWire(may),
    ),
  'PATCH /api/platform/webhooks/{id}': async ({ deps, caller, params, body }) => ({
    webhook: wire(await deps.features.receivers.change(caller.user.id, params.id, body)),
  }),
  'POST /api/platform/webhooks/{id}/test': ({ deps, caller, params, once, may }) =>
    once(deliveryAnswer(may), async (also) => {
      const delivery = await deps.features.outbox.test(
        await deps.features.receivers.get(caller.user.id, params.id),
        also,
      )
      deps.features.wakeDeliveries(caller.user.id)
      return delivery
    }),
  'POST /api/platform/webhooks/{id}/rotate': {
    secret: true,
    handle: ({ deps, caller, params, once }) =>
      once(secretAnswer, (also) => deps.features.receivers.rotate(caller.user.id, params.id, also)),
  },
  'POST /api/platform/webhooks/{id}/rotate/confirm': async ({ deps, caller, params }) => ({
    id: params.id,
    webhook: wire(await deps.features.receivers.confirmRotation(caller.user.id, params.id)),
  }),
  'DELETE /api/platform/webhooks/{id}': async ({ deps, caller, params }) => {
    await deps.features.receivers.remove(caller.user.id, params.id)
    return { id: params.id }
  },
}
