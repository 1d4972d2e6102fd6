// Runs a part of a sweep's trials in a worker: compiled once, over the same bars.

import { runTrials, type TrialBatch, type TrialNumbers } from '../backtest/trial.ts'
import { scriptName } from '../backtest/trial-name.ts'
import type { TrialsJob, TrialsOutput } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import type { Desk } from './worker-loop.ts'

export async function trialsJob(job: TrialsJob, desk: Desk): Promise<TrialsOutput> {
  const started: (TrialNumbers | null)[] = []
  // A run reports its progress in bars, but a batch in trials.
  const quiet = { ...desk, progress: () => {} }
  const batch: TrialBatch = await withAllItAsks(job, quiet, (request) =>
    runTrials(request, job.points, job.measured, { started }),
  )
  return { ...batch, script: scriptName(job.source) }
}
