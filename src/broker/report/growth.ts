// Growth a year, and the profit of buying and holding.

const YEAR = 365 * 86_400_000

/** J6: over the days of the range divided by 365. */
export function annualGrowth(initial: number, final: number, from: number, to: number): number | null {
  const years = (to - from) / YEAR
  if (!(years > 0) || final <= 0 || initial <= 0) return null
  const growth = (final / initial) ** (1 / years) - 1
  return Number.isFinite(growth) ? growth : null
}

/** The profit of buying with all of the capital at the first trade's entry and holding to the end. */
export function buyAndHold(initial: number, entryPrice: number, lastPrice: number): number | null {
  return entryPrice > 0 ? initial * (lastPrice / entryPrice - 1) : null
}
