import { describe, expect, test } from 'bun:test'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { RowNumbers } from '../../src/market/row-numbers.ts'

/** How many rows further than the one before each bar's row is. */
const STEPS: Readonly<Record<string, (random: ReturnType<typeof seededRandom>) => number>> = {
  'that follow each other': () => 1,
  'behind blank lines now and then': (random) => (random.below(500) === 0 ? 2 + random.below(3) : 1),
  'with a blank line behind each': () => 2,
  'of bars of some trades each': (random) => 1 + random.below(90),
  'of bars of very many trades each': (random) => 1 + Math.floor(random.uniform() ** 20 * 1e11),
}

describe.each(Object.keys(STEPS))('rows %s', (name) => {
  test('are those of their bars', () => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const random = seededRandom(seed)
    const numbers = new RowNumbers(2 ** 30)
    const rows: number[] = []
    for (let row = random.below(4), bar = 0; bar < 150_000; bar++) {
      // A second row of a bar's time takes the place of the first.
      for (let again = random.below(300) === 0 ? 2 : 1; again > 0; again--)
        expect(numbers.add(bar, (row += STEPS[name]!(random)))).toBe(true)
      rows.push(row)
    }
    for (let i = 0; i < 3000; i++) {
      const bar = i < 3 ? [0, 1, rows.length - 1][i]! : random.below(rows.length)
      expect({ seed, bar, row: numbers.rowOf(bar) }).toEqual({ seed, bar, row: rows[bar]! })
    }
  })
})

test('take a byte a bar of up to 64 rows, and two of more', () => {
  for (const [rows, bytes] of [
    [64, 1],
    [65, 2],
    [8192, 2],
  ] as const) {
    const numbers = new RowNumbers(10 << 16)
    let bars = 0
    while (numbers.add(bars, bars * rows)) bars++
    expect(Math.round((10 << 16) / bars)).toBe(bytes)
  }
})
