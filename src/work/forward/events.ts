// What a closed bar did to a forward run: its record after it, and the events of its orders.

import type { FollowOutput, ForwardOutput } from '../workers/job.ts'
import { tidy } from '../../lib/tidy.ts'
import type { WaitingOrder } from '../../wire/forward-run.ts'
import type { ReportOrder } from '../../wire/report.ts'
import { settledEvents, type BareOrder } from './foreseen.ts'
import type { ForwardRun, TapeRow } from './records.ts'

const DAY_MS = 86_400_000

/** The run after that bar, and what is to be told of it. */
export function stepped(run: ForwardRun, step: FollowOutput['steps'][number], bar: TapeRow) {
  const time = bar[0]!
  const date = Math.floor(time / DAY_MS)
  const foreseen = run.foreseen ?? []
  const isPast = (event: BareOrder) => event.time <= time
  const events = settledEvents(foreseen.filter(isPast), eventsBetween(run.waiting, step, time))
  const after: ForwardRun = {
    ...run,
    ...(foreseen.length > 0 && { foreseen: foreseen.filter((event) => !isPast(event)) }),
    bars: run.bars + 1,
    first: run.first ?? time,
    last: time,
    close: bar[4]!,
    day: run.day?.date === date ? run.day : { date, equity: run.equity },
    position: step.position,
    equity: step.equity,
    currency: step.currency,
    trades: step.summary.trades,
    fills: run.fills + step.fills.length,
    events: run.events + events.length,
    waiting: [...step.waiting],
  }
  return { run: after, events }
}

/**
 * What a bar did to the orders: those that filled, those that are gone without, and those that are new. One that came and
 * filled on this bar, as the exit of an entry may, was not there at any close: it is told of as placed directly before it fills.
 */
export function eventsBetween(
  before: readonly WaitingOrder[],
  { fills, waiting, position }: Pick<ForwardOutput, 'fills' | 'waiting' | 'position'>,
  time: number,
): BareOrder[] {
  const filled = new Set(fills.map(slotOf))
  const nameOf = ({ id, type, side, qty, price }: WaitingOrder) =>
    JSON.stringify([id, type, side, qty, price])
  const there = new Set(waiting.map(nameOf))
  const moved = new Set(waiting.map(({ id, type, side }) => JSON.stringify([id, type, side])))
  const gone = before.filter(
    (order) =>
      !there.has(nameOf(order)) &&
      !filled.has(slotOf(order)) &&
      // One that is placed again at another price is told of as placed.
      !moved.has(JSON.stringify([order.id, order.type, order.side])),
  )
  const { fresh, placed } = newOrders(before, fills, waiting, nameOf)
  const rest = { time, position: tidy(position), comment: null, alertMessage: null }
  const said = ({
    id,
    type,
    side,
    qty,
    price,
  }: Pick<WaitingOrder, 'id' | 'side' | 'qty' | 'price'> & {
    readonly type: WaitingOrder['type'] | null
  }) => ({
    orderId: id,
    type,
    side,
    qty: tidy(qty),
    price: price && tidy(price),
    ...rest,
  })
  return [
    ...fills.flatMap((fill): BareOrder[] => {
      const { id, side, qty, price, comment, alertMessage, position: held } = fill
      const event = {
        event: 'order.filled' as const,
        time,
        orderId: id,
        type: null,
        side,
        qty: tidy(qty),
        price: tidy(price),
        position: tidy(held),
        comment,
        alertMessage,
      }
      if (!fresh.has(fill)) return [event]
      return [{ event: 'order.placed', ...said({ id, type: null, side, qty, price: null }) }, event]
    }),
    ...gone.map((order) => ({ event: 'order.cancelled' as const, ...said(order) })),
    ...placed.map((order) => ({ event: 'order.placed' as const, ...said(order) })),
  ]
}

/** After a reversal the exit of one name is of the other side. */
const slotOf = ({ id, side }: Pick<WaitingOrder, 'id' | 'side'>) => JSON.stringify([id, side])

/** Of the fills, those whose order did not wait before the bar; of what waits after it, what did not. Equal ones are counted. */
function newOrders(
  before: readonly WaitingOrder[],
  fills: readonly ReportOrder[],
  waiting: readonly WaitingOrder[],
  nameOf: (order: WaitingOrder) => string,
) {
  const toFill = countOf(fills.map(slotOf))
  const after = countOf(waiting.map(nameOf))
  const stayed = new Map<string, number>()
  /** Of an exit, limit, stop and trail wait side by side, and one of them fills. */
  const over = { market: new Map(), limit: new Map(), stop: new Map(), trail: new Map() } as const
  for (const order of before) {
    const [name, slot] = [nameOf(order), slotOf(order)]
    // An order at the market that filled does not wait again: one like it is new.
    const hasFilled = order.type === 'market' && take(toFill, slot)
    if (!hasFilled && take(after, name)) add(stayed, name)
    else add(over[order.type], slot)
  }
  const known = new Map<string, number>()
  for (const counts of Object.values(over) as Map<string, number>[])
    for (const [slot, count] of counts) known.set(slot, Math.max(known.get(slot) ?? 0, count))
  return {
    fresh: new Set(fills.filter((fill) => !take(known, slotOf(fill)))),
    placed: waiting.filter((order) => !take(stayed, nameOf(order))),
  }
}

function countOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) add(counts, name)
  return counts
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Answers whether there was one. */
function take(counts: Map<string, number>, name: string): boolean {
  const count = counts.get(name) ?? 0
  if (count > 0) counts.set(name, count - 1)
  return count > 0
}
