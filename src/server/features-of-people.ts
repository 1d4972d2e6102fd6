// What people keep, and the search over it.

import { ideaItem, runItem, scriptItem, watchlistItem } from '../http/search-items.ts'
import { Backoff, untilDone } from '../lib/backoff.ts'
import { Drawings } from '../people/charts/drawings.ts'
import { Layouts } from '../people/charts/layouts.ts'
import { ClientErrors } from '../people/errors/client-errors.ts'
import { Ideas } from '../people/ideas/ideas.ts'
import { libraryFor, Scripts } from '../people/scripts/scripts.ts'
import { WantedLibraries } from '../people/scripts/wanted-libraries.ts'
import { Search } from '../people/search/search.ts'
import { createSupport } from '../people/support/support.ts'
import { Watchlists } from '../people/watchlists/watchlists.ts'
import { Places } from '../work/replay/places.ts'
import { beginningOf, keepBeginnings, runs } from '../work/runs/records.ts'
import { createTexts } from '../work/workers/texts.ts'
import type { Wiring } from './feature-deps.ts'

const TRIM_MS = 20

export function peopleOf(deps: Wiring) {
  const { kv, clock, pool, limits } = deps
  const ideas = new Ideas({
    ...deps,
    ownsBacktest: async (ownerId, id) => (await runs(kv).get(id))?.userId === ownerId,
  })
  const watchlists = new Watchlists(deps)
  const wantedLibraries = new WantedLibraries(deps)
  const saved = createTexts(pool, limits, (userId) => wantedLibraries.counting(userId))
  const scripts = new Scripts({ ...deps, examine: (source, readerId) => saved.check(readerId, source) })
  const search = searchOf(deps, scripts, ideas, watchlists)
  deps.during((signal) =>
    untilDone(clock, new Backoff(deps, 'building the search index'), signal, () => search.rebuild()),
  )
  deps.during((signal) =>
    untilDone(clock, new Backoff(deps, 'trimming old backtests'), signal, async () => {
      // Done slowly, since each step reads a whole source and nobody waits for it.
      for await (const _ of keepBeginnings(kv)) {
        if (signal.aborted) return
        await clock.sleep(TRIM_MS)
      }
    }),
  )
  return {
    ideas,
    watchlists,
    wantedLibraries,
    scripts,
    search,
    texts: createTexts(pool, limits, (userId) => libraryFor(kv, userId)),
    clientErrors: new ClientErrors(deps),
    drawings: new Drawings(deps),
    layouts: new Layouts(deps),
    places: new Places(deps),
    support: createSupport(deps),
  }
}

function searchOf(
  { kv, clock, log, spawnSearch }: Wiring,
  scripts: Scripts,
  ideas: Ideas,
  watchlists: Watchlists,
): Search {
  return new Search({
    async *everybodys() {
      for await (const script of scripts.eachPublic()) yield scriptItem(script)
      for await (const idea of ideas.eachPublic()) yield ideaItem(idea)
    },
    async *privateOf(userId) {
      for await (const script of scripts.eachOf(userId)) yield scriptItem(script)
      for await (const idea of ideas.eachOf(userId)) if (idea.visibility === 'private') yield ideaItem(idea)
      for await (const list of watchlists.eachOf(userId)) yield watchlistItem(list)
      for await (const run of runs(kv).each('user', [userId])) {
        const text = run.state === 'done' ? await beginningOf(kv, run.id) : null
        if (text !== null) yield runItem(run, text)
      }
    },
    spawn: spawnSearch,
    // The command line may remove runs while this server runs, so a search checks that they still exist.
    async goneOf(hits) {
      const found = hits.filter(({ type }) => type === 'backtest')
      const there = new Set((await runs(kv).getMany(found.map(({ id }) => id))).map(({ id }) => id))
      return found.filter(({ id }) => !there.has(id))
    },
    added: async () => (await scripts.takeAdded()).map(scriptItem),
    now: () => clock.now(),
    pause: () => clock.sleep(0),
    failed: (error) => log('error', 'reading what is searched failed', { error: String(error) }),
  })
}
