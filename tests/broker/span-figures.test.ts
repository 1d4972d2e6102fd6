// The figures of stretches of a run, against plain loops over its bars and trades.

import { expect, test } from 'bun:test'
import { NO_LOSSES } from '../../src/broker/report/summary.ts'
import { SpanFigures } from '../../src/broker/span-figures.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const BARS = 60
const INITIAL = 1000

test(`a stretch has the trades that close in it and the bars of its own, SEED=${SEED}`, () => {
  const random = seededRandom(SEED, 0x5b)
  const equity = Float64Array.from({ length: BARS }, () => INITIAL + 200 * (random.uniform() - 0.5))
  const returns = equity.map((value, i) => value / (i === 0 ? INITIAL : equity[i - 1]!) - 1)
  const trades = Array.from({ length: 25 }, () => ({
    bar: Math.floor(random.uniform() * BARS),
    profit: Math.round(100 * (random.uniform() - 0.5)),
  }))
  const run = {
    fills: { bar: Int32Array.from(trades, ({ bar }) => bar) },
    closed: {
      count: trades.length,
      exit: Int32Array.from(trades.keys()),
      profit: Float64Array.from(trades, ({ profit }) => profit),
    },
  } as unknown as ConstructorParameters<typeof SpanFigures>[0]
  const figures = new SpanFigures(run, equity, returns, INITIAL)
  for (let round = 0; round < 200; round++) {
    const [from = 0, to = 0] = [random.uniform(), random.uniform()]
      .map((part) => Math.floor(part * (BARS + 1)))
      .sort((a, b) => a - b)
    const inside = trades.filter(({ bar }) => bar >= from && bar < to)
    const sum = (wins: boolean) =>
      inside.reduce((total, { profit }) => total + (profit > 0 === wins ? Math.abs(profit) : 0), 0)
    const start = from === 0 ? INITIAL : equity[from - 1]!
    let [high, fall, share] = [start, 0, 0]
    for (const value of equity.subarray(from, to)) {
      high = Math.max(high, value)
      fall = Math.max(fall, high - value)
      share = Math.max(share, (high - value) / high)
    }
    const own = [...returns.subarray(from, to)]
    const mean = own.reduce((a, b) => a + b, 0) / own.length
    const deviation = Math.sqrt(own.reduce((a, b) => a + (b - mean) ** 2, 0) / (own.length - 1))
    const netProfit = from === to ? 0 : equity[to - 1]! - start
    const found = figures.of({ from, to })
    expect(found).toMatchObject({
      trades: inside.length,
      profitFactor: sum(false) > 0 ? sum(true) / sum(false) : sum(true) > 0 ? NO_LOSSES : 0,
      winRate: inside.length === 0 ? 0 : inside.filter(({ profit }) => profit > 0).length / inside.length,
    })
    const expected = {
      netProfit,
      netProfitPct: netProfit / start,
      maxDrawdown: fall,
      maxDrawdownPct: share,
      returnOverDrawdown: fall > 0 ? netProfit / fall : 0,
      sharpe: own.length > 1 ? mean / deviation : 0,
    }
    for (const [name, value] of Object.entries(expected))
      expect([from, to, name, found[name as keyof typeof found]]).toEqual([
        from,
        to,
        name,
        expect.closeTo(value, 9),
      ])
    expect(figures.of({ from, to }, false)).toMatchObject({ maxDrawdown: 0, maxDrawdownPct: 0, netProfit })
  }
})
