// The use cases of alerts: make, change, list, and evaluate them when bars arrive.
//
// A firing is one commit: the fire key (alert, bar), which lets a bar fire an alert once and never twice, the log entry,
// the alert's new state, and whatever carries the news (outbox entries, mail). So a crash leaves either all of it or none,
// and evaluating the same bars again fires nothing again.

import type { Clock } from '../lib/clock.ts'
import type { NewId } from '../lib/ids.ts'
import type { BarRange, Bars } from '../market/bars.ts'
import { lowerBound } from '../market/bars.ts'
import type { SeriesKey } from '../market/bar-store.ts'
import {
  collection,
  transact,
  type Also,
  type Changes,
  type Page,
  type PageOptions,
} from '../store/collection.ts'
import type { Key, Kv } from '../store/kv.ts'
import {
  ALERTS_PER_USER,
  alertNotFound,
  checkedFields,
  type Alert,
  type AlertFields,
  type Firing,
} from './alert.ts'
import { holds, STATE_OPERATORS, type Values } from './condition.ts'
import { describeCondition, fillMessage } from './message.ts'

/** What an alert watches: one value a bar. */
export interface Watched {
  readonly value: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
}

/** What a stored script said: bars (by index) on which it called alert(), met an alertcondition or filled an order. */
export interface ScriptEvents {
  /** The plot an `indicator` alert compares. */
  readonly plot: Float64Array | null
  readonly plots: Readonly<Record<string, Float64Array>>
  readonly events: readonly { readonly bar: number; readonly message: string }[]
}

export interface AlertDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly bars: (series: SeriesKey, range: BarRange) => Bars
  /** The interval whose bars make this series: its own, or a finer one that is cached; null = none is. */
  readonly builtFrom: (series: SeriesKey) => string | null
  /** When the bar that opens at `time` is over, UTC ms. */
  readonly closesAt: (series: SeriesKey, time: number) => number
  /** Runs the alert's script over these bars, within its budget. Throws with a sentence for the owner. */
  readonly runScript: (alert: Alert, bars: Bars) => Promise<ScriptEvents>
  /** What to commit so that the firing reaches its channels. Part of a transaction's plan. */
  readonly deliver: (alert: Alert, firing: Firing) => readonly Changes[]
  /** After a commit with firings: wake whoever delivers, tell open dashboards. */
  readonly fired: (firings: readonly Firing[]) => void
}

const THROTTLE_FIRINGS = 15
const THROTTLE_MS = 3 * 60_000
const MINUTE_MS = 60_000
/**
 * Bars a script sees before the first one that may fire, so that its averages have settled. From then on its window only
 * grows: a run that begins at the same bar says the same about a bar, however often it is repeated (batch equals
 * incremental), so nothing of its state has to be kept, and nothing is lost when the server restarts. A window that moved
 * with the newest bar would give its `var`s and positions another past each time.
 */
const SCRIPT_BARS = 5000
/** A change of one of these is a change of what is watched. */
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
/** A window that has grown to this is begun anew. */
const SCRIPT_BARS_MAX = 100_000

export type Alerts = ReturnType<typeof createAlerts>

