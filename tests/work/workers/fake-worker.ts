// A worker whose "scripts" are words: what the pool must cope with, without the engine. Its other jobs are the real
// ones, which are loaded when one is asked for.

import { previewJob, runJob } from '../../../src/work/workers/run-job.ts'
import type { Kinds } from '../../../src/work/workers/worker-loop.ts'
import { Problem } from '../../../src/lib/problem.ts'
import { seriesName } from '../../../src/market/bar-store.ts'
import { SeriesNeeded } from '../../../src/language/runtime/runtime.ts'
import { ScriptError } from '../../../src/language/script-error.ts'
import type { BacktestRequest, BacktestResult } from '../../../src/broker/backtest.ts'
import { serveLent } from './serve-lent.ts'

const hoard: unknown[] = []

const stoodInFor =
  (tell: (bytes: number) => void) =>
  (request: BacktestRequest): BacktestResult => {
    const { source, bars, series, progress, inputs } = request
    switch (source) {
      case 'for ever':
        for (;;) bars.close[0] = 0
      case 'hoard':
        for (;;) {
          hoard.push(new Float64Array(1 << 18).fill(1))
          tell(hoard.length * 2 ** 21)
        }
      case 'takes 50 MB for ever':
        tell(50 * 2 ** 20)
        progress?.(bars.length)
        for (;;) bars.close[0] = 0
      case 'took 100 MB':
        tell(100 * 2 ** 20)
        return result({})
      case 'keeps 100 MB':
        tell(100 * 2 ** 20)
        hoard.push(new Float64Array(100 << 17).fill(1))
        return result({})
      case 'invalid':
        throw new Problem(422, 'script_invalid', 'no', { diagnostics: [{ line: 1 }] })
      case 'crash':
        throw new ScriptError('not caught by the engine')
      case 'other series': {
        const other = series('X', 'OTHER', '1d')
        if (other === undefined) throw new SeriesNeeded('X', 'OTHER', '1d')
        return result({ other: other && seriesName({ ...other.symbol, interval: other.interval }) })
      }
      default:
        for (let bar = 0; bar <= bars.length; bar += 1000) progress?.(bar)
        return result({ sum: bars.close.reduce((a, b) => a + b, 0), inputs })
    }
  }

function result(fields: object): BacktestResult {
  const summary = {
    trades: 0,
    netProfit: 0,
    netProfitPct: 0,
    winRate: 0,
    profitFactor: 0,
    maxDrawdownPct: 0,
    sharpe: 0,
  }
  const script = { declaration: {} }
  const equity = { netProfit: 0, openProfit: 0, buyHold: null }
  const report = { version: 1, summary, currency: 'USD', inputs: {}, script, equity, trades: [], ...fields }
  return {
    report: report as unknown as BacktestResult['report'],
    barsHash: null,
    moments: () => null,
    curve: () => [1, 1.25],
    tracks: [],
    reportTexts: () => [JSON.stringify(report)],
    trackTexts: () => ['[{"id":"time","kind":"time","data":[]}]'],
    columns: () => ({ report, tracks: [{ id: 'time', kind: 'time', data: new Float64Array(0) }] }),
    release() {},
  }
}

const real = async (): Promise<Kinds> => (await import('../../../src/work/workers/kinds.ts')).KINDS

serveLent({
  run: (job, desk) => runJob(job, desk, stoodInFor(desk.used)),
  preview: (job, desk) => previewJob(job, desk, stoodInFor(desk.used)),
  pack: async (job, desk) => (await real()).pack(job, desk),
  forward: async (job, desk) => (await real()).forward(job, desk),
  follow: async (job, desk) => (await real()).follow(job, desk),
  verify: async (job, desk) => (await real()).verify(job, desk),
  check: async (job, desk) => (await real()).check(job, desk),
  format: async (job, desk) => (await real()).format(job, desk),
  checkAsked: async (job, desk) => (await real()).checkAsked(job, desk),
  compare: async (job, desk) => (await real()).compare(job, desk),
  replay: async (job, desk) => (await real()).replay(job, desk),
  pick: async (job, desk) => (await real()).pick(job, desk),
  import: async (job, desk) => {
    if (job.fileName === 'for ever') for (;;) hoard.length = 0
    return (await real()).import(job, desk)
  },
  checkPortfolio: async (job, desk) => (await real()).checkPortfolio(job, desk),
})
