// What can be done with alerts: creating, changing, listing, deleting, and looking when bars arrive (`look.ts`, `scripts.ts`).
//
// An alert is armed against the newest bar: that one may fire it at once, and all earlier ones are history. If its
// series was looked at up to that very bar, the alert starts level with the series' mark;
// otherwise it is fresh and remembers itself what it saw, until the next look brings it up to the mark.

import { invalidField, Problem } from '../../lib/problem.ts'
import { ownerOf, type SeriesKey } from '../../market/bar-store.ts'
import type { Collection, Page, PageOptions } from '../../store/collection.ts'
import { ownedIn } from '../../store/owned.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Key } from '../../store/kv.ts'
import { alertNotFound, checkedFields, type Alert, type AlertFields, type Firing } from './alert.ts'
import { holds, STATE_OPERATORS } from './condition.ts'
import { judge } from './judge.ts'
import { modeOf } from './levels.ts'
import { formingBars, lookAhead, lookAt, lookAtEnd, LOOK_BACK, type LookDeps } from './look.ts'
import { joinMark, markOf, readMark, type WatchedSeries } from './mark.ts'
import { isUnnamed, waitsFor } from './message.ts'
import { alertRecords, firingsToForget, runsScript, seriesOf } from './records.ts'
import { lookAtScripts, lookByScript, type ScriptLookDeps } from './scripts.ts'
import { thresholds, View } from './view.ts'
import { written, type Written } from './write.ts'

export interface AlertDeps extends Omit<LookDeps, 'records'>, Pick<ScriptLookDeps, 'runScript'> {
  /** How many alerts a user may have; 0 = any number. */
  readonly alertsMax: number
  readonly ownsReceiver: (ownerId: string, receiverId: string) => Promise<boolean>
  readonly ownsChannel: (ownerId: string, channelId: string) => Promise<boolean>
  /** The series that a name means to a user: their own, or a shared one. */
  readonly resolve: (userId: string, series: SeriesKey) => Promise<SeriesKey>
  /** Throws Problem 422 for a series that is made of others, which brings no news of bars. */
  readonly requireStored: (userId: string, series: SeriesKey) => Promise<void>
}

/** Changing one of these changes what is watched. */
const WATCHED_FIELDS: readonly (keyof AlertFields)[] = [
  'symbol',
  'exchange',
  'interval',
  'kind',
  'op',
  'price',
  'price2',
  'percent',
  'bars',
  'scriptId',
  'inputs',
  'plot',
]

const PAGE_MAX = 1000

const GONE: Key = ['alerts', 'gone']

export type Alerts = ReturnType<typeof createAlerts>

