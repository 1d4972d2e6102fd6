// Where the features meet: each knows nothing of the others, and here they are tied together.
//
// A firing of an alert becomes outbox entries and a letter in one commit; a published idea becomes a search entry; a new bar
// makes the alerts look. The loops that deliver, mail and tidy up run from `start` until its signal aborts.

import { alertScripts } from './alert-scripts.ts'
import type { Features } from '../http/deps.ts'
import { ideaItem, runItem, scriptItem, watchlistItem } from '../http/search-items.ts'
import type { AccountDeps } from '../people/accounts/accounts.ts'
import type { Firing } from '../notify/alerts/alert.ts'
import { Alerts } from '../notify/alerts/alerts.ts'
import { LookQueue, symbolShard } from '../notify/alerts/look-queue.ts'
import { KeptFiles, stageInWorker } from '../work/workers/import-job.ts'
import type { JobPool } from '../work/workers/pool.ts'
import { KeptRuns } from '../work/workers/kept-runs.ts'
import { createTexts } from '../work/workers/texts.ts'
import { hearOthers } from './hear-others.ts'
import { reportReadyEvent, testNotice } from './messages.ts'
import { createTapped } from './tapped.ts'
import { createTelling } from './telling.ts'
import { Drawings } from '../people/charts/drawings.ts'
import { Layouts } from '../people/charts/layouts.ts'
import { createFeeds } from '../people/feeds/feeds.ts'
import { liveBars } from '../people/feeds/live-bars.ts'
import { createProviderKeys } from '../people/feeds/provider-keys.ts'
import { createSymbolLists } from '../people/feeds/symbol-lists.ts'
import { ToldForming } from '../people/feeds/told-forming.ts'
import { createClientErrors } from '../people/errors/client-errors.ts'
import { createIdeas } from '../people/ideas/ideas.ts'
import { Backoff, untilDone } from '../lib/backoff.ts'
import { createLoop } from '../lib/loop.ts'
import type { Log } from '../lib/log.ts'
import { ALL_SHARDS, type Shards } from '../lib/shards.ts'
import type { Transport } from '../notify/mail/mail.ts'
import type { BarCache } from '../market/bar-cache.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import { calendarOf } from '../market/calendar.ts'
import { parseInterval } from '../market/interval.ts'
import { requireStored, resolveSeries } from '../market/seen-bars.ts'
import type { Limits } from '../language/runtime/runtime.ts'
import type { OpenSocket } from '../market/live/connection.ts'
import { FormingBars } from '../market/live/forming-bars.ts'
import { SYMBOL_LISTS } from '../market/listings/symbol-lists.ts'
import { LIVE_PROVIDERS } from '../market/live/live-providers.ts'
import { Keeper } from '../market/live/keeper.ts'
import type { Http } from '../market/providers/provider.ts'
import { ForwardRuns } from '../work/forward/forward-runs.ts'
import { Portfolios } from '../work/portfolios/portfolios.ts'
import { Places } from '../work/replay/places.ts'
import { endReplays } from '../work/replay/session.ts'
import { purgeGone } from '../work/runs/gone.ts'
import { hostFor, scanHost } from '../work/runs/host.ts'
import { beginningOf, keepBeginnings, runs, type Run } from '../work/runs/records.ts'
import { createScripts, libraryFor } from '../people/scripts/scripts.ts'
import { WantedLibraries } from '../people/scripts/wanted-libraries.ts'
import { createSearch, type SearchThread } from '../people/search/search.ts'
import { createSupport, type Article } from '../people/support/support.ts'
import { Ledger } from '../work/sweeps/ledger.ts'
import { Scans } from '../work/scans/scans.ts'
import { createScanWatch } from '../work/scans/watch.ts'
import type { SweepNodes } from '../work/sweeps/offers.ts'
import { Sweeps } from '../work/sweeps/sweeps.ts'
import { Watchlists, WATCHED_INTERVAL } from '../people/watchlists/watchlists.ts'
import type { AllowList, Resolve } from '../notify/webhooks/address.ts'
import { Inboxes } from '../notify/channels/inboxes.ts'
import type { SecretBox } from '../notify/webhooks/secret-box.ts'
import type { Send } from '../notify/webhooks/send.ts'

