// Margin: how much a position must keep, when it is called, and how much a call sells (G1 to G6).

import { UNIT, contracts, tenDigits, truncateSnapped } from './numbers.ts'

/** Id and comment of a margin call's order; reports count margin calls by the comment. */
export const MARGIN_CALL = 'Margin call'

/**
 * G2: the tolerance only covers floating-point error, and a budget that F5 has rounded up: an order for all of the equity is
 * never too dear by what its own size was rounded to. Without that, a strategy with 2,245,236.504523354 traded no more.
 */
const DUST = 1e-11

export function exceeds(required: number, equity: number): boolean {
  return required > equity + Math.abs(equity) * DUST && required > tenDigits(equity) * (1 + DUST)
}

/**
 * G3: units to sell so that the position can be kept: the value of the shortfall cut to lots, times four; if that is less
 * than a lot, one contract. Never more than the position. 0 = margin holds.
 */
export function marginCallUnits(
  units: number,
  equity: number,
  unitValue: number,
  margin: number,
  lot: number,
): number {
  const required = contracts(units) * unitValue * margin
  if (!exceeds(required, equity)) return 0
  const cover = ((required - equity) / (unitValue * margin)) * UNIT
  const lots = truncateSnapped(cover / lot)
  return Math.min(units, lots > 0 ? 4 * lots * lot : UNIT)
}

/** Prices at or beyond which a position would be called. No check is needed while a bar stays between them. */
export interface CallRange {
  readonly below: number
  readonly above: number
}

export const NEVER_CALLED: CallRange = { below: -Infinity, above: Infinity }
const ALWAYS_CHECKED: CallRange = { below: Infinity, above: -Infinity }

/**
 * Solves equity(P) = margin(P). `base` is the equity at price 0 (cash minus the entries' value, signed), `size` the signed
 * contracts times point value. The range is widened by a millionth, since it only decides whether to look closer.
 */
export function callRange(base: number, size: number, margin: number): CallRange {
  if (size === 0 || margin === 0) return NEVER_CALLED
  const slope = size - Math.abs(size) * margin
  if (Math.abs(slope) <= Math.abs(size) * 1e-12) return base < 0 ? ALWAYS_CHECKED : NEVER_CALLED
  const price = -base / slope
  const slack = Math.abs(price) * 1e-6
  return slope > 0 ? { below: price + slack, above: Infinity } : { below: -Infinity, above: price - slack }
}