export function createAlerts(all: AlertDeps) {
  const { kv, clock, newId } = all
  const records = alertRecords(kv, all.alertsMax)
  const deps: ScriptLookDeps & AlertDeps = { ...all, records, quiet: new Map() }
  const { alerts, firings } = records

  const owned = ownedIn(alerts, alertNotFound)

  async function create(ownerId: string, fields: AlertFields, also?: Also<Alert>): Promise<Alert> {
    const now = clock.now()
    const checked = checkedFields(fields, now)
    await deps.requireStored(ownerId, checked)
    await checkWays(ownerId, fields)
    const blank: Alert = {
      id: newId('al'),
      ownerId,
      ...checked,
      name: checked.name || waitsFor(checked),
      state: 'active',
      problem: null,
      seriesOwner: '',
      fresh: true,
      held: false,
      seenBar: null,
      firedBar: null,
      judgedAt: null,
      since: null,
      firings: 0,
      lastFiredAt: null,
      recent: [],
      createdAt: now,
      updatedAt: now,
    }
    let made = blank
    let fired: readonly Firing[] = []
    await transact(kv, async (tx) => {
      const armed = await arm(deps, tx, blank)
      made = armed.alert
      fired = armed.firings
      return [alerts.insert(made), ...armed.changes, also?.(made, tx)]
    })
    if (fired.length > 0) deps.fired(fired)
    await waitForEnd(made)
    await lookByScript(deps, made.id)
    return (await alerts.get(made.id)) ?? made
  }

  async function change(
    ownerId: string,
    id: string,
    fields: Partial<AlertFields> & { readonly state?: 'active' | 'paused' | undefined },
  ): Promise<Alert> {
    const { state, ...rest } = fields
    const now = clock.now()
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const changesMarket = WATCHED_FIELDS.some((field) => field in given)
    await checkWays(ownerId, given)
    const current = await owned(ownerId, id)
    if (changesMarket)
      await deps.requireStored(ownerId, checkedFields({ ...asFields(current), ...given }, now))
    await lookAhead(deps, id)
    let fired: readonly Firing[] = []
    await transact(kv, async (tx) => {
      fired = []
      const stored = await alerts.at(tx).stored(id)
      if (stored?.record.ownerId !== ownerId) throw alertNotFound()
      const before = stored.record
      const checked =
        Object.keys(given).length > 0 ? checkedFields({ ...asFields(before), ...given }, now) : {}
      const after = named(before, { ...before, ...checked, ...(state && { state }), updatedAt: now })
      const restarts =
        state === 'active' ||
        (state === undefined && Object.keys(given).length > 0 && before.state === 'triggered')
      if (!restarts && !(changesMarket && after.state === 'active')) return alerts.replace(stored, after)
      // What the alert saw of another market or condition means nothing for this one.
      const armed = await arm(deps, tx, {
        ...after,
        ...(restarts && { state: 'active', problem: null }),
        ...(!isSameSeries(before, after) && { firedBar: null }),
      })
      fired = armed.firings
      return [alerts.replace(stored, armed.alert), ...armed.changes]
    })
    if (fired.length > 0) deps.fired(fired)
    await waitForEnd(await owned(ownerId, id))
    await lookByScript(deps, id)
    return owned(ownerId, id)
  }

  /** An alert set on a forming bar is looked at when that bar ends, without waiting for the next one. */
  async function waitForEnd(alert: Alert): Promise<void> {
    const series = seriesOf(alert)
    const source = modeOf(alert) === 'close' && alert.state === 'active' ? await deps.source(series) : null
    if (source) await lookAtEnd(deps, { ...series, interval: source.interval }, series)
  }

  async function checkWays(
    ownerId: string,
    { webhookIds = [], channelIds = [], escalation }: Partial<AlertFields>,
  ): Promise<void> {
    for (const [i, receiver] of webhookIds.entries())
      if (!(await deps.ownsReceiver(ownerId, receiver)))
        throw invalidField(`/webhookIds/${i}`, 'not_found', 'There is no webhook of yours with this id.')
    for (const [i, channel] of channelIds.entries())
      if (!(await deps.ownsChannel(ownerId, channel)))
        throw invalidField(`/channelIds/${i}`, 'not_found', 'There is no channel of yours with this id.')
    if (escalation && !(await deps.ownsChannel(ownerId, escalation.channelId)))
      throw invalidField('/escalation/channelId', 'not_found', 'There is no channel of yours with this id.')
  }

  async function remove(ownerId: string, id: string): Promise<void> {
    await owned(ownerId, id)
    // There may be many firings: they are deleted afterwards, a page at a time, which survives a stop in between.
    await alerts.delete(id, () => ({ sets: [{ key: [...GONE, id], value: 'null' }] }))
    // On a full disk there may have been room for the one and not for the other. The alert is gone: to answer that nothing was
    // stored would be untrue.
    await forget(id).catch(() => undefined)
  }

  async function forget(id: string): Promise<void> {
    for (;;) {
      let rest: readonly Changes[] = []
      await transact(kv, async (tx) => (rest = await firingsToForget(records, tx, id)))
      if (rest.length === 0) break
    }
    await kv.commit({ deletes: [[...GONE, id]] })
  }

  /** Moves a user's alerts to the series that their name means now, after bars of their own were added or removed. */
  async function* moveToOther({ owner, exchange, symbol }: WatchedSeries): AsyncGenerator<void> {
    if (owner === '') return
    for await (const { id } of alerts.each('owner', [owner])) {
      const moved = async (alert: Alert) =>
        alert.state === 'active' &&
        alert.exchange === exchange &&
        alert.symbol === symbol &&
        ownerOf(await deps.resolve(owner, seriesOf(alert))) !== alert.seriesOwner
      const alert = await alerts.get(id)
      if (!alert || !(await moved(alert))) continue
      let fired: readonly Firing[] = []
      await transact(kv, async (tx) => {
        fired = []
        const stored = await alerts.at(tx).stored(id)
        if (!stored || !(await moved(stored.record))) return []
        const isTheirs = ownerOf(await deps.resolve(owner, seriesOf(stored.record))) === owner
        const armed = await (isTheirs ? armAtBeginning : arm)(deps, tx, stored.record)
        fired = armed.firings
        return [alerts.replace(stored, armed.alert), ...armed.changes]
      })
      if (fired.length > 0) deps.fired(fired)
      yield
    }
  }

  return {
    /** The limit of a list that gives none: all that a user may have, or as many as one answer can hold. */
    pageMax: deps.alertsMax > 0 ? Math.min(PAGE_MAX, deps.alertsMax) : PAGE_MAX,
    create,
    change,
    remove,
    get: owned,
    /** Changes when the alert does. */
    stamp: (id: string): Promise<string> => alerts.stamp(id),
    list: (ownerId: string, options: PageOptions): Promise<Page<Alert>> =>
      alerts.list('owner', [ownerId], options),
    ids: (ownerId: string, options: PageOptions): Promise<Page<string>> =>
      alerts.ids('owner', [ownerId], options),
    /** For caches of what is made of records, which are checked by the versions. */
    records: alerts as Pick<Collection<Alert>, 'versions' | 'storedMany'>,
    /** Changes when one of the owner's alerts does. */
    listStamp: (ownerId: string): Promise<string> => alerts.listStamp('owner', [ownerId]),
    firings: async (ownerId: string, id: string, options: PageOptions): Promise<Page<Firing>> => {
      await owned(ownerId, id)
      return firings.list('alert', [id], options)
    },
    firingsOf: (ownerId: string, options: PageOptions): Promise<Page<Firing>> =>
      firings.list('owner', [ownerId], options),
    /** Looks at bars that were added or changed; each step looks at some of the alerts that they can concern. */
    async *look(source: SeriesKey): AsyncGenerator<void> {
      yield* moveToOther(watched(source))
      yield* lookAt(deps, watched(source))
    },
    lookByScripts: (source: SeriesKey) => lookAtScripts(deps, watched(source)),
    /** Shared series that alerts wait on, for the poller that keeps them fresh. */
    async *watchedSeries(): AsyncGenerator<SeriesKey> {
      for await (const [exchange, symbol, interval] of alerts.firsts('watching', [''], 3))
        yield { exchange: String(exchange), symbol: String(symbol), interval: String(interval) }
    },
    /** Series with fresh alerts, to be looked at when the server starts. */
    async *unsettledSeries(): AsyncGenerator<SeriesKey> {
      for await (const [owner, exchange, symbol, interval] of alerts.firsts('fresh', [], 4)) {
        const series = {
          owner: String(owner),
          exchange: String(exchange),
          symbol: String(symbol),
          interval: String(interval),
        }
        const source = await deps.source(series)
        if (source) yield { ...series, interval: source.interval }
      }
    },
    formingBars: () => formingBars(deps),
    /** The bars whose looks concern an alert that another server has set or changed; null if none of `isOurs` do. */
    async sourceOf(id: string, isOurs: (series: SeriesKey) => boolean): Promise<SeriesKey | null> {
      const alert = await alerts.get(id)
      if (alert?.state !== 'active' || !isOurs(seriesOf(alert))) return null
      const series = seriesOf(alert)
      const source = await deps.source(series)
      return source && { ...series, interval: source.interval }
    },
    firing: (id: string): Promise<Firing | null> => firings.get(id),
    /** For the holder of a link to the alert; null if it is gone. */
    find: (id: string): Promise<Alert | null> => alerts.get(id),
    /** Notes that somebody has seen the firing; a second time changes nothing. */
    async acknowledge(ownerId: string, id: string): Promise<Firing> {
      const changed = await firings.update(id, (firing) =>
        firing.ownerId !== ownerId || firing.acknowledgedAt !== undefined
          ? null
          : { ...firing, acknowledgedAt: clock.now() },
      )
      const firing = changed ?? (await firings.get(id))
      if (firing?.ownerId !== ownerId) throw new Problem(404, 'firing_not_found', 'There is no such firing.')
      return firing
    },
    /** Whether nobody needs to be told of a firing any more. Part of a plan. */
    async isAcknowledged(tx: Tx, id: string): Promise<boolean> {
      const firing = await firings.at(tx).get(id)
      return firing === null || firing.acknowledgedAt !== undefined
    },
    /** Removes what interrupted deletions have left behind. */
    async sweep(): Promise<void> {
      for (const { key } of await kv.list({ prefix: GONE }, { limit: 1000 })) await forget(String(key.at(-1)))
    },
  }
}

