// Where the features meet: each knows nothing of the others, and here they are tied together, a function a room.
//
// A firing of an alert becomes outbox entries and a letter in one commit; a published idea becomes a search entry; a new bar
// makes the alerts look. The loops that deliver, mail and tidy up run from `start` until its signal aborts.
//
// A new feature is a line in what its room's function answers, and one in `Features`.

import type { Features } from '../http/deps.ts'
import { ALL_SHARDS } from '../lib/shards.ts'
import { Listeners } from '../lib/listeners.ts'
import { createLoop } from '../lib/loop.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import type { Firing } from '../notify/alerts/alert.ts'
import { symbolShard } from '../notify/alerts/look-queue.ts'
import { WATCHED_INTERVAL } from '../people/watchlists/watchlists.ts'
import { purgeGone } from '../work/runs/gone.ts'
import type { Run } from '../work/runs/records.ts'
import type { FeatureDeps, Wiring } from './feature-deps.ts'
import { feedsOf } from './features-of-feeds.ts'
import { notifyOf } from './features-of-notify.ts'
import { peopleOf } from './features-of-people.ts'
import { finishedHook, workOf } from './features-of-work.ts'
import { hearOthers } from './hear-others.ts'

const TIDY_MS = 3_600_000

export function createFeatures(given: FeatureDeps): Features {
  const loops: Parameters<Wiring['during']>[0][] = []
  const { kv, shards = ALL_SHARDS } = given
  const deps: Wiring = { ...given, shards, during: (loop) => void loops.push(loop) }
  const fired = new Listeners<[firing: Firing]>()
  const runDone = new Listeners<[run: Run]>()
  const runHeard = new Listeners<[id: string, run: Run | null]>()

  const people = peopleOf(deps)
  const feeds = feedsOf(deps, async function* (): AsyncGenerator<SeriesKey> {
    yield* notify.alerts.watchedSeries()
    yield* work.forwardRuns.wanted()
    for await (const { items } of people.watchlists.each(given.log))
      for (const { exchange, symbol } of items) yield { exchange, symbol, interval: WATCHED_INTERVAL }
  })
  const notify = notifyOf(
    deps,
    feeds.live,
    people,
    (userId, id) => work.forwardRuns.get(userId, id),
    (firing) => fired.tell(firing),
  )
  const work = workOf(deps, { ...people, ...feeds, ...notify })
  const others = hearOthers({
    ...deps,
    ...people,
    ...feeds,
    ...notify,
    ...work,
    isOurs: (series) => shards.holds(symbolShard(series)),
    fired: (firing) => fired.tell(firing),
    changedRun: (id, run) => runHeard.tell(id, run),
    finishedRun: (run) => runDone.tell(run),
  })
  const tidy = createLoop(deps, 'tidying up', async () => {
    // Work that is done now and then, by the one server that has its shard.
    if (!shards.holds('tidying up')) return TIDY_MS
    await notify.telling.purge()
    await purgeGone(deps)
    return TIDY_MS
  })
  deps.during((signal) => tidy.run(signal))
  return {
    ...people,
    ...feeds,
    ...notify,
    ...work,
    http: deps.http,
    others,
    onFinished: finishedHook(kv, people.search, notify.telling, (run) => runDone.tell(run)),
    onFired: (listener) => fired.add(listener),
    onRunDone: (listener) => runDone.add(listener),
    onRunHeard: (listener) => runHeard.add(listener),
    async start(signal, sending = signal) {
      await Promise.all(loops.map((loop) => loop(signal, sending)))
    },
  }
}