export interface FeatureDeps extends AccountDeps {
  readonly bars: BarCache
  readonly log: Log
  readonly box: SecretBox
  readonly webhookAllow: AllowList
  readonly resolve: Resolve
  readonly send: Send
  readonly mailTransport: Transport | null
  readonly articles: readonly Article[]
  readonly version: string
  /** Where browsers reach the server, for links in notifications; null or missing = not known. */
  readonly publicUrl?: string | null
  readonly http: Http
  /** How many alerts a user may have; 0 = any number. */
  readonly alertsMax: number
  /** Opens a connection to a provider that streams. */
  readonly openSocket: OpenSocket
  /** Whether series are kept fresh from providers. */
  readonly feeds: boolean
  /** Runs alerts' scripts, with the same budget as any other. */
  readonly pool: JobPool
  /** Starts a thread that searches. */
  readonly spawnSearch: () => SearchThread
  readonly limits: Limits
  /** What of the work behind requests this server does; all of it if it is alone. */
  readonly shards?: Shards
  /** The servers on the same database; null or missing = there can be no others. */
  readonly nodes?: SweepNodes | null
}

const HELP_MS = 1000
const TIDY_MS = 3_600_000
const TRIM_MS = 20
export function createFeatures(deps: FeatureDeps): Features {
  const { kv, clock, random, newId, log, bars } = deps
  const { shards = ALL_SHARDS } = deps
  const ideas = createIdeas({ kv, clock, newId, random })
  const texts = createTexts(deps.pool, deps.limits, (userId) => libraryFor(kv, userId))
  const wantedLibraries = new WantedLibraries({ kv, clock, newId, log })
  const saved = createTexts(deps.pool, deps.limits, (userId) => wantedLibraries.counting(userId))
  const scripts = createScripts({
    kv,
    clock,
    newId,
    examine: (source, readerId) => saved.check(readerId, source),
  })
  const ledger = new Ledger({ kv, log })
  const readers = { pool: deps.pool, kept: new KeptFiles() }
  const ofJobs = { kv, clock, newId, log, shards, bars, pool: deps.pool, limits: deps.limits }
  const sweeps = new Sweeps({
    ...ofJobs,
    ledger,
    hostFor: (seen, userId, key, of) => hostFor(seen, libraryFor(kv, userId), key, of),
    atOnce: Math.max(1, deps.pool.workers - 1),
    nodes: deps.nodes ?? null,
  })
  const helping = createLoop(
    deps,
    'doing batches of other servers',
    async () => {
      await sweeps.help(helping.wake)
      return HELP_MS
    },
    { mostMs: HELP_MS },
  )
  const portfolios = new Portfolios({
    ...ofJobs,
    hostFor: (seen, userId, key, of) => hostFor(seen, libraryFor(kv, userId), key, of),
    tried: (userId, market, tried) => ledger.note({ ...tried, userId, market }),
  })
  const forwardRuns = new ForwardRuns({
    kv,
    clock,
    newId,
    log,
    shards,
    bars,
    pool: deps.pool,
    limits: deps.limits,
    hostFor: (seen, userId, key, of) => hostFor(seen, libraryFor(kv, userId), key, of),
    deliver: (tx, run, events) => telling.ofOrders(tx, run, events),
    told: ({ userId }) => telling.wakeDeliveries(userId),
    forming: async (key) => (await live.formingOf(key)).row,
  })
  const watchlists = new Watchlists({ kv, clock, newId })
  const scans = new Scans({
    ...ofJobs,
    hostFor: (seen, userId) => scanHost(seen, libraryFor(kv, userId)),
    watched: async (userId, id) => (await watchlists.get(userId, id)).items,
    ownsReceiver: (userId, id) => receivers.has(userId, id),
    tried: (userId, tried) => ledger.note({ ...tried, userId }),
    watchedIsDone: () => scanWatch.lookAtAll(),
    // One part more than can run at a time, so that its bars are read meanwhile.
    atOnce: Math.max(1, deps.pool.workers - 1) + 1,
  })
  const telling = createTelling(deps, {
    shards,
    isAcknowledged: (tx, id) => alerts.isAcknowledged(tx, id),
    look: (key, range) => live.look(key, range),
  })
  const { outbox, receivers, channels, mail, links } = telling
  const spread = () => (random.bytes(1)[0] ?? 0) / 256
  const forming = new FormingBars(spread())
  const live = liveBars({ bars, forming, clock })
  /** A key's requests are counted by one server, which so asks for all that is asked for with it. */
  const isOursToFetch = (key: SeriesKey) => {
    if (shards.isCutOff) return false
    const provider = providerKeys.of(key.exchange)
    return shards.holds(provider?.pace ? `provider ${provider.name}` : symbolShard(key))
  }
  const toldForming =
    shards === ALL_SHARDS ? null : new ToldForming({ kv, clock, forming, isOurs: isOursToFetch })
  const search = createSearch({
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
    spawn: deps.spawnSearch,
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
  const listeners = new Set<(firing: Firing) => void>()
  const runListeners = new Set<(run: Run) => void>()
  /** Finished runs that some receiver is told of. */
  const delivered = new WeakSet<Run>()

  const alerts = new Alerts({
    kv,
    clock,
    newId,
    bars: live.look,
    source: live.source,
    resolve: (userId, series) => resolveSeries(bars, userId, series),
    requireStored: (userId, { exchange, symbol, interval }) =>
      requireStored(bars, userId, { exchange, symbol, interval }),
    async closesAt(series) {
      const interval = parseInterval(series.interval)
      const calendar = calendarOf(await bars.symbol(series.exchange, series.symbol, series.owner))
      return (time) => (interval ? calendar.period(time, interval).end : time)
    },
    alertsMax: deps.alertsMax,
    ownsReceiver: (ownerId, id) => receivers.has(ownerId, id),
    ownsChannel: (ownerId, id) => channels.has(ownerId, id),
    runScript: alertScripts(deps, scripts, new KeptRuns(deps.pool)),
    deliver: telling.ofFirings,
    lookAtEnd: (closing) => looks.lookAtEnd(closing),
    fired(firings) {
      for (const { ownerId } of firings) telling.wake(ownerId)
      for (const firing of firings) for (const listener of listeners) listener(firing)
    },
  })

  const scanWatch = createScanWatch({
    kv,
    clock,
    log,
    shards,
    bars,
    pool: deps.pool,
    limits: deps.limits,
    hostFor: (seen, userId) => scanHost(seen, libraryFor(kv, userId)),
    deliver: telling.ofNews,
    told: ({ userId }) => telling.wake(userId),
  })

  const looks = new LookQueue({
    clock,
    log,
    shards,
    notes: () => bars.store.notes(),
    clear: (note) => bars.store.clearNote(note),
    unsettled: () => alerts.unsettledSeries(),
    forming: () => alerts.formingBars(),
    lanes: alerts.lanes,
    stirred: () => live.stirred(),
  })
  bars.onChange(() => looks.wake())

  const keeper: Keeper = new Keeper({
    cache: bars,
    http: deps.http,
    clock,
    log,
    open: deps.openSocket,
    spread,
    forming,
    providers: LIVE_PROVIDERS,
    providerOf: (exchange) => providerKeys.of(exchange),
  })
  const providerKeys = createProviderKeys({
    kv,
    clock,
    log,
    box: deps.box,
    changed(provider) {
      keeper.askAgain(provider)
      // What cannot be told now is told a minute later.
      feeds.sync().catch(() => {})
    },
  })
  const feeds = createFeeds({
    kv,
    clock,
    log,
    keeper: deps.feeds ? keeper : null,
    providerOf: providerKeys.of,
    isOurs: isOursToFetch,
    ...(shards !== ALL_SHARDS && {
      newestBar: async (key) => (await bars.store.info(key))?.last ?? null,
    }),
    async *wanted() {
      yield* alerts.watchedSeries()
      yield* forwardRuns.wanted()
      for await (const { items } of watchlists.each())
        for (const { exchange, symbol } of items) yield { exchange, symbol, interval: WATCHED_INTERVAL }
    },
  })

  const symbolLists = createSymbolLists({
    kv,
    clock,
    log,
    http: deps.feeds ? deps.http : null,
    lists: () => [...SYMBOL_LISTS, ...providerKeys.lists()],
  })
  shards.onGained(() => void feeds.gained())
  shards.onCutOff(() => (shards.isCutOff ? feeds.letGo() : void feeds.gained()))
  shards.beforeGiving(() => feeds.sync())
  const drawings = new Drawings({ kv, clock })
  const layouts = new Layouts({ kv, clock, newId })
  const runsHeard = new Set<(id: string, run: Run | null) => void>()
  const others = hearOthers({
    kv,
    log,
    search,
    alerts,
    isOurs: (series) => shards.holds(symbolShard(series)),
    lookAgain: (source) => looks.lookAgain(source),
    jobs: { sweeps, scans, portfolios },
    drawings,
    layouts,
    async offerHeard(id) {
      helping.wake()
      await sweeps.offerHeard(id)
    },
    wakeDeliveries: telling.wakeDeliveries,
    wakeNotifications: telling.wakeNotifications,
    wakeMail: () => mail.wake(),
    syncFeeds: () => feeds.sync(),
    heardKeys: () => providerKeys.reload(),
    heardForming: async (series) => toldForming?.heard(series),
    fired(firing) {
      for (const listener of listeners) listener(firing)
    },
    changedRun(id, run) {
      for (const listener of runsHeard) listener(id, run)
    },
    finishedRun(run) {
      for (const listener of runListeners) listener(run)
    },
  })
  /** Work that is done now and then, by the one server that has its shard. */
  const isOursToTidy = () => shards.holds('tidying up')

  return {
    others,
    onRunHeard(listener) {
      runsHeard.add(listener)
      return () => runsHeard.delete(listener)
    },
    alerts,
    looks,
    feeds,
    symbolLists,
    providerKeys,
    live,
    http: deps.http,
    clientErrors: createClientErrors({ kv, clock, newId }),
    ideas,
    mail,
    outbox,
    places: new Places({ kv, clock }),
    receivers,
    scripts,
    search,
    support: createSupport({ kv, clock, newId, articles: deps.articles }),
    sweeps,
    portfolios,
    forwardRuns,
    scans,
    ledger,
    texts,
    wantedLibraries,
    readerFor: (userId, signal) => stageInWorker(readers, userId, deps.limits.timeMs, signal),
    watchlists,
    drawings,
    layouts,
    channels,
    pushSigner: telling.pushSigner,
    tapped: createTapped({ alerts, links }),
    pictureOf: telling.pictures.open,
    inboxes: new Inboxes({ kv, clock, random, newId, channels, forwarded: telling.wakeNotifications }),
    testNotice: (name) => testNotice(deps.publicUrl ?? null, name, clock.now()),
    wakeDeliveries: telling.wakeDeliveries,
    wakeNotifications: telling.wakeNotifications,
    onFinished: {
      async changes(tx, run) {
        const deliveries = await outbox.enqueue(tx, run.userId, 'backtest.reportReady', [
          reportReadyEvent(run),
        ])
        if (deliveries.length > 0) delivered.add(run)
        return deliveries
      },
      written(run, { source }) {
        search.put(runItem(run, source))
        // Most users have no receiver, and looking for deliveries would come before the answer.
        if (delivered.has(run)) telling.wakeDeliveries(run.userId)
        for (const listener of runListeners) listener(run)
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
    },
    onFired(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    onRunDone(listener) {
      runListeners.add(listener)
      return () => runListeners.delete(listener)
    },
    async start(signal, sending = signal) {
      const tidy = createLoop(deps, 'tidying up', async () => {
        if (!isOursToTidy()) return TIDY_MS
        await telling.purge()
        await purgeGone(deps)
        return TIDY_MS
      })
      await Promise.all([
        untilDone(clock, new Backoff(deps, 'building the search index'), signal, () => search.rebuild()),
        telling.run(sending),
        looks.run(signal),
        scanWatch.run(signal),
        forwardRuns.run(signal),
        untilDone(clock, new Backoff(deps, 'trimming old backtests'), signal, async () => {
          // Done slowly, since each step reads a whole source and nobody waits for it.
          for await (const _ of keepBeginnings(kv)) {
            if (signal.aborted) return
            await clock.sleep(TRIM_MS)
          }
        }),
        untilDone(clock, new Backoff(deps, 'tidying up alerts'), signal, () => alerts.sweep()),
        untilDone(clock, new Backoff(deps, 'reading the keys of providers'), signal, () =>
          providerKeys.ready(),
        ).then(() => feeds.run(signal)),
        symbolLists.run(signal),
        tidy.run(signal),
        deps.nodes ? helping.run(signal) : undefined,
      ])
    },
  }
}
