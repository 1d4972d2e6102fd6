// The slow and obvious way to look: every alert remembers for itself, and every bar is looked at as soon as it comes.
//
// It knows no marks, levels, slices or commits. Whatever the looks do, their firings and states must be these.

import type { AlertFields } from '../../../src/notify/alerts/alert.ts'
import type { Alert } from '../../../src/wire/alert.ts'
import { holds, STATE_OPERATORS, type Values } from '../../../src/notify/alerts/condition.ts'

export interface Row {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

interface Plain {
  fields: AlertFields
  state: Alert['state']
  /** The last bar it was looked at on, as it was then; null = it was armed, and not looked at yet. */
  seen: { readonly row: Row; readonly closed: boolean } | null
  /** Where it began, and whether its event had happened already. */
  armedAt: number | null
  armedHeld: boolean
  readonly fired: number[]
  judged: number[]
  lastJudged: number | null
}

export class OneByOne {
  readonly rows: Row[] = []
  readonly alerts = new Map<string, Plain>()
  readonly step: number
  constructor(step: number) {
    this.step = step
  }

  arm(id: string, fields: AlertFields, now: number): void {
    const old = this.alerts.get(id)
    const last = this.rows.length - 1
    const alert: Plain = {
      fields,
      state: 'active',
      seen: null,
      armedAt: this.rows[last]?.time ?? null,
      armedHeld: false,
      fired: old?.fired ?? [],
      judged: [],
      lastJudged: old?.lastJudged ?? null,
    }
    this.alerts.set(id, alert)
    if (last < 0) return
    if (!STATE_OPERATORS.includes(fields.op ?? 'above'))
      alert.armedHeld = this.#holds(alert, this.rows, last, this.#closed(last, now))
    this.#look(alert, now)
  }

  bar(row: Row, now: number): void {
    const last = this.rows.at(-1)
    const at = last && row.time <= last.time ? this.rows.findIndex(({ time }) => time === row.time) : -1
    if (at >= 0) this.rows[at] = row
    else this.rows.push(row)
    for (const alert of this.alerts.values()) this.#look(alert, now)
  }

  /** Of the first bar at or after a time. */
  #indexOf(time: number): number {
    let at = this.rows.length
    while (at > 0 && (this.rows[at - 1]?.time ?? 0) >= time) at--
    return at
  }

  #closed = (i: number, now: number) =>
    i < this.rows.length - 1 || (this.rows[i]?.time ?? 0) + this.step <= now

  #look(alert: Plain, now: number): void {
    const { fields } = alert
    const from = alert.seen?.row.time ?? alert.armedAt
    const first = from === null ? this.rows.length - 1 : this.#indexOf(from)
    let held = this.#heldBefore(alert)
    for (let i = first; i < this.rows.length && alert.state === 'active'; i++) {
      const row = this.rows[i]
      if (!row) return
      const closed = this.#closed(i, now)
      if (fields.frequency === 'once_per_bar_close' && !closed) return
      const at = closed ? row.time + this.step : now
      if (fields.expiresAt && fields.expiresAt <= at) {
        alert.state = 'expired'
        return
      }
      const holdsNow = this.#holds(alert, this.rows, i, closed)
      if (holdsNow && (!held || fields.frequency === 'every_time')) this.#fire(alert, row.time, at)
      held = holdsNow
      alert.seen = { row, closed }
    }
  }

  /** Judged with the bar it saw as it saw it, and with the bars before as they are now. */
  #heldBefore(alert: Plain): boolean {
    const { seen } = alert
    if (!seen) return alert.armedHeld
    const before = this.rows.slice(0, this.#indexOf(seen.row.time)).slice(-5)
    return this.#holds(alert, [...before, seen.row], before.length, seen.closed)
  }

  #fire(alert: Plain, time: number, at: number): void {
    const { frequency = 'once', cooldownSec = 0 } = alert.fields
    if (alert.fired.includes(time)) return
    const rest = Math.max(cooldownSec * 1000, frequency === 'once_per_minute' ? 60_000 : 0)
    if (alert.lastJudged !== null && at - alert.lastJudged < rest) return
    alert.fired.push(time)
    alert.lastJudged = at
    alert.judged = [...alert.judged.filter((earlier) => at - earlier < 180_000), at]
    if (alert.judged.length > 15) alert.state = 'throttled'
    else if (frequency === 'once') alert.state = 'triggered'
  }

  #holds({ fields }: Plain, rows: readonly Row[], i: number, closed: boolean): boolean {
    const value = (at: number): number => {
      const row = rows[at]
      if (!row) return Number.NaN
      if (fields.kind === 'volume') return row.volume
      if (fields.kind === 'change') return (row.close / (rows[at - 1]?.close ?? Number.NaN) - 1) * 100
      return row.close
    }
    const row = rows[i]
    const isPrice = fields.kind === 'price'
    const values: Values = {
      value: value(i),
      high: isPrice ? (row?.high ?? Number.NaN) : value(i),
      low: isPrice ? (row?.low ?? Number.NaN) : value(i),
      previous: value(i - 1),
      past: value(i - (fields.op?.startsWith('moving') ? (fields.bars ?? 1) : 1)),
      closed,
    }
    const { op, price, price2, percent } = fields
    return holds(
      {
        op: op ?? 'above',
        price: price ?? Number.NaN,
        price2: price2 ?? price ?? Number.NaN,
        percent: percent ?? Number.NaN,
      },
      values,
    )
  }
}
