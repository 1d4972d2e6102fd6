// What a series makes of its stream.
//
// The stream says what is new, and the provider's REST service says what is true wherever there is a doubt: at the start,
// after a cut, when a bar is missing or late, when the stream contradicts what is stored, and now and then. So only two kinds
// of bars are ever stored: those that the stream said are closed, one right behind the other, and those that REST has and that
// are over. The forming bar is kept here, and is stored by nobody.
//
// Every bar before `#settledTo` is settled. The bar that opens there is the forming one.

import type { Calendar } from '../calendar.ts'
import type { Interval } from '../interval.ts'
import { openingOf } from '../providers/fetch-bars.ts'
import type { BarRow } from '../providers/provider.ts'
import { type AnswerTimes, type KeptSeries, pollMs, RECENT, SETTLE_MS } from './kept-series.ts'
import type { LiveMessage, LiveProvider } from './live-provider.ts'
import { begunBar, firstTrade, rowOfTrades, type TradeBar, withTrade } from './trade-bar.ts'

export type Heard = Extract<LiveMessage, { readonly kind: 'bar' | 'trade' | 'told' }>

export interface LiveSeriesDeps {
  readonly interval: Interval
  readonly closing: LiveProvider['closing']
  /** Closed bars, oldest first, are to be stored. */
  readonly store: (rows: readonly BarRow[]) => void
  /** The forming bar has changed; null = there is none that is known. */
  readonly forming: (row: BarRow | null) => void
}

interface Forming {
  readonly row: BarRow
  /** -1: REST has said so, perhaps a while ago. */
  readonly order: number
}

/** A bar whose end is this long ago and that nobody has closed is asked for. */
const OVERDUE_MS = 3000
/** A message that came before its turn is waited for this long. */
const HOLE_MS = 2500
/** What a stream alone has closed is compared with REST after a moment. */
const CONFIRM_MS = 10_000
/** All settled bars are compared with REST this often, since it may have corrected one without a word. */
const RECHECK_MS = 30 * 60_000
/** Where REST has no bar for this long after its end, nothing was traded. */
const NO_TRADE_MS = 60_000
/** The least time between two requests for a series. */
const AGAIN_MS = 2000
const EARLY_MAX = 1000
const UNREAD_MAX = 2000

export class LiveSeries implements KeptSeries {
  readonly #deps: LiveSeriesDeps
  #calendar: Calendar | null = null
  #settledTo: number | null = null
  #forming: Forming | null = null
  #building: TradeBar | null = null
  #lastTrade: number | null = null
  /** Bars of trades that open up to here may lack some. */
  #brokenTo = Infinity
  /** Closed bars that came before one that is missing. */
  readonly #early = new Map<number, BarRow>()
  /** Settled bars, to tell a repetition from a correction. */
  readonly #recent = new Map<number, BarRow>()
  /** What came before the first answer of REST. */
  #unread: Heard[] = []
  #holeSince: number | null = null
  #suspect: { readonly from: number; readonly at: number } | null = null
  #confirm: { readonly from: number; readonly at: number } | null = null
  #recheckFrom: number | null = null
  #checkedAt = 0
  #filledAt = 0
  /** Answers of REST that settled nothing new. */
  #inVain = 0
  #isConnected = false
  #isResumed = true

  constructor(deps: LiveSeriesDeps) {
    this.#deps = deps
  }

  get isLive(): boolean {
    return this.#isConnected && this.#settledTo !== null && !this.#isResumed
  }

  /** The stream is there, from now on. What came before is missed. */
  subscribed(): void {
    this.#isConnected = true
    this.#isResumed = true
  }

  /** What was half done by the stream is worth nothing any more. */
  cut(): void {
    this.#isConnected = false
    this.#building = null
    this.#lastTrade = null
    this.#brokenTo = Infinity
    this.#early.clear()
    this.#holeSince = null
    this.#unread = []
    this.#setForming(null)
  }

