// What is odd about bars that were read: gaps in their sessions, bars without volume, spikes, jumps that look like a split.
//
// Nothing here is changed: a spike may be the news, and a gap a holiday. Whoever imports is told, with the first places,
// and what was done about it. One pass in the order of time, with a handful of numbers in memory.

import type { Bars } from '../bars.ts'
import { type Calendar, sessionInstant } from '../calendar.ts'
import { type Interval, intervalMs, isIntraday } from '../interval.ts'
import { words } from '../../lib/words.ts'

export const FINDING_KINDS = words(
  'gap missing_days outside_session same_session zero_volume no_volume spike split duplicate',
  'empty_row unknown_zone unknown_side finer_bars coarser_bars period_end widened',
)
export type FindingKind = (typeof FINDING_KINDS)[number]

/** One kind of oddity: how often, where, and what was done about it. */
export interface Finding {
  readonly kind: FindingKind
  readonly count: number
  readonly message: string
  readonly done: string
  /** The first times of it, UTC ms, with what is to be said of each. */
  readonly examples: readonly { readonly time: number; readonly text: string }[]
}

const EXAMPLES_MAX = 10
/** A high or low this many typical ranges away from both neighbours is a spike, if it is also this fraction of the price. */
const SPIKE_RANGES = 12
const SPIKE_FRACTION = 0.02
/** How much of the newest range goes into the typical one. */
const SMOOTHING = 0.05
const BARS_THAT_TELL = 20
/** The ratios that shares are split and merged by. */
const SPLITS = [1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 100]
const SPLIT_TOLERANCE = 0.06
/** Longer gaps are days without trading rather than missing bars. */
const STEPS_MAX = 100_000

interface Tally {
  count: number
  readonly examples: { readonly time: number; readonly text: string }[]
}

export class Quality {
  readonly #calendar: Calendar
  readonly #interval: Interval
  readonly #step: number
  readonly #tallies = new Map<FindingKind, Tally>()
  readonly #isOpenAlways: boolean
  readonly #ofVolume: boolean
  readonly #ofSides: boolean
  readonly #isDaily: boolean
  #bars = 0
  #zeros = 0
  #missing = 0
  /** Weekends without bars, where the market's hours are not known: they are missing only if others have some. */
  readonly #weekends: { readonly time: number; readonly text: string }[] = []
  #barOnWeekend = false
  /** Bars of which it is known what was bought. */
  #sided = 0
  /** The typical range of a bar, a moving average. */
  #range = 0
  // The last two bars, and a place for the next: a spike is known by both of its neighbours.
  #older = emptyBar()
  #last = emptyBar()
  #spare = emptyBar()

  /**
   * Bars `ofVolume` last as long as they last: between them none is missing. Those `ofSides` are made of trades that have a
   * column of sides, so that bars without are odd even where no side at all was understood.
   */
  constructor(calendar: Calendar, interval: Interval, { ofVolume = false, ofSides = false } = {}) {
    this.#ofVolume = ofVolume
    this.#ofSides = ofSides
    this.#calendar = calendar
    this.#interval = interval
    this.#isDaily = interval.unit === 'd' && interval.count === 1 && !ofVolume
    this.#step = intervalMs(interval)
    this.#isOpenAlways =
      !isIntraday(interval) ||
      calendar.session.days.every(([range]) => range !== undefined && range.end - range.start >= 1440)
  }

