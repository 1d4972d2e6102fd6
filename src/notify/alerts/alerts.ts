// What can be done with alerts: creating, changing, listing, deleting, and looking when bars arrive (`look.ts`, `scripts.ts`).

import { invalidField, pointerToken, Problem } from '../../lib/problem.ts'
import { ownerOf, seriesOfParts, type SeriesKey } from '../../market/bar-store.ts'
import type { Page, PageOptions } from '../../store/collection.ts'
import { OwnedRecords } from '../../store/owned.ts'
import { transact, type Also, type Changes, type Tx } from '../../store/transaction.ts'
import type { Key } from '../../store/kv.ts'
import { checkedFields, dayOf, type Alert, type AlertFields, type Firing } from './alert.ts'
import { arm, armAtBeginning, type Armed, type ArmDeps } from './arm.ts'
import { modeOf } from './levels.ts'
import { formingBars, lookAhead, lookAt, lookAtEnd, type LookDeps } from './look.ts'
import type { Closing, LookQueueDeps } from './look-queue.ts'
import { watchedOf, type WatchedSeries } from './mark.ts'
import { isUnnamed, waitsFor } from './message.ts'
import { alertRecords, firingsToForget, seriesOf } from './records.ts'
import { lookAtScripts, lookByScript, type ScriptLookDeps } from './scripts.ts'
import { commitFirings } from './write.ts'
import { words } from '../../lib/words.ts'

export interface AlertDeps
  extends Omit<LookDeps, 'records'>, Pick<ScriptLookDeps, 'runScript'>, Pick<ArmDeps, 'resolve'> {
  /** How many alerts a user may have; 0 = any number. */
  readonly alertsMax: number
  readonly ownsReceiver: (ownerId: string, receiverId: string) => Promise<boolean>
  readonly ownsChannel: (ownerId: string, channelId: string) => Promise<boolean>
  /** The first of the names that is no input of a script; null if all are, `missing` if its user may not read it. */
  readonly wrongInput: (
    userId: string,
    scriptId: string,
    names: readonly string[],
  ) => Promise<{ readonly input: string; readonly message: string } | 'missing' | null>
  /** Throws Problem 422 for a series that is made of others, which brings no news of bars. */
  readonly requireStored: (userId: string, series: SeriesKey) => Promise<void>
}

/** Changing one of these changes what is watched. */
const WATCHED_FIELDS: readonly (keyof AlertFields)[] = words(
  'symbol exchange interval kind op price price2 percent bars scriptId inputs asOf plot',
)

const PAGE_MAX = 1000

const GONE: Key = ['alerts', 'gone']

export class Alerts extends OwnedRecords<Alert, ScriptLookDeps & AlertDeps> {
  /** The limit of a list that gives none: all that a user may have, or as many as one answer can hold. */
  readonly pageMax: number
  readonly #firings = this.deps.records.firings
  /** What the queue of looks does with a series: those with a script wait for nobody but themselves. */
  readonly lanes: LookQueueDeps['lanes'] = [
    (source) => this.look(source),
    (source) => this.lookByScripts(source),
  ]

  constructor(deps: AlertDeps) {
    const { kv, alertsMax } = deps
    const records = alertRecords(kv, alertsMax)
    super(
      { ...deps, records, quiet: new Map() },
      records.alerts,
      'alert_not_found',
      'There is no such alert.',
    )
    this.pageMax = alertsMax > 0 ? Math.min(PAGE_MAX, alertsMax) : PAGE_MAX
  }

