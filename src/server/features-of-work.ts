// Whatever runs scripts for somebody: sweeps, scans, portfolios, forward runs; and reading files of bars.

import type { Features } from '../http/deps.ts'
import { runItem } from '../http/search-items.ts'
import { createLoop, type Loop } from '../lib/loop.ts'
import { libraryFor } from '../people/scripts/scripts.ts'
import type { Search } from '../people/search/search.ts'
import type { Kv } from '../store/kv.ts'
import { ForwardRuns } from '../work/forward/forward-runs.ts'
import { Portfolios } from '../work/portfolios/portfolios.ts'
import { endReplays } from '../work/replay/session.ts'
import type { FinishedHook } from '../work/runs/commits.ts'
import { hostFor, scanHost } from '../work/runs/host.ts'
import { HoldOuts } from '../work/runs/hold-outs.ts'
import { beginningOf, runs, type Run } from '../work/runs/records.ts'
import { Scans, type ScanDeps } from '../work/scans/scans.ts'
import { createScanWatch } from '../work/scans/watch.ts'
import { Ledger } from '../work/sweeps/ledger.ts'
import { Sweeps, type SweepDeps } from '../work/sweeps/sweeps.ts'
import { KeptFiles, stageInWorker } from '../work/workers/import-job.ts'
import type { Wiring } from './feature-deps.ts'
import { reportReadyEvent } from './messages.ts'
import type { Telling } from './telling.ts'

/** The kinds of work that is stored before it begins: resumed at the start, stopped at the end, heard of from other servers. */
export const STORED_KINDS = ['sweeps', 'scans', 'portfolios'] as const

/** How often a server looks for batches of others: where it could not take one, and where it would have heard of one. */
const HELP_MS = 1000
const HELP_IDLE_MS = 15_000

export function workOf(
  deps: Wiring,
  { watchlists, telling, live }: Pick<Features, 'watchlists' | 'live'> & { readonly telling: Telling },
) {
  const { kv, pool, limits } = deps
  const ledger = new Ledger(deps)
  const atOnce = Math.max(1, pool.workers - 1)
  const ofUser: SweepDeps['hostFor'] = (seen, userId, key, of) =>
    hostFor(seen, libraryFor(kv, userId), key, of)
  const ofScan: ScanDeps['hostFor'] = (seen, userId) => scanHost(seen, libraryFor(kv, userId))
  const sweeps = new Sweeps({ ...deps, ledger, hostFor: ofUser, atOnce, nodes: deps.nodes ?? null })
  const helping = helpingOf(deps, sweeps)
  const portfolios = new Portfolios({
    ...deps,
    hostFor: ofUser,
    tried: (userId, market, tried) => ledger.note({ ...tried, userId, market }),
  })
  const forwardRuns = new ForwardRuns({
    ...deps,
    hostFor: ofUser,
    deliver: (tx, run, events) => telling.ofOrders(tx, run, events),
    told: ({ userId }) => telling.wake(userId),
    forming: async (key) => (await live.formingOf(key)).row,
  })
  const scans = new Scans({
    ...deps,
    hostFor: ofScan,
    watched: async (userId, id) => (await watchlists.get(userId, id)).items,
    ownsReceiver: (userId, id) => telling.receivers.has(userId, id),
    tried: (userId, tried) => ledger.note({ ...tried, userId }),
    watchedIsDone: () => scanWatch.lookAtAll(),
    // One part more than can run at a time, so that its bars are read meanwhile.
    atOnce: atOnce + 1,
  })
  const scanWatch = createScanWatch({
    ...deps,
    hostFor: ofScan,
    deliver: (tx, scan, watch, news) => telling.ofNews(tx, scan, watch, news),
    told: ({ userId }) => telling.wake(userId),
  })
  for (const loop of deps.nodes ? [scanWatch, forwardRuns, helping] : [scanWatch, forwardRuns])
    deps.during((signal) => loop.run(signal))
  const readers = { pool, kept: new KeptFiles() }
  return {
    sweeps,
    portfolios,
    forwardRuns,
    scans,
    ledger,
    holdOuts: new HoldOuts(deps),
    readerFor: (userId: string, signal: AbortSignal) => stageInWorker(readers, userId, limits.timeMs, signal),
    /** A batch of a sweep was offered by another server, or done. */
    async offerHeard(id: string): Promise<void> {
      helping.wake()
      await sweeps.offerHeard(id)
    },
  }
}

function helpingOf(deps: Wiring, sweeps: Sweeps): Loop {
  const step = async () => ((await sweeps.help(loop.wake)) ? HELP_MS : HELP_IDLE_MS)
  const loop: Loop = createLoop(deps, 'doing batches of other servers', step, { mostMs: HELP_MS })
  return loop
}

/** What follows from a backtest that has finished: receivers are told, and it can be found. */
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