const watched = (series: SeriesKey): WatchedSeries => ({ ...series, owner: ownerOf(series) })

/** An alert without a name of its own is named by what it waits for, also after that has changed. */
const named = (before: Alert, after: Alert): Alert =>
  after.name === '' || (after.name === before.name && isUnnamed(before))
    ? { ...after, name: waitsFor(after) }
    : after

type ArmDeps = ScriptLookDeps & Pick<AlertDeps, 'resolve'>

interface Armed extends Written {
  readonly alert: Alert
}

/** Arms an alert, as part of a transaction's plan: its state, and what has to be written. */
async function arm(deps: ArmDeps, tx: Tx, before: Alert): Promise<Armed> {
  const atBeginning = await armAtBeginning(deps, tx, before)
  const { alert } = atBeginning
  const series = seriesOf(alert)
  const { bars, source } = await deps.bars(series, { last: LOOK_BACK })
  const last = bars.length - 1
  const closesAt = await deps.closesAt(series)
  const now = deps.clock.now()
  const lastClosed = closesAt(bars.time[last] ?? 0) <= now
  const begun: Alert = { ...alert, seenBar: bars.time[last] ?? null }
  // What a script says at the close of the bar that forms now is news.
  if (runsScript(alert))
    return { alert: { ...begun, held: alert.held && lastClosed }, changes: [], firings: [] }
  if (!source || bars.length === 0) return atBeginning
  const stored = await readMark(tx, series)
  const view = new View(bars, { start: last, lastClosed, closesAt, now })
  const verdict = judge(begun, view, { from: last, held: alreadyHappened(begun, view) })
  const mark = markOf(bars, last, source.change, lastClosed)
  const isCurrent =
    stored.mark === null ||
    (stored.mark.change === mark.change &&
      stored.mark.time === mark.time &&
      stored.mark.closed === lastClosed)
  const waits = modeOf(alert) === 'close' && !lastClosed
  const armed = { ...verdict.alert, fresh: !isCurrent || waits }
  const { changes, firings } = await written(deps, tx, view, { alert: armed, fired: verdict.fired })
  return {
    alert: armed,
    changes: isCurrent ? [...changes, joinMark(series, stored, mark)] : changes,
    firings,
  }
}

