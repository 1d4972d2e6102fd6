// Every statistic against values that scipy and arch gave (`oracles.json`), and against what its paper prints.

import { describe, expect, test } from 'bun:test'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { leastBacktestLength } from '../../src/statistics/backtest-length.ts'
import { deflatedSharpe, independentTrials, meanCorrelation } from '../../src/statistics/deflated-sharpe.ts'
import { expectedMaximum } from '../../src/statistics/expected-maximum.ts'
import { median, momentsOf, momentsOfPowers, quantile, sharpeOfSums } from '../../src/statistics/moments.ts'
import { monteCarloOfTrades } from '../../src/statistics/monte-carlo.ts'
import { overfitting, type BlockSums } from '../../src/statistics/overfitting.ts'
import { plateau } from '../../src/statistics/plateau.ts'
import { leastTrackRecord, probabilisticSharpe } from '../../src/statistics/probabilistic-sharpe.ts'
import { snoopingTests } from '../../src/statistics/reality-check.ts'
import { costSensitivity } from '../../src/statistics/sensitivity.ts'
import { walkForward } from '../../src/statistics/walk-forward.ts'
import { noise } from './noise.ts'
import { simulatedSweep } from './simulated-sweeps.ts'
import oracles from './oracles.json' with { type: 'json' }

const { statistics, spa_sobol: snooping } = oracles
const near = (found: number | null, expected: number, tolerance = 1e-9) =>
  expect(Math.abs((found ?? NaN) - expected)).toBeLessThan(tolerance)

function blocksOf(rows: readonly Float64Array[], blocks: number): BlockSums {
  const periods = rows[0]?.length ?? 0
  const bound = (block: number) => Math.floor((block * periods) / blocks)
  const sums = new Float64Array(rows.length * blocks)
  const squares = new Float64Array(rows.length * blocks)
  for (const [trial, row] of rows.entries())
    for (let block = 0; block < blocks; block++)
      for (let t = bound(block); t < bound(block + 1); t++) {
        sums[trial * blocks + block]! += row[t]!
        squares[trial * blocks + block]! += row[t]! ** 2
      }
  const counts = Array.from({ length: blocks }, (_, block) => bound(block + 1) - bound(block))
  return { trials: rows.length, blocks, sums, squares, counts }
}

describe('luck', () => {
  test.each(Object.entries(statistics.emax))(
    'the best of %s tries is expected where scipy says',
    (n, value) => near(expectedMaximum(Number(n)), value),
  )
  test('nothing is expected of one try, or of hardly more', () => {
    expect([0, 1, 1.2, NaN].map(expectedMaximum)).toEqual([0, 0, 0, 0])
  })
  test.each(Object.entries(statistics.minBTL_years_Emax1))(
    '%s trials need so many years',
    (n, [years, bound]) => {
      const found = leastBacktestLength(Number(n))
      near(found.years, years!)
      near(found.bound, bound!)
    },
  )
  test('twice the ratio needs a quarter of the years', () => {
    near(leastBacktestLength(45, 2).years, leastBacktestLength(45).years / 4)
  })
})

