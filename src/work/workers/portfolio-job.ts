// A portfolio in a worker: all its parts at once, since what one of them does the others may feel.

import { checkPortfolio, runPortfolio, type PortfolioRequest } from '../../broker/portfolio.ts'
import type { BacktestRequest, BacktestResult } from '../../broker/backtest.ts'
import { csvRow } from '../../lib/csv-text.ts'
import { Problem } from '../../lib/problem.ts'
import { AnswerScales, type TextBytes } from './answer.ts'
import type { PortfolioJob, PortfolioOutput } from './job.ts'
import { requestOf, triedBy, withSeriesOf, type Wanted } from './run-job.ts'
import type { Desk } from './desk.ts'
import { words } from '../../lib/words.ts'

/** Throws what would keep the portfolio from beginning; nothing is run. */
export function checkPortfolioJob(job: PortfolioJob, desk: Desk): Promise<null> {
  return withParts(job, desk, ({ parts, ...rest }) => {
    const isNew = parts.map(({ request, priority }) => ({ request: { ...request, isNew: true }, priority }))
    checkPortfolio({ ...rest, parts: isNew })
    return null
  })
}

export async function portfolioJob(job: PortfolioJob, desk: Desk): Promise<PortfolioOutput> {
  const { parts } = job
  const { result, parts: runs } = await withParts(job, desk, runPortfolio)
  const { answerBytes, memoryBytes } = parts[0]!.limits
  const scales = new AnswerScales(Math.min(answerBytes, memoryBytes), () => {})
  return {
    result,
    reports: runs.map((run) => scales.bytes(run.reportTexts())),
    trades: scales.bytes(tradeLines(parts, runs)),
    partTracks: runs.map((run) => tracksOf(run, scales)),
    tried: runs.map(({ report }, i) => triedBy(parts[i]!, report)),
  }
}

/** Charts of many parts may be more than may be kept: then figures and trades are, and no charts from there on. */
function tracksOf(run: BacktestResult, scales: AnswerScales): TextBytes | null {
  try {
    return scales.bytes(run.trackTexts())
  } catch (error) {
    if (error instanceof Problem && error.code === 'script_limit_exceeded') return null
    throw error
  }
}

const TRADE_FIELDS = words('side qty entryTime entryPrice exitTime exitPrice profit commission bars status')

/** All trades as CSV, part by part in the order they closed. */
function* tradeLines(parts: PortfolioJob['parts'], runs: readonly BacktestResult[]): Generator<string> {
  yield `${csvRow(['part', 'exchange', 'symbol', 'interval', 'trade', ...TRADE_FIELDS])}\n`
  for (const [i, { report }] of runs.entries()) {
    const { symbol, interval } = parts[i]!
    for (const trade of report.trades) {
      const cells = TRADE_FIELDS.map((field) =>
        field === 'entryTime' || field === 'exitTime' ? new Date(trade[field]).toISOString() : trade[field],
      )
      yield `${csvRow([i + 1, symbol.exchange, symbol.symbol, interval, trade.n, ...cells])}\n`
    }
  }
}

async function withParts<Answer>(
  { parts, capital, currency }: PortfolioJob,
  desk: Desk,
  work: (request: PortfolioRequest) => Answer,
): Promise<Answer> {
  const taken = parts.map(() => 0)
  const used = () => desk.used(taken.reduce((sum, bytes) => sum + bytes, 0))
  const asked: { request: Omit<BacktestRequest, 'series'>; wanted: Wanted; priority: number }[] = []
  for (const [i, { priority, ...job }] of parts.entries()) {
    const own: Desk = {
      ...desk,
      progress: () => {},
      host: { ...desk.host, finer: () => desk.host.finer(i) },
      used(bytes) {
        taken[i] = Math.max(taken[i]!, bytes)
        used()
      },
    }
    const { request, wanted } = await requestOf(job, own)
    // Asked for at each of many short turns, a thread's time would cost more than the turns; the pool looks at it too.
    const { spent: _spent, ...rest } = request
    asked.push({ request: parts.length === 1 ? request : rest, wanted, priority })
  }
  return withSeriesOf(
    desk,
    asked.flatMap(({ wanted }) => wanted),
    (series) =>
      work({
        parts: asked.map(({ request, priority }) => ({ request: { ...request, series }, priority })),
        capital,
        currency,
        progress: desk.progress,
      }),
  )
}