  /** Looks at more bars, later than those before. */
  add({ length, time, open, high, low, close, volume, bought }: Bars): void {
    for (let i = 0; i < length; i++) {
      const next = this.#spare
      next.time = time[i]!
      next.open = open[i]!
      next.high = high[i]!
      next.low = low[i]!
      next.close = close[i]!
      if (this.#bars > 0) this.#look(next)
      if (volume[i] === 0) this.#zero(next.time)
      if (this.#isDaily && isWeekend(this.#dayOf(next.time))) this.#barOnWeekend = true
      if (bought && bought[i]! >= 0) this.#sided++
      if (!this.#isOpenAlways && !this.#calendar.isOpen(next.time))
        this.note('outside_session', next.time, '')
      this.#spare = this.#older
      this.#older = this.#last
      this.#last = next
      this.#bars++
    }
  }

  /** Notes something that the reader of the file saw. */
  note(kind: FindingKind, time: number, text: string): void {
    const tally = this.#tallies.get(kind) ?? { count: 0, examples: [] }
    this.#tallies.set(kind, tally)
    tally.count++
    if (tally.examples.length < EXAMPLES_MAX) tally.examples.push({ time, text })
  }

  findings(): Finding[] {
    if (this.#barOnWeekend)
      for (const { time, text } of this.#weekends.splice(0)) this.note('missing_days', time, text)
    const isSilent = this.#zeros === this.#bars
    const hasUnknown = (this.#ofSides || this.#sided > 0) && this.#sided < this.#bars
    if (hasUnknown) this.#tallies.set('unknown_side', { count: this.#bars - this.#sided, examples: [] })
    return [...this.#tallies].map(([kind, { count, examples }]) => {
      if (kind === 'zero_volume' && isSilent) return findingOf('no_volume', count)
      return findingOf(kind, count, examples, kind === 'gap' ? this.#missing : count)
    })
  }

  #look(next: Bar): void {
    const last = this.#last
    if (!this.#ofVolume && next.time - last.time > this.#step * 1.5) this.#gap(last.time, next.time)
    if (this.#isDaily && this.#dayOf(next.time) === this.#dayOf(last.time))
      this.note('same_session', next.time, '')
    if (this.#bars >= BARS_THAT_TELL) this.#spike(this.#older, last, next)
    this.#split(last, next)
    const range = Math.max(next.high, last.close) - Math.min(next.low, last.close)
    // A spike is not what others are measured by.
    const counted = this.#range === 0 ? range : Math.min(range, this.#range * 4)
    this.#range += (counted - this.#range) * (this.#bars < BARS_THAT_TELL ? 1 / this.#bars : SMOOTHING)
  }

  #zero(time: number): void {
    this.#zeros++
    this.note('zero_volume', time, '')
  }

  /** Counts the bars that the session had between two bars: inside of days that have bars, or whole days. */
  #gap(from: number, to: number): void {
    if (!isIntraday(this.#interval)) return this.#missingDays(from, to)
    const calendar = this.#calendar
    const [firstDay, lastDay] = [calendar.tradingDay(from), calendar.tradingDay(to)]
    const until = firstDay === lastDay ? to : Math.min(to, calendar.close(firstDay))
    const atEnd = this.#steps(from + this.#step, until)
    const atStart = firstDay === lastDay ? 0 : this.#steps(calendar.open(lastDay), to)
    const days = this.#openDays(firstDay + 1, lastDay)
    if (atEnd + atStart > 0) {
      this.#missing += atEnd + atStart
      this.note('gap', from + this.#step, `${atEnd + atStart} ${atEnd + atStart === 1 ? 'bar' : 'bars'}`)
    }
    if (days > 0)
      this.note('missing_days', calendar.open(firstDay + 1), `${days} ${days === 1 ? 'day' : 'days'}`)
  }

  #steps(from: number, to: number): number {
    const all = Math.ceil((to - from) / this.#step - 1e-9)
    if (all <= 0) return 0
    if (all > STEPS_MAX) return all
    let count = 0
    for (let time = from; time < to; time += this.#step) if (this.#calendar.isOpen(time)) count++
    return count
  }

  #missingDays(from: number, to: number): void {
    if (!this.#isDaily) return
    const first = this.#dayOf(from) + 1
    const end = this.#dayOf(to)
    const days = this.#openDays(first, end)
    if (days === 0) return
    const found = { time: this.#calendar.open(first), text: `${days} ${days === 1 ? 'day' : 'days'}` }
    if (this.#isOpenAlways && isWeekend(first) && isWeekend(end - 1) && days <= 2) this.#weekends.push(found)
    else this.note('missing_days', found.time, found.text)
  }

  /** The date of the session that a bar of a day belongs to. */
  #dayOf(time: number): number {
    return this.#calendar.tradingDay(sessionInstant(this.#calendar, time, this.#interval))
  }

  /** Days with a session from `first` up to `end`, exclusive. */
  #openDays(first: number, end: number): number {
    const { days } = this.#calendar.session
    let count = 0
    for (let day = first; day < Math.min(end, first + STEPS_MAX); day++)
      if ((days[(((day + 4) % 7) + 7) % 7]?.length ?? 0) > 0) count++
    return count
  }

  /** Notes the last bar if it stands out from the bar before it and from the next one. */
  #spike(before: Bar, last: Bar, next: Bar): void {
    const limit = Math.max(this.#range * SPIKE_RANGES, Math.abs(last.close) * SPIKE_FRACTION)
    const above = last.high - Math.max(before.high, next.high)
    const below = Math.min(before.low, next.low) - last.low
    if (above <= limit && below <= limit) return
    const price = above > below ? last.high : last.low
    this.note('spike', last.time, `${above > below ? 'high' : 'low'} ${price}, next to ${before.close}`)
  }

  /** A bar that opens at a half, a third, … of the last close, and stays there: a split nobody adjusted the prices for. */
  #split(last: Bar, next: Bar): void {
    if (next.open <= 0 || last.close <= 0) return
    // Shares are split between two sessions.
    const calendar = this.#calendar
    if (isIntraday(this.#interval) && calendar.tradingDay(last.time) === calendar.tradingDay(next.time))
      return
    const ratio = last.close / next.open
    const size = Math.max(ratio, 1 / ratio)
    const split = size > 1.4 && SPLITS.find((one) => Math.abs(size / one - 1) <= SPLIT_TOLERANCE)
    if (!split) return
    const stays = next.close / next.open
    if (stays > 1.25 || stays < 0.8) return
    this.note('split', next.time, ratio > 1 ? `${split} for 1` : `1 for ${split}`)
  }
}

/** Of a day since 1970, which began on a Thursday. */
const isWeekend = (day: number): boolean => (((day + 5) % 7) + 7) % 7 < 2

interface Bar {
  time: number
  open: number
  high: number
  low: number
  close: number
}

function emptyBar(): Bar {
  return { time: 0, open: 0, high: 0, low: 0, close: 0 }
}

const counted = (count: number, one: string, several: string) =>
  count === 1 ? one : `${count.toLocaleString('en')} ${several}`
const bars = (count: number) => counted(count, '1 bar', 'bars')
const rows = (count: number) => counted(count, 'one row', 'rows')
/** What was found of so many, in so many places, and what was done; if that is missing, it is stored as it is. */
type Words = (count: number, places: number) => readonly [message: string, done?: string]
const WORDS: Readonly<Record<FindingKind, Words>> = {
  gap: (count, places) => [
    `${bars(count)} missing inside of sessions, in ${counted(places, 'one place', 'places')}`,
    'nothing was filled in',
  ],
  missing_days: (count) => [
    `${counted(count, 'one stretch', 'stretches')} of days without bars (holidays are among them)`,
    'nothing was filled in',
  ],
  outside_session: (count) => [`${bars(count)} outside of the session`],
  same_session: (count) => [`${bars(count)} in a session that has one already`],
  zero_volume: (count) => [`${bars(count)} without volume`],
  no_volume: () => ['no bar has a volume', 'stored with a volume of 0'],
  spike: (count) => [`${bars(count)} that ${count === 1 ? 'stands' : 'stand'} out from both neighbours`],
  split: (count) => [
    `${counted(count, 'one jump between sessions that looks', 'jumps between sessions that look')} like a split`,
    'prices were not adjusted',
  ],
  duplicate: (count) => [`${rows(count)} of a time that was there already`, 'the last of each time is kept'],
  empty_row: (count) => [`${rows(count)} without a price`, 'left out'],
  unknown_side: (count) => [
    `${bars(count)} with trades that do not tell whether they were bought or sold; understood are buy and sell, bought and sold, b and s, and flags of a buyer who is the maker`,
    `${asIs(count)}; footprint and volume delta go by the move of the price there`,
  ],
  finer_bars: (count) => [bars(count)],
  coarser_bars: (count) => [bars(count)],
  period_end: (count) => [
    `${bars(count)} dated by their end`,
    'each was moved to the beginning of its week or month',
  ],
  widened: (count) => [
    `${bars(count)} whose open or close was outside of low to high`,
    'low and high were widened to hold them',
  ],
  unknown_zone: () => ['the file does not say the zone of its times'],
}

function asIs(count: number): string {
  return count === 1 ? 'stored as it is' : 'stored as they are'
}

/** A kind of oddity in so many places, where it is of so many bars. */
export function findingOf(
  kind: FindingKind,
  count: number,
  examples: Finding['examples'] = [],
  amount = count,
): Finding {
  const [message, done = asIs(count)] = WORDS[kind](amount, count)
  return { kind, count, examples, message, done }
}

/** What is known of the clocks of programs whose files do not say it. */
const CLOCKS: readonly (readonly [origin: string, clock: string])[] = [
  ['MetaTrader', "MetaTrader writes the clock of the broker's server"],
  [
    'NinjaTrader',
    'NinjaTrader exports in UTC and dates bars by their end (--dated end), others write its rows in zones of their own',
  ],
  ['TradeStation', 'TradeStation writes the clock that its chart shows'],
  ['Barchart', 'Barchart writes the clock that its page shows'],
  ['Kibot', 'Kibot writes the clock of New York, others write such rows in zones of their own'],
]

/** So many rows have times of a zone that nobody stated, and that was taken to be this one. */
export function unknownZone(count: number, origin: string | null, timezone: string): Finding {
  const clock = CLOCKS.find(([name]) => origin?.startsWith(name))?.[1]
  const zone = origin?.startsWith('MetaTrader') ? 'EET' : timezone === 'UTC' ? 'America/New_York' : 'UTC'
  const finding = findingOf('unknown_zone', count)
  return {
    ...finding,
    message: clock === undefined ? finding.message : `${clock}, and the file does not say its zone`,
    done: `taken as ${timezone}; say the zone of its times if that is wrong, such as ${zone}`,
  }
}
