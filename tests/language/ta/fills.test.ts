// A block of bars at once gives what bar after bar gives, bit for bit, however the bars are cut into blocks.

import { expect, test } from 'bun:test'
import { Crossover, Crossunder } from '../../../src/language/builtins/ta/crosses.ts'
import { Highest, Lowest } from '../../../src/language/builtins/ta/extremes.ts'
import { Alma, Hma, Sma, Wma } from '../../../src/language/builtins/ta/moving-averages.ts'
import { Cci } from '../../../src/language/builtins/ta/oscillators.ts'
import { Cog, Linreg } from '../../../src/language/builtins/ta/regression.ts'
import { Dev } from '../../../src/language/builtins/ta/spread.ts'
import { SEED, randomOf, seriesOf } from './series.ts'

console.log(`fills seed ${SEED}`)
const BARS = 6000
const LENGTHS = [1, 2, 10, 30, 200, 600]
const series = Object.entries(seriesOf(SEED, BARS)).map(
  ([name, values]) => [name, Float64Array.from(values)] as const,
)

/** Some of a bar, some of hundreds, none over the end of a block of 4,096. */
function blocks(visit: (from: number, to: number) => void): void {
  const random = randomOf(SEED + 2)
  for (let from = 0; from < BARS;) {
    const most = random() < 0.5 ? 3 : 3000
    const to = Math.min(BARS, from + 1 + Math.floor(random() * most), (Math.floor(from / 4096) + 1) * 4096)
    visit(from, to)
    from = to
  }
}

test.each(series)('averages of %s, alone and two side by side', (_, source) => {
  for (const [i, length] of LENGTHS.entries()) {
    const other = LENGTHS[(i + 1) % LENGTHS.length]!
    const slow = new Sma()
    const slowOther = new Sma()
    const expected = Array.from(source, (value) => slow.next(value, length))
    const expectedOther = Array.from(source, (value) => slowOther.next(value, other))
    const alone = new Float64Array(BARS)
    const one = new Float64Array(BARS)
    const two = new Float64Array(BARS)
    const fills = [new Sma(), new Sma(), new Sma()] as const
    blocks((from, to) => {
      fills[0].fillBlock(from, to, [alone, -1, source, -1, length])
      Sma.fillTwo(fills[1], fills[2], from, to, [one, -1, source, -1, length], [two, -1, source, -1, other])
    })
    expect([...alone]).toEqual(expected)
    expect([...one]).toEqual(expected)
    expect([...two]).toEqual(expectedOther)
    // And they go on alike from there, another length included.
    for (const then of [length, length + 3])
      expect(fills.slice(0, 2).map((fill) => fill.next(100, then))).toEqual(
        Array(2).fill(slow.next(100, then)),
      )
  }
})

const ADDED_UP = {
  wma: { make: () => new Wma(), more: [] },
  hma: { make: () => new Hma(), more: [] },
  alma: { make: () => new Alma(), more: [0.85, 6, false] },
  linreg: { make: () => new Linreg(), more: [2] },
  cog: { make: () => new Cog(), more: [] },
  dev: { make: () => new Dev(), more: [] },
  cci: { make: () => new Cci(), more: [] },
} as const

test.each(series)('windows of %s, many added up at a time', (_, source) => {
  for (const [name, { make, more }] of Object.entries(ADDED_UP))
    for (const length of [1, 2, 5, 30, 256, 300]) {
      const slow = make() as Linreg
      const fast = make() as Linreg
      const rest = more as unknown as [offset: number]
      const expected = Array.from(source, (value) => slow.next(value, length, ...rest))
      const filled = new Float64Array(BARS)
      blocks((from, to) => {
        fast.fillBlock(from, to, [filled, -1, source, -1, length, ...(more as unknown as never[])])
      })
      expect([name, ...filled]).toEqual([name, ...expected])
      expect(fast.next(100, length + 3, ...rest)).toEqual(slow.next(100, length + 3, ...rest))
    }
})

test.each(series)('extremes of %s, many at a time', (_, source) => {
  for (const Extreme of [Highest, Lowest])
    for (const length of [1, 2, 5, 30, 64, 65, 300]) {
      const slow = new Extreme()
      const fast = new Extreme()
      const expected = Array.from(source, (value, bar) => slow.next(value, length, bar))
      const filled = new Float64Array(BARS)
      blocks((from, to) => fast.fillBlock(from, to, [filled, -1, source, -1, length]))
      expect([length, ...filled]).toEqual([length, ...expected])
      // They go on alike, with another length, or after a bar that was skipped.
      for (const [bar, then] of [
        ...(length % 2 === 0 ? [[BARS, length + 3] as const] : []),
        [BARS + 1, length],
        [BARS + 3, length],
        [BARS + 4, length],
      ] as const)
        expect(fast.next(bar % 7, then, bar)).toEqual(slow.next(bar % 7, then, bar))
    }
})

test('a column of one block is read and written under its mask', () => {
  const source = Float64Array.from({ length: BARS }, (_, i) => Math.sin(i) * 100)
  const [whole, masked] = [new Sma(), new Sma()]
  const column = new Float64Array(BARS)
  const block = new Float64Array(4096)
  blocks((from, to) => {
    whole.fillBlock(from, to, [column, -1, source, -1, 10])
    masked.fillBlock(from, to, [block, 4095, source, -1, 10])
    for (let i = from; i < to; i++) expect(block[i & 4095]).toBe(column[i])
  })
})

test.each(series)('crossings of %s and another series', (name, source) => {
  for (const [other, values] of series) {
    const level = other === name ? source.map((_, i) => source[Math.max(0, i - 3)]!) : values
    for (const Crossing of [Crossover, Crossunder]) {
      const slow = new Crossing()
      const fast = new Crossing()
      const expected = Array.from(source, (value, i) => Number(slow.next(value, level[i]!)))
      const filled = new Uint8Array(BARS)
      blocks((from, to) => fast.fillBlock(from, to, [filled, -1, source, -1, level, -1]))
      expect([...filled]).toEqual(expected)
    }
  }
})
