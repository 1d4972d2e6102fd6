// Arming an alert: what it has to know of the bars that are there before it looks at those that come.
//
// An alert is armed against the newest bar: that one may fire it at once, and all earlier ones are history. If its
// series was looked at up to that very bar, the alert starts level with the series' mark;
// otherwise it is fresh and remembers itself what it saw, until the next look brings it up to the mark.

import { ownerOf, type SeriesKey } from '../../market/bar-store.ts'
import type { Tx } from '../../store/transaction.ts'
import type { Alert } from './alert.ts'
import { holds, STATE_OPERATORS } from './condition.ts'
import { judge } from './judge.ts'
import { modeOf } from './levels.ts'
import { LOOK_BACK, type LookDeps } from './look.ts'
import { joinMark, markOf, readMark } from './mark.ts'
import { runsScript, seriesOf } from './records.ts'
import { thresholds, View } from './view.ts'
import { written, type Written } from './write.ts'

export interface ArmDeps extends LookDeps {
  /** The series that a name means to a user: their own, or a shared one. */
  readonly resolve: (userId: string, series: SeriesKey) => Promise<SeriesKey>
}

export interface Armed extends Written {
  readonly alert: Alert
}

/** Arms an alert, as part of a transaction's plan: its state, and what has to be written. */
export async function arm(deps: ArmDeps, tx: Tx, before: Alert): Promise<Armed> {
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
export async function armAtBeginning(deps: ArmDeps, tx: Tx, before: Alert): Promise<Armed> {
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
