// Volume-weighted average price since an anchor, with bands at multiples of its standard deviation.
//
// Without an anchor it starts over with each trading day, which is the exchange's session and not midnight to midnight; on
// daily and longer bars it starts over with each bar. Until the anchor has been true once there is nothing to average.

import { calendarOf } from '../../../market/calendar.ts'
import { isIntraday, parseInterval } from '../../../market/interval.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { fn, variable } from '../define.ts'
import type { BuiltinEntry } from '../registry.ts'

export class Vwap {
  private started = false
  private volume = 0
  private paid = 0
  private paidSquared = 0

  next(source: number, anchor: boolean | null, volume: number): number {
    if (anchor) {
      this.started = true
      this.volume = 0
      this.paid = 0
      this.paidSquared = 0
    }
    if (!this.started || source !== source || volume !== volume) return NaN
    this.volume += volume
    this.paid += source * volume
    this.paidSquared += source * source * volume
    return this.paid / this.volume
  }

  /** The standard deviation of the prices, weighted by volume. */
  deviation(mean: number): number {
    return Math.sqrt(Math.max(0, this.paidSquared / this.volume - mean * mean))
  }
}

export class VwapBands {
  private readonly vwap = new Vwap()
  private readonly result = [NaN, NaN, NaN]

  next(source: number, anchor: boolean | null, mult: number, volume: number): number[] {
    const middle = this.vwap.next(source, anchor, volume)
    const width = this.vwap.deviation(middle) * mult
    this.result[0] = middle
    this.result[1] = middle + width
    this.result[2] = middle - width
    return this.result
  }
}

/** The variable `ta.vwap`: of hlc3, since the day's first bar. */
export class SessionVwap {
  static readonly runtime = true
  private readonly vwap = new Vwap()
  readonly timezone: string
  readonly session: string
  private readonly intraday: boolean
  private day = NaN
  /** The calendar is only asked from this instant on. */
  private askAgain = -Infinity

  constructor({ symbol, interval }: Runtime) {
    this.timezone = symbol.timezone
    this.session = symbol.session
    const parsed = parseInterval(interval)
    this.intraday = parsed !== null && isIntraday(parsed)
  }

  next(high: number, low: number, close: number, volume: number, time: number): number {
    return this.vwap.next((high + low + close) / 3, this.startsDay(time), volume)
  }

  /** A snapshot cannot copy a calendar, so one is made whenever a session is over: once a day. */
  private startsDay(time: number): boolean {
    if (!this.intraday) return true
    if (time < this.askAgain) return false
    const calendar = calendarOf(this)
    const day = calendar.tradingDay(time)
    this.askAgain = Math.max(time + 1, calendar.close(day))
    if (day === this.day) return false
    this.day = day
    return true
  }
}

export const VWAP: readonly BuiltinEntry[] = [
  variable('ta.vwap', "Volume-weighted average of hlc3 since the day's first bar.", 'series float', {
    state: SessionVwap,
    implicit: ['high', 'low', 'close', 'volume', 'time'],
  }),
  fn(
    'ta.vwap',
    'Volume-weighted average price since `anchor` was last true; with `stdev_mult`, [average, upper band, lower band].',
    [
      '(series float source, series bool anchor = session.isfirstbar) series float',
      '(series float source, series bool anchor, series float stdev_mult) [series float, series float, series float]',
    ],
    [
      { state: Vwap, implicit: ['volume'] },
      { state: VwapBands, implicit: ['volume'] },
    ],
  ),
]
