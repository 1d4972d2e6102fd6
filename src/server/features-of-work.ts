// Whatever runs scripts for somebody: sweeps, scans, portfolios, forward runs; and reading files of bars.

import { createLoop, type Loop } from '../lib/loop.ts'
import type { LiveBars } from '../people/feeds/live-bars.ts'
import { libraryFor } from '../people/scripts/scripts.ts'
import type { Watchlists } from '../people/watchlists/watchlists.ts'
import { ForwardRuns } from '../work/forward/forward-runs.ts'
import { Portfolios } from '../work/portfolios/portfolios.ts'
import { hostFor, scanHost } from '../work/runs/host.ts'
import { Scans, type ScanDeps } from '../work/scans/scans.ts'
import { createScanWatch } from '../work/scans/watch.ts'
import { Ledger } from '../work/sweeps/ledger.ts'
import { Sweeps, type SweepDeps } from '../work/sweeps/sweeps.ts'
import { KeptFiles, stageInWorker } from '../work/workers/import-job.ts'
import type { FeatureDeps } from './feature-deps.ts'
import type { Telling } from './telling.ts'

const HELP_MS = 1000

/** What else of the server they need. */
interface Others {
  readonly watchlists: Watchlists
  readonly telling: Telling
  readonly live: LiveBars
}

export function workOf(deps: FeatureDeps, { watchlists, telling, live }: Others) {
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
    told: ({ userId }) => telling.wakeDeliveries(userId),
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
  const readers = { pool, kept: new KeptFiles() }
  return {
    sweeps,
    portfolios,
    forwardRuns,
    scans,
    ledger,
    readerFor: (userId: string, signal: AbortSignal) => stageInWorker(readers, userId, limits.timeMs, signal),
    /** A batch of a sweep was offered by another server, or done. */
    async offerHeard(id: string): Promise<void> {
      helping.wake()
      await sweeps.offerHeard(id)
    },
    async run(signal: AbortSignal): Promise<void> {
      const loops = deps.nodes ? [scanWatch, forwardRuns, helping] : [scanWatch, forwardRuns]
      await Promise.all(loops.map((loop) => loop.run(signal)))
    },
  }
}

function helpingOf(deps: FeatureDeps, sweeps: Sweeps): Loop {
  const step = async () => {
    await sweeps.help(loop.wake)
    return HELP_MS
  }
  const loop: Loop = createLoop(deps, 'doing batches of other servers', step, { mostMs: HELP_MS })
  return loop
}