describe('Sharpe ratios', () => {
  const paper = statistics.dsr_paper
  const record = { count: 1250, sharpe: paper.sr_daily, skewness: -3, kurtosis: 10 }
  const deviation = Math.sqrt(0.5 / 250)

  test('the example of the paper on deflation comes out', () => {
    const hundred = deflatedSharpe(record, 100, deviation)
    near(hundred.benchmark, paper.sr0_daily_N100)
    near(hundred.probability, paper.dsr_N100)
    near(deflatedSharpe(record, 46, deviation).probability, paper.dsr_N46)
    near(
      deflatedSharpe({ ...record, skewness: 0, kurtosis: 3 }, 88, deviation).probability,
      paper.dsr_N88_normal,
    )
    near(probabilisticSharpe(record), paper.psr0)
  })
  test('the examples of the paper on track records come out', () => {
    const monthly = { count: 24, sharpe: 0.458, skewness: -2.448, kurtosis: 10.164 }
    const examples = statistics.psr_examples
    near(probabilisticSharpe(monthly), examples['sr=.458,T=24 (monthly),sk=-2.448,ku=10.164,sr0=0'])
    near(probabilisticSharpe({ ...monthly, skewness: 0, kurtosis: 3 }), examples['sr=.458,T=24,sk=0,ku=3'])
    near(
      leastTrackRecord({ sharpe: 0.1, skewness: 0, kurtosis: 3 }),
      statistics.minTRL['sr_daily=0.1,sk0,ku3'],
    )
    near(leastTrackRecord(monthly), statistics.minTRL['sr_monthly 0.458,sk-2.448,ku10.164,sr0 0'])
  })
  test('no record is long enough for a ratio that is not above its benchmark', () => {
    expect(leastTrackRecord({ sharpe: 0.1, skewness: 0, kurtosis: 3 }, 0.1)).toBeNull()
    expect(probabilisticSharpe({ count: 1, sharpe: 1, skewness: 0, kurtosis: 3 })).toBeNull()
    // Returns so skewed that the formula has no root.
    expect(probabilisticSharpe({ count: 9, sharpe: 1, skewness: 5, kurtosis: 3 })).toBeNull()
  })
  test('what never varies has no ratio, and none of it is NaN', () => {
    expect(momentsOf([])).toEqual({ count: 0, mean: 0, deviation: 0, skewness: 0, kurtosis: 3, sharpe: 0 })
    expect(momentsOf([0.25, 0.25, 0.25])).toMatchObject({ sharpe: 0, skewness: 0, kurtosis: 3 })
    const constant = Array.from({ length: 1000 }, () => 0.1)
    expect(
      sharpeOfSums(
        1000,
        constant.reduce((a, b) => a + b),
        constant.reduce((a, b) => a + b * b, 0),
      ),
    ).toBe(0)
  })
  test('trials that are alike count for fewer', () => {
    near(independentTrials(100, 0.8), 0.8 + 0.2 * 100)
    expect(independentTrials(100, -0.3)).toBe(100)
    expect(independentTrials(100, 1)).toBe(1)
  })
  test('the mean correlation is that of all pairs', () => {
    const rows = noise(50, 6, 3)
    const pairs: number[] = []
    for (const [i, a] of rows.entries())
      for (const b of rows.slice(i + 1)) {
        const [x, y] = [momentsOf(a), momentsOf(b)]
        const together = a.reduce((sum, value, t) => sum + (value - x.mean) * (b[t]! - y.mean), 0) / 49
        pairs.push(together / (x.deviation * y.deviation))
      }
    near(meanCorrelation(rows), pairs.reduce((a, b) => a + b) / pairs.length, 1e-12)
    expect(meanCorrelation([rows[0]!, new Float64Array(50)])).toBe(0)
  })
})

describe('of simulated sweeps', () => {
  const share = (sweeps: number, edge: number, of: 'deflated' | 'probabilistic') => {
    const random = seededRandom(41)
    const found = Array.from({ length: sweeps }, () => simulatedSweep(random, 60, 400, edge))
    return found.filter((one) => one[of] > 0.95).length / sweeps
  }
  test('noise passes the usual test nearly always, and the deflated one hardly ever', () => {
    expect(share(100, 0, 'probabilistic')).toBeGreaterThan(0.9)
    expect(share(100, 0, 'deflated')).toBeLessThanOrEqual(0.05)
  })
  test('a true edge is found', () => {
    expect(share(40, 0.32, 'deflated')).toBeGreaterThanOrEqual(0.9)
  })
})

describe.each([
  ['noise', 0, statistics.cscv_noise_T240_N20_S8_seed1],
  ['an edge', 0.004, statistics.cscv_edge_T240_N20_S8_seed1],
])('overfitting of %s', (_, edge, oracle) => {
  const rows = noise(240, 20, 1, edge)

  test('is on the same numbers', () => {
    for (const [k, value] of oracle['M[0][:3]'].entries()) near(rows[k]![0]!, value, 1e-15)
    near(rows[19]![239]!, oracle['M[-1][-1]'], 1e-15)
  })
  test('has the probability, the degradation and the loss that an independent program finds', () => {
    const found = overfitting(blocksOf(rows, 8))!
    expect(found.splits).toBe(oracle.combos)
    near(found.probability, oracle.pbo)
    near(found.slope, oracle.slope)
    near(found.intercept, oracle.intercept)
    near(found.loss, oracle.p_loss)
    near(found.logits.reduce((a, b) => a + b) / found.splits, oracle.mean_logit)
    near(median([...found.logits]), oracle.median_logit)
    for (const [i, logit] of oracle.first5_logits.entries()) near(found.logits[i]!, logit)
  })
  test('deflates the best as that program does', () => {
    const moments = rows.map(momentsOf)
    const sharpes = moments.map(({ sharpe }) => sharpe)
    for (const [k, value] of oracle['sharpe[:3]'].entries()) near(sharpes[k]!, value)
    const best = sharpes.indexOf(Math.max(...sharpes))
    expect(best).toBe(oracle.best)
    near(momentsOf(sharpes).deviation, oracle.sd_sr)
    near(moments[best]!.skewness, oracle.skew)
    near(moments[best]!.kurtosis, oracle.kurt)
    const deflated = deflatedSharpe(moments[best]!, rows.length, oracle.sd_sr)
    near(deflated.benchmark, oracle.sr0)
    near(deflated.probability, oracle.dsr)
  })
})

