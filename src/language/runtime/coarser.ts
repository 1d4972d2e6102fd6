// Bars of a coarser interval put together from a chart's bars as they come.
//
// `market/resample.ts` does the same for bars that are all there; here bars may be handed in one at a time, so each
// new one either extends the last coarser bar or opens the next.
//
// Runs over the same bars, as the trials of a sweep are, take what the first of them has made: until then, to make it was half
// of the time of a run that asks for two timeframes.

import { memoOf } from '../../lib/memo.ts'
import type { Bars } from '../../market/bars.ts'
import { type Calendar, type Period, periodFinder, sessionInstant } from '../../market/calendar.ts'
import { type Interval, isIntraday } from '../../market/interval.ts'

/** Up to here columns grow by much: to copy them took longer than to make the bars. */
const FEW = 8192
const FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const

/** What is made of all bars of a chart. Nobody changes it. */
interface Made {
  readonly key: string
  /** What it was made of, besides bars that have closed: how many there are, and the last one, which may be forming. */
  readonly last: readonly number[]
  readonly bought: Float64Array | undefined
  readonly bars: Bars
  readonly group: Int32Array<ArrayBuffer>
  readonly closed: Int32Array<ArrayBuffer>
  readonly end: number[]
  readonly start: number
}

/** Of a chart's bars the timeframes that were asked for last. */
const madeOf = memoOf((_chart: Bars): Made[] => [])
const MADE_MAX = 4
/** More bars than this are not asked for again and again, and would keep much memory. */
const SHARED_MAX = 250_000

export class CoarserBars {
  readonly bars: { -readonly [Field in keyof Bars]: Bars[Field] }
  /** Per chart bar: the coarser bar it is part of. */
  group = new Int32Array(0)
  /** Per chart bar: the last coarser bar that has closed when it closes. */
  closed = new Int32Array(0)
  /** Per coarser bar: its closing time. */
  end: number[] = []
  /** Other runs have the columns too: they are copied before anything is changed. */
  #isShared = false
  readonly #key: string | null
  readonly #chart: Bars
  readonly #find: (time: number) => Period
  readonly #calendar: Calendar
  readonly #from: Interval
  readonly #nominal: boolean
  #done = 0
  #start = Number.NaN

  /** `shared`: what calendar and intervals are, if the chart's bars are all there and stay as they are; else null. */
  constructor(chart: Bars, from: Interval, to: Interval, calendar: Calendar, shared: string | null) {
    this.#chart = chart
    this.#key = shared !== null && chart.length <= SHARED_MAX ? shared : null
    this.#from = from
    this.#calendar = calendar
    this.#find = periodFinder(calendar, to, from)
    this.#nominal = isIntraday(to) || (to.unit === 'd' && to.count === 1)
    const empty = () => new Float64Array(16)
    this.bars = {
      length: 0,
      time: empty(),
      open: empty(),
      high: empty(),
      low: empty(),
      close: empty(),
      volume: empty(),
      ...(chart.bought && { bought: empty() }),
    }
  }

