// The inside of a thread that is lent to one server after another (`lent-worker.ts`).

import { serveJobs, type Kinds } from '../../../src/work/workers/worker-loop.ts'

/** What a thread is told when another server gets it. */
export const ANEW = 'anew'

/** Serves jobs, each server's as if it were the first. */
export function serveLent(kinds: Partial<Kinds>): void {
  serveJobs(kinds)
  addEventListener('message', ({ data }) => {
    if (data === ANEW) serveJobs(kinds)
  })
}
