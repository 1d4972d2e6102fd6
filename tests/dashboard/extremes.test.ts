import { expect, test } from 'bun:test'
import { BLOCK, extremesOf, together } from '../../src/dashboard/chart/extremes.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

test('the extremes of any stretch are those of its values, whatever holes and ends it has', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  console.log(`seed ${seed}`)
  const { uniform: random } = seededRandom(seed)
  for (let round = 0; round < 200; round++) {
    const holes = random()
    const values = Float64Array.from({ length: Math.floor(random() * 6 * BLOCK) }, () =>
      random() < holes ? Number.NaN : random() - 0.5,
    )
    const from = Math.floor((random() * 1.4 - 0.2) * values.length)
    const to = Math.floor((random() * 1.4 - 0.2) * values.length)
    const known = [...values.subarray(Math.max(0, from), Math.max(0, to + 1))].filter(
      (value) => value === value,
    )
    expect([from, to, extremesOf(values, from, to)]).toEqual([
      from,
      to,
      { low: Math.min(...known), high: Math.max(...known) },
    ])
  }
})

test('bars that share a pixel are drawn by whole blocks when they are many', () => {
  expect([0.3, 1, 1.9, 31].map(together)).toEqual([1, 1, 1, 31])
  expect([32, 47.9, 133].map(together)).toEqual([2 * BLOCK, 2 * BLOCK, 8 * BLOCK])
})