  /** Takes in chart bars up to `end`, which close at `timeClose`. */
  extend(end: number, timeClose: Float64Array): void {
    if (end <= this.#done) return
    const isWhole = this.#key !== null && this.#done === 0 && end === this.#chart.length
    if (isWhole && this.#take()) return
    this.#own()
    this.group = grownTo(this.group, end)
    this.closed = grownTo(this.closed, end)
    const { group, closed } = this
    // A bar of minutes that opens inside the period of the one before it belongs to it.
    const isDirect = isIntraday(this.#from)
    let from = 0
    let until = 0
    for (let i = this.#done; i < end; i++) {
      const time = this.#chart.time[i]!
      if (!isDirect || !(time >= from && time < until)) {
        const period = this.#find(time)
        from = period.start
        until = period.end
        if (from !== this.#start) {
          this.#start = from
          this.#open(i, time, period)
        } else this.#add(i)
      } else this.#add(i)
      const last = this.bars.length - 1
      group[i] = last
      closed[i] = timeClose[i]! >= this.end[last]! ? last : last - 1
    }
    this.#done = end
    if (isWhole) this.#share()
  }

  #take(): boolean {
    const { length, bought } = this.#chart
    const made = madeOf(this.#chart).find((one) => one.key === this.#key)
    if (made === undefined || made.bought !== bought) return false
    if (lastOf(this.#chart).some((value, i) => !Object.is(value, made.last[i]))) return false
    Object.assign(this.bars, made.bars)
    this.group = made.group
    this.closed = made.closed
    this.end = made.end
    this.#start = made.start
    this.#done = length
    this.#isShared = true
    return true
  }

  #share(): void {
    if (this.#key === null) return
    const { bought } = this.#chart
    const { group, closed, end } = this
    const made = madeOf(this.#chart)
    const kept = made.filter((one) => one.key !== this.#key).slice(1 - MADE_MAX)
    const own = {
      key: this.#key,
      last: lastOf(this.#chart),
      bought,
      bars: { ...this.bars },
      group,
      closed,
      end,
      start: this.#start,
    }
    made.splice(0, made.length, ...kept, own)
    this.#isShared = true
  }

  #own(): void {
    if (!this.#isShared) return
    this.#isShared = false
    for (const field of [...FIELDS, 'bought'] as const) {
      const column = this.bars[field]
      if (column) this.bars[field] = column.slice()
    }
    this.group = this.group.slice()
    this.closed = this.closed.slice()
    this.end = this.end.slice()
  }

  /** Chart bar `i` opens the next coarser bar. */
  #open(i: number, time: number, period: Period): void {
    const { bars } = this
    const chart = this.#chart
    const next = bars.length
    if (next === bars.time.length) this.#grow()
    bars.length++
    bars.time[next] = this.#nominal ? period.start : this.#opening(time)
    bars.open[next] = chart.open[i]!
    bars.high[next] = chart.high[i]!
    bars.low[next] = chart.low[i]!
    bars.close[next] = chart.close[i]!
    bars.volume[next] = chart.volume[i]!
    if (bars.bought && chart.bought) bars.bought[next] = chart.bought[i]!
    this.end.push(period.end)
  }

  /** When the session opens in which a bar of several days begins. */
  #opening(time: number): number {
    const instant = sessionInstant(this.#calendar, time, this.#from)
    return this.#calendar.open(this.#calendar.tradingDay(instant))
  }

  /** Chart bar `i` goes on with the last coarser bar. */
  #add(i: number): void {
    const { bars } = this
    const { high, low, close, volume, bought } = this.#chart
    const last = bars.length - 1
    bars.high[last] = Math.max(bars.high[last]!, high[i]!)
    bars.low[last] = Math.min(bars.low[last]!, low[i]!)
    bars.close[last] = close[i]!
    bars.volume[last] = bars.volume[last]! + volume[i]!
    // One of which nobody knows, and nobody knows of all of them.
    if (bars.bought && bought) bars.bought[last] = bars.bought[last]! + bought[i]!
  }

  /**
   * Forgets chart bars from `bar` on, and the rest of the coarser bar they belong to. Answers how many coarser bars are
   * unchanged.
   */
  rewind(bar: number): number {
    if (bar >= this.#done) return this.bars.length
    this.#own()
    const group = this.group[bar] ?? 0
    let first = bar
    while (first > 0 && this.group[first - 1] === group) first--
    this.#done = first
    this.#start = Number.NaN
    this.bars.length = group
    this.end.length = group
    return group
  }

  #grow(): void {
    for (const field of [...FIELDS, 'bought'] as const) {
      const column = this.bars[field]
      if (!column) continue
      this.bars[field] = new Float64Array(column.length * (column.length < FEW ? 8 : 2))
      this.bars[field].set(column)
    }
  }
}

function lastOf(bars: Bars): number[] {
  const last = bars.length - 1
  return [bars.length, ...FIELDS.map((field) => bars[field][last] ?? 0), bars.bought?.[last] ?? 0]
}

function grownTo(list: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  if (list.length >= length) return list
  const grown = new Int32Array(Math.max(length, list.length * 2))
  grown.set(list)
  return grown
}
