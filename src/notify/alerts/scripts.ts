// Alerts with a script: each is looked at by itself, from the last bar it saw, by the results of its script.
//
// `runScript` answers the script's results on a window of bars, from the bar that the alert saw last. It may continue from
// kept state, and answers the same without any, because the window always begins at the same bar.

import { Problem } from '../../lib/problem.ts'
import { lowerBound, sliceBars, type Bars } from '../../market/bars.ts'
import { besideDamage, Damage } from '../../store/damage.ts'
import type { Alert } from './alert.ts'
import { judge, type ScriptEvent } from './judge.ts'
import { modeOf } from './levels.ts'
import { firstNews, lookAtEnd, settlingMs, type LookDeps } from './look.ts'
import { seriesParts, type WatchedSeries } from './mark.ts'
import { runsScript, seriesOf, type AlertRecords } from './records.ts'
import { View } from './view.ts'
import { commitFirings, written } from './write.ts'

/** A stored script's results on a window of bars; indexes count from the window's first bar. */
export interface ScriptEvents {
  /** The plot that an `indicator` alert compares, and its title. */
  readonly plot: Float64Array | null
  readonly title?: string
  readonly plots: Readonly<Record<string, Float64Array>>
  readonly events: readonly ScriptEvent[]
}

export interface ScriptLookDeps extends LookDeps {
  /** Runs the alert's script over these bars, within its budget. Throws an error whose sentence is for the owner. */
  readonly runScript: (alert: Alert, bars: Bars) => Promise<ScriptEvents>
  /** For each alert, the bar up to which nothing has happened since the alert was last written. */
  readonly quiet: Map<string, Quiet>
}

interface Quiet {
  readonly updatedAt: number
  readonly seenBar: number
}

/**
 * A bar that changes nothing for an alert is not written down, so that a thousand quiet alerts cost no commit. After a
 * stop these bars are judged again, with the same result; that is why their number is bounded.
 */
const QUIET_BARS = 256

/**
 * Bars a script sees before the first one that may fire, so that its averages have settled. From then on its window only
 * grows: a run that begins at the same bar gives the same result for a bar, however often it is repeated (batch equals
 * incremental), so its state need not be kept, and nothing is lost when the server restarts. A window that moved with the
 * newest bar would give its `var`s and positions another past each time.
 */
const SCRIPT_BARS = 5000
/** A window that has grown to this many bars starts again at the newest ones. */
const SCRIPT_BARS_MAX = 100_000

/** Looks at the alerts with a script of all series that the bars of `source` make; each step is an alert. */
export async function* lookAtScripts(deps: ScriptLookDeps, source: WatchedSeries): AsyncGenerator<void> {
  const { alerts } = deps.records
  const key = [source.owner, source.exchange, source.symbol]
  for await (const page of alerts.entries('scripts', key, key))
    for (const entry of page) {
      const [alert] = await alerts.getMany([String(entry.at(-1))], deps.log)
      if (!alert || (await deps.source(seriesOf(alert)))?.interval !== source.interval) continue
      await besideDamage(deps.log, () => look(deps, alert.id), undefined)
      if (modeOf(alert) === 'close') await lookAtEnd(deps, source, seriesOf(alert))
      yield
    }
}

/** Looks at once, or when the next bar comes if the server has no time now. */
export async function lookByScript(deps: ScriptLookDeps, id: string): Promise<void> {
  try {
    await look(deps, id)
  } catch (error) {
    if (!isBusy(error)) throw error
  }
}

/** Whether the server is stopping, has too much to do or lacks what is damaged, which the alert's owner cannot mend. */
function isBusy(error: unknown): boolean {
  return error instanceof Damage || (error instanceof Problem && error.status >= 500)
}

