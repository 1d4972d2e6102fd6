// What other servers on the same database have written, as far as this one keeps something of it in memory: search
// indexes, open event streams, jobs and alerts that it does, outboxes that it works off.
//
// A change names keys and nothing else, so what is told is what is stored by the time it is read; what changed twice
// meanwhile is told once. Changes are worked off in order, and while some are, the next ones gather.

import type { Features } from '../http/deps.ts'
import { ideaItem, runItem, scriptItem, watchlistItem } from '../http/search-items.ts'
import type { Firing } from '../notify/alerts/alert.ts'
import type { Idea } from '../people/ideas/ideas.ts'
import type { Log } from '../lib/log.ts'
import { seriesOfParts, type SeriesKey } from '../market/bar-store.ts'
import { beginningOf, type Run } from '../work/runs/records.ts'
import type { Script } from '../people/scripts/scripts.ts'
import type { HitType, SearchItem } from '../people/search/indexes.ts'
import type { Telling } from './telling.ts'
import { STORED_KINDS } from './features-of-work.ts'
import type { Key, Kv } from '../store/kv.ts'
import type { Watchlist } from '../people/watchlists/watchlists.ts'

type Heard =
  'search' | 'forwardRuns' | 'alerts' | 'looks' | 'feeds' | 'providerKeys' | (typeof HEARING)[number]

export interface HearDeps extends Pick<Features, Heard> {
  readonly kv: Kv
  readonly log: Log
  readonly telling: Telling
  /** Whether this server looks at the alerts of a series. */
  isOurs(series: SeriesKey): boolean
  /** A batch of a sweep was offered, or done. */
  offerHeard(id: string): Promise<void>
  /** A forming bar, of a series whose stream another server has. */
  heardForming(series: SeriesKey): Promise<void>
  fired(firing: Firing): void
  /** null: it was removed. */
  changedRun(id: string, run: Run | null): void
  finishedRun(run: Run): void
}

/** Answers a function that is told the keys of each change, and one that resolves once all of them were worked off. */
export function hearOthers(deps: HearDeps): { hear(keys: readonly Key[]): void; settled(): Promise<void> } {
  let waiting: Key[] = []
  let working: Promise<void> | null = null
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const keys = waiting
      waiting = []
      await told(deps, keys).catch((error: unknown) =>
        deps.log('warn', 'a change of another server could not be followed', { error: String(error) }),
      )
    }
    working = null
  }
  return {
    hear(keys) {
      waiting.push(...keys)
      working ??= Promise.resolve().then(work)
    },
    async settled() {
      await working
    },
  }
}

async function told(deps: HearDeps, keys: readonly Key[]): Promise<void> {
  const { kv, alerts, telling } = deps
  const changed = new Map<string, Set<string>>()
  const owners = new Map<string, string>()
  const senders = new Set<string>()
  const notifiers = new Set<string>()
  const brokers = new Set<string>()
  /** Runs whose report has come: later changes of their records are of names and pins. */
  const reported = new Set<string>()
  for (const [kind = '', what, ...rest] of keys) {
    const collection = String(kind)
    if (what === 'id') changed.set(collection, (changed.get(collection) ?? new Set()).add(String(rest[0])))
    if (what === 'by' && (rest[0] === 'owner' || rest[0] === 'user'))
      owners.set(`${collection} ${String(rest.at(-1))}`, String(rest[1]))
    if (collection === 'backtest-report') reported.add(String(what))
    if (collection === 'deliveries' && what === 'by' && rest[0] === 'turn') senders.add(String(rest[1]))
    if (collection === 'notifications' && what === 'by' && rest[0] === 'turn') notifiers.add(String(rest[1]))
    if (collection === 'bridge-orders' && what === 'by' && rest[0] === 'turn') brokers.add(String(rest[1]))
  }
  const idsOf = (collection: string) => [...(changed.get(collection) ?? [])]
  for (const ownerId of senders) telling.wakeDeliveries(ownerId)
  for (const ownerId of notifiers) telling.wakeNotifications(ownerId)
  for (const ownerId of brokers) telling.wakeOrders(ownerId)
  if (changed.has('letters')) telling.mail.wake()
  if (keys.some(([kind]) => kind === 'provider-keys')) await deps.providerKeys.reload()
  if (keys.some(([kind]) => kind === 'follows')) await deps.feeds.sync()
  for (const [kind, what, ...parts] of keys)
    if (kind === 'feeds' && what === 'forming') await deps.heardForming(seriesOfParts(parts))
  for (const [collection, type] of SEARCHED) {
    const records = await kv.getMany(idsOf(collection).map((id) => [collection, 'id', id]))
    for (const [i, id] of idsOf(collection).entries()) {
      const value = records[i]?.value
      const record = value === undefined ? null : (JSON.parse(value) as Owned)
      const item = record ? await itemOf(kv, collection, record) : null
      const owner = record?.ownerId ?? record?.userId ?? owners.get(`${collection} ${id}`) ?? ''
      if (item) deps.search.put(item)
      else deps.search.remove(type, id, owner)
      if (collection === 'backtests') tellRun(deps, id, record as Run | null, reported.has(id))
    }
  }
  for (const id of idsOf('firings')) {
    const firing = await alerts.firing(id)
    // It fired before it was acknowledged.
    if (firing && firing.acknowledgedAt === undefined) deps.fired(firing)
  }
  for (const id of idsOf('alerts')) {
    const source = await alerts.sourceOf(id, deps.isOurs)
    if (source) deps.looks.lookAgain(source)
  }
  for (const collection of HEARING) for (const id of idsOf(collection)) await deps[collection].heard(id)
  for (const id of idsOf('forward-runs')) deps.forwardRuns.heard(id)
  for (const id of idsOf('sweep-offers')) await deps.offerHeard(id)
}

/** Records of which somebody keeps something in memory. */
const HEARING = [...STORED_KINDS, 'drawings', 'layouts'] as const
const SEARCHED = [
  ['ideas', 'idea'],
  ['scripts', 'script'],
  ['watchlists', 'watchlist'],
  ['backtests', 'backtest'],
] as const satisfies readonly (readonly [string, HitType])[]
type Searched = (typeof SEARCHED)[number][0]

interface Owned {
  readonly ownerId?: string
  readonly userId?: string
}

/** null: it is not to be found. */
async function itemOf(kv: Kv, collection: Searched, record: Owned): Promise<SearchItem | null> {
  if (collection === 'ideas') {
    const idea = record as Idea
    return idea.visibility === 'unlisted' ? null : ideaItem(idea)
  }
  if (collection === 'scripts') return scriptItem(record as Script)
  if (collection === 'watchlists') return watchlistItem(record as Watchlist)
  const run = record as Run
  const text = run.state === 'done' ? await beginningOf(kv, run.id) : null
  return text === null ? null : runItem(run, text)
}

function tellRun(deps: HearDeps, id: string, run: Run | null, isReported: boolean): void {
  deps.changedRun(id, run)
  if (isReported && run?.state === 'done') deps.finishedRun(run)
}
