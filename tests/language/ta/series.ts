// Series for tests: random ones and the ones that break things. The same seed gives the same series.

export const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

export function randomOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function seriesOf(seed: number, length: number): Readonly<Record<string, number[]>> {
  const random = randomOf(seed)
  const each = (value: (i: number) => number) => Array.from({ length }, (_, i) => value(i))
  let price = 100
  const walk = each(() => (price = Math.max(1, price + (random() - 0.5) * 2)))
  return {
    walk,
    ticks: walk.map((x) => Math.round(x * 4) / 4),
    'few values': each(() => Math.floor(random() * 4)),
    constant: each(() => 42.1),
    'rising ramp': each((i) => i * 0.1),
    'falling ramp': each((i) => 1000 - i * 0.1),
    'sign changes': each(() => random() - 0.5),
    'na here and there': walk.map((x) => (random() < 0.15 ? NaN : x)),
    'na for long': walk.map((x, i) => (i % 97 > 50 ? NaN : x)),
    'na at first': walk.map((x, i) => (i < 40 ? NaN : x)),
    'huge, then small': each((i) => (i < length / 3 ? random() * 1e12 : random())),
    'huge now and then': each((i) => (i % 53 === 7 ? 1e9 : random())),
    sawtooth: each((i) => i % 17),
  }
}

/** Lengths that stay, and lengths that move from bar to bar. */
export function lengthsOf(seed: number, bars: number): Readonly<Record<string, number[]>> {
  const random = randomOf(seed + 1)
  const each = (value: (i: number) => number) => Array.from({ length: bars }, (_, i) => value(i))
  let wandering = 20
  return {
    '1': each(() => 1),
    '2': each(() => 2),
    '5': each(() => 5),
    '14': each(() => 14),
    '100': each(() => 100),
    '300': each(() => 300),
    'all so far': each((i) => i + 1),
    wandering: each(() => (wandering = Math.max(1, wandering + Math.floor(random() * 7) - 3))),
    jumping: each(() => 1 + Math.floor(random() * 120)),
    'long or short': each((i) => (Math.floor(i / 40) % 2 === 0 ? 7.9 : 350)),
  }
}