export function createAlerts(deps: AlertDeps) {
  const { kv, clock, newId } = deps
  const alerts = collection<Alert>(kv, 'alerts', {
    indexes: {
      owner: (alert) => [alert.ownerId],
      /** Only what can fire: so that bars nobody waits for cost one look. */
      armed: (alert) => (alert.state === 'active' ? [alert.exchange, alert.symbol, alert.interval] : null),
    },
    counts: { owner: { of: (alert) => [alert.ownerId], max: ALERTS_PER_USER, noun: 'alerts' } },
  })
  const firings = collection<Firing>(kv, 'firings', {
    indexes: { alert: (firing) => [firing.alertId], owner: (firing) => [firing.ownerId] },
  })
  const fireKey = (alertId: string, barTime: number): Key => ['alerts', 'fired', alertId, barTime]

  function owned(ownerId: string, id: string): Alert {
    const alert = alerts.get(id)
    if (alert?.ownerId !== ownerId) throw alertNotFound()
    return alert
  }
  const seriesOf = ({ exchange, symbol, interval }: Alert): SeriesKey => ({ exchange, symbol, interval })

  async function create(ownerId: string, fields: AlertFields, also?: Also<Alert>): Promise<Alert> {
    const now = clock.now()
    const checked = checkedFields(fields, now)
    const alert: Alert = {
      id: newId('al'),
      ownerId,
      ...checked,
      name: checked.name || describeCondition(checked),
      state: 'active',
      problem: null,
      held: false,
      seenBar: null,
      since: null,
      firings: 0,
      lastFiredAt: null,
      recent: [],
      createdAt: now,
      updatedAt: now,
    }
    const made = { ...alert, ...armed(alert) }
    await transact(kv, () => [alerts.insert(made), also?.(made)])
    await evaluateAlert(made.id)
    return alerts.get(made.id) ?? made
  }

  async function change(
    ownerId: string,
    id: string,
    fields: Partial<AlertFields> & { readonly state?: 'active' | 'paused' | undefined },
  ): Promise<Alert> {
    const { state, ...rest } = fields
    const now = clock.now()
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
    const changed = await alerts.update(id, (before) => {
      if (before.ownerId !== ownerId) throw alertNotFound()
      const checked =
        Object.keys(given).length > 0 ? checkedFields({ ...asFields(before), ...given }, now) : {}
      const rearmed =
        state === 'active' ||
        (state === undefined && Object.keys(given).length > 0 && before.state === 'triggered')
      const after = { ...before, ...checked, ...(state && { state }), updatedAt: now }
      if (rearmed) return { ...after, ...armed(after), state: 'active', problem: null }
      // Another market or condition: what was seen of the old one says nothing of it.
      return WATCHED_FIELDS.some((field) => field in given) ? { ...after, ...armed(after) } : after
    })
    if (!changed) throw alertNotFound()
    if (changed.state === 'active') await evaluateAlert(id)
    return alerts.get(id) ?? changed
  }

  /** How an alert begins to watch: the bar that is forming now may fire; what lies behind it is history. */
  function armed(alert: Alert): Pick<Alert, 'held' | 'seenBar' | 'since' | 'recent'> {
    const bars = deps.bars(seriesOf(alert), { last: alert.bars + 2 })
    return { held: alreadyHappened(alert, bars), seenBar: bars.time.at(-1) ?? null, since: null, recent: [] }
  }

  /** An event on the bar that stood there when the alert was set is not news; a state is. */
  function alreadyHappened(alert: Alert, bars: Bars): boolean {
    if (alert.op === null) return true
    if (STATE_OPERATORS.includes(alert.op) || bars.length === 0 || alert.scriptId !== null) return false
    const watched = watch(alert, bars, null)
    const last = bars.length - 1
    const closed = deps.closesAt(seriesOf(alert), bars.time[last] ?? 0) <= clock.now()
    return watched !== null && holds(thresholds(alert), valuesAt(watched, last, alert.bars, closed))
  }

  /** Bars of a series came or changed: looks at every alert whose bars they are or make, from the bar it saw last. */
  async function barsArrived(series: SeriesKey): Promise<void> {
    const waiting = [...alerts.each('armed', [series.exchange, series.symbol])].filter(
      (alert) => deps.builtFrom(seriesOf(alert)) === series.interval,
    )
    for (const alert of waiting) await evaluateAlert(alert.id)
  }

  async function evaluateAlert(id: string): Promise<void> {
    const alert = alerts.get(id)
    if (alert?.state !== 'active') return
    if (alert.expiresAt !== null && alert.expiresAt <= clock.now()) {
      await alerts.update(id, (before) => ({ ...before, state: 'expired' }))
      return
    }
    const series = seriesOf(alert)
    const bars =
      alert.scriptId === null ? deps.bars(series, { last: 1000 + alert.bars }) : await scriptBars(alert)
    if (bars.length === 0) return
    let script: ScriptEvents | null = null
    if (alert.scriptId !== null)
      try {
        script = await deps.runScript(alert, bars)
      } catch (error) {
        const problem = error instanceof Error ? error.message : String(error)
        await alerts.update(id, (before) => ({ ...before, state: 'error', problem }))
        return
      }
    // Nothing seen yet: the series is new, and all but its newest bar is history.
    const first = alert.seenBar === null ? bars.length - 1 : lowerBound(bars.time, alert.seenBar)
    const newly: Firing[] = []
    for (let bar = Math.max(first, 0); bar < bars.length; bar++) {
      const firing = await look(alert, bars, bar, series, script)
      if (firing) newly.push(firing)
    }
    if (newly.length > 0) deps.fired(newly)
  }

  /** What an alert's script runs over: from the bar it began at to the newest. */
  async function scriptBars(alert: Alert): Promise<Bars> {
    const series = seriesOf(alert)
    if (alert.since !== null) {
      const bars = deps.bars(series, { from: alert.since })
      if (bars.length <= SCRIPT_BARS_MAX) return bars
    }
    const bars = deps.bars(series, { last: SCRIPT_BARS })
    await alerts.update(alert.id, (before) => ({ ...before, since: bars.time[0] ?? null }))
    return bars
  }

  /** Looks at one bar and commits what follows from it. Answers the firing, if there was one. */
  async function look(
    { id }: Alert,
    bars: Bars,
    bar: number,
    series: SeriesKey,
    script: ScriptEvents | null,
  ): Promise<Firing | null> {
    const time = bars.time[bar] ?? Number.NaN
    const now = clock.now()
    // When the bar last changed: a closed one is not news of this moment, only of its end.
    const closesAt = deps.closesAt(series, time)
    const closed = bar < bars.length - 1 || closesAt <= now
    let firing: Firing | null = null
    await transact(kv, () => {
      firing = null
      const stored = alerts.stored(id)
      if (stored?.record.state !== 'active') return []
      const alert = stored.record
      // What a forming bar shows is no business of an alert that waits for its close.
      if (alert.frequency === 'once_per_bar_close' && !closed) return []
      const event = script?.events.findLast((one) => one.bar === bar)
      const watched = watch(alert, bars, script)
      const held =
        alert.op === null
          ? event !== undefined
          : watched !== null && holds(thresholds(alert), valuesAt(watched, bar, alert.bars, closed))
      const seen: Alert = { ...alert, held, seenBar: Math.max(time, alert.seenBar ?? time) }
      const quiet =
        held === alert.held && seen.seenBar === alert.seenBar ? [] : [alerts.replace(stored, seen)]
      if (!held || !mayFire(alert, time, Math.min(now, closesAt))) return quiet
      const key = fireKey(id, time)
      if (kv.get(key)) return quiet
      const recent = [...alert.recent.filter((at) => at > now - THROTTLE_MS), now]
      const throttled = recent.length > THROTTLE_FIRINGS
      const after: Alert = {
        ...seen,
        firings: alert.firings + 1,
        lastFiredAt: now,
        recent: recent.slice(-THROTTLE_FIRINGS - 1),
        state: throttled ? 'throttled' : alert.frequency === 'once' ? 'triggered' : 'active',
      }
      const made: Firing = {
        id: newId('fir'),
        alertId: id,
        ownerId: alert.ownerId,
        symbol: alert.symbol,
        exchange: alert.exchange,
        interval: alert.interval,
        barTime: time,
        price: bars.close[bar] ?? Number.NaN,
        message: messageOf(alert, bars, bar, script, event?.message),
        firedAt: now,
        channels: alert.channels,
      }
      firing = made
      return [
        alerts.replace(stored, after),
        firings.insert(made),
        { checks: [{ key, version: null }], sets: [{ key, value: JSON.stringify(made.id) }] },
        ...deps.deliver(after, made),
      ]
    })
    return firing
  }

  return {
    create,
    change,
    barsArrived,
    get: owned,
    list: (ownerId: string, options: PageOptions): Page<Alert> => alerts.list('owner', [ownerId], options),
    async remove(ownerId: string, id: string): Promise<void> {
      owned(ownerId, id)
      await alerts.delete(id)
    },
    firings: (ownerId: string, id: string, options: PageOptions): Page<Firing> => {
      owned(ownerId, id)
      return firings.list('alert', [id], options)
    },
    firingsOf: (ownerId: string, options: PageOptions): Page<Firing> =>
      firings.list('owner', [ownerId], options),
    /** The series that somebody waits on, for the poller that keeps them fresh. */
    watchedSeries(): SeriesKey[] {
      const found = new Map<string, SeriesKey>()
      for (const alert of alerts.each())
        if (alert.state === 'active')
          found.set(`${alert.exchange}:${alert.symbol} ${alert.interval}`, seriesOf(alert))
      return [...found.values()]
    },
  }
}

