// Samplers: what they try, that a seed repeats it, and that those that learn find more than chance.

import { describe, expect, test } from 'bun:test'
import { median } from '../../../src/broker/statistics/moments.ts'
import { cmaEsSampler } from '../../../src/work/sweeps/samplers/cma-es.ts'
import { gridSampler } from '../../../src/work/sweeps/samplers/grid.ts'
import { randomSampler } from '../../../src/work/sweeps/samplers/random.ts'
import type { Axis } from '../../../src/broker/statistics/parzen.ts'
import type { Sampler } from '../../../src/work/sweeps/samplers/sampler.ts'
import { sobolSampler } from '../../../src/work/sweeps/samplers/sobol.ts'
import { tpeSampler } from '../../../src/work/sweeps/samplers/tpe.ts'
import oracles from '../../broker/statistics/oracles.json' with { type: 'json' }
import { regretOf, TEST_FUNCTIONS } from './test-functions.ts'

const free = (count: number): Axis[] => Array.from({ length: count }, () => ({ count: null, ordered: true }))
const points = (sampler: Sampler, count: number) =>
  Array.from({ length: count }, () => sampler.ask()).map((point) => point && [...point])

test('a grid is every combination once, the last axis fastest', () => {
  const grid = gridSampler([
    { count: 2, ordered: true },
    { count: 3, ordered: true },
  ])
  const asked = points(grid, 7)
  const cells = asked.slice(0, 6).map((point) => [Math.floor(point![0]! * 2), Math.floor(point![1]! * 3)])
  expect(cells).toEqual([
    [0, 0],
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 1],
    [1, 2],
  ])
  expect(asked[6]).toBeNull()
})

test('the points of Sobol are those that scipy has', () => {
  expect(points(sobolSampler(free(2), null), 5)).toEqual(oracles.spa_sobol.sobol_d2_first5)
  expect(points(sobolSampler(free(3), null), 5)).toEqual(oracles.spa_sobol.sobol_d3_first5)
  // scipy.stats.qmc.Sobol(40, scramble=False), the ninth.
  expect(points(sobolSampler(free(40), null), 9)[8]!.slice(-8)).toEqual([
    0.0625, 0.9375, 0.5625, 0.4375, 0.1875, 0.8125, 0.3125, 0.5625,
  ])
})

test('shifted by a seed, they still fill every sixteenth of a square once', () => {
  const cells = points(sobolSampler(free(2), 5), 16).map((point) =>
    point!.map((u) => Math.floor(u * 4)).join(),
  )
  expect(new Set(cells).size).toBe(16)
})

describe.each([
  ['random', randomSampler],
  ['Sobol', sobolSampler],
  ['TPE', tpeSampler],
  ['CMA-ES', cmaEsSampler],
] as const)('%s', (_, sampler) => {
  const [branin] = TEST_FUNCTIONS
  const tried = (seed: number) => {
    const all: number[][] = []
    regretOf(branin!, (axes) => {
      const inner = sampler(axes, seed)
      return {
        batch: inner.batch,
        tell: inner.tell,
        ask: () => (all.push([...inner.ask()!]), Float64Array.from(all.at(-1)!)),
      }
    })
    return all
  }
  test('tries the same with the same seed, and something else with another', () => {
    expect(tried(3)).toEqual(tried(3))
    expect(tried(3)).not.toEqual(tried(4))
  })
  test('stays within the space', () => {
    for (const point of tried(9)) for (const u of point) expect(u >= 0 && u < 1).toBe(true)
  })
  test('goes on where conditions refuse most of the space', () => {
    const inner = sampler(free(2), 1)
    let kept = 0
    for (let i = 0; i < 3000 && kept < 60; i++) {
      const point = inner.ask()!
      const isRefused = point[0]! > 0.2 || point[1]! > point[0]!
      if (!isRefused) kept++
      inner.tell(point, isRefused ? NaN : -point[0]!)
    }
    expect(kept).toBeGreaterThanOrEqual(sampler === cmaEsSampler ? 10 : 25)
  })
  test('tells steps apart where there are only a few', () => {
    const inner = sampler(
      [
        { count: 3, ordered: true },
        { count: 4, ordered: false },
      ],
      2,
    )
    let best = -Infinity
    for (let i = 0; i < 60; i++) {
      const point = inner.ask()!
      const score = -Math.abs(Math.floor(point[0]! * 3) - 2) - Math.abs(Math.floor(point[1]! * 4) - 1)
      best = Math.max(best, score)
      inner.tell(point, score)
    }
    expect(best).toBeCloseTo(0)
  })
})

// Optuna's median regret, doubled; TPE's other bars are in `samplers.bench.ts`, since they take a minute.
test.each([
  ['Branin', 0.0026],
  ['Hartmann 3', 0.0038],
  ['Rosenbrock 6', 8.72],
])('CMA-ES is as good as others on %s', (name, bar) => {
  const found = TEST_FUNCTIONS.find((one) => one.name === name)!
  const regrets = Array.from({ length: 50 }, (_, seed) =>
    regretOf(found, (axes) => cmaEsSampler(axes, 100 + seed)),
  )
  expect(median(regrets)).toBeLessThan(bar)
})

test('TPE finds ten times more than chance on Branin', () => {
  const [branin] = TEST_FUNCTIONS
  const medianOf = (sampler: typeof tpeSampler) =>
    median(Array.from({ length: 15 }, (_, seed) => regretOf(branin!, (axes) => sampler(axes, 100 + seed))))
  expect(medianOf(tpeSampler)).toBeLessThan(medianOf(randomSampler) / 10)
})
