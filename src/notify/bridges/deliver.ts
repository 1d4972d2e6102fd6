// Sends orders, by the deliverer that serves webhooks: one at a time for each bridge, in their order, each with its key.
//
// An order is decided at its turn, when all before it are settled: whether it may go, and for how many contracts. Its body is
// committed before the first attempt and stays as it is, so that every retry is the same message.

import type { Reader } from '../../store/kv.ts'
import type { Changes, Tx } from '../../store/transaction.ts'
import { Deliverer, type SendingDeps } from '../webhooks/deliverer.ts'
import { masker } from '../webhooks/masked.ts'
import type { AttemptRecord, Claim } from '../webhooks/parcels.ts'
import { sendTo, type PostDeps } from '../webhooks/post.ts'
import { UnreadableSecret, type Reply } from '../webhooks/send.ts'
import { filledBody, templateOf, withSecrets } from './body.ts'
import { bridgeOrders, bridges, type Bridge, type BridgeOrder } from './bridge.ts'
import { differenceOf, due, signed, tidySum, wantedOf } from './rules.ts'

export interface BridgeDeps {
  /** The first moment from `time` on at which the market of a bridge is open, in UTC ms. */
  readonly opensAt: (bridge: Bridge, time: number) => Promise<number>
  /** What to commit so that the owner is told. */
  readonly tell: (tx: Tx, bridge: Bridge, text: string) => Promise<readonly Changes[]>
}

type Deps = BridgeDeps & PostDeps & SendingDeps

/** An order is of no use for long: a minute of closer tries, then one a minute, as long as it is not late. */
const DELAYS = [1, 2, 4, 8, 15, 30, ...Array<number>(24).fill(60)].map((seconds) => seconds * 1000)

export const stoppedKey = (ownerId: string) => ['bridges-stopped', ownerId] as const

/** Whether the owner has stopped all bridges at once. */
export async function isStopped(reader: Pick<Reader, 'get'>, ownerId: string): Promise<boolean> {
  return (await reader.get(stoppedKey(ownerId)))?.value === 'true'
}

export function createBridgeDeliverer(deps: Deps) {
  return new Deliverer<Bridge, BridgeOrder>({
    ...deps,
    noun: 'bridge',
    receivers: bridges(deps.kv),
    deliveries: bridgeOrders(deps.kv),
    delays: DELAYS,
    post: (claim, now) => post(deps, claim, now),
    // To send one again that may have been taken would make a second order, but where keys are honoured.
    isFinal: (attempt, { honoursKeys }) => isRefused(attempt) || (!honoursKeys && mayBeTaken(attempt)),
    asks: ({ sealed }) => sealed,
    instead: (tx, bridge, order) => insteadOfSending(deps, tx, bridge, order),
    counted: (tx, bridge, order) => counted(deps, tx, bridge, order),
    isGone: () => false,
  })
}

const isRefused = ({ status }: AttemptRecord) =>
  status >= 400 && status < 500 && ![408, 425, 429].includes(status)

/** Failures by which the receiver cannot have seen the message. */
const NOT_ARRIVED = ['connection_refused', 'tls', 'blocked', 'secret_unreadable', 'internal_error']

/** Whether the receiver may have taken it, though it did not say so. */
const mayBeTaken = ({ status, failure }: AttemptRecord) =>
  status === 0 ? !NOT_ARRIVED.includes(failure ?? '') : status === 408 || (status >= 500 && status !== 503)

async function post(
  deps: Deps,
  { receiver, delivery }: Claim<Bridge, BridgeOrder>,
  now: number,
): Promise<Reply> {
  const { url, secret } = await secretsOf(deps, receiver)
  const template = templateOf(receiver)
  const reply = await sendTo(deps, url, now, async () => ({
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': deps.userAgent,
      'idempotency-key': delivery.key,
      ...headersOf(receiver, secret),
    },
    body: new TextEncoder().encode(withSecrets(delivery.body ?? '', secret, receiver.account)),
  }))
  const isTaken =
    isRefused({ ...reply, at: now, durationMs: 0 }) && template.takenAlready?.test(reply.excerpt)
  const secrets = { url: { secret: true }, secret: { secret: true } }
  return {
    ...reply,
    excerpt: masker({ fields: secrets }, { url, secret })(reply.excerpt),
    ...(isTaken === true && { status: 200 }),
  }
}

function headersOf(bridge: Bridge, secret: string): Record<string, string> {
  const { headers } = templateOf(bridge)
  if (headers === undefined)
    return bridge.template === 'generic' && secret ? { authorization: `Bearer ${secret}` } : {}
  const filled = (text: string) => text.replace('{{account}}', bridge.account).replace('{{secret}}', secret)
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, filled(text)]))
}

export interface Secrets {
  readonly url: string
  readonly secret: string
}

export async function secretsOf({ box }: Pick<PostDeps, 'box'>, { id, sealed }: Bridge): Promise<Secrets> {
  const opened = await box.open(sealed, id).catch(() => {
    throw new UnreadableSecret('bridge')
  })
  return JSON.parse(opened) as Secrets
}

