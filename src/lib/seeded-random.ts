// Repeatable randomness: the same seed gives the same numbers on every machine, so that a sweep, a bootstrap or a
// simulation can be repeated to the byte. Secrets come from `random.ts`.
//
// sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, period of at least 2^32 and 2^127 on average. The seed goes
// through splitmix32, so that the seeds 1 and 2 have nothing in common.

export interface SeededRandom {
  /** 0 < u < 1. Both ends are excluded, so that a logarithm or a quantile of it is finite. */
  uniform(): number
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number
  /** Standard normal (Marsaglia's polar method). */
  normal(): number
  /** Where it stands: another that is put there goes on with the same numbers. */
  state(): RandomState
  goOnFrom(state: RandomState): void
}

export type RandomState = readonly [a: number, b: number, c: number, counter: number, spare: number | null]

/** Streams of one seed are independent of each other; `stream` selects one. */
export function seededRandom(seed: number, stream = 0): SeededRandom {
  let mixed = (Math.floor(seed / 2 ** 32) ^ Math.imul(stream + 1, 0x9e3779b9)) >>> 0
  const word = (add: number) => {
    mixed = (mixed + 0x9e3779b9 + add) >>> 0
    let z = mixed
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return (z ^ (z >>> 15)) | 0
  }
  let a = word(seed | 0)
  let b = word(0)
  let c = word(stream | 0)
  let counter = 1
  const next = () => {
    const t = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }
  // The author advises to discard the first outputs, which still show the seed.
  for (let i = 0; i < 12; i++) next()
  const uniform = () => (next() + 0.5) / 2 ** 32
  let spare: number | null = null
  return {
    uniform,
    below: (below) => Math.floor((next() / 2 ** 32) * below),
    normal() {
      if (spare !== null) {
        const kept = spare
        spare = null
        return kept
      }
      for (;;) {
        const x = 2 * uniform() - 1
        const y = 2 * uniform() - 1
        const s = x * x + y * y
        if (s >= 1 || s === 0) continue
        const scale = Math.sqrt((-2 * Math.log(s)) / s)
        spare = y * scale
        return x * scale
      }
    },
    state: () => [a, b, c, counter, spare],
    goOnFrom(state) {
      ;[a, b, c, counter, spare] = state
    },
  }
}
