import { expect, test } from 'bun:test'
import { Random, average, power, roundHalfAway, roundToMintick } from '../../src/language/builtins/math.ts'
import type { Runtime } from '../../src/language/runtime/runtime.ts'

test('math.round takes halves away from zero, and what is within 1e-10 of a half for one', () => {
  expect([2.5, -2.5, 2.4, 0.5 - 5e-11, 0.5 - 2e-10, NaN].map((x) => roundHalfAway(x, 0))).toEqual([
    3,
    -3,
    2,
    1,
    0,
    NaN,
  ])
  // TradingView's own: the first is short of the half by 5.8e-11, the second by 1.2e-10, and both scale to .5 exactly.
  expect(roundHalfAway(118152.265, 2)).toBe(118152.27)
  expect(roundHalfAway(100019.7405, 3)).toBe(100019.74)
  expect(roundHalfAway(1234.5, -2)).toBe(1200)
  expect(roundHalfAway(1e300, 10)).toBe(1e300)
})

test('math.pow has na for na, even to the power of zero', () => {
  expect([power(3, 2), power(9, 0.5), power(2, -1), power(7, 0)]).toEqual([9, 3, 0.5, 1])
  expect([power(NaN, 0), power(1, NaN)]).toEqual([NaN, NaN])
})

test('math.avg of three or more loses nothing of the small ones', () => {
  expect(average(1, 2)).toBe(1.5)
  expect(average(1e16, 1, 1, 1, 1)).toBe((1e16 + 4) / 5)
  expect(average(1, NaN, 3)).toBeNaN()
})

test('math.round_to_mintick keeps to the grid of the symbol', () => {
  const runtime = { symbol: { mintick: 0.025, minMove: 25, priceScale: 1000 } } as unknown as Runtime
  expect([1.0374, 1.0376, -1.03].map((x) => roundToMintick(runtime, x))).toEqual([1.025, 1.05, -1.025])
  expect(roundToMintick(runtime, NaN)).toBeNaN()
})

test('math.random repeats itself for a seed, stays in its range and fills it evenly', () => {
  const draw = (seed: number) => {
    const random = new Random()
    return Array.from({ length: 10_000 }, () => random.next(10, 20, seed))
  }
  const drawn = draw(7)
  expect(draw(7)).toEqual(drawn)
  expect(draw(8)).not.toEqual(drawn)
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(10)
  expect(Math.max(...drawn)).toBeLessThan(20)
  for (let tenth = 10; tenth < 20; tenth++)
    expect(drawn.filter((x) => Math.floor(x) === tenth).length).toBeWithin(850, 1150)
})

test("math.random draws java.util.Random's numbers for a seed", () => {
  const draw = (seed: number, count: number) => {
    const random = new Random()
    return Array.from({ length: count }, () => random.next(0, 1, seed))
  }
  // Printed by Java 17: new java.util.Random(seed).nextDouble(), three times.
  expect(draw(42, 3)).toEqual([0.7275636800328681, 0.6832234717598454, 0.30871945533265976])
  expect(draw(0, 3)).toEqual([0.730967787376657, 0.24053641567148587, 0.6374174253501083])
  expect(draw(-5, 3)).toEqual([0.26930095796932485, 0.33409239863837237, 0.3808948053725988])
  expect(draw(123_456_789_012, 3)).toEqual([0.013835938433091277, 0.5246133121787082, 0.37897836041502697])
})
