// What a bridge sends of what a strategy does. Pure functions of records.
//
// A strategy's order at the market is sent when it is placed, at the close of the bar; all others when they have filled. Each
// order leads from the position that the bridge had to the one that the strategy has then, as far as the limits let it. So
// an order that was refused is not closed later: its exit finds nothing to close.

import { sha256 } from '../../lib/sha256.ts'
import { tidy } from '../../lib/tidy.ts'
import type { ForwardOrder } from '../../wire/forward-run.ts'
import type { Bridge, BridgeOrder, PlacedOrder } from './bridge.ts'

export type Signal = Pick<ForwardOrder, 'event' | 'time' | 'orderId' | 'type' | 'side' | 'qty' | 'price'> &
  Pick<ForwardOrder, 'status' | 'position' | 'comment' | 'alertMessage'>

/** A step of a bridge: its state after a signal, and the order that comes of it, if one does. */
export interface Step {
  readonly bridge: Bridge
  readonly order: Pick<BridgeOrder, 'from' | 'goal' | 'side' | 'qty' | 'reason'> | null
}

export const signed = ({ side, qty }: Pick<PlacedOrder, 'side' | 'qty'>): number =>
  side === 'buy' ? qty : -qty

/** What the strategy has once everything has filled that it placed at the market. */
export const expectedOf = ({ position, placed }: Pick<Bridge, 'position' | 'placed'>): number =>
  placed.reduce((sum, one) => tidySum(sum, signed(one)), position)

/** `isLossy`: the strategy has lost as much today as its bridge lets it. */
export function step(bridge: Bridge, signal: Signal, isLossy: boolean): Step {
  const known = afterSignal(bridge, signal)
  const expected = expectedOf(known)
  if (expected === bridge.expected) return { bridge: { ...bridge, ...known }, order: null }
  return aimed({ ...bridge, ...known }, expected, isLossy)
}

/** A firing of an alert: the bridge's own order once more. */
export const stepOfFiring = (bridge: Bridge): Step =>
  aimed(bridge, tidySum(bridge.expected, signed({ side: bridge.side ?? 'buy', qty: bridge.qty ?? 0 })), false)

function afterSignal({ position, placed }: Bridge, signal: Signal): Pick<Bridge, 'position' | 'placed'> {
  const { event, type, orderId, side, qty } = signal
  const at = placed.findIndex((one) => one.orderId === orderId && one.side === side)
  // One that is placed again replaces the one before.
  if (event === 'order.placed')
    return { position, placed: type === 'market' ? [...without(placed, at), { orderId, side, qty }] : placed }
  if (event === 'order.filled') return { position: signal.position, placed: without(placed, at) }
  return { position, placed: type === 'market' ? without(placed, at) : placed }
}

const without = (placed: readonly PlacedOrder[], at: number) => placed.filter((_, i) => i !== at)

/** Goes from the bridge's goal to what the strategy has, as far as the limits let it. */
export function aimed(bridge: Bridge, expected: number, isLossy: boolean): Step {
  const { goal: from } = bridge
  const waitsForFlat = bridge.waitsForFlat && expected * bridge.expected > 0
  const [goal, reason] = allowed(bridge, expected, { waitsForFlat, isLossy })
  const delta = tidySum(goal, -from)
  const wanted = delta === 0 ? tidySum(expected, -bridge.expected) : delta
  return {
    bridge: { ...bridge, expected, goal, waitsForFlat },
    order: {
      from,
      goal,
      side: wanted > 0 ? 'buy' : 'sell',
      qty: Math.abs(wanted),
      reason: reason ?? (delta === 0 ? 'nothing_to_do' : null),
    },
  }
}

/** The position that a bridge goes to where the strategy has `wanted`, and which rule that is by, if it is another one. */
function allowed(
  { goal, maxPosition, expected }: Bridge,
  wanted: number,
  { waitsForFlat, isLossy }: { readonly waitsForFlat: boolean; readonly isLossy: boolean },
): readonly [goal: number, reason: BridgeOrder['reason']] {
  if (waitsForFlat) return [goal, 'before_flat']
  const most = maxPosition ?? Number.POSITIVE_INFINITY
  // A limit that was made smaller closes nothing by itself.
  const limit = Math.abs(wanted) < Math.abs(expected) ? Math.max(most, Math.abs(goal)) : most
  const sized = Math.max(-limit, Math.min(limit, wanted))
  const [kept, reason] = sized === wanted ? [wanted, null] : [sized, 'size' as const]
  if (!isLossy) return [kept, reason]
  const reduced = kept * goal > 0 ? Math.sign(goal) * Math.min(Math.abs(kept), Math.abs(goal)) : 0
  return reduced === kept ? [kept, reason] : [reduced, 'loss']
}

/**
 * How many contracts an order is sent for at its turn, when all before it are settled: as many as lead to its goal, but never
 * more than its own, nor to the other side. 0: there is nothing to do any more.
 */
export function due(
  { side, qty, goal }: Pick<BridgeOrder, 'side' | 'qty' | 'goal'>,
  assumed: number,
): number {
  const left = tidySum(goal, -assumed) * (side === 'buy' ? 1 : -1)
  return Math.max(0, Math.min(qty, left))
}

/**
 * The key of an order: the same whenever the same bar of the same run or alert makes it. `nth` counts the orders of one name
 * and side on a bar.
 */
export const orderKey = (bridgeId: string, sourceId: string, barTime: number, orderId: string, nth: number) =>
  `cr-${sha256(JSON.stringify([bridgeId, sourceId, barTime, orderId, nth])).slice(0, 32)}`

/** What the receiver is to have: what the strategy has, but for what a limit or a word of the bridge's owner holds back. */
export const wantedOf = ({ expected, goal }: Pick<Bridge, 'expected' | 'goal'>): number =>
  goal * expected >= 0 && Math.abs(goal) < Math.abs(expected) ? goal : expected

/** What the receiver lacks of it. */
export const differenceOf = (bridge: Pick<Bridge, 'expected' | 'goal' | 'held' | 'waitsForFlat'>): number =>
  bridge.waitsForFlat ? 0 : tidySum(wantedOf(bridge), -bridge.held)

/** Without the noise of binary fractions, in which positions would differ for ever. */
export const tidySum = (a: number, b: number): number => {
  const sum = a + b
  return Math.abs(sum) < 1e-9 * Math.max(Math.abs(a), Math.abs(b)) ? 0 : tidy(sum)
}
