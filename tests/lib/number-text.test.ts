// Columns of numbers are printed as JSON.stringify prints them, whatever the numbers are.

import { expect, test } from 'bun:test'
import { numbersText } from '../../src/lib/number-text.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

/** Slow and obvious. */
const expected = (column: Float64Array) => JSON.stringify([...column]).slice(1, -1)

function check(column: Float64Array): void {
  const [text, wanted] = [numbersText(column), expected(column)]
  if (text === wanted) return
  // A message of a million letters helps nobody.
  const [found, right] = [text.split(','), wanted.split(',')]
  const at = right.findIndex((one, i) => one !== found[i])
  expect(`${at}: ${found[at]}`).toBe(`${at}: ${right[at]}`)
  expect(found).toHaveLength(right.length)
}

test('numbers at the borders of what is printed in which way', () => {
  const borders = [
    0,
    1,
    9,
    10,
    99_999_999,
    1e8,
    1e9,
    1e15,
    2 ** 53,
    1e16,
    1e17,
    1e20,
    1e21,
    1e22,
    1e-5,
    1e-6,
    1e-7,
  ]
  const near = (value: number) => {
    const bits = new BigInt64Array(new Float64Array([value]).buffer)[0]!
    const around = BigInt64Array.from([-2n, -1n, 0n, 1n, 2n], (step) => (bits + step < 0n ? 0n : bits + step))
    return [...new Float64Array(around.buffer)]
  }
  const all = [...borders, 0.5, 0.1, 1 / 3, 4404.33, 5e-324, Number.MAX_VALUE, 1.7e12, 123_456.000_001]
  const numbers = all.flatMap((value) => [...near(value), ...near(value).map((one) => -one)])
  check(new Float64Array([...numbers, Number.NaN, Infinity, -Infinity, -0]))
})

test('every power of two and of ten, and what stands next to it', () => {
  const numbers: number[] = []
  for (let power = -1074; power < 1024; power++)
    numbers.push(2 ** power, 2 ** power * 3, -(2 ** power) * (1 + 2 ** -52))
  for (let power = -30; power <= 30; power++)
    numbers.push(10 ** power, 10 ** power * 1.1, 10 ** power - 10 ** (power - 12))
  check(new Float64Array(numbers))
})

const seed = Math.trunc(Math.random() * 2 ** 31)
const { uniform: random } = seededRandom(seed)
const KINDS: readonly (readonly [string, () => number])[] = [
  ['any magnitude', () => (random() - 0.5) * 10 ** (random() * 40 - 12)],
  ['decimals', () => Math.round((random() - 0.5) * 1e9) / 10 ** Math.floor(random() * 10)],
  ['sums of money', () => 1e6 + (random() - 0.5) * 1e5],
  ['integers', () => Math.round((random() - 0.5) * 2 ** Math.floor(random() * 60))],
  ['times', () => 1.6e12 + Math.floor(random() * 1e11)],
]
test.each(KINDS)(`random numbers: %s (seed ${seed})`, (_name, number) => {
  check(Float64Array.from({ length: 50_000 }, number))
})

test('columns of any length, in shared memory too', () => {
  for (const length of [0, 1, 2, 4095, 4096, 4097, 8192, 10_000]) {
    const column = new Float64Array(new SharedArrayBuffer(8 * length))
    for (let i = 0; i < length; i++) column[i] = i % 7 === 0 ? Number.NaN : i / 7
    check(column)
  }
  // The longest texts that there are, as many as are printed at a time, and those that are left to JavaScript among them.
  check(new Float64Array(4096).fill(-0.000_001_234_567_890_123_456_7))
  check(Float64Array.from({ length: 4096 }, (_, i) => (i % 2 === 0 ? 1.2345e-300 : -98_765.432_1)))
})