test('overfitting equals trying every split by itself', () => {
  const rows = noise(61, 5, 9)
  const given = blocksOf(rows, 6)
  const found = overfitting(given)!
  const bound = (block: number) => Math.floor((block * 61) / 6)
  const splits = Array.from({ length: 64 }, (_, mask) => [0, 1, 2, 3, 4, 5].filter((b) => (mask >> b) & 1))
    .filter(({ length }) => length === 3)
    .sort((a, b) => a.join('').localeCompare(b.join('')))
  const slow = splits.map((inside) => {
    const sharpes = (holds: (block: number) => boolean) =>
      rows.map(
        (row) =>
          momentsOf(
            [0, 1, 2, 3, 4, 5].filter(holds).flatMap((b) => Array.from(row.subarray(bound(b), bound(b + 1)))),
          ).sharpe,
      )
    const [ins, outs] = [sharpes((b) => inside.includes(b)), sharpes((b) => !inside.includes(b))]
    const best = ins.indexOf(Math.max(...ins))
    const rank = outs.filter((value) => value <= outs[best]!).length
    return Math.log(rank / (rows.length + 1 - rank))
  })
  expect(found.logits.length).toBe(slow.length)
  for (const [i, logit] of slow.entries()) near(found.logits[i]!, logit)
})

test('overfitting of trials that are all the same is a coin', () => {
  const [row] = noise(64, 1, 5)
  const found = overfitting(blocksOf([row!, row!, row!], 8))!
  expect([...new Set(found.logits)]).toEqual([0])
  expect(found.probability).toBe(1)
})

test('overfitting is not judged where there is nothing to compare', () => {
  const rows = noise(64, 2, 5)
  expect(overfitting(blocksOf(rows.slice(0, 1), 8))).toBeNull()
  expect(overfitting(blocksOf(rows, 7))).toBeNull()
  expect(overfitting(blocksOf(noise(5, 2, 5), 8))).toBeNull()
})

describe('data snooping', () => {
  test('the statistics are exact and the chances within the error of their bootstrap', () => {
    const found = snoopingTests(noise(240, 20, 1), { seed: 1, replications: 4000 })!
    near(found.white.statistic, snooping.RC_stat_noise)
    near(found.hansen.statistic, snooping.SPA_tstat_noise.max)
    expect(found.hansen.best).toBe(snooping.SPA_tstat_noise.argmax)
    near(found.white.lower, snooping.SPA_noise.lower, 0.03)
    near(found.white.consistent, snooping.SPA_noise.consistent, 0.03)
    near(found.white.upper, snooping.SPA_noise.upper, 0.03)
    // The same written down with numpy, 10,000 histories.
    near(found.hansen.lower, 0.239, 0.03)
    near(found.hansen.consistent, 0.3551, 0.03)
    near(found.hansen.upper, 0.3795, 0.03)
  })
  test('an edge is found, and a seed gives the same chances again', () => {
    const rows = noise(240, 20, 1, 0.004)
    const found = snoopingTests(rows, { seed: 5 })!
    expect(found.white.upper).toBeLessThan(0.01)
    expect(found.hansen.consistent).toBeLessThan(0.01)
    expect(snoopingTests(rows, { seed: 5 })).toEqual(found)
  })
  test('trials that never trade are no evidence', () => {
    const found = snoopingTests([new Float64Array(50)], { seed: 1, replications: 50 })!
    expect(found.hansen).toMatchObject({ statistic: 0, upper: 0 })
    expect(snoopingTests([], { seed: 1 })).toBeNull()
  })
})

