// The stationary bootstrap: new histories made of pieces of the one there is, so that what follows what mostly stays.
//
// Politis, Romano: The Stationary Bootstrap (JASA, 1994). Each period follows the one that came before it, or, with chance q,
// a new piece begins anywhere; the mean length of a piece is 1/q, and the end is followed by the start.

import type { SeededRandom } from '../lib/seeded-random.ts'

/** How often each period stands in a new history, which is all that a mean needs. */
export function stationaryCounts(random: SeededRandom, length: number, q: number, into: Float64Array): void {
  into.fill(0)
  let at = random.below(length)
  for (let i = 0; i < length; i++) {
    into[at]!++
    at = random.uniform() < q ? random.below(length) : (at + 1) % length
  }
}
