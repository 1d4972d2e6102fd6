// Jobs of forward runs, done in this thread.

import { CompiledScripts } from '../../../src/broker/compiled-scripts.ts'
import { followJob, forwardJob } from '../../../src/work/workers/forward-job.ts'
import type { FollowJob, ForwardJob } from '../../../src/work/workers/job.ts'
import type { JobPool } from '../../../src/work/workers/pool.ts'
import type { Desk } from '../../../src/work/workers/desk.ts'

export function inlinePool(): Pick<JobPool, 'do'> {
  const scripts = new CompiledScripts()
  return {
    async do(kind: string, job: unknown, { host }: { readonly host?: unknown }) {
      const desk = { host, scripts, used: () => {}, progress: () => {} } as unknown as Desk
      // As from one thread to another and back.
      const given = structuredClone(job)
      return structuredClone(
        kind === 'follow'
          ? await followJob(given as FollowJob, desk)
          : await forwardJob(given as ForwardJob, desk),
      )
    },
  } as Pick<JobPool, 'do'>
}