  async create(ownerId: string, fields: AlertFields, also?: Also<Alert>): Promise<Alert> {
    const deps = this.deps
    const now = deps.clock.now()
    const checked = checkedFields(fields, now)
    await deps.requireStored(ownerId, checked)
    await this.#checkScript(ownerId, checked)
    await this.#checkWays(ownerId, fields)
    const blank: Alert = {
      id: deps.newId('al'),
      ownerId,
      ...checked,
      ...dayOf(null, checked, fields.asOf, now),
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
    await commitFirings(deps, async (tx) => {
      const { alert, firings, changes } = await arm(deps, tx, blank)
      made = alert
      return [firings, [this.records.insert(alert), ...changes, also?.(alert, tx)]]
    })
    await this.#waitForEnd(made)
    await lookByScript(deps, made.id)
    return (await this.find(made.id)) ?? made
  }

  async change(
    ownerId: string,
    id: string,
    fields: Partial<AlertFields> & { readonly state?: 'active' | 'paused' | undefined },
  ): Promise<Alert> {
    const deps = this.deps
    const { state, ...rest } = fields
    const now = deps.clock.now()
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const isEdited = Object.keys(given).length > 0
    const changesMarket = WATCHED_FIELDS.some((field) => field in given)
    await this.#checkWays(ownerId, given)
    const current = await this.get(ownerId, id)
    if (changesMarket) {
      const checked = checkedFields({ ...asFields(current), ...given }, now)
      await deps.requireStored(ownerId, checked)
      if ('scriptId' in given || 'inputs' in given) await this.#checkScript(ownerId, checked)
    }
    await lookAhead(deps, id)
    await commitFirings(deps, async (tx) => {
      const stored = await this.storedAt(tx, ownerId, id)
      const before = stored.record
      const checked = isEdited ? checkedFields({ ...asFields(before), ...given }, now) : {}
      const changed = { ...before, ...checked }
      const day = dayOf(before, changed, fields.asOf, now)
      const after = named(before, { ...changed, ...day, ...(state && { state }), updatedAt: now })
      const restarts = state === 'active' || (state === undefined && isEdited && before.state === 'triggered')
      if (!restarts && !(changesMarket && after.state === 'active'))
        return [[], this.records.replace(stored, after)]
      // What the alert saw of another market or condition means nothing for this one.
      const { alert, firings, changes } = await arm(deps, tx, {
        ...after,
        ...(restarts && { state: 'active', problem: null }),
        ...(!isSameSeries(before, after) && { firedBar: null }),
      })
      return [firings, [this.records.replace(stored, alert), ...changes]]
    })
    await this.#waitForEnd(await this.get(ownerId, id))
    await lookByScript(deps, id)
    return this.get(ownerId, id)
  }

  /** An alert set on a forming bar is looked at when that bar ends, without waiting for the next one. */
  async #waitForEnd(alert: Alert): Promise<void> {
    const source =
      modeOf(alert) === 'close' && alert.state === 'active' ? await this.#sourceOf(seriesOf(alert)) : null
    if (source) await lookAtEnd(this.deps, source, seriesOf(alert))
  }

