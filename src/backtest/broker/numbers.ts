// The numbers TradingView trades in, since a trade list is only equal if its roundings are.
//
// Quantities are integers of 1e-8 units (F7), prices integers of ticks: what is compared while a bar is walked is
// always two integers, so no float dust can flip a fill. Money stays floating point, rounded where TradingView does.

/** Units of quantity in one contract (F7). */
export const UNIT = 1e8

/** Quantity as scripts and reports see it: `units * 1e-8`, as TradingView multiplies (F7). */
export function contracts(units: number): number {
  return units * 1e-8
}

/** F6: an explicit quantity is floored in decimal from its shortest spelling, so 173.432 keeps all of it. */
export function unitsOf(quantity: number, lot: number): number {
  const nearest = Math.round(quantity * UNIT)
  return floorToLot(nearest / UNIT === quantity ? nearest : Math.floor(quantity * UNIT), lot)
}

/** F4: quantities floor to the lot step. Integers, so exact multiples survive. */
export function floorToLot(units: number, lot: number): number {
  return units - (units % lot)
}

/** F5: budgets below 1e7 are rounded half up to ten significant digits; F10 does the same to commissions. */
export function tenDigits(value: number): number {
  if (!(value > 0) || value >= 1e7) return value
  const scale = 10 ** (9 - Math.floor(Math.log10(value)))
  return Math.floor(value * scale + 0.5) / scale
}

/** G4: a value within 2^-26 (relative) of an integer is that integer before it is cut off. */
export function truncateSnapped(value: number): number {
  const nearest = Math.round(value)
  return Math.abs(value - nearest) <= Math.abs(value) * 2 ** -26 ? nearest : Math.trunc(value)
}

/** A6: bar prices snap to the nearest tick, halves away from zero for the prices there are. */
export function tickOf(price: number, mintick: number): number {
  return Math.trunc(price / mintick + 0.5)
}

/** A level this close to a grid point (in ticks) counts as on it (B2). */
const ON_GRID = 1e-4

/** B2, B3: up to the next tick, for buy stops and sell limits. `ticks` may carry a fraction. */
export function tickAbove(ticks: number): number {
  return Math.ceil(ticks - ON_GRID)
}

/** B2, B3: down to the next tick, for sell stops and buy limits. */
export function tickBelow(ticks: number): number {
  return Math.floor(ticks + ON_GRID)
}
