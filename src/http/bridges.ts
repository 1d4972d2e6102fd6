// Bridges to brokers, and the orders that went over them.

import { Problem } from '../lib/problem.ts'
import { BRIDGES_PER_USER, isOfAlert, type Bridge, type BridgeOrder } from '../notify/bridges/bridge.ts'
import { differenceOf } from '../notify/bridges/rules.ts'
import type { Bridge as BridgeWire, BridgeOrder as OrderWire } from '../wire/bridge.ts'
import type { Scope } from '../wire/scopes.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

type May = (scope: Scope) => boolean

/** A bridge tells what its run or its alert did, so a token sees it only if it may see that. */
const shows =
  (may: May) =>
  ({ sourceId }: { readonly sourceId: string }): boolean =>
    may(isOfAlert({ sourceId }) ? 'alerts:read' : 'backtests:read')

function seen<T extends { readonly sourceId: string }>(may: May, one: T): T {
  if (!shows(may)(one))
    throw new Problem(403, 'insufficient_scope', 'The token may not read what this bridge is of.')
  return one
}

function wire(bridge: Bridge): BridgeWire {
  const difference = differenceOf(bridge)
  const {
    ownerId: _owner,
    sealed: _sealed,
    seriesOwner: _series,
    position: _position,
    placed: _placed,
    goal: _goal,
    assumed: _assumed,
    told: _told,
    ...shown
  } = bridge
  return { ...shown, difference, channelIds: [...shown.channelIds] }
}

function orderWire({ receiverId: bridgeId, ...order }: BridgeOrder): OrderWire {
  const { id, sourceId, key, orderId, side, qty, barTime, reason } = order
  const { state, nextAt, createdAt } = order
  const told = { id, bridgeId, sourceId, key, orderId, side, qty, barTime, reason }
  return { ...told, state, nextAt, createdAt, attempts: [...order.attempts] }
}

const bridgeAnswer = (bridge: Bridge) => ({ id: bridge.id, bridge: wire(bridge) })
const orderAnswer = (order: BridgeOrder) => ({ id: order.id, order: orderWire(order) })

export const BRIDGE_ROUTES: Routes = {
  'POST /api/platform/bridges': ({ deps, caller, body, once, may }) =>
    once(bridgeAnswer, (also) => deps.features.bridges.create(caller.user.id, seen(may, body), also)),
  'GET /api/platform/bridges': async ({ deps, caller, query, may }) => {
    const { bridges } = deps.features
    const page = await bridges.list(caller.user.id, pageOf(query, BRIDGES_PER_USER))
    const items = page.items.filter(shows(may))
    return {
      ...listed('bridges', { ...page, items }, wire),
      stopped: await bridges.isStopped(caller.user.id),
    }
  },
  'PATCH /api/platform/bridges/{id}': async ({ deps, caller, params, body, may }) => {
    const { bridges, wakeOrders } = deps.features
    seen(may, await bridges.get(caller.user.id, params.id))
    if (body.dryRun === false && caller.via !== 'session')
      throw new Problem(403, 'session_required', 'Only its owner, signed in, ends a dry run.')
    const bridge = await bridges.change(caller.user.id, params.id, body)
    wakeOrders(caller.user.id)
    return { bridge: wire(bridge) }
  },
  'DELETE /api/platform/bridges/{id}': async ({ deps, caller, params }) => {
    await deps.features.bridges.remove(caller.user.id, params.id)
    deps.features.wakeOrders(caller.user.id)
    return { id: params.id }
  },
  'POST /api/platform/bridges/{id}/test': ({ deps, caller, params, once, may }) =>
    once(
      (order: BridgeOrder) => ({ ...orderAnswer(order), body: order.body ?? '' }),
      async (also) => {
        const bridge = seen(may, await deps.features.bridges.get(caller.user.id, params.id))
        const order = await deps.features.bridges.test(bridge, also)
        deps.features.wakeOrders(caller.user.id)
        return order
      },
    ),
  'GET /api/platform/bridges/orders': async ({ deps, caller, query, may }) => {
    const page = await deps.features.bridges.ordersOf(caller.user.id, pageOf(query, 100))
    return listed('orders', { ...page, items: page.items.filter(shows(may)) }, orderWire)
  },
  'POST /api/platform/bridges/orders/{id}/resend': ({ deps, caller, params, once, may }) =>
    once(orderAnswer, async (also) => {
      const { bridges, wakeOrders } = deps.features
      seen(may, await bridges.order(caller.user.id, params.id))
      const order = await bridges.resend(caller.user.id, params.id, also)
      wakeOrders(caller.user.id)
      return order
    }),
  'PUT /api/platform/bridges/switch': async ({ deps, caller, body: { stopped } }) => {
    await deps.features.bridges.stop(caller.user.id, stopped)
    deps.features.wakeOrders(caller.user.id)
    return { stopped }
  },
}
