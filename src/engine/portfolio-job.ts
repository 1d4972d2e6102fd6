// A portfolio in a worker: all its parts at once, since what one of them does the others may feel.

import { runPortfolio } from '../backtest/portfolio.ts'
import type { BacktestRequest } from '../backtest/run.ts'
import { AnswerScales } from './answer.ts'
import type { PortfolioJob, PortfolioOutput } from './job.ts'
import { requestOf, triedBy, withSeriesOf, type Wanted } from './run-job.ts'
import type { Desk } from './worker-loop.ts'

export async function portfolioJob(
  { parts, capital, currency }: PortfolioJob,
  desk: Desk,
): Promise<PortfolioOutput> {
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
  const { result, parts: runs } = await withSeriesOf(
    desk,
    asked.flatMap(({ wanted }) => wanted),
    (series) =>
      runPortfolio({
        parts: asked.map(({ request, priority }) => ({ request: { ...request, series }, priority })),
        capital,
        currency,
        progress: desk.progress,
      }),
  )
  const { answerBytes, memoryBytes } = parts[0]!.limits
  const scales = new AnswerScales(Math.min(answerBytes, memoryBytes), () => {})
  return {
    result,
    reports: runs.map((run) => scales.bytes(run.reportTexts())),
    tried: runs.map(({ report }, i) => triedBy(parts[i]!, report)),
  }
}