/** Part of the plan by which an attempt begins: what to commit instead of it; null = it is made. */
async function insteadOfSending(
  deps: Deps,
  tx: Tx,
  bridge: Bridge,
  order: BridgeOrder,
): Promise<Changes[] | null> {
  if (order.reason === 'test') return null
  const { clock, kv } = deps
  const orders = bridgeOrders(kv).at(tx)
  const now = clock.now()
  const first = (await orders.list('queue', [bridge.id], { limit: 1, reverse: false })).items[0]
  if (first && first.id !== order.id)
    return changed(deps, tx, { ...order, nextAt: Math.max(first.nextAt ?? now, now) })
  const ended = (state: BridgeOrder['state'], reason: BridgeOrder['reason']) =>
    concluded(deps, tx, bridge, { ...order, state, reason, nextAt: null, begunAt: null })
  // The server ended between an attempt and its outcome.
  if (order.begunAt != null && !bridge.honoursKeys) return ended('failed', 'unsure')
  if (await isStopped(tx, bridge.ownerId)) return ended('cancelled', 'stopped')
  if (bridge.dryRun) return ended('cancelled', 'dry_run')
  const opens = bridge.marketHours ? await deps.opensAt(bridge, now) : now
  if (opens > now) return changed(deps, tx, { ...order, nextAt: opens })
  // One that may have been taken is asked about until it is answered.
  const isOpen = order.begunAt != null || order.attempts.some(mayBeTaken)
  if (!isOpen && now - order.since > bridge.validSeconds * 1000) return ended('failed', 'late')
  if (order.body !== null) return null
  const qty = due(order, bridge.assumed)
  if (qty === 0) return ended('cancelled', 'nothing_to_do')
  const sized: BridgeOrder = { ...order, qty }
  return changed(deps, tx, { ...sized, body: filledBody(bridge, sized, now) })
}

/** Its turn comes again. */
async function changed({ kv }: Deps, tx: Tx, order: BridgeOrder): Promise<Changes[]> {
  const orders = bridgeOrders(kv)
  const stored = await orders.at(tx).stored(order.id)
  return stored ? [{ ...orders.replace(stored, order), essential: true }] : []
}

async function concluded(deps: Deps, tx: Tx, bridge: Bridge, order: BridgeOrder): Promise<Changes[]> {
  const receiver = await bridges(deps.kv).at(tx).stored(bridge.id)
  const [after, parcel, changes] = await counted(deps, tx, bridge, order)
  return [
    ...(await changed(deps, tx, parcel)),
    ...(receiver ? [bridges(deps.kv).replace(receiver, after)] : []),
    ...changes,
  ]
}

/** What an order that is settled makes of its bridge, and what its owner is told of it. */
async function counted(
  deps: Deps,
  tx: Tx,
  bridge: Bridge,
  order: BridgeOrder,
): Promise<readonly [Bridge, BridgeOrder, readonly Changes[]]> {
  if (order.state === 'pending' || order.reason === 'test') return [bridge, order, []]
  const { attempts } = order
  const refused = attempts.slice(-1).some(isRefused)
  // Who honours keys and refuses one has not taken it before.
  const isUnsure = attempts.some(mayBeTaken) && !(refused && bridge.honoursKeys)
  const failed = isUnsure ? 'unsure' : refused ? 'refused' : 'late'
  // A limit that made it smaller is of its past.
  const reason =
    order.state === 'failed' ? (order.reason ?? failed) : order.state === 'delivered' ? null : order.reason
  const isTaken = order.state === 'delivered'
  const change = isTaken || reason === 'unsure' ? signed(order) : 0
  const after: Bridge = {
    ...bridge,
    held: isTaken ? tidySum(bridge.held, change) : bridge.held,
    assumed: tidySum(bridge.assumed, change),
  }
  const [told, changes] = await withNotice(deps, tx, after, order.id)
  return [told, { ...order, reason }, changes]
}

/** Tells of a difference once nothing is open but `settledId`; each is told once. */
export async function withNotice(
  { kv, tell }: Pick<Deps, 'kv' | 'tell'>,
  tx: Tx,
  bridge: Bridge,
  settledId: string | null,
): Promise<readonly [Bridge, readonly Changes[]]> {
  const difference = differenceOf(bridge)
  if (difference === bridge.told) return [bridge, []]
  const { items } = await bridgeOrders(kv).at(tx).ids('queue', [bridge.id], { limit: 2, reverse: false })
  if (items.some((id) => id !== settledId)) return [bridge, []]
  const told: Bridge = { ...bridge, told: difference }
  if (difference === 0) return [told, []]
  const { name, symbol, held } = bridge
  const text = `The receiver of ${name} should have ${wantedOf(bridge)} ${symbol}, and by its answers has ${held}.`
  return [told, await tell(tx, told, text)]
}
