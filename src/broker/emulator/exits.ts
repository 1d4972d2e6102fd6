// strategy.exit: which levels a call sets for one entry, and how much of the entry it may close.

import { EXIT_GIVEN, type ExitRequest } from '../../language/broker.ts'
import { floorToLot, toTick, unitsOf } from './numbers.ts'
import {
  HAS_LIMIT,
  HAS_OFFSET,
  HAS_STOP,
  HAS_TRAIL,
  NO_LEVEL,
  levelsOf,
  type Entry,
  type ExitTexts,
} from './orders.ts'

/** In ticks. `levels` says which there are; the others are 0. */
export interface ExitLevels {
  levels: number
  limit: number
  stop: number
  activation: number
  offset: number
}

export function noLevels(): ExitLevels {
  return { levels: NO_LEVEL, limit: 0, stop: 0, activation: 0, offset: 0 }
}

/** The request itself is the generated code's, which writes the next call's arguments into it. */
export function keptExit(request: ExitRequest): ExitRequest {
  return request.disableAlert
    ? { ...request, alertMessage: null, alertLoss: null, alertProfit: null, alertTrailing: null }
    : { ...request }
}

export function textsOf(request: ExitRequest): ExitTexts {
  const texts: ExitTexts = {
    ocaName: null,
    comment: null,
    commentProfit: null,
    commentLoss: null,
    commentTrailing: null,
    alertMessage: null,
    alertProfit: null,
    alertLoss: null,
    alertTrailing: null,
  }
  noteTexts(request, texts)
  return texts
}

export function noteTexts(request: ExitRequest, into: ExitTexts): void {
  into.ocaName = request.ocaName
  into.comment = request.comment
  into.commentProfit = request.commentProfit
  into.commentLoss = request.commentLoss
  into.commentTrailing = request.commentTrailing
  const silent = request.disableAlert
  into.alertMessage = silent ? null : request.alertMessage
  into.alertProfit = silent ? null : request.alertProfit
  into.alertLoss = silent ? null : request.alertLoss
  into.alertTrailing = silent ? null : request.alertTrailing
}

/** B8: a call whose triggers are all na does nothing. */
export function hasTrigger(exit: ExitRequest): boolean {
  const { given } = exit
  return (
    ((given & EXIT_GIVEN.profit) !== 0 && !Number.isNaN(exit.profit)) ||
    ((given & EXIT_GIVEN.limit) !== 0 && !Number.isNaN(exit.limit)) ||
    ((given & EXIT_GIVEN.loss) !== 0 && !Number.isNaN(exit.loss)) ||
    ((given & EXIT_GIVEN.stop) !== 0 && !Number.isNaN(exit.stop)) ||
    ((given & EXIT_GIVEN.trailPrice) !== 0 && !Number.isNaN(exit.trailPrice)) ||
    ((given & EXIT_GIVEN.trailPoints) !== 0 && !Number.isNaN(exit.trailPoints))
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
  into: ExitLevels,
): ExitLevels {
  const { given } = exit
  const side = entry.direction
  const from = Math.round(entry.price / mintick)
  const up = side === 1
  const limit = nearer(
    (given & EXIT_GIVEN.limit) === 0 ? NaN : toTick(exit.limit / mintick, up),
    (given & EXIT_GIVEN.profit) === 0 ? NaN : toTick(from + side * exit.profit, up),
    nearerLevelWins,
    !up,
  )
  const stop = nearer(
    (given & EXIT_GIVEN.stop) === 0 ? NaN : toTick(exit.stop / mintick, !up),
    (given & EXIT_GIVEN.loss) === 0 ? NaN : toTick(from - side * exit.loss, !up),
    nearerLevelWins,
    up,
  )
  let levels = levelsOf(limit, stop)
  let activation = 0
  let offset = 0
  if ((given & (EXIT_GIVEN.trailPrice | EXIT_GIVEN.trailPoints)) !== 0) {
    activation = nearer(
      (given & EXIT_GIVEN.trailPrice) === 0 ? NaN : toTick(exit.trailPrice / mintick, up),
      (given & EXIT_GIVEN.trailPoints) === 0 ? NaN : toTick(from + side * exit.trailPoints, up),
      nearerLevelWins,
      !up,
    )
    if (activation === activation) levels |= HAS_TRAIL
    else activation = 0
  }
  if ((given & EXIT_GIVEN.trailOffset) !== 0) {
    offset = Math.trunc(exit.trailOffset)
    if (offset === offset) levels |= HAS_OFFSET
    else offset = 0
  }
  into.levels = levels
  into.limit = (levels & HAS_LIMIT) === 0 ? 0 : limit
  into.stop = (levels & HAS_STOP) === 0 ? 0 : stop
  into.activation = activation
  into.offset = offset
  return into
}

/** Chooses between a level given as a price and one given in ticks. */
function nearer(absolute: number, relative: number, nearerLevelWins: boolean, higher: boolean): number {
  if (absolute !== absolute) return relative
  if (relative !== relative || !nearerLevelWins) return absolute
  return higher ? Math.max(absolute, relative) : Math.min(absolute, relative)
}

/** D6: a share in whole lots, one at least where there is one to close and a share of it is asked for. */
export function shareOf(units: number, percent: number, lot: number): number {
  const share = floorToLot(Math.floor((units * percent) / 100 + 1e-6), lot)
  return share === 0 && percent > 0 && units >= lot ? lot : share
}

/**
 * D4: units of `entry` that a call of exit `id` gets: its own quantity, or its share of the original size, capped by what
 * other exits have not reserved (fired ones keep their claim).
 */
export function reservation(exit: ExitRequest, entry: Entry, id: string, lot: number): number {
  let taken = 0
  if (entry.legs) for (const leg of entry.legs) if (leg.id !== id) taken += leg.reserved
  const free = entry.units - taken
  const { given } = exit
  const asked =
    (given & EXIT_GIVEN.qty) !== 0 && !Number.isNaN(exit.qty)
      ? unitsOf(exit.qty, lot)
      : (given & EXIT_GIVEN.qtyPercent) !== 0 && exit.qtyPercent < 100
        ? shareOf(entry.units, exit.qtyPercent, lot)
        : free
  return Math.max(0, Math.min(asked, free))
}
