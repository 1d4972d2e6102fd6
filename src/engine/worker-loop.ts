// A worker's side: runs one job at a time and answers. `worker.ts` gives it the real `runBacktest`.

import { Problem } from '../lib/problem.ts'
import { seriesName } from '../market/bar-store.ts'
import { SeriesNeeded } from '../pine/runtime/runtime.ts'
import type { BacktestOutput, FromWorker, ToWorker } from './job.ts'
import type { BacktestRequest, BacktestResult } from '../backtest/run.ts'

declare const self: Worker

/** Progress is told at most once in so many bars: a message costs 10 us, a bar less. */
const PROGRESS_BARS = 5000

type RunBacktest = (request: BacktestRequest) => BacktestResult

export function serveBacktests(run: RunBacktest): void {
  self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    self.postMessage(answer(run, data))
  }
}

function answer(run: RunBacktest, { job, series }: ToWorker): FromWorker {
  let told = 0
  try {
    const { libraries, ...request } = job
    const result = run({
      ...request,
      series: (exchange, symbol, interval) => series[seriesName({ exchange, symbol, interval })],
      library: (user, library, version) => libraries[`${user}/${library}/${version}`] ?? null,
      progress: (bar) => {
        if (bar - told < PROGRESS_BARS) return
        told = bar
        self.postMessage({ kind: 'progress', bar } satisfies FromWorker)
      },
    })
    return { kind: 'done', ...output(result) }
  } catch (error) {
    if (error instanceof SeriesNeeded) {
      const { exchange, symbol, interval } = error
      return { kind: 'series', exchange, symbol, interval }
    }
    if (error instanceof Problem) {
      const { status, code, message, details } = error
      return { kind: 'problem', status, code, message, details }
    }
    return { kind: 'failure', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

function output({ report, tracks }: BacktestResult): BacktestOutput {
  const { summary, currency } = report
  return { report: JSON.stringify({ ...report }), tracks: JSON.stringify(tracks), summary, currency }
}
