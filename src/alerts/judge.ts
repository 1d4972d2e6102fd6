// What becomes of one alert over the bars of a view: a pure function, the same for bars that come alone and all at once.
//
// Bars are judged in the order of their times, so the time of the last one that fired is all there is to remember for a
// bar to fire once: judging bars again fires nothing again.

import type { Alert } from './alert.ts'
import { holds } from './condition.ts'
import { thresholds, type View } from './view.ts'

const THROTTLE_FIRINGS = 15
const THROTTLE_MS = 3 * 60_000
const MINUTE_MS = 60_000

/** What a stored script said on a bar (by index): it called alert(), met an alertcondition or filled an order. */
export interface ScriptEvent {
  readonly bar: number
  readonly message: string
}

/** A bar that fired, by index, and what a script said on it. */
export interface Fired {
  readonly bar: number
  readonly said: string | undefined
}

export interface Verdict {
  /** Its `held` and `seenBar` are what they are behind the last bar looked at. */
  readonly alert: Alert
  readonly fired: readonly Fired[]
}

export interface JudgeOptions {
  /** Index of the first bar. */
  readonly from: number
  /** Whether the condition held when it was last looked at. */
  readonly held: boolean
  readonly events?: readonly ScriptEvent[]
}

export function judge(before: Alert, view: View, { from, held, events = [] }: JudgeOptions): Verdict {
  const said = new Map(events.map((event) => [event.bar, event.message]))
  const limits = thresholds(before)
  const fired: Fired[] = []
  let alert = before
  let { seenBar } = before
  let heldBefore = held
  for (let bar = from; bar < view.length && alert.state === 'active'; bar++) {
    // What a forming bar shows is no business of an alert that waits for its close.
    if (alert.frequency === 'once_per_bar_close' && !view.closed(bar)) break
    const time = view.time(bar)
    if (alert.expiresAt !== null && alert.expiresAt <= view.judgedAt(bar)) {
      alert = { ...alert, state: 'expired' }
      break
    }
    // A script's own calls are events of their bar: the next bar's is another one.
    if (alert.op === null && time > (seenBar ?? 0)) heldBefore = false
    const values = alert.op === null ? null : view.values(alert, bar)
    const holdsNow = alert.op === null ? said.has(bar) : values !== null && holds(limits, values)
    const news = holdsNow && (alert.frequency === 'every_time' || !heldBefore)
    heldBefore = holdsNow
    seenBar = time
    if (!news || time <= (alert.firedBar ?? Number.NEGATIVE_INFINITY)) continue
    const at = view.judgedAt(bar)
    if (!hasRested(alert, at)) continue
    alert = fire(alert, time, at, view.now)
    fired.push({ bar, said: said.get(bar) })
  }
  return { alert: { ...alert, held: heldBefore, seenBar }, fired }
}

function hasRested({ frequency, cooldownSec, judgedAt }: Alert, at: number): boolean {
  const wait = Math.max(cooldownSec * 1000, frequency === 'once_per_minute' ? MINUTE_MS : 0)
  return judgedAt === null || wait === 0 || at - judgedAt >= wait
}

function fire(alert: Alert, firedBar: number, judgedAt: number, now: number): Alert {
  const recent = [...alert.recent.filter((at) => at > judgedAt - THROTTLE_MS), judgedAt]
  const throttled = recent.length > THROTTLE_FIRINGS
  return {
    ...alert,
    firings: alert.firings + 1,
    lastFiredAt: now,
    judgedAt,
    firedBar,
    recent: recent.slice(-THROTTLE_FIRINGS - 1),
    state: throttled ? 'throttled' : alert.frequency === 'once' ? 'triggered' : 'active',
  }
}
