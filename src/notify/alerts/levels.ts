// Levels: alerts are sorted in the store by their level, so that a bar costs no more than the alerts it hits.
//
// Alerts of a series with the same kind, operator and mode make a class. Within it they are keys ordered by level, and
// channels by both of their bounds. The way of the value from its old to its new place is a span, and only alerts whose
// level (or bound) lies within it can have begun to hold. These are read by range, and nothing is built at the start. A
// span may be wider than needed; `judge` decides.

import type { Key } from '../../store/kv.ts'
import type { AlertKind, Operator } from '../../wire/alert.ts'
import type { Alert } from './alert.ts'
import { CHANNEL_OPERATORS, MOVE_OPERATORS, PERCENT_OPERATORS } from './condition.ts'
import type { View } from './view.ts'

/**
 * `news` fires on the step from false to true, `close` does too but only on closed bars, and `every` fires on each bar on
 * which it holds. What a script itself calls an event waits for the close too: a run takes each of its bars for closed, and
 * half a bar would fire what its close does not.
 */
export type Mode = 'news' | 'close' | 'every'

export interface AlertClass {
  readonly kind: AlertKind
  readonly op: Operator
  readonly mode: Mode
  /** How far back `moving_*` looks; 1 for all others. */
  readonly bars: number
}

export function modeOf({ frequency, op }: Pick<Alert, 'frequency' | 'op'>): Mode {
  if (op === null || frequency === 'once_per_bar_close') return 'close'
  return frequency === 'every_time' ? 'every' : 'news'
}

/** The end of the key of an alert in its series; null if it compares with no level. */
export function levelKey(alert: Alert): Key | null {
  const { kind, op, bars, price, price2, percent } = alert
  if (op === null) return null
  const level = (PERCENT_OPERATORS.includes(op) ? percent : price) ?? 0
  const other = CHANNEL_OPERATORS.includes(op) ? (price2 ?? level) : level
  return [kind, op, modeOf(alert), bars, Math.min(level, other), Math.max(level, other)]
}

/** The same key by the upper bound, for channels only. */
export function ceilingKey(alert: Alert): Key | null {
  if (alert.op === null || !CHANNEL_OPERATORS.includes(alert.op)) return null
  const [kind, op, mode, bars, floor, ceiling] = levelKey(alert) ?? []
  if (kind === undefined || floor === undefined || ceiling === undefined) return null
  return [kind, op ?? '', mode ?? '', bars ?? 1, ceiling, floor]
}

export function classKey({ kind, op, mode, bars }: AlertClass): Key {
  return [kind, op, mode, bars]
}

export function classOf([kind, op, mode, bars]: Key): AlertClass {
  return { kind: kind as AlertKind, op: op as Operator, mode: mode as Mode, bars: Number(bars) }
}

/** Both ends belong to the span. */
export interface LevelSpan {
  readonly low: number
  readonly high: number
}

const ALL: LevelSpan = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }

/**
 * The span of levels of a class that `view` can have hit, coming from the values of `before`'s bar `last`; null if the view
 * has no bar for the class.
 */
export function hitSpan(cls: AlertClass, view: View, before: View, last: number): LevelSpan | null {
  const end = cls.mode === 'close' && !view.closed(view.length - 1) ? view.length - 1 : view.length
  if (view.start >= end) return null
  const span = new Reach()
  reach(span, cls, before, last)
  for (let bar = view.start; bar < end; bar++) reach(span, cls, view, bar)
  const { low, high } = span.unknown ? ALL : span
  return { low, high }
}

/** A range of keys to read from an index, and which of the alerts found to keep by their other bound. */
export interface Reading extends LevelSpan {
  readonly index: 'levels' | 'ceilings'
  readonly keeps?: (other: number) => boolean
}

/** The ranges with the alerts that a span can have hit; each alert is in only one of them. */
export function readings({ op, mode }: AlertClass, { low, high }: LevelSpan): readonly Reading[] {
  const floors: Reading = { index: 'levels', low, high }
  const isEvery = mode === 'every'
  if (!CHANNEL_OPERATORS.includes(op)) {
    // Every bar on which the condition holds fires, so all levels beyond the value count, not only those it passed.
    if (!isEvery || op.startsWith('crossing')) return [floors]
    return [op === 'below' ? { ...floors, high: ALL.high } : { ...floors, low: ALL.low }]
  }
  if (isEvery && op === 'inside_channel')
    return [{ ...floors, low: ALL.low, keeps: (ceiling) => ceiling >= low }]
  const wide = isEvery && op === 'outside_channel'
  return [
    wide ? { ...floors, high: ALL.high } : floors,
    { index: 'ceilings', low: wide ? ALL.low : low, high, keeps: (floor) => floor < low },
  ]
}

class Reach {
  low: number = Number.POSITIVE_INFINITY
  high: number = Number.NEGATIVE_INFINITY
  /** After a missing value, any condition may begin to hold. */
  unknown = false

  add(value: number): void {
    if (Number.isNaN(value)) this.unknown = true
    if (value < this.low) this.low = value
    if (value > this.high) this.high = value
  }
}

/** Extends the span by the values that a bar is compared by. */
function reach(span: Reach, { kind, op, bars }: AlertClass, view: View, bar: number): void {
  const values = view.values({ kind, bars }, bar)
  if (!values) return span.add(Number.NaN)
  const { value, previous, past, high, low, closed } = values
  if (MOVE_OPERATORS.includes(op)) return span.add(distance(op, value, past))
  span.add(value)
  span.add(previous)
  if (closed) return
  span.add(high)
  span.add(low)
}

/** What a `moving_*` operator compares. */
function distance(op: Operator, value: number, past: number): number {
  switch (op) {
    case 'moving_up':
      return value - past
    case 'moving_down':
      return past - value
    case 'moving_up_pct':
      return past > 0 ? ((value - past) / past) * 100 : Number.NaN
    default:
      return past > 0 ? ((past - value) / past) * 100 : Number.NaN
  }
}
