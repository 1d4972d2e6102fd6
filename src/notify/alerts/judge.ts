// Judges one alert over the bars of a view: a pure function, with the same result whether bars come singly or all at once.
//
// Bars are judged in the order of their times. So remembering the time of the last one that fired is enough to fire each
// bar once: judging bars again fires nothing again.

import type { Alert } from './alert.ts'
import { holds } from './condition.ts'
import { modeOf } from './levels.ts'
import { thresholds, type View } from './view.ts'

const THROTTLE_FIRINGS = 15
const THROTTLE_MS = 3 * 60_000
const MINUTE_MS = 60_000

/** What a script said on a bar, by index, when it called alert(), met an alertcondition() or filled an order. */
export interface ScriptEvent {
  readonly bar: number
  readonly message: string
}

/** A bar that fired, by index, and the script's message if there is one. */
export interface Fired {
  readonly bar: number
  readonly said: string | undefined
}

export interface Judgement {
  /** The alert with `held` and `seenBar` as they are after the last bar. */
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

export function judge(before: Alert, view: View, { from, held, events = [] }: JudgeOptions): Judgement {
  const said = new Map(events.map((event) => [event.bar, event.message]))
  const limits = thresholds(before)
  const fired: Fired[] = []
  let alert = before
  let { seenBar } = before
  let heldBefore = held
  for (let bar = from; bar < view.length && alert.state === 'active'; bar++) {
    // An alert that waits for closes ignores a forming bar.
    if (modeOf(alert) === 'close' && !view.closed(bar)) break
    const time = view.time(bar)
    if (alert.expiresAt !== null && alert.expiresAt <= view.judgedAt(bar)) {
      alert = { ...alert, state: 'expired' }
      break
    }
    // Each call of a script is an event of its own bar, so the condition counts as false in between.
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
