// Webhooks: receivers, their deliveries, and what can be done with both.

import { Type, type Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import {
  EVENTS,
  RECEIVERS_PER_USER,
  viewOf,
  type Receiver,
  type ReceiverSecret,
} from '../webhooks/receivers.ts'
import type { Delivery } from '../webhooks/deliveries.ts'
import { access, type ApiDeps } from './access.ts'
import { doc, idOf, Listed, listed, nullable, oneOf, PageQuery, pageOf, Text, Time, Raw } from './schemas.ts'

export const WebhookWire = Type.Object(
  {
    id: idOf('wh'),
    name: Type.String(),
    url: Type.String(),
    events: Type.Array(oneOf(EVENTS)),
    status: oneOf(['active', 'disabled'] as const),
    disabledReason: nullable(oneOf(['owner', 'gone', 'failing', 'secret_lost'] as const)),
    rotating: Type.Boolean(),
    createdAt: Time,
    updatedAt: Time,
    lastSuccessAt: nullable(Time),
    failingSince: nullable(Time),
  },
  { $id: 'Webhook' },
)

export const DeliveryWire = Type.Object(
  {
    id: idOf('msg'),
    webhookId: idOf('wh'),
    event: Type.String(),
    state: oneOf(['pending', 'delivered', 'failed', 'cancelled'] as const),
    data: Type.Record(Type.String(), Type.Unknown()),
    attempts: Type.Array(
      Type.Object({
        at: Time,
        status: Type.Integer(),
        durationMs: Type.Integer(),
        failure: nullable(Type.String()),
        excerpt: Type.String(),
      }),
    ),
    nextAt: nullable(Time),
    createdAt: Time,
    resendOf: nullable(Type.String()),
  },
  { $id: 'Delivery' },
)

const WebhookBody = Type.Object({
  name: Text(200),
  url: Raw(2000),
  // Which events there are is for the room to say: its refusal names them.
  events: Type.Array(Text(100), { minItems: 1, maxItems: 20 }),
})

const wire = (receiver: Receiver): Static<typeof WebhookWire> => {
  const { events, ...shown } = viewOf(receiver)
  return { ...shown, events: [...events] }
}
const deliveryWire = ({
  ownerId: _owner,
  begunAt: _begun,
  receiverId,
  attempts,
  data,
  ...shown
}: Delivery): Static<typeof DeliveryWire> => ({
  ...shown,
  webhookId: receiverId,
  data: { ...data },
  attempts: [...attempts],
})

const secretAnswer = ({ receiver, secret }: ReceiverSecret) => ({
  id: receiver.id,
  secret,
  webhook: wire(receiver),
})
const deliveryAnswer = (delivery: Delivery) => ({ id: delivery.id, delivery: deliveryWire(delivery) })

export function webhookRoutes(deps: ApiDeps) {
  const { receivers, outbox, wakeDeliveries } = deps.rooms
  return new Elysia({ prefix: '/api/platform/webhooks', tags: ['Webhooks'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ caller, body, once }) => once(secretAnswer, (also) => receivers.create(caller.user.id, body, also)),
      {
        access: { to: 'session webhooks:write', secret: true },
        body: WebhookBody,
        detail: doc(
          'Register a webhook',
          { id: idOf('wh'), secret: Type.String(), webhook: WebhookWire },
          'The signing secret is shown once.',
        ),
      },
    )
    .get(
      '',
      ({ caller, query }) =>
        listed('webhooks', receivers.list(caller.user.id, pageOf(query, RECEIVERS_PER_USER)), wire),
      {
        access: 'session webhooks:read',
        query: Type.Object(PageQuery),
        detail: doc('List webhooks', Listed('webhooks', WebhookWire)),
      },
    )
    .get(
      '/deliveries',
      ({ caller, query }) =>
        listed('deliveries', outbox.listOfOwner(caller.user.id, pageOf(query, 100)), deliveryWire),
      {
        access: 'session webhooks:read',
        query: Type.Object(PageQuery),
        detail: doc('The newest deliveries of all webhooks', Listed('deliveries', DeliveryWire)),
      },
    )
    .post(
      '/deliveries/:id/resend',
      ({ caller, params, once }) =>
        once(deliveryAnswer, async (also) => {
          const delivery = await outbox.resend(caller.user.id, params.id, also)
          wakeDeliveries(caller.user.id)
          return delivery
        }),
      {
        access: 'session webhooks:write',
        detail: doc('Send a delivery again', { id: idOf('msg'), delivery: DeliveryWire }),
      },
    )
    .get('/:id', ({ caller, params }) => ({ webhook: wire(receivers.get(caller.user.id, params.id)) }), {
      access: { to: 'session webhooks:read', etag: true },
      detail: doc('One webhook', { webhook: WebhookWire }),
    })
    .get(
      '/:id/deliveries',
      ({ caller, params, query }) =>
        listed(
          'deliveries',
          outbox.list(receivers.get(caller.user.id, params.id).id, pageOf(query, 100)),
          deliveryWire,
        ),
      {
        access: 'session webhooks:read',
        query: Type.Object(PageQuery),
        detail: doc('Deliveries of a webhook', Listed('deliveries', DeliveryWire)),
      },
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => ({
        webhook: wire(await receivers.change(caller.user.id, params.id, body)),
      }),
      {
        access: 'session webhooks:write',
        body: Type.Object({
          ...Type.Partial(WebhookBody).properties,
          status: Type.Optional(oneOf(['active', 'disabled'] as const)),
        }),
        detail: doc('Change a webhook', { webhook: WebhookWire }, 'Enabling one forgets its failures.'),
      },
    )
    .post(
      '/:id/test',
      ({ caller, params, once }) =>
        once(deliveryAnswer, async (also) => {
          const delivery = await outbox.test(receivers.get(caller.user.id, params.id), also)
          wakeDeliveries(caller.user.id)
          return delivery
        }),
      {
        access: 'session webhooks:write',
        detail: doc('Send a test event', { id: idOf('msg'), delivery: DeliveryWire }),
      },
    )
    .post(
      '/:id/rotate',
      ({ caller, params, once }) =>
        once(secretAnswer, (also) => receivers.rotate(caller.user.id, params.id, also)),
      {
        access: { to: 'session webhooks:write', secret: true },
        detail: doc(
          'Make a new signing secret',
          { id: idOf('wh'), secret: Type.String(), webhook: WebhookWire },
          'webhook-signature carries both for 24 hours; X-Service-Signature stays with the old one until the rotation is confirmed.',
        ),
      },
    )
    .post(
      '/:id/rotate/confirm',
      async ({ caller, params }) => ({
        id: params.id,
        webhook: wire(await receivers.confirmRotation(caller.user.id, params.id)),
      }),
      {
        access: 'session webhooks:write',
        detail: doc('The receiver knows the new secret', { id: idOf('wh'), webhook: WebhookWire }),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await receivers.remove(caller.user.id, params.id)
        return { id: params.id }
      },
      { access: 'session webhooks:write', detail: doc('Delete a webhook', { id: idOf('wh') }) },
    )
}
