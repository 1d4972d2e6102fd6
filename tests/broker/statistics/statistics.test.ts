// Every statistic against values that scipy and arch gave (`oracles.json`), and against what its paper prints.

import { describe, expect, test } from 'bun:test'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { leastBacktestLength } from '../../../src/broker/statistics/backtest-length.ts'
import {
  deflatedSharpe,
  independentTrials,
  meanCorrelation,
} from '../../../src/broker/statistics/deflated-sharpe.ts'
import { expectedMaximum } from '../../../src/broker/statistics/expected-maximum.ts'
import {
  median,
  momentsOf,
  momentsOfPowers,
  quantile,
  sharpeOfSums,
} from '../../../src/broker/statistics/moments.ts'
import { monteCarloOfTrades } from '../../../src/broker/statistics/monte-carlo.ts'
import {
  judgedPairs,
  overfitting,
  pairsOfSplits,
  type BlockSums,
} from '../../../src/broker/statistics/overfitting.ts'
import { plateau } from '../../../src/broker/statistics/plateau.ts'
import { leastTrackRecord, probabilisticSharpe } from '../../../src/broker/statistics/probabilistic-sharpe.ts'
import { snoopedHistories, snoopingOf, snoopingTests } from '../../../src/broker/statistics/reality-check.ts'
import { costSensitivity } from '../../../src/broker/statistics/sensitivity.ts'
import { walkForward } from '../../../src/broker/statistics/walk-forward.ts'
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

