// What follows from a backtest that has finished: receivers are told, and it can be found.

import { runItem } from '../http/search-items.ts'
import type { Search } from '../people/search/search.ts'
import type { Kv } from '../store/kv.ts'
import { endReplays } from '../work/replay/session.ts'
import { beginningOf, runs, type Run } from '../work/runs/records.ts'
import type { FinishedHook } from '../work/runs/commits.ts'
import { reportReadyEvent } from './messages.ts'
import type { Telling } from './telling.ts'

export function finishedHook(
  kv: Kv,
  search: Pick<Search, 'put' | 'remove'>,
  telling: Telling,
  tell: (run: Run) => void,
): FinishedHook {
  /** Finished runs that some receiver is told of. */
  const delivered = new WeakSet<Run>()
  return {
    async changes(tx, run) {
      const events = [reportReadyEvent(run)]
      const deliveries = await telling.outbox.enqueue(tx, run.userId, 'backtest.reportReady', events)
      if (deliveries.length > 0) delivered.add(run)
      return deliveries
    },
    written(run, { source }) {
      search.put(runItem(run, source))
      // Most users have no receiver, and looking for deliveries would come before the answer.
      if (delivered.has(run)) telling.wakeDeliveries(run.userId)
      tell(run)
    },
    removed: (tx, { id }) => endReplays(kv, tx, id),
    gone: ({ id, userId }) => search.remove('backtest', id, userId),
    async changed(run) {
      const text = run.state === 'done' ? await beginningOf(kv, run.id) : null
      if (text === null) return
      search.put(runItem(run, text))
      // It may have been deleted while its text was read.
      if (!(await runs(kv).get(run.id))) search.remove('backtest', run.id, run.userId)
    },
  }
}
