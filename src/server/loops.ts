// What goes on beside requests for as long as the server runs.

import type { Gate } from '../http/access.ts'
import type { Services } from '../http/deps.ts'
import { createLoop } from '../lib/loop.ts'
import { sweepSessions } from '../people/accounts/sessions.ts'
import { sweepTickets } from '../people/accounts/tickets.ts'
import { sweepTokens } from '../people/accounts/tokens.ts'
import type { ChangeFeed } from '../store/postgres/feed.ts'
import type { ServerStore } from './server-store.ts'
import type { World } from './world.ts'

const SWEEP_MS = 3600_000
/** How often a server looks for backtests that it could take up: as it hears of them, hardly ever, and often while some wait for a worker. */
const TAKE_UP_MS = 15_000
const TAKE_UP_BUSY_MS = 100
/** The longest pause after a look that failed. */
const TAKE_UP_RETRY_MS = 1000

/** Runs until the signal aborts. */
export async function runLoops(
  { feed, fleet }: ServerStore,
  services: Services,
  { idempotency }: Pick<Gate, 'idempotency'>,
  world: Pick<World, 'exit'>,
  signal: AbortSignal,
): Promise<void> {
  const sweep = createLoop(services, 'sweeping', async () => {
    const isAlone = fleet === null
    await Promise.all([
      feed?.prune(),
      ...(isAlone || fleet.holds('sweeping')
        ? [idempotency.sweep(), sweepSessions(services), sweepTokens(services), sweepTickets(services)]
        : []),
      // Alone, a server does so before its first import, and never again.
      ...(!isAlone && fleet.holds('sweeping') ? [services.bars.store.sweep()] : []),
    ])
    return SWEEP_MS
  })
  await Promise.all([
    // From the signal to stop on no delivery begins, since those under way are waited for.
    services.features.start(signal, services.stopping),
    sweep.run(signal),
    idempotency.run(signal),
    feed && followOthers(feed, services, world, signal),
    fleet && takeUpRuns(services, signal),
  ])
}

/** Backtests that nobody waits for go to whichever server has a free worker. */
async function takeUpRuns(services: Services, signal: AbortSignal): Promise<void> {
  const { runs, features } = services
  const loop = createLoop(
    services,
    'taking up backtests',
    async () => ((await runs.takeUp()) ? TAKE_UP_BUSY_MS : TAKE_UP_MS),
    { mostMs: TAKE_UP_RETRY_MS },
  )
  features.onRunHeard((_, run) => {
    if (run?.node === null) loop.wake()
  })
  runs.onLeft(() => loop.wake())
  await loop.run(signal)
}

/** What commands and other servers write reaches every chart and every index as soon as what this server writes itself. */
async function followOthers(
  feed: ChangeFeed,
  services: Services,
  { exit }: Pick<World, 'exit'>,
  signal: AbortSignal,
): Promise<void> {
  const { bars, features, log } = services
  const { barsOfChange } = await import('../store/postgres/postgres-bars.ts')
  feed.onChange(({ isOwn, keys }) => {
    if (isOwn) return
    features.others.hear(keys)
    for (const { key, ...counts } of keys.flatMap((told) => barsOfChange(told) ?? []))
      bars.changedElsewhere(key, counts).catch((error: unknown) => {
        log('warn', 'a change of bars was not told', { error: String(error) })
      })
  })
  // Nobody keeps changes for a server that did not read them for a minute: it has to begin again.
  feed.onMissed(() => {
    log('error', 'changes of other servers were missed')
    void exit(1)
  })
  await feed.run(services, signal)
}
