// A step of a forward run in a worker: see `backtest/forward.ts`.

import { forward } from '../backtest/forward.ts'
import { AnswerScales } from './answer.ts'
import type { ForwardJob, ForwardOutput } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import { toldBy } from './told.ts'
import type { Desk } from './worker-loop.ts'

export function forwardJob({ kept, from, wants, ...job }: ForwardJob, desk: Desk): Promise<ForwardOutput> {
  const { mayAsk, outline } = toldBy(job.source)
  // What it reads beside its own bars may have changed since its state was made.
  const keeps = !mayAsk && !(job.overrides['use_bar_magnifier'] ?? outline.magnifier)
  return withAllItAsks(job, desk, (request) => {
    const { step, result } = forward(request, kept, from, { keeps })
    const scales = new AnswerScales(job.limits.answerBytes, (bytes) => desk.used(bytes))
    return {
      ...step,
      kind: result.report.script.kind,
      text: wants && scales.bytes(wants === 'report' ? result.reportTexts() : result.trackTexts()),
    }
  })
}