  /** The bars that make a series; null = there are none. */
  async #sourceOf(series: WatchedSeries): Promise<WatchedSeries | null> {
    const source = await this.deps.source(series)
    return source && { ...series, interval: source.interval }
  }

  /** Nothing would ever come of an alert on a script that is not there, or that refuses its inputs. */
  async #checkScript(
    ownerId: string,
    { scriptId, inputs }: Pick<Alert, 'scriptId' | 'inputs'>,
  ): Promise<void> {
    const wrong = scriptId && (await this.deps.wrongInput(ownerId, scriptId, Object.keys(inputs)))
    if (wrong === 'missing')
      throw invalidField('/scriptId', 'not_found', 'There is no such script that you may read.')
    if (wrong) throw invalidField(`/inputs/${pointerToken(wrong.input)}`, 'invalid_input', wrong.message)
  }

  async #checkWays(
    ownerId: string,
    { webhookIds = [], channelIds = [], escalation }: Partial<AlertFields>,
  ): Promise<void> {
    const { ownsReceiver, ownsChannel } = this.deps
    const missing = (path: string, noun: string) =>
      invalidField(path, 'not_found', `There is no ${noun} of yours with this id.`)
    for (const [i, receiver] of webhookIds.entries())
      if (!(await ownsReceiver(ownerId, receiver))) throw missing(`/webhookIds/${i}`, 'webhook')
    for (const [i, channel] of channelIds.entries())
      if (!(await ownsChannel(ownerId, channel))) throw missing(`/channelIds/${i}`, 'channel')
    if (escalation && !(await ownsChannel(ownerId, escalation.channelId)))
      throw missing('/escalation/channelId', 'channel')
  }

  override async remove(ownerId: string, id: string): Promise<void> {
    await this.get(ownerId, id)
    // There may be many firings: they are deleted afterwards, a page at a time, which survives a stop in between.
    await this.records.delete(id, () => ({ sets: [{ key: [...GONE, id], value: 'null' }] }))
    // On a full disk there may have been room for the one and not for the other. The alert is gone: to answer that nothing was
    // stored would be untrue.
    await this.#forget(id).catch(() => undefined)
  }

  async #forget(id: string): Promise<void> {
    for (;;) {
      let rest: readonly Changes[] = []
      await transact(this.deps.kv, async (tx) => (rest = await firingsToForget(this.deps.records, tx, id)))
      if (rest.length === 0) break
    }
    await this.deps.kv.commit({ deletes: [[...GONE, id]] })
  }

  /** Removes what interrupted deletions have left behind. */
  async sweep(): Promise<void> {
    for (const { key } of await this.deps.kv.list({ prefix: GONE }, { limit: 1000 }))
      await this.#forget(String(key.at(-1)))
  }

  /** Looks at bars that were added or changed; each step looks at some of the alerts that they can concern. */
  async *look(source: SeriesKey): AsyncGenerator<void> {
    yield* this.#moveToOther(watched(source))
    yield* lookAt(this.deps, watched(source))
  }

  lookByScripts(source: SeriesKey): AsyncGenerator<void> {
    return lookAtScripts(this.deps, watched(source))
  }

  /** Moves a user's alerts to the series that their name means now, after bars of their own were added or removed. */
  async *#moveToOther({ owner, exchange, symbol }: WatchedSeries): AsyncGenerator<void> {
    const deps = this.deps
    if (owner === '') return
    const ownerNow = async (alert: Alert) => ownerOf(await deps.resolve(owner, seriesOf(alert)))
    const moved = async (alert: Alert) =>
      alert.state === 'active' &&
      alert.exchange === exchange &&
      alert.symbol === symbol &&
      (await ownerNow(alert)) !== alert.seriesOwner
    for await (const { id } of this.eachOf(owner)) {
      const alert = await this.find(id)
      if (!alert || !(await moved(alert))) continue
      await commitFirings(deps, async (tx) => {
        const stored = await this.records.at(tx).stored(id)
        if (!stored || !(await moved(stored.record))) return [[], []]
        const isTheirs = (await ownerNow(stored.record)) === owner
        const armed: Armed = await (isTheirs ? armAtBeginning : arm)(deps, tx, stored.record)
        return [armed.firings, [this.records.replace(stored, armed.alert), ...armed.changes]]
      })
      yield
    }
  }

  /** Shared series that alerts wait on, for the poller that keeps them fresh. */
  async *watchedSeries(): AsyncGenerator<SeriesKey> {
    for await (const parts of this.records.firsts('watching', [''], 3)) yield seriesOfParts(parts)
  }

  /** Series with fresh alerts, to be looked at when the server starts. */
  async *unsettledSeries(): AsyncGenerator<SeriesKey> {
    for await (const parts of this.records.firsts('fresh', [], 4)) {
      const source = await this.#sourceOf(watchedOf(parts))
      if (source) yield source
    }
  }

  formingBars(): AsyncGenerator<Closing | null> {
    return formingBars(this.deps)
  }

  /** The bars whose looks concern an alert that another server has set or changed; null if none of `isOurs` do. */
  async sourceOf(id: string, isOurs: (series: SeriesKey) => boolean): Promise<SeriesKey | null> {
    const alert = await this.find(id)
    if (alert?.state !== 'active' || !isOurs(seriesOf(alert))) return null
    return this.#sourceOf(seriesOf(alert))
  }

  /** For the holder of a link to the alert; null if it is gone. */
  find(id: string): Promise<Alert | null> {
    return this.records.get(id)
  }

  firing(id: string): Promise<Firing | null> {
    return this.#firings.get(id)
  }

  async firings(ownerId: string, id: string, options: PageOptions): Promise<Page<Firing>> {
    await this.get(ownerId, id)
    return this.#firings.list('alert', [id], options)
  }

  firingsOf(ownerId: string, options: PageOptions): Promise<Page<Firing>> {
    return this.#firings.list('owner', [ownerId], options)
  }

  /** Notes that somebody has seen the firing; a second time changes nothing. */
  async acknowledge(ownerId: string, id: string): Promise<Firing> {
    const changed = await this.#firings.update(id, (firing) =>
      firing.ownerId !== ownerId || firing.acknowledgedAt !== undefined
        ? null
        : { ...firing, acknowledgedAt: this.deps.clock.now() },
    )
    const firing = changed ?? (await this.firing(id))
    if (firing?.ownerId !== ownerId) throw new Problem(404, 'firing_not_found', 'There is no such firing.')
    return firing
  }

  /** Whether nobody needs to be told of a firing any more. Part of a plan. */
  async isAcknowledged(tx: Tx, id: string): Promise<boolean> {
    const firing = await this.#firings.at(tx).get(id)
    return firing === null || firing.acknowledgedAt !== undefined
  }
}

const watched = (series: SeriesKey): WatchedSeries => ({ ...series, owner: ownerOf(series) })

/** An alert without a name of its own is named by what it waits for, also after that has changed. */
const named = (before: Alert, after: Alert): Alert =>
  after.name === '' || (after.name === before.name && isUnnamed(before))
    ? { ...after, name: waitsFor(after) }
    : after

function isSameSeries(a: Alert, b: Alert): boolean {
  return a.exchange === b.exchange && a.symbol === b.symbol && a.interval === b.interval
}

function asFields(alert: Alert): AlertFields {
  return { ...alert, op: alert.op ?? undefined }
}
