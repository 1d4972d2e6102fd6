// The stationary bootstrap makes new histories from pieces of the existing one, so that most periods keep their successor.
//
// Politis, Romano: The Stationary Bootstrap (JASA, 1994). Each period is followed by its successor or, with probability q,
// by the start of a new piece anywhere; so the mean length of a piece is 1/q. The end is followed by the start.

import type { SeededRandom } from '../../lib/seeded-random.ts'

/** How many times each period occurs in a new history, which is all that a mean needs. */
export function stationaryCounts(random: SeededRandom, length: number, q: number, into: Float64Array): void {
  into.fill(0)
  let at = random.below(length)
  for (let i = 0; i < length; i++) {
    into[at]!++
    at = random.uniform() < q ? random.below(length) : (at + 1) % length
  }
}