/** Arms an alert whose series has no bars, or whose bars came while it watched another series of the same name. */
async function armAtBeginning(deps: ArmDeps, tx: Tx, before: Alert): Promise<Armed> {
  const seriesOwner = ownerOf(await deps.resolve(before.ownerId, seriesOf(before)))
  const alert: Alert = {
    ...before,
    seriesOwner,
    fresh: true,
    held: before.op === null,
    seenBar: null,
    since: null,
    recent: [],
  }
  // Reading the mark adds a check to the commit: a look that finished meanwhile would not have known of the alert.
  if (!runsScript(alert)) await readMark(tx, seriesOf(alert))
  return { alert, changes: [], firings: [] }
}

/** An event on the bar that was there when the alert was set does not fire it; a state that holds does. */
function alreadyHappened(alert: Alert, view: View): boolean {
  if (alert.op === null) return true
  if (STATE_OPERATORS.includes(alert.op)) return false
  const values = view.values(alert, view.length - 1)
  return values !== null && holds(thresholds(alert), values)
}

function isSameSeries(a: Alert, b: Alert): boolean {
  return a.exchange === b.exchange && a.symbol === b.symbol && a.interval === b.interval
}

function asFields(alert: Alert): AlertFields {
  return { ...alert, op: alert.op ?? undefined }
}
