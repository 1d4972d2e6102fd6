// The report's numbers, recomputed slowly and from the other end: from the rows of a TradingView export and the bars,
// with loops nobody would ship.

import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import Papa from 'papaparse'
import { runBacktest } from '../../src/broker/run.ts'
import { riskRatios } from '../../src/broker/report/sharpe.ts'
import { annualGrowth } from '../../src/broker/report/growth.ts'
import { parityCases } from '../../src/cli/parity/cases.ts'
import { canonicalJson } from '../../src/broker/report/hash.ts'
import { reportSummary } from '../../src/broker/report/summary.ts'

const DIR = `${import.meta.dir}/../../../shared/parity`
const here = existsSync(DIR)
if (!here)
  console.log(
    'report: ../shared/parity is absent, its list is not recomputed; report-oracle does the same for random scripts',
  )

if (here)
  describe('a list of TradingView, recomputed', () => {
    const one = here ? parityCases(DIR, ['supertrend']).find((found) => found.suite === 'lists') : undefined
    const { report } = one ? runBacktest(one.request) : { report: null! }
    const bars = one?.request.bars
    const rows = here
      ? Papa.parse<Record<string, string>>(
          readFileSync(`${DIR}/lists/supertrend_trades.csv`, 'utf8').trim(),
          {
            header: true,
          },
        ).data.filter((row) => row['open'] !== '1')
      : []
    // Profits of the export are rounded to the cent; from its prices and quantities they are exact.
    const trades = rows.map((row) => {
      const [entry, exit, qty] = [Number(row['entry_price']), Number(row['exit_price']), Number(row['qty'])]
      const side = row['side'] === 'long' ? 1 : -1
      return {
        side,
        entry,
        qty,
        profit: side * qty * (exit - entry),
        pct: (side * (exit - entry)) / entry,
        entryTime: Number(row['entry_time']),
        exitTime: Number(row['exit_time']),
        cumulative: Number(row['cum_profit']),
      }
    })
    const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
    const mean = (values: readonly number[]) => sum(values) / values.length
    const wins = trades.filter((trade) => trade.profit > 0)
    const losses = trades.filter((trade) => trade.profit < 0)
    const barOf = (time: number) => bars!.time.indexOf(time)

    test("profits are the export's", () => {
      const profit = sum(trades.map((trade) => trade.profit))
      expect(report.all.netProfit).toBeCloseTo(profit, 4)
      expect(Math.abs(report.all.netProfit - trades.at(-1)!.cumulative)).toBeLessThan(0.01)
      expect(report.all.grossProfit).toBeCloseTo(sum(wins.map((trade) => trade.profit)), 4)
      expect(report.all.grossLoss).toBeCloseTo(-sum(losses.map((trade) => trade.profit)), 4)
      expect(report.all.netProfitPct).toBeCloseTo(profit / 1_000_000, 9)
      expect(report.long.netProfit + report.short.netProfit).toBeCloseTo(profit, 4)
    })

    test('counts, averages and extremes', () => {
      const { all } = report
      expect([all.trades, all.winningTrades, all.losingTrades]).toEqual([
        trades.length,
        wins.length,
        losses.length,
      ])
      expect(all.winRate).toBeCloseTo(wins.length / trades.length, 12)
      expect(all.averageWin).toBeCloseTo(mean(wins.map((trade) => trade.profit)), 4)
      expect(all.averageLoss).toBeCloseTo(-mean(losses.map((trade) => trade.profit)), 4)
      expect(all.averageTradePct).toBeCloseTo(mean(trades.map((trade) => trade.pct)), 10)
      expect(all.largestWin).toBeCloseTo(Math.max(...trades.map((trade) => trade.profit)), 4)
      expect(all.largestWinPct).toBeCloseTo(Math.max(...trades.map((trade) => trade.pct)), 10)
      expect(all.largestLoss).toBeCloseTo(-Math.min(...trades.map((trade) => trade.profit)), 4)
      expect(all.averageBars).toBeCloseTo(
        mean(trades.map((trade) => barOf(trade.exitTime) - barOf(trade.entryTime) + 1)),
        9,
      )
      expect(all.maxContractsHeld).toBe(
        Math.max(...trades.map((trade) => trade.qty), report.trades.at(-1)!.qty),
      )
      expect(report.summary).toEqual({
        trades: trades.length,
        netProfit: all.netProfit,
        netProfitPct: all.netProfitPct,
        winRate: all.winRate!,
        profitFactor: all.grossProfit / all.grossLoss,
        maxDrawdownPct: report.equity.maxDrawdownPct,
        sharpe: report.equity.sharpe!,
      })
    })

    test('max drawdown and run-up, bar by bar and trade by trade', () => {
      let [peak, trough, drawdown, runup, fraction] = [1e6, 1e6, 0, 0, 0]
      let closed = 1e6
      const all = [...trades]
      const open = report.trades.at(-1)!
      if (open.status === 'open')
        all.push({
          side: open.side === 'long' ? 1 : -1,
          entry: open.entryPrice,
          qty: open.qty,
          profit: 0,
          pct: 0,
          entryTime: open.entryTime,
          exitTime: Infinity,
          cumulative: 0,
        })
      for (const trade of all) {
        const last = trade.exitTime === Infinity ? bars!.length : barOf(trade.exitTime)
        for (let i = barOf(trade.entryTime); i < last; i++)
          for (const price of [bars!.low[i]!, bars!.high[i]!]) {
            const equity = closed + trade.side * trade.qty * (price - trade.entry)
            drawdown = Math.max(drawdown, peak - equity)
            fraction = Math.max(fraction, (peak - equity) / peak)
            runup = Math.max(runup, equity - trough)
          }
        closed += trade.profit
        drawdown = Math.max(drawdown, peak - closed)
        peak = Math.max(peak, closed)
        trough = Math.min(trough, closed)
      }
      expect(report.equity.maxDrawdown).toBeCloseTo(drawdown, 3)
      expect(report.equity.maxRunup).toBeCloseTo(runup, 3)
      expect(report.equity.maxDrawdownPct).toBeCloseTo(fraction, 9)
    })

    test('Sharpe and Sortino over the month ends of realised equity', () => {
      const byMonth = new Map<string, number>()
      for (const time of bars!.time) byMonth.set(new Date(time).toISOString().slice(0, 7), 0)
      for (const trade of trades) {
        const month = new Date(trade.exitTime).toISOString().slice(0, 7)
        byMonth.set(month, byMonth.get(month)! + trade.profit)
      }
      const month = [...byMonth.keys()].at(-1)!
      byMonth.set(month, byMonth.get(month)! + report.equity.openProfit)
      let equity = 1e6
      const returns = [...byMonth.values()].map((profit) => {
        const before = equity
        equity += profit
        return equity / before - 1
      })
      const average = mean(returns)
      const deviation = Math.sqrt(mean(returns.map((value) => (value - average) ** 2)))
      const downside = Math.sqrt(mean(returns.map((value) => Math.min(0, value - 0.02 / 12) ** 2)))
      expect(report.equity.sharpe).toBeCloseTo((average - 0.02 / 12) / deviation, 6)
      expect(report.equity.sortino).toBeCloseTo((average - 0.02 / 12) / downside, 6)
      expect(report.equity.months.map((month) => month.month)).toEqual([...byMonth.keys()])
    })

    test('buy and hold, growth and time in the market', () => {
      const last = bars!.close[bars!.length - 1]!
      expect(report.equity.buyHold).toBeCloseTo(1e6 * (last / trades[0]!.entry - 1), 4)
      const days = (bars!.time[bars!.length - 1]! - bars!.time[0]!) / 86_400_000
      expect(report.equity.cagr).toBeCloseTo((report.equity.final / 1e6) ** (365 / days) - 1, 9)
      const held = bars!.length - barOf(trades[0]!.entryTime)
      expect(report.equity.timeInMarketPct).toBeCloseTo(held / bars!.length, 9)
    })

    test("excursions are the export's", () => {
      // Shown with two decimals.
      const wrong = rows.filter((row, i) => {
        const { runup, drawdown } = report.trades[i]!
        return (
          Math.abs(Number(row['runup']) - runup) > 0.02 || Math.abs(Number(row['drawdown']) - drawdown) > 0.02
        )
      })
      expect(wrong).toEqual([])
    })
  })

