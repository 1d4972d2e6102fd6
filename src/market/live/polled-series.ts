// A series that its provider is asked for again and again.
//
// A bar is closed when the answer has a later one behind it, or when its end is as long ago as the provider's bars are late and
// a moment more. Both are reckoned by the time of the answer, so that neither a clock of ours that is ahead nor an old answer
// out of somebody's cache makes a bar closed that still forms. Each request begins some bars before the newest, and so brings
// what was corrected meanwhile; what is stored of the forming bar is nothing.
//
// It is due when its forming bar is over, and a few times while it forms. Where an answer brings nothing new, the next request
// waits twice as long: while the market is closed up to half an hour, which is also how a bar comes that is there hours late.
// A bar that changes although the calendar says closed is one that forms: holidays and special sessions are unknown to it.

import type { Calendar } from '../calendar.ts'
import { intervalMs, isIntraday, type Interval } from '../interval.ts'
import type { BarRow } from '../providers/provider.ts'
import { type AnswerTimes, type KeptSeries, pollMs, RECENT, SETTLE_MS } from './kept-series.ts'

export interface PolledSeriesDeps {
  readonly interval: Interval
  /** How long after its end a bar is told of. */
  readonly delayMs: number
  readonly since: number
  /** The forming bar has changed; null = there is none that is known. */
  readonly forming: (row: BarRow | null) => void
}

/** Somebody else may have changed what is stored. */
const COMPARE_MS = 30 * 60_000
/** Where nothing new is expected. */
const CLOSED_MS = 30 * 60_000
/** The first wait where a bar that is over is not there yet. */
const AGAIN_MS = 15_000
const MINUTE = 60_000

export class PolledSeries implements KeptSeries {
  readonly #deps: PolledSeriesDeps
  /** The newest closed bars, oldest first. */
  #recent: readonly BarRow[] = []
  /** When all of an answer was last compared with what is stored. */
  #comparedAt = -Infinity
  #forming: BarRow | null = null
  /** What has to be asked for from further back. */
  #doubtedFrom = Infinity
  #times: AnswerTimes | null = null
  #inVain = 0
  #paceMs = Infinity
  #dueAt: number
  #openUntil = 0

  constructor(deps: PolledSeriesDeps) {
    this.#deps = deps
    this.#dueAt = deps.since
  }

