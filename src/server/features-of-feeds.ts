// Bars that come from providers: which series are kept fresh, the keys for that, and what forms at this moment.

import { Backoff, untilDone } from '../lib/backoff.ts'
import { ALL_SHARDS } from '../lib/shards.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import { FormingBars } from '../market/live/forming-bars.ts'
import { SYMBOL_LISTS } from '../market/listings/symbol-lists.ts'
import { LIVE_PROVIDERS } from '../market/live/live-providers.ts'
import { Keeper } from '../market/live/keeper.ts'
import { symbolShard } from '../notify/alerts/look-queue.ts'
import { Feeds } from '../people/feeds/feeds.ts'
import { LiveBars } from '../people/feeds/live-bars.ts'
import { ProviderKeys } from '../people/feeds/provider-keys.ts'
import { SymbolLists } from '../people/feeds/symbol-lists.ts'
import { ToldForming } from '../people/feeds/told-forming.ts'
import { spreadOf, type Wiring } from './feature-deps.ts'

/** `wanted`: series that alerts, forward runs and watchlists want fresh. */
export function feedsOf(deps: Wiring, wanted: () => AsyncIterable<SeriesKey>) {
  const { clock, bars, http, shards } = deps
  const spread = spreadOf(deps)
  const forming = new FormingBars(spread())
  const live = new LiveBars({ bars, forming, clock })
  const isAlone = shards === ALL_SHARDS
  const keeper: Keeper = new Keeper({
    ...deps,
    cache: bars,
    open: deps.openSocket,
    spread,
    forming,
    providers: LIVE_PROVIDERS,
    providerOf: (exchange) => providerKeys.of(exchange),
  })
  const providerKeys = new ProviderKeys({
    ...deps,
    changed(provider) {
      keeper.askAgain(provider)
      // What cannot be told now is told a minute later.
      feeds.sync().catch(() => {})
    },
  })
  /** A key's requests are counted by one server, which so asks for all that is asked for with it. */
  const isOurs = (key: SeriesKey) => {
    if (shards.isCutOff) return false
    const provider = providerKeys.of(key.exchange)
    return shards.holds(provider?.pace ? `provider ${provider.name}` : symbolShard(key))
  }
  const feeds = new Feeds({
    ...deps,
    keeper: deps.feeds ? keeper : null,
    providerOf: (exchange) => providerKeys.of(exchange),
    isOurs,
    ...(!isAlone && { newestBar: async (key) => (await bars.store.info(key))?.last ?? null }),
    wanted,
  })
  const symbolLists = new SymbolLists({
    ...deps,
    http: deps.feeds ? http : null,
    lists: () => [...SYMBOL_LISTS, ...providerKeys.lists()],
  })
  const toldForming = isAlone ? null : new ToldForming({ ...deps, forming, isOurs })
  shards.onGained(() => void feeds.gained())
  shards.onCutOff(() => (shards.isCutOff ? feeds.letGo() : void feeds.gained()))
  shards.beforeGiving(() => feeds.sync())
  const reading = new Backoff(deps, 'reading the keys of providers')
  deps.during(async (signal) => {
    await untilDone(clock, reading, signal, () => providerKeys.ready())
    await feeds.run(signal)
  })
  deps.during((signal) => symbolLists.run(signal))
  return {
    live,
    feeds,
    providerKeys,
    symbolLists,
    heardForming: async (series: SeriesKey) => toldForming?.heard(series),
  }
}
