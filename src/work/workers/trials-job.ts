// Runs a part of a sweep's trials in a worker: compiled once, over the same bars.

import { runTrials, type TrialBatch, type TrialNumbers } from '../../broker/trial.ts'
import { TrialColumns } from '../../broker/trial-columns.ts'
import type { TrialsJob, TrialsOutput } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import { toldBy } from './told.ts'
import type { Desk } from './desk.ts'

export async function trialsJob(job: TrialsJob, desk: Desk): Promise<TrialsOutput> {
  const { points, measured, bars, columns } = job
  const started: (TrialNumbers | null)[] = []
  // A run reports its progress in bars, but a batch in trials.
  const quiet = { ...desk, progress: () => {} }
  const began = performance.now()
  const kept = columns && desk.columns?.of(columns.name, () => new TrialColumns(bars.length, columns))
  try {
    const batch: TrialBatch = await withAllItAsks(job, quiet, (request) =>
      runTrials(request, points, measured, { started, columns: kept }),
    )
    return { ...batch, ...toldBy(job.source).names, tookMs: performance.now() - began }
  } finally {
    if (kept) desk.columns?.rest(points.length)
  }
}
