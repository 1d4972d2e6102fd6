// Explains why TradingView's list of trades differs from a run, by running the script with other settings that were likely
// meant.

import { Explainer } from '../../broker/explain/explain.ts'
import type { ExportedTrade } from '../../broker/exported/trade-list.ts'
import type { ExplainJob } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import type { Desk } from './desk.ts'

/** Answers the findings as JSON text, or `null` if the lists agree. */
export async function explainJob(job: ExplainJob, desk: Desk): Promise<string> {
  const explainer = new Explainer({
    exported: JSON.parse(job.exported) as readonly ExportedTrade[],
    lost: job.lost,
    timezone: job.timezone,
    earlier: job.earlier,
    finer: await desk.host.finer(),
  })
  const found = await withAllItAsks(job, desk, (request) => explainer.explain(request))
  return JSON.stringify(found)
}