describe('statistics', () => {
  test('Sharpe is undefined without variation or with a single month', () => {
    expect(riskRatios([0.01], 2, 'month').sharpe).toBeNull()
    expect(riskRatios([0.01, 0.01], 2, 'month')).toEqual({
      sharpe: null,
      sharpeAnnualized: null,
      sortino: null,
    })
    const { sharpe, sharpeAnnualized } = riskRatios([0.02, -0.01, 0.03], 2, 'month')
    expect(sharpeAnnualized! / sharpe!).toBeCloseTo(Math.sqrt(12), 12)
  })

  test('one period alone has no ratios, lost or won', () => {
    const none = { sharpe: null, sharpeAnnualized: null, sortino: null }
    for (const returns of [[], [0.5], [-0.5], [0.1, Infinity], [NaN, 0.1, 0.2]])
      expect(riskRatios(returns, 2, 'month')).toEqual(none)
  })

  test('the canonical text has its keys in their order, whatever order they were written in', () => {
    const expected = '{"a":1,"b":2,"c":{"d":3,"e":[4,{"f":5,"g":6}]},"h":7}'
    expect(canonicalJson({ h: 7, c: { e: [4, { g: 6, f: 5 }], d: 3 }, b: 2, a: 1 })).toBe(expected)
    expect(canonicalJson({ b: 2, h: 7, a: 1, c: { d: 3, e: [4, { f: 5, g: 6 }] } })).toBe(expected)
  })

  test('a year at 10 % grows by 10 %, and what was lost has no growth', () => {
    const year = 365 * 86_400_000
    expect(annualGrowth(100, 110, 0, year)).toBeCloseTo(0.1, 12)
    expect(annualGrowth(100, 121, 0, 2 * year)).toBeCloseTo(0.1, 12)
    expect(annualGrowth(100, 0, 0, year)).toBeNull()
    expect(annualGrowth(100, 110, 0, 0)).toBeNull()
  })

  test('the summary is finite: no trades are zeros, no losses a profit factor of a million', () => {
    const column = {
      trades: 0,
      netProfit: 0,
      netProfitPct: 0,
      winRate: null,
      profitFactor: null,
      grossProfit: 0,
    }
    const equity = { maxDrawdownPct: 0, sharpe: null }
    // The summary reads these fields only.
    const summary = (all: object) => reportSummary(all as Parameters<typeof reportSummary>[0], equity)
    expect(Object.values(summary(column))).toEqual([0, 0, 0, 0, 0, 0, 0])
    expect(summary({ ...column, trades: 1, grossProfit: 5, winRate: 1 }).profitFactor).toBe(1e6)
  })
})
