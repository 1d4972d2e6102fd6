// TradingView's number formats, because a trade list is only equal if its roundings are.
//
// Quantities are integers of 1e-8 units (F7), prices integers of ticks. Walking a bar only compares integers, so
// floating-point error cannot change a fill. Money stays floating point, rounded where TradingView rounds it.

/** Units of quantity in one contract (F7). */
export const UNIT = 1e8

/** Quantity as scripts and reports see it: `units * 1e-8`, since TradingView multiplies too (F7). */
export function contracts(units: number): number {
  return units * 1e-8
}

/** F6: an explicit quantity is floored in decimal from its shortest spelling, so 173.432 loses nothing. */
export function unitsOf(quantity: number, lot: number): number {
  const nearest = Math.round(quantity * UNIT)
  return floorToLot(nearest / UNIT === quantity ? nearest : Math.floor(quantity * UNIT), lot)
}

/** F4: quantities are floored to the lot step. They are integers, so exact multiples stay unchanged. */
export function floorToLot(units: number, lot: number): number {
  return units - (units % lot)
}

/** F5: budgets below 1e7 are rounded half up to ten significant digits; F10 does the same for commissions. */
export function tenDigits(value: number): number {
  if (!(value > 0) || value >= 1e7) return value
  const scale = 10 ** (9 - Math.floor(Math.log10(value)))
  return Math.floor(value * scale + 0.5) / scale
}

/** G4: a value within 2^-26 (relative) of an integer counts as that integer before it is cut off. */
export function truncateSnapped(value: number): number {
  const nearest = Math.round(value)
  return Math.abs(value - nearest) <= Math.abs(value) * 2 ** -26 ? nearest : Math.trunc(value)
}

/** A6: bar prices snap to the nearest tick; positive halves round up. */
export function tickOf(price: number, mintick: number): number {
  return Math.trunc(price / mintick + 0.5)
}

/** A level this close to a grid point (in ticks) counts as on it (B2). */
const ON_GRID = 1e-4

/** B2, B3: rounds up to the next tick, for buy stops and sell limits. `ticks` may have a fraction. */
export function tickAbove(ticks: number): number {
  return Math.ceil(ticks - ON_GRID)
}

/** B2, B3: rounds down to the next tick, for sell stops and buy limits. */
export function tickBelow(ticks: number): number {
  return Math.floor(ticks + ON_GRID)
}

/** A level off the grid, moved to the next tick above or below. */
export function toTick(ticks: number, up: boolean): number {
  return up ? tickAbove(ticks) : tickBelow(ticks)
}
