// Steps of a forward run in a worker: see `broker/forward.ts`.

import { forward } from '../../broker/forward.ts'
import { sliceBars } from '../../market/bars.ts'
import { AnswerScales } from './answer.ts'
import type { FollowJob, FollowOutput, ForwardJob, ForwardOutput, RunJob } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import { ownThreadMs } from './thread-time.ts'
import { toldBy } from './told.ts'
import type { Desk } from './desk.ts'

export function forwardJob(
  { kept, from, wants, isNew = false, ...job }: ForwardJob,
  desk: Desk,
): Promise<ForwardOutput> {
  const keeps = keepsState(job)
  return withAllItAsks(job, desk, (request) => {
    const { step, result } = forward({ ...request, isNew }, kept, from, { keeps })
    const scales = new AnswerScales(job.limits.answerBytes, (bytes) => desk.used(bytes))
    return {
      ...step,
      kind: result.report.script.kind,
      text: wants && scales.bytes(wants === 'report' ? result.reportTexts() : result.trackTexts()),
    }
  })
}

/** A bar on which the script fails is left to a job that begins with it, and that answers the error. */
export function followJob({ kept, from, forMs, ...job }: FollowJob, desk: Desk): Promise<FollowOutput> {
  const keeps = keepsState(job)
  const until = ownThreadMs() + forMs
  return withAllItAsks(job, desk, (request) => {
    const steps: FollowOutput['steps'][number][] = []
    let state = kept
    for (let bar = from; bar < job.bars.length && (bar === from || ownThreadMs() < until); bar++) {
      const bars = sliceBars(job.bars, 0, bar + 1)
      try {
        // Nobody asks for the hash of a report that is not read.
        const { step } = forward({ ...request, bars, barsHash: '' }, state, bar, { keeps })
        const { kept: next, ...rest } = step
        state = next ?? state
        steps.push(rest)
      } catch (error) {
        if (bar === from) throw error
        break
      }
    }
    return { steps, kept: state === kept ? null : state }
  })
}

/** What it reads beside its own bars may have changed since its state was made. */
function keepsState({ source, overrides }: RunJob): boolean {
  const { mayAsk, outline } = toldBy(source)
  return !mayAsk && !(overrides['use_bar_magnifier'] ?? outline.magnifier)
}