  heard(message: Heard, now: number): void {
    if (this.#settledTo === null) {
      if (this.#unread.length < UNREAD_MAX) this.#unread.push(message)
      return
    }
    if (message.kind === 'trade') this.#trade(message, now)
    else if (message.kind === 'told') this.#told(message, now)
    else {
      const time = this.#opening(message.row[0])
      const [, ...rest] = message.row
      const row: BarRow = [time, ...rest]
      if (message.closed) this.#close(row, now)
      else this.#progress(row, message.order, now)
    }
  }

  dueAt(now: number): number {
    if (this.#settledTo === null || (this.#isConnected && this.#isResumed)) return now
    const overdue = this.#endOf(this.#settledTo) + OVERDUE_MS
    const poll = this.#isConnected ? Infinity : this.#filledAt + pollMs(this.#lengthAt(this.#settledTo))
    // REST may not have the bar yet, or there was no trade: the longer that is so, the rarer it is asked.
    const soonest = Math.min(this.#filledAt, now) + AGAIN_MS * 2 ** Math.min(this.#inVain, 4)
    const wanted = Math.min(
      overdue,
      poll,
      this.#holeSince === null ? Infinity : this.#holeSince + HOLE_MS,
      this.#suspect?.at ?? Infinity,
      this.#confirm?.at ?? Infinity,
      this.#checkedAt + RECHECK_MS,
    )
    return Math.max(wanted, soonest)
  }

  askFrom(now: number): number | null {
    const settledTo = this.#settledTo
    if (settledTo === null) return null
    const all = now >= this.#checkedAt + RECHECK_MS ? (this.#recheckFrom ?? settledTo) : Infinity
    return Math.min(settledTo, this.#suspect?.from ?? Infinity, this.#confirm?.from ?? Infinity, all)
  }

  filled(
    rows: readonly BarRow[],
    from: number | null,
    { asked, said }: AnswerTimes,
    calendar: Calendar,
  ): readonly BarRow[] {
    this.#calendar = calendar
    const isFirst = this.#settledTo === null
    const before = said - SETTLE_MS
    const closed = rows.filter(([time]) => this.#endOf(time) <= before)
    const settledTo = this.#settledBy(rows, before, said)
    this.#inVain = settledTo > (this.#settledTo ?? 0) ? 0 : this.#inVain + 1
    this.#settledTo = Math.max(this.#settledTo ?? settledTo, settledTo)
    for (const row of closed) this.#remember(row)
    this.#filledAt = asked
    this.#isResumed = this.#isResumed && !this.#isConnected
    if (from === null || this.#suspect === null || from <= this.#suspect.from) this.#suspect = null
    if (from === null || this.#confirm === null || from <= this.#confirm.from) this.#confirm = null
    if (
      isFirst ||
      (from !== null && from <= (this.#recheckFrom ?? Infinity) && asked >= this.#checkedAt + RECHECK_MS)
    ) {
      this.#checkedAt = asked
      // The newest bars are looked at once more by the next check: corrections come late.
      this.#recheckFrom = (closed.at(-RECENT) ?? closed[0])?.[0] ?? this.#settledTo
    }
    this.#holeSince = null
    this.#takeForming(rows.find(([time]) => time === this.#settledTo) ?? null)
    this.#drain(asked)
    if (isFirst) for (const message of this.#unread.splice(0)) this.heard(message, asked)
    return closed
  }

  unsettle(from: number): void {
    if (this.#settledTo === null || from >= this.#settledTo) return
    this.#settledTo = from
    this.#setForming(null)
  }

  doubt(from: number, now: number): void {
    this.#suspect = { from: Math.min(this.#suspect?.from ?? from, from), at: now }
  }

  /** Up to where an answer of REST settles the series. */
  #settledBy(rows: readonly BarRow[], before: number, now: number): number {
    const opens = this.#requireCalendar().period(before, this.#deps.interval).start
    const last = rows.at(-1)?.[0] ?? null
    if (last !== null && last >= opens) return opens
    // It may not have made the last bar yet; later on, there was no trade.
    const known = last === null ? (this.#settledTo ?? opens) : this.#endOf(last)
    return now - known > NO_TRADE_MS + this.#lengthAt(known) ? opens : Math.min(opens, known)
  }

  #close(row: BarRow, now: number): void {
    const [time] = row
    const settledTo = this.#settledTo ?? 0
    if (time < settledTo) {
      if (!isSame(this.#recent.get(time), row)) this.#doubtSoon(time, now)
      return
    }
    if (time > settledTo) {
      if (this.#early.size < EARLY_MAX) this.#early.set(time, row)
      this.#holeSince ??= now
      return
    }
    this.#settle([row])
    this.#drain(now)
  }

  #progress(row: BarRow, order: number, now: number): void {
    const [time] = row
    const settledTo = this.#settledTo ?? 0
    if (time < settledTo) {
      // Without a flag, a bar is closed by the next one; what is said of it later makes it doubtful.
      if (this.#deps.closing === 'next' && !isSame(this.#recent.get(time), row)) this.#doubtSoon(time, now)
      return
    }
    if (this.#forming && isEarlier(this.#forming, time, order, row)) return
    if (time > settledTo) {
      const before = this.#forming
      if (this.#deps.closing === 'next' && before?.row[0] === settledTo && before.order >= 0) {
        this.#settle([before.row])
        this.#confirmSoon(settledTo, now)
      }
      if (time > (this.#settledTo ?? 0)) this.#holeSince ??= now
    }
    this.#setForming({ row, order })
  }

  #trade({ id, time, ...trade }: Extract<Heard, { kind: 'trade' }>, now: number): void {
    const last = this.#lastTrade
    if (last !== null && id <= last) return
    const opens = this.#periodAt(time)
    if (last === null || id !== last + 1) this.#brokenTo = opens
    this.#lastTrade = id
    if (opens < (this.#settledTo ?? 0)) return this.#doubtSoon(opens, now)
    this.#passTo(opens, now)
    const building = this.#building
    if (building && opens < building.time) return this.#doubtSoon(opens, now)
    // It waits for bars before it, and is given up, since only one is made at a time: REST has to have it.
    if (building && building.time < opens) this.#brokenTo = Math.max(this.#brokenTo, building.time)
    this.#building = building?.time === opens ? withTrade(building, trade) : firstTrade(opens, trade)
    this.#setForming({ row: rowOfTrades(this.#building), order: id })
  }

  #told({ lastId, time }: Extract<Heard, { kind: 'told' }>, now: number): void {
    const opens = this.#periodAt(time)
    if (this.#lastTrade !== null && lastId > this.#lastTrade) this.#brokenTo = opens
    if (this.#lastTrade === null) this.#brokenTo = opens
    this.#lastTrade = Math.max(this.#lastTrade ?? 0, lastId)
    this.#passTo(opens, now)
  }

  /** All trades of the bars before `opens` have come. */
  #passTo(opens: number, now: number): void {
    const settledTo = this.#settledTo ?? 0
    if (opens <= settledTo) return
    if (this.#brokenTo >= settledTo) {
      this.#holeSince ??= now
      return
    }
    const building = this.#building
    if (building && building.time >= settledTo && building.time < opens) this.#settle([rowOfTrades(building)])
    // Before and behind it there was no trade, and so no bar.
    this.#settledTo = opens
    this.#confirmSoon(settledTo, now)
    this.#building = null
    this.#setForming(null)
  }

  #settle(rows: readonly BarRow[]): void {
    for (const row of rows) this.#remember(row)
    this.#settledTo = this.#endOf(rows.at(-1)![0])
    this.#inVain = 0
    this.#holeSince = null
    this.#deps.store(rows)
    if (this.#forming && this.#forming.row[0] < this.#settledTo) this.#setForming(null)
    else if (this.#forming) this.#setForming(this.#forming)
  }

  /** Takes up what came before its turn, if its turn has come. */
  #drain(now: number): void {
    for (;;) {
      const settledTo = this.#settledTo ?? 0
      for (const time of this.#early.keys()) if (time < settledTo) this.#early.delete(time)
      const next = this.#early.get(settledTo)
      if (!next) break
      this.#early.delete(settledTo)
      this.#settle([next])
    }
    if (this.#early.size > 0) this.#holeSince ??= now
  }

  #takeForming(row: BarRow | null): void {
    const now = this.#forming
    if (now && now.row[0] >= (this.#settledTo ?? 0) && now.order >= 0) return this.#setForming(now)
    if (!row) return this.#setForming(null)
    if (this.#deps.closing === 'trades' && this.#isConnected) {
      // A trade may be in it that is still to come from the stream, so it is shown and not stored.
      this.#building = begunBar(row)
      this.#brokenTo = Math.max(this.#brokenTo, row[0])
    }
    this.#setForming({ row, order: -1 })
  }

  #setForming(forming: Forming | null): void {
    this.#forming = forming
    const isNext = forming !== null && forming.row[0] === this.#settledTo
    this.#deps.forming(isNext ? forming.row : null)
  }

  #doubtSoon(from: number, now: number): void {
    const before = this.#suspect
    this.#suspect = before
      ? { from: Math.min(before.from, from), at: before.at }
      : { from, at: now + HOLE_MS }
  }

  #confirmSoon(from: number, now: number): void {
    this.#confirm ??= { from, at: now + CONFIRM_MS }
  }

  #remember(row: BarRow): void {
    this.#recent.set(row[0], row)
    for (const time of this.#recent.keys()) {
      if (this.#recent.size <= RECENT) break
      this.#recent.delete(time)
    }
  }

  #requireCalendar(): Calendar {
    if (!this.#calendar) throw new Error('a live series was used before its first answer')
    return this.#calendar
  }

  #opening(time: number): number {
    return openingOf(time, this.#deps.interval, this.#requireCalendar())
  }

  #periodAt(time: number): number {
    return this.#requireCalendar().period(time, this.#deps.interval).start
  }

  #endOf(time: number): number {
    return this.#requireCalendar().period(time, this.#deps.interval).end
  }

  #lengthAt(time: number): number {
    return this.#endOf(time) - time
  }
}

/** Whether what `news` tells is known. A provider that tells nothing of sides says nothing against those of an import. */
export const isSame = (known: BarRow | undefined, news: BarRow): boolean =>
  known !== undefined && news.every((value, i) => value === known[i])

/** Whether something later is known of the bar. Volume only grows within a bar. */
function isEarlier({ row, order }: Forming, time: number, newOrder: number, news: BarRow): boolean {
  if (time !== row[0]) return time < row[0]
  return newOrder < order || (newOrder === order && news[5] < row[5])
}
