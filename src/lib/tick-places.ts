// How many digits a price has behind its point.

/** Decimal places that a tick size needs: 0.01 → 2, 0.25 → 2, 1 → 0. */
export function placesOf(mintick: number): number {
  for (let places = 0; places < 10; places++) {
    const scaled = mintick * 10 ** places
    if (Math.abs(scaled - Math.round(scaled)) < 1e-9) return places
  }
  return 8
}