/**
 * The step from false to true since the last look fires; with `every_time` each bar on which it holds. A bar fires
 * once in any case: its fire key sees to that.
 */
function mayFire(alert: Alert, time: number, at: number): boolean {
  const { frequency, cooldownSec, lastFiredAt } = alert
  if (lastFiredAt !== null) {
    const wait = Math.max(cooldownSec * 1000, frequency === 'once_per_minute' ? MINUTE_MS : 0)
    if (wait > 0 && at - lastFiredAt < wait) return false
  }
  // A script's own calls are events of their bar: the next bar's is another one.
  const news = !alert.held || (alert.op === null && time > (alert.seenBar ?? 0))
  return frequency === 'every_time' || news
}

function asFields(alert: Alert): AlertFields {
  return { ...alert, op: alert.op ?? undefined }
}

function thresholds({ op, price, price2, percent }: Alert) {
  return {
    op: op ?? 'above',
    price: price ?? Number.NaN,
    price2: price2 ?? price ?? Number.NaN,
    percent: percent ?? Number.NaN,
  } as const
}

/** The column an alert compares; null where its script has no such plot. */
function watch(alert: Alert, bars: Bars, script: ScriptEvents | null): Watched | null {
  switch (alert.kind) {
    case 'volume':
      return { value: bars.volume, high: bars.volume, low: bars.volume }
    case 'change': {
      const change = bars.close.map((close, i) =>
        i === 0 ? Number.NaN : (close / (bars.close[i - 1] ?? Number.NaN) - 1) * 100,
      )
      return { value: change, high: change, low: change }
    }
    case 'indicator':
      return script?.plot ? { value: script.plot, high: script.plot, low: script.plot } : null
    default:
      return { value: bars.close, high: bars.high, low: bars.low }
  }
}

function valuesAt({ value, high, low }: Watched, bar: number, lookBack: number, closed: boolean): Values {
  return {
    value: value[bar] ?? Number.NaN,
    high: high[bar] ?? Number.NaN,
    low: low[bar] ?? Number.NaN,
    previous: value[bar - 1] ?? Number.NaN,
    past: value[bar - lookBack] ?? Number.NaN,
    closed,
  }
}

function messageOf(
  alert: Alert,
  bars: Bars,
  bar: number,
  script: ScriptEvents | null,
  said: string | undefined,
): string {
  const at = (column: Float64Array) => column[bar] ?? Number.NaN
  const plots = Object.fromEntries(
    Object.entries(script?.plots ?? {}).map(([title, column]) => [title, at(column)]),
  )
  const template = alert.message || said || alert.name
  return fillMessage(template, {
    ticker: alert.symbol,
    exchange: alert.exchange,
    interval: alert.interval,
    open: at(bars.open),
    high: at(bars.high),
    low: at(bars.low),
    close: at(bars.close),
    volume: at(bars.volume),
    time: at(bars.time),
    price: alert.price,
    name: alert.name,
    plots,
  })
}