/** Throws if the server is busy, so that the look is repeated later. */
async function look(deps: ScriptLookDeps, id: string): Promise<void> {
  const { records, clock } = deps
  const known = await records.alerts.get(id)
  if (known?.state !== 'active' || !runsScript(known)) return void deps.quiet.delete(id)
  const alert = { ...known, seenBar: lastSeen(deps, known) }
  const series = seriesOf(alert)
  const closesAt = await deps.closesAt(series)
  // Asked before the bars are read: one that ends meanwhile may have been read before its end.
  const now = clock.now()
  const source = await deps.source(series)
  const window = await scriptBars(deps, alert)
  const newest = window.time.at(-1) ?? 0
  const end = closesAt(newest)
  // The last of the bars that it is made of may come a moment later.
  const settled = source?.interval === series.interval ? end : end + settlingMs(newest, end)
  const isOver = !source?.isForming && settled <= now
  const lastClosed = isOver || modeOf(alert) === 'close'
  const bars = isOver || !lastClosed ? window : sliceBars(window, 0, window.length - 1)
  if (bars.length === 0) return
  let script: ScriptEvents
  try {
    script = await deps.runScript(alert, bars)
  } catch (error) {
    if (isBusy(error)) throw error
    const problem = error instanceof Error ? error.message : String(error)
    await records.alerts.update(id, (before) => ({ ...before, state: 'error', problem }))
    return
  }
  await commitFirings(deps, async (tx) => {
    const stored = await records.alerts.at(tx).stored(id)
    if (stored?.record.state !== 'active' || stored.record.updatedAt !== alert.updatedAt) return [[], []]
    const { held } = stored.record
    const seenBar = lastSeen(deps, stored.record)
    const news = seenBar ?? (await firstNews(deps, series)) ?? bars.time.at(-1) ?? 0
    const from = lowerBound(bars.time, news)
    const view = new View(bars, { start: from, lastClosed, closesAt, now, plot: script.plot })
    const verdict = judge({ ...stored.record, seenBar }, view, { from, held, events: script.events })
    const after = verdict.alert
    const isQuiet = after.held === held && after.state === stored.record.state && verdict.fired.length === 0
    if (isQuiet && isNear(bars, stored.record.seenBar)) {
      deps.quiet.set(id, { updatedAt: alert.updatedAt, seenBar: after.seenBar ?? 0 })
      return [[], []]
    }
    const { changes, firings } = await written(deps, tx, view, verdict, script)
    return [firings, [records.alerts.replace(stored, after), ...changes]]
  })
}

function lastSeen({ quiet }: ScriptLookDeps, { id, updatedAt, seenBar }: Alert): number | null {
  const since = quiet.get(id)
  if (seenBar === null || since?.updatedAt !== updatedAt) return seenBar
  return Math.max(seenBar, since.seenBar)
}

function isNear({ time }: Bars, seenBar: number | null): boolean {
  return seenBar !== null && time.length - lowerBound(time, seenBar) <= QUIET_BARS
}

/** The bars that an alert's script runs over: from the one it began at to the newest. */
async function scriptBars({ records, bars }: ScriptLookDeps, alert: Alert): Promise<Bars> {
  const series = seriesOf(alert)
  if (alert.since !== null) {
    const { bars: window } = await bars(series, { from: alert.since, first: SCRIPT_BARS_MAX + 1 })
    if (window.length <= SCRIPT_BARS_MAX) return window
  }
  const shared = await sinceOfEqual(records, alert)
  const equal =
    shared === null ? null : (await bars(series, { from: shared, first: SCRIPT_BARS_MAX + 1 })).bars
  const window =
    equal && equal.length >= SCRIPT_BARS && equal.length <= SCRIPT_BARS_MAX
      ? equal
      : (await bars(series, { last: SCRIPT_BARS })).bars
  await records.alerts.update(alert.id, (before) => ({ ...before, since: window.time[0] ?? null }))
  return window
}

/** How many alerts on a series are searched for an equal one. */
const EQUALS_LOOKED_AT = 100

/** Where an alert with the same script, inputs and bars began: from there on, both can share one run. */
async function sinceOfEqual({ alerts }: AlertRecords, alert: Alert): Promise<number | null> {
  const key = seriesParts(seriesOf(alert))
  const inputs = JSON.stringify(alert.inputs)
  let looked = 0
  for await (const page of alerts.entries('scripts', key, key))
    for (const entry of page) {
      if (++looked > EQUALS_LOOKED_AT) return null
      const other = await alerts.get(String(entry.at(-1)))
      if (
        other?.since != null &&
        other.scriptId === alert.scriptId &&
        other.asOf === alert.asOf &&
        JSON.stringify(other.inputs) === inputs
      )
        return other.since
    }
  return null
}
