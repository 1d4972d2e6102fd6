// Jobs of forward runs, done in this thread.

import { CompiledScripts } from '../../src/backtest/compiled-scripts.ts'
import { forwardJob } from '../../src/engine/forward-job.ts'
import type { ForwardJob } from '../../src/engine/job.ts'
import type { JobPool } from '../../src/engine/pool.ts'
import type { Desk } from '../../src/engine/worker-loop.ts'

export function inlinePool(): Pick<JobPool, 'do'> {
  const scripts = new CompiledScripts()
  return {
    async do(_kind: string, job: unknown, { host }: { readonly host?: unknown }) {
      const desk = { host, scripts, used: () => {}, progress: () => {} } as unknown as Desk
      // As from one thread to another and back.
      return structuredClone(await forwardJob(structuredClone(job) as ForwardJob, desk))
    },
  } as Pick<JobPool, 'do'>
}
