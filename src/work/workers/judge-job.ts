// Judges a sweep in a worker. The two tests that take longest may be jobs of others (`luck.ts`).

import type { JudgeJob, JudgeOutput } from './job.ts'
import { judge } from './judge.ts'
import { luckJob, luckParts } from './luck.ts'
import { withAllItAsks } from './run-job.ts'
import type { Desk } from './desk.ts'

export async function judgeJob(job: JudgeJob, desk: Desk): Promise<JudgeOutput> {
  const quiet = { ...desk, progress: () => {} }
  const found = await withAllItAsks(job, quiet, (request) => judge(job, request))
  const luck = job.luck === 'elsewhere' ? [] : luckParts(job, false).map((part) => luckJob({ ...job, part }))
  return { ...found, luck }
}
