// Sobol's sequence: points that fill a space evenly, however many are taken.
//
// Sobol (1967), in the order of Gray codes (Antonov, Saleev 1979), so that a point differs from the last in one direction
// number an axis. The primitive polynomials and first direction numbers are Joe and Kuo's (Constructing Sobol sequences
// with better two-dimensional projections, SIAM J. Sci. Comput. 2008; their file new-joe-kuo-6.21201). A seed moves all
// points by the same amount (a digital shift), which keeps them evenly spread; without a seed they are the textbook's.

import { assert } from '../../../lib/assert.ts'
import { seededRandom } from '../../../lib/seeded-random.ts'
import type { Axis } from '../../../broker/statistics/parzen.ts'
import type { Sampler } from './sampler.ts'

const BITS = 32

/** For each axis but the first: its polynomial as a number, and its first direction numbers. */
const JOE_KUO =
  '3:1 7:1,3 11:1,3,1 13:1,1,1 19:1,1,3,3 25:1,3,5,13 37:1,1,5,5,17 41:1,1,5,5,5 47:1,1,7,11,19 55:1,1,5,1,1 ' +
  '59:1,1,1,3,11 61:1,3,5,5,31 67:1,3,3,9,7,49 91:1,1,1,15,21,21 97:1,3,1,13,27,49 103:1,1,1,15,7,5 ' +
  '109:1,3,1,15,13,25 115:1,1,5,5,19,61 131:1,3,7,11,23,15,103 137:1,3,7,13,13,15,69 143:1,1,3,13,7,35,63 ' +
  '145:1,3,5,9,1,25,53 157:1,3,1,13,9,35,107 167:1,3,1,5,27,61,31 171:1,1,5,11,19,41,61 185:1,3,5,3,3,13,69 ' +
  '191:1,1,7,13,1,19,1 193:1,3,7,5,13,19,59 203:1,1,3,9,25,29,41 211:1,3,5,13,23,1,55 213:1,3,7,3,13,59,17 ' +
  '229:1,3,1,3,5,53,69 239:1,1,5,5,23,33,13 241:1,1,7,7,1,61,123 247:1,1,7,9,13,61,49 253:1,3,3,5,3,55,33 ' +
  '285:1,3,1,15,31,13,49,245 299:1,3,5,15,31,59,63,97 301:1,3,1,11,11,11,77,249'

const SOBOL_AXES_MAX = 40

export function sobolSampler(axes: readonly Axis[], seed: number | null): Sampler {
  assert(axes.length <= SOBOL_AXES_MAX, 'no direction numbers for so many axes')
  const tables = JOE_KUO.split(' ').slice(0, Math.max(0, axes.length - 1))
  const directions = [firstDirections(), ...tables.map(directionsOf)].slice(0, axes.length)
  const random = seed === null ? null : seededRandom(seed)
  const shift = directions.map(() => (random ? Math.floor(random.uniform() * 2 ** BITS) : 0))
  const at = directions.map(() => 0)
  let index = 0
  return {
    batch: Infinity,
    ask() {
      const point = Float64Array.from(at, (bits, axis) => ((bits ^ shift[axis]!) >>> 0) / 2 ** BITS)
      index++
      // The bit that changes in the next Gray code.
      const changed = 31 - Math.clz32(index & -index)
      for (const [axis, numbers] of directions.entries()) at[axis] = (at[axis]! ^ numbers[changed]!) >>> 0
      return point
    },
    tell() {},
  }
}

function firstDirections(): Uint32Array {
  return Uint32Array.from({ length: BITS }, (_, i) => 2 ** (BITS - 1 - i))
}

function directionsOf(table: string): Uint32Array {
  const [polynomial = 0, ...first] = table.split(/[:,]/).map(Number)
  const degree = first.length
  const numbers = new Uint32Array(BITS)
  for (let i = 0; i < BITS; i++) {
    if (i < degree) {
      numbers[i] = first[i]! * 2 ** (BITS - 1 - i)
      continue
    }
    let bits = numbers[i - degree]! ^ (numbers[i - degree]! >>> degree)
    for (let k = 1; k < degree; k++) if ((polynomial >> (degree - k)) & 1) bits ^= numbers[i - k]!
    numbers[i] = bits
  }
  return numbers
}