describe('walking forward', () => {
  const run = (inProfit: number, outProfit: number, outDrawdownPct = 0.1) => ({
    inProfit,
    inBars: 300,
    outProfit,
    outBars: 100,
    outDrawdownPct,
  })
  test('the efficiency is profit a bar over profit a bar', () => {
    const found = walkForward([run(300, 60), run(300, 40), run(300, 50), run(300, 30)])
    near(found.efficiency, 0.45)
    expect(found.passes).toEqual({
      profit: true,
      efficiency: false,
      runs: true,
      spread: true,
      drawdown: true,
    })
    expect(found.passed).toBe(false)
  })
  test('each rule can fail by itself', () => {
    const good = [run(300, 90), run(300, 90), run(300, 90)]
    expect(walkForward(good).passed).toBe(true)
    expect(walkForward([run(300, 90), run(300, 90, 0.41), run(300, 90)]).passes.drawdown).toBe(false)
    expect(walkForward([run(300, 500), run(300, 90), run(300, 90)]).passes.spread).toBe(false)
    expect(walkForward([run(300, 500), run(300, -1), run(300, -1)]).passes.runs).toBe(false)
    expect(walkForward([run(300, -500), run(300, 1), run(300, 1)]).passes.profit).toBe(false)
  })
  test('where nothing was earned in sample there is no efficiency', () => {
    expect(walkForward([run(-5, 10)]).efficiency).toBeNull()
    expect(walkForward([]).passed).toBe(false)
  })
})

describe('the rest', () => {
  test('a plateau is the median and the least around the peak, over the peak', () => {
    const found = plateau(10, [9, 8, 5, 10])!
    expect(found).toEqual({ neighbours: 4, median: 0.9, least: 0.5 })
    expect(plateau(10, [])).toBeNull()
    expect(plateau(-1, [2])).toBeNull()
  })
  test('a quantile lies between its neighbours, as numpy has it', () => {
    near(quantile([1, 2, 4, 8], 0.05), 1.15)
    near(quantile([1, 2, 4, 8], 0.5), 3)
    expect(quantile([], 0.5)).toBeNaN()
  })
  test('shuffled trades keep their profit, and their drawdown is at least the largest loss', () => {
    const profits = [5, -3, 8, -1, 2, -7, 4]
    const found = monteCarloOfTrades(profits, 100, { seed: 4, rounds: 2000 })!
    expect(found.order.drawdown.low).toBeGreaterThanOrEqual(7)
    expect(found.order.drawdown.high).toBeLessThanOrEqual(11)
    // All 5,040 orders give a median of 8.
    near(found.order.drawdown.middle, 8, 1e-12)
    near(found.bootstrap.profit.middle, 8, 2)
    expect(monteCarloOfTrades(profits, 100, { seed: 4, rounds: 2000 })).toEqual(found)
    expect(monteCarloOfTrades([1], 100, { seed: 4 })).toBeNull()
  })
  test('costs come off trade by trade', () => {
    const trades = [
      { profit: 10, commission: 1, size: 2 },
      { profit: -4, commission: 1, size: 2 },
    ]
    const found = costSensitivity(trades, 0.5)
    expect(found.table[0]).toEqual({ commission: 1, ticks: 0, profit: 6 })
    expect(found.table.find(({ commission, ticks }) => commission === 2 && ticks === 1)?.profit).toBe(
      6 - 2 - 4,
    )
    expect(found.breakEvenTicks).toBe(1.5)
    expect(costSensitivity([], 0.5).breakEvenTicks).toBeNull()
  })
  test('seeded numbers repeat, differ by seed and stream, and are spread as they should be', () => {
    const first = (seed: number, stream = 0) => Array.from({ length: 4 }, seededRandom(seed, stream).uniform)
    expect(first(1)).toEqual(first(1))
    expect(first(1)).not.toEqual(first(2))
    expect(first(1)).not.toEqual(first(1, 1))
    expect(first(1)).not.toEqual(first(1 + 2 ** 32))
    const random = seededRandom(7)
    const normal = momentsOf(Array.from({ length: 100_000 }, () => random.normal()))
    near(normal.mean, 0, 0.015)
    near(normal.deviation, 1, 0.015)
    near(normal.kurtosis, 3, 0.1)
  })
})

describe('where there is little to say', () => {
  test('no values have the moments of nothing', () => {
    const none = { count: 0, mean: 0, deviation: 0, skewness: 0, kurtosis: 3, sharpe: 0 }
    expect(momentsOfPowers(0, [0, 0, 0, 0])).toEqual(none)
  })
  test('the bound on the years is 2·ln N / E², and 0 of one trial or none', () => {
    expect([0, 1].map((trials) => leastBacktestLength(trials, 2).bound)).toEqual([0, 0])
    expect(leastBacktestLength(100, 2).bound).toBeCloseTo((2 * Math.log(100)) / 4, 12)
  })
  test('what loses, or trades nothing, has no ticks at which it breaks even', () => {
    const ticks = (profit: number, size: number) =>
      costSensitivity([{ profit, commission: 0, size }], 0.5).breakEvenTicks
    // Two fills of four contracts at half a dollar a tick: four a tick.
    expect([ticks(20, 4), ticks(-20, 4), ticks(20, 0), ticks(0, 4)]).toEqual([5, null, null, null])
  })
})