  /** How long it waits at least between two requests; the one right after a bar's end comes when it is due. */
  get everyMs(): number {
    return Math.min(this.#stepMs, this.#paceMs)
  }

  get #stepMs(): number {
    return pollMs(intervalMs(this.#deps.interval))
  }

  /** When its market closes; a time that is gone if it is closed. */
  get openUntil(): number {
    return this.#openUntil
  }

  get aheadMs(): number {
    const { asked, said } = this.#times ?? { asked: 0, said: 0 }
    return asked - said
  }

  dueAt(now: number): number {
    // If the clock was set back, what was planned by the old time may be hours away.
    return Math.min(this.#dueAt, now + CLOSED_MS + this.#deps.delayMs)
  }

  askFrom(): number | null {
    const newest = this.#recent.at(-1)
    if (newest === undefined) return null
    const reach = newest[0] - RECENT * intervalMs(this.#deps.interval)
    return Math.max(
      0,
      Math.min(this.#doubtedFrom, this.#recent.length < RECENT ? reach : this.#recent[0]![0]),
    )
  }

  filled(
    rows: readonly BarRow[],
    from: number | null,
    times: AnswerTimes,
    calendar: Calendar,
  ): readonly BarRow[] {
    const { delayMs } = this.#deps
    const { asked, said } = times
    const before = this.#times
    // An answer that is older than the one before it comes out of a cache, and what it says was corrected since.
    const isOld = before !== null && said < before.said && asked >= before.asked
    const closed = isOld ? [] : rows.slice(0, this.#closedOf(rows, said - SETTLE_MS, calendar))
    const news = this.#newsOf(closed, asked)
    let isChanged = false
    if (!isOld) {
      this.#times = times
      const isNew = (closed.at(-1)?.[0] ?? 0) > (this.#recent.at(-1)?.[0] ?? 0)
      const formed = closed.length < rows.length ? rows.at(-1)! : null
      isChanged = formed !== null && !formed.every((value, i) => value === this.#forming?.[i])
      this.#inVain = isNew || isChanged ? 0 : this.#inVain + 1
      this.#setForming(formed)
      this.#remember(closed)
      if (from === null || from <= this.#doubtedFrom) this.#doubtedFrom = Infinity
    } else this.#inVain++
    const shown = said - delayMs - SETTLE_MS
    this.#openUntil = calendar.isOpen(shown) ? asked + calendar.close(calendar.tradingDay(shown)) - shown : 0
    this.#paceMs = this.#paceOf(shown, isChanged, calendar)
    // A cache that says the same time again would have the moment before a bar's end last.
    const isStill = before !== null && said <= before.said && asked > before.asked
    this.#dueAt =
      asked + Math.max(isStill ? Math.min(AGAIN_MS, this.everyMs) : 0, this.#waitMs(shown, calendar))
    return news
  }

  unsettle(from: number): void {
    this.#doubtedFrom = Math.min(this.#doubtedFrom, from)
    this.#comparedAt = -Infinity
  }

  doubt(from: number, now: number): void {
    this.unsettle(from)
    this.#dueAt = Math.min(this.#dueAt, now)
  }

  cut(): void {
    this.#setForming(null)
  }

  /** How many of the rows are closed. */
  #closedOf(rows: readonly BarRow[], before: number, calendar: Calendar): number {
    const { interval, delayMs } = this.#deps
    const isOver = ([time]: BarRow, i: number) =>
      calendar.period(time, interval).end + (i < rows.length - 1 ? 0 : delayMs) <= before
    return rows.findLastIndex(isOver) + 1
  }

  /** How long to wait where neither a bar's end nor an opening comes first. `shown`: as of when the provider shows the market. */
  #paceOf(shown: number, isChanged: boolean, calendar: Calendar): number {
    const { interval } = this.#deps
    const step = this.#stepMs
    const again = (isChanged ? step : AGAIN_MS) * 2 ** this.#inVain
    if (!calendar.isOpen(shown)) return Math.min(CLOSED_MS, again)
    const { start } = calendar.period(shown, interval)
    const isFirst = start <= calendar.open(calendar.tradingDay(shown))
    const newest = this.#forming?.[0] ?? this.#recent.at(-1)?.[0] ?? 0
    const isBehind = isIntraday(interval) && !isFirst && newest < start - intervalMs(interval)
    return isBehind ? Math.min(again, step) : step
  }

  #waitMs(shown: number, calendar: Calendar): number {
    const pace = this.#paceMs
    if (calendar.isOpen(shown)) return Math.min(pace, calendar.period(shown, this.#deps.interval).end - shown)
    for (let ms = MINUTE; ms < pace; ms += MINUTE) if (calendar.isOpen(shown + ms)) return ms + SETTLE_MS
    return pace
  }

  #setForming(row: BarRow | null): void {
    this.#forming = row
    this.#deps.forming(row)
  }

  /** Without those that are stored already; all where one of them is corrected, and now and then. */
  #newsOf(closed: readonly BarRow[], now: number): readonly BarRow[] {
    const known = new Map(this.#recent.map((row) => [row[0], row]))
    const isCorrected = closed.some((row) => known.get(row[0])?.some((value, i) => value !== row[i]) ?? false)
    if (!isCorrected && Math.abs(now - this.#comparedAt) < COMPARE_MS)
      return closed.filter(([time]) => !known.has(time))
    if (closed.length > 0) this.#comparedAt = now
    return closed
  }

  #remember(closed: readonly BarRow[]): void {
    const first = closed[0]?.[0] ?? Infinity
    this.#recent = [...this.#recent.filter(([time]) => time < first), ...closed].slice(-RECENT)
  }
}
