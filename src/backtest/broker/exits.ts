// strategy.exit: which levels a call sets for one entry, and how much of the entry it may close.

import type { ExitRequest } from '../../pine/broker.ts'
import { floorToLot, tickAbove, tickBelow, unitsOf } from './numbers.ts'
import type { Entry } from './orders.ts'

/** In ticks, NaN = not given. `activation` NaN = no trail. */
export interface ExitLevels {
  readonly limit: number
  readonly stop: number
  readonly activation: number
  readonly offset: number
}

/** B8: a call whose triggers are all na does nothing. */
export function hasTrigger(exit: ExitRequest): boolean {
  return !(
    Number.isNaN(exit.profit) &&
    Number.isNaN(exit.limit) &&
    Number.isNaN(exit.loss) &&
    Number.isNaN(exit.stop) &&
    Number.isNaN(exit.trailPrice) &&
    Number.isNaN(exit.trailPoints)
  )
}

/**
 * D17: ticks are counted from the entry's own fill price. B2, B3, E7: levels off the grid move to the next tick, stops
 * away from the market, limits and activations to the better side.
 */
export function exitLevels(
  exit: ExitRequest,
  entry: Entry,
  mintick: number,
  nearerLevelWins: boolean,
): ExitLevels {
  const side = entry.direction
  const from = Math.round(entry.price / mintick)
  const up = side === 1
  return {
    limit: nearer(
      toTick(exit.limit / mintick, up),
      toTick(from + side * exit.profit, up),
      nearerLevelWins,
      !up,
    ),
    stop: nearer(toTick(exit.stop / mintick, !up), toTick(from - side * exit.loss, !up), nearerLevelWins, up),
    activation: nearer(
      toTick(exit.trailPrice / mintick, up),
      toTick(from + side * exit.trailPoints, up),
      nearerLevelWins,
      !up,
    ),
    offset: Math.trunc(exit.trailOffset),
  }
}

function toTick(ticks: number, up: boolean): number {
  // Most levels are missing, and each call has six.
  if (ticks !== ticks) return NaN
  return up ? tickAbove(ticks) : tickBelow(ticks)
}

/** Chooses between a level given as a price and one given in ticks. */
function nearer(absolute: number, relative: number, nearerLevelWins: boolean, higher: boolean): number {
  if (absolute !== absolute) return relative
  if (relative !== relative || !nearerLevelWins) return absolute
  return higher ? Math.max(absolute, relative) : Math.min(absolute, relative)
}

/**
 * D4: units of `entry` that a call of exit `id` gets: its own quantity, or its share of the original size, capped by what
 * other exits have not reserved (fired ones keep their claim). D6: shares are floored to the lot.
 */
export function reservation(exit: ExitRequest, entry: Entry, id: string, lot: number): number {
  let taken = 0
  if (entry.legs) for (const leg of entry.legs) if (leg.id !== id) taken += leg.reserved
  const free = entry.units - taken
  const asked = !Number.isNaN(exit.qty)
    ? unitsOf(exit.qty, lot)
    : !Number.isNaN(exit.qtyPercent) && exit.qtyPercent < 100
      ? floorToLot(Math.floor((entry.units * exit.qtyPercent) / 100 + 1e-6), lot)
      : free
  return Math.max(0, Math.min(asked, free))
}