test('pairs of splits that are judged in parts are the same numbers as those of all in one go', () => {
  const given = blocksOf(noise(240, 7, 3), 8)
  const pairs = pairsOfSplits(given)
  expect(pairs).toBe(35)
  const all = Array.from(judgedPairs(given, 0, pairs))
  for (let cut = 0; cut <= pairs; cut++)
    expect([...judgedPairs(given, 0, cut), ...judgedPairs(given, cut, pairs)]).toEqual(all)
  for (let at = 0; at < pairs; at++)
    expect(Array.from(judgedPairs(given, at, at + 1))).toEqual(all.slice(6 * at, 6 * at + 6))
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
    for (const [trial, ratio] of snooping.SPA_tstat_noise.first3.entries())
      near(snoopingTests([noise(240, 20, 1)[trial]!], { seed: 1 })!.hansen.statistic, ratio)
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
  test('histories that are looked at in parts add up to all of them', () => {
    const rows = noise(60, 5, 2)
    const all = snoopingTests(rows, { seed: 8, replications: 90 })!
    expect(all.white.upper).toBeGreaterThan(0)
    for (const cuts of [
      [0, 90],
      [0, 1, 89, 90],
      [0, 30, 30, 60, 90],
    ]) {
      const parts = cuts.slice(1).map((to, i) => snoopedHistories(rows, { seed: 8 }, cuts[i]!, to))
      expect(snoopingOf([null, ...parts], 90)).toEqual(all)
    }
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

describe('by hand', () => {
  // About their mean of 4 they lie -3, -2, -1, 0 and 6: squares 50, cubes 180, fourth powers 1394.
  const five = {
    count: 5,
    mean: 4,
    deviation: Math.sqrt(50 / 4),
    skewness: 36 / 10 ** 1.5,
    kurtosis: 278.8 / 100,
    sharpe: 4 / Math.sqrt(12.5),
  }
  const closeTo = (found: object, expected: object) => {
    expect(Object.keys(found)).toEqual(Object.keys(expected))
    for (const [name, value] of Object.entries(expected))
      near((found as Record<string, number>)[name]!, value)
  }

  test('the moments of five numbers, from themselves and from the sums of their powers', () => {
    closeTo(momentsOf([1, 2, 3, 4, 10]), five)
    closeTo(momentsOfPowers(5, [20, 130, 1100, 10354]), five)
    closeTo(momentsOf([-1, -2, -3, -4, -10]), {
      ...five,
      mean: -4,
      skewness: -five.skewness,
      sharpe: -five.sharpe,
    })
    near(sharpeOfSums(5, 20, 130), five.sharpe)
    near(sharpeOfSums(3, -6, 14), -2)
  })
  test('one number is its own mean, and has no ratio', () => {
    const seven = { count: 1, mean: 7, deviation: 0, skewness: 0, kurtosis: 3, sharpe: 0 }
    expect(momentsOf([7])).toEqual(seven)
    expect(momentsOfPowers(1, [7, 49, 343, 2401])).toEqual(seven)
    expect(momentsOfPowers(2, [14, 98, 686, 4802])).toEqual({ ...seven, count: 2 })
  })
  test('quantiles end at the ends, and the middle of an unsorted list leaves it as it is', () => {
    const values = [9, 1, 5]
    expect([median(values), median([4, 1]), median([])]).toEqual([5, 2.5, NaN])
    expect(values).toEqual([9, 1, 5])
    expect([0, 0.25, 0.5, 1].map((share) => quantile([1, 2, 4], share))).toEqual([1, 1.5, 2, 4])
    expect([0, 0.3, 1].map((share) => quantile([6], share))).toEqual([6, 6, 6])
  })

  test('trades that only lose, or only win, do so in every history', () => {
    const always = (value: number) => ({ low: value, middle: value, high: value })
    const lost = monteCarloOfTrades([-10, -10], 100, { seed: 1 })!
    expect(lost).toEqual({
      rounds: 1000,
      order: { drawdown: always(20), drawdownPct: always(0.2) },
      bootstrap: { profit: always(-20), drawdown: always(20), drawdownPct: always(0.2) },
      loss: 1,
    })
    const won = monteCarloOfTrades([10, 10], 100, { seed: 1, rounds: 50 })!
    expect([won.rounds, won.loss, won.order.drawdown.high, won.bootstrap.profit]).toEqual([
      50,
      0,
      0,
      always(20),
    ])
    // No share of nothing: an account that never had any money has no peak to fall from.
    expect(monteCarloOfTrades([-1, -1], 0, { seed: 1, rounds: 9 })!.order).toEqual({
      drawdown: always(2),
      drawdownPct: always(0),
    })
  })
  test('a trade of each kind falls from 105, or from 100, and drawn again loses a quarter of the time', () => {
    const found = monteCarloOfTrades([5, -5], 100, { seed: 3, rounds: 4000 })!
    expect(found.order.drawdown).toEqual({ low: 5, middle: 5, high: 5 })
    near(found.order.drawdownPct.low, 5 / 105)
    near(found.order.drawdownPct.high, 5 / 100)
    expect(found.bootstrap.profit).toEqual({ low: -10, middle: 0, high: 10 })
    expect(found.bootstrap.drawdown).toEqual({ low: 0, middle: 5, high: 10 })
    // Two losses of four equally likely pairs; five deviations of 4,000 draws are 0.034.
    near(found.loss, 0.25, 0.035)
  })

  const halves = (sums: number[], squares: number[], counts: number[]): BlockSums => ({
    trials: sums.length / counts.length,
    blocks: counts.length,
    sums: Float64Array.from(sums),
    squares: Float64Array.from(squares),
    counts,
  })
  test('two trials that change places are overfitted for certain', () => {
    // Returns 1, 3 and -1, -3 of one, the other way round of the other: ratios ±2 / √2.
    const found = overfitting(halves([4, -4, -4, 4], [10, 10, 10, 10], [2, 2]))!
    expect([found.splits, found.probability, found.loss]).toEqual([2, 1, 1])
    // The worst of two: rank 1 of 3.
    for (const logit of found.logits) near(logit, Math.log(1 / 2))
    expect(
      [found.inSample, found.outOfSample].map((list) => [...list].map((value) => value.toFixed(6))),
    ).toEqual([
      ['1.414214', '1.414214'],
      ['-1.414214', '-1.414214'],
    ])
    near(found.slope, 0)
    near(found.intercept, -Math.SQRT2)
  })
  test('of two trials one of which is always better nothing is overfitted', () => {
    const found = overfitting(halves([4, 4, -4, -4], [10, 10, 10, 10], [2, 2]))!
    expect([found.probability, found.loss]).toEqual([0, 0])
    for (const logit of found.logits) near(logit, Math.log(2))
  })
  test('two returns a block are just enough, and a block without any is too little', () => {
    expect(overfitting(halves([4, 4, 4, 4], [10, 10, 10, 10], [3, 1]))).not.toBeNull()
    expect(overfitting(halves([4, 4, 4, 4], [10, 10, 10, 10], [2, 1]))).toBeNull()
    expect(overfitting(halves([4, 4, 4, 4], [10, 10, 10, 10], [4, 0]))).toBeNull()
    expect(overfitting(halves([], [], []))).toBeNull()
  })

  test('the statistics of snooping are √T times the mean, and that over its deviation', () => {
    // Means 1 and 2 of sixteen; up and down by d in turn.
    const row = (mean: number, d: number) =>
      Float64Array.from({ length: 16 }, (_, t) => mean + (t % 2 ? d : -d))
    const { white, hansen } = snoopingTests([row(1, 0.1), row(2, 4), row(-3, 1)], {
      seed: 1,
      replications: 200,
    })!
    expect([white.statistic, white.best, hansen.best]).toEqual([8, 1, 0])
    expect(hansen.statistic).toBeGreaterThan(40)
    // All of them lose: nothing is better than doing nothing, and 0 is as good as the best gets.
    const poor = snoopingTests([row(-1, 2), row(-2, 2)], { seed: 1, replications: 200 })!
    expect([poor.white.statistic, poor.white.best, poor.hansen.statistic, poor.hansen.best]).toEqual([
      -4, 0, 0, 0,
    ])
    expect(snoopingTests([new Float64Array(7).fill(1)], { seed: 1 })).toBeNull()
    expect(
      snoopingTests([new Float64Array(8).fill(1)], { seed: 1, replications: 1 })?.white.statistic,
    ).toBeCloseTo(Math.sqrt(8), 12)
  })
  test('the chances of snooping are shares of 1,000 histories, and lower is never above upper', () => {
    const { white, hansen } = snoopingTests(noise(60, 5, 2), { seed: 8 })!
    for (const { lower, consistent, upper } of [white, hansen]) {
      for (const chance of [lower, consistent, upper]) near(chance * 1000, Math.round(chance * 1000))
      expect(lower).toBeLessThanOrEqual(consistent)
      expect(consistent).toBeLessThanOrEqual(upper)
    }
  })

  const run = (inProfit: number, outProfit: number, outDrawdownPct = 0.1) => ({
    inProfit,
    inBars: 300,
    outProfit,
    outBars: 100,
    outDrawdownPct,
  })
  test('the five rules of walking forward hold at their bounds, and not beyond', () => {
    // A profit of 0.5 a bar after one of 1; half of the runs; half of the profit; 40 %.
    const edge = walkForward([run(300, 100, 0.4), run(300, 100), run(300, 0), run(300, 0)])
    expect([edge.efficiency, edge.profit, edge.profitableRuns, edge.passed]).toEqual([0.5, 200, 2, true])
    expect(walkForward([run(300, 99, 0.4), run(300, 100), run(300, 0), run(300, 0)]).passes).toMatchObject({
      efficiency: false,
      spread: false,
      runs: true,
    })
    expect(walkForward([run(300, 100), run(300, 0), run(300, 0)]).passes.runs).toBe(false)
    // One run is all of its profit, and one that earned nothing out of sample did not pass.
    expect(walkForward([run(300, 100)]).passes.spread).toBe(true)
    expect(walkForward([run(300, 0)])).toMatchObject({
      efficiency: 0,
      passes: { profit: false, spread: false },
    })
    expect(walkForward([run(0, 10)]).efficiency).toBeNull()
    expect(walkForward([]).passes).toEqual({
      profit: false,
      efficiency: false,
      runs: false,
      spread: false,
      drawdown: false,
    })
  })
  test('the table of costs has four commissions by four slippages, each from the same profit', () => {
    // 100 earned, 8 paid; a tick costs 2 fills of 3 contracts and 2 of 1 at 0.5: 4.
    const { table } = costSensitivity(
      [
        { profit: 70, commission: 6, size: 3 },
        { profit: 30, commission: 2, size: 1 },
      ],
      0.5,
    )
    expect(table.map(({ commission, ticks, profit }) => [commission, ticks, profit])).toEqual([
      [1, 0, 100],
      [1, 1, 96],
      [1, 2, 92],
      [1, 5, 80],
      [1.5, 0, 96],
      [1.5, 1, 92],
      [1.5, 2, 88],
      [1.5, 5, 76],
      [2, 0, 92],
      [2, 1, 88],
      [2, 2, 84],
      [2, 5, 72],
      [3, 0, 84],
      [3, 1, 80],
      [3, 2, 76],
      [3, 5, 64],
    ])
  })
  test('a plateau needs a peak above zero, and may have a hole in it', () => {
    expect(plateau(0, [1])).toBeNull()
    expect(plateau(4, [-2])).toEqual({ neighbours: 1, median: 0.25, least: -0.5 })
  })
  test('rows that do not vary are no partner for a correlation', () => {
    const [up, down] = [
      [1, 2, 3],
      [6, 4, 2],
    ]
    near(meanCorrelation([up, [1, 5, 9]]), 1)
    near(meanCorrelation([up, down]), -1)
    near(meanCorrelation([up, [4, 4, 4], down]), -1)
    expect([meanCorrelation([up]), meanCorrelation([])]).toEqual([0, 0])
    // Pairs 1, -1 and -1.
    near(meanCorrelation([up, down, up]), -1 / 3)
  })
  test('a record is long enough sooner for less confidence, and two periods are just enough to judge', () => {
    const even = { sharpe: 1, skewness: 0, kurtosis: 3 }
    // 1 + (1 + 1/2)·(1.2815515655446 / 1)²: the 90 % point of the normal.
    near(leastTrackRecord(even, 0, 0.9), 1 + 1.5 * 1.2815515655446004 ** 2, 1e-8)
    near(leastTrackRecord(even, 0.5, 0.9), 1 + 1.5 * 4 * 1.2815515655446004 ** 2, 1e-8)
    near(probabilisticSharpe({ ...even, count: 2 }, 1), 0.5)
    expect(probabilisticSharpe({ ...even, count: 1 }, 1)).toBeNull()
  })
})
