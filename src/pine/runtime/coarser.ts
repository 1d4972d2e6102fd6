// Bars of a coarser interval put together from a chart's bars as they come.
//
// `market/resample.ts` does the same for bars that are all there; here bars may be handed in one at a time, so each
// new one either extends the last coarser bar or opens the next.

import type { Bars } from '../../market/bars.ts'
import { type Calendar, type Period, periodFinder, sessionInstant } from '../../market/calendar.ts'
import { type Interval, isIntraday } from '../../market/interval.ts'

const FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const

export class CoarserBars {
  readonly bars: { -readonly [Field in keyof Bars]: Bars[Field] }
  /** Per chart bar: the coarser bar it is part of. */
  group = new Int32Array(0)
  /** Per coarser bar: its closing time. */
  readonly end: number[] = []
  readonly #chart: Bars
  readonly #find: (time: number) => Period
  readonly #calendar: Calendar
  readonly #from: Interval
  readonly #nominal: boolean
  #done = 0
  #start = Number.NaN

  constructor(chart: Bars, from: Interval, to: Interval, calendar: Calendar) {
    this.#chart = chart
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
    }
  }

  /** Takes in chart bars up to `end`. */
  extend(end: number): void {
    const chart = this.#chart
    const { bars } = this
    if (this.group.length < end) {
      const grown = new Int32Array(Math.max(end, this.group.length * 2))
      grown.set(this.group)
      this.group = grown
    }
    for (let i = this.#done; i < end; i++) {
      const time = chart.time[i] ?? 0
      const period = this.#find(time)
      if (period.start === this.#start) {
        const last = bars.length - 1
        bars.high[last] = Math.max(bars.high[last] ?? 0, chart.high[i] ?? 0)
        bars.low[last] = Math.min(bars.low[last] ?? 0, chart.low[i] ?? 0)
        bars.close[last] = chart.close[i] ?? 0
        bars.volume[last] = (bars.volume[last] ?? 0) + (chart.volume[i] ?? 0)
      } else {
        this.#start = period.start
        const next = bars.length
        if (next === bars.time.length) this.#grow()
        bars.length++
        const instant = sessionInstant(this.#calendar, time, this.#from)
        bars.time[next] = this.#nominal
          ? period.start
          : this.#calendar.open(this.#calendar.tradingDay(instant))
        for (const field of ['open', 'high', 'low', 'close', 'volume'] as const)
          bars[field][next] = chart[field][i] ?? 0
        this.end.push(period.end)
      }
      this.group[i] = bars.length - 1
    }
    this.#done = Math.max(this.#done, end)
  }

  /**
   * Forgets chart bars from `bar` on, and the rest of the coarser bar they belong to. Answers how many coarser bars are
   * unchanged.
   */
  rewind(bar: number): number {
    if (bar >= this.#done) return this.bars.length
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
    for (const field of FIELDS) {
      const grown = new Float64Array(this.bars[field].length * 2)
      grown.set(this.bars[field])
      this.bars[field] = grown
    }
  }
}
