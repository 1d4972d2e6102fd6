// Text on the axes: days, months and years begin in the chart's zone, and numbers have enough digits to tell two ticks
// apart.

import { defaultHorzScaleBehavior, TickMarkType, type Time, type UTCTimestamp } from 'lightweight-charts'
import { compact, price, ratio } from '../format.ts'
import { showsClock } from './bars.ts'
import { offsetsOf } from './zone.ts'

interface AxisPlace {
  readonly zone: string
  readonly interval: string
}

/** A bar's time at the crosshair: `Mon 3 Jan 2000`, with the time of day if bars are shorter than a day. */
export function crosshairTime(time: Time, { zone, interval }: AxisPlace): string {
  const at = inZone(time, zone)
  const part = (options: Intl.DateTimeFormatOptions) =>
    at.toLocaleDateString('en-US', { ...options, timeZone: 'UTC' })
  const month = part({ month: 'short' })
  const day = `${part({ weekday: 'short' })} ${at.getUTCDate()} ${month} ${at.getUTCFullYear()}`
  return showsClock(interval) ? `${day}  ${at.toISOString().slice(11, 16)}` : day
}

/** Text of a tick on the time axis: a year, a month, a day or a time of day, whichever begins there. */
export function tickTime(time: Time, kind: TickMarkType, { zone }: AxisPlace): string {
  const at = inZone(time, zone)
  if (kind === TickMarkType.Year) return String(at.getUTCFullYear())
  if (kind === TickMarkType.Month) return at.toLocaleDateString('en-US', { month: 'short', timeZone: 'UTC' })
  if (kind === TickMarkType.DayOfMonth) return String(at.getUTCDate())
  return at.toISOString().slice(11, kind === TickMarkType.Time ? 16 : 19)
}

/** The instant whose UTC date and time read like the zone's wall clock. */
function inZone(time: Time, zone: string): Date {
  const ms = (time as number) * 1000
  return new Date(ms + offsetsOf(zone)(ms))
}

/** Enough decimal places to tell two ticks of this range apart. */
export function paneNumber(value: number, span: number): string {
  if (Math.abs(value) >= 1e6) return compact(value)
  const places = Math.max(span >= 20_000 ? 0 : 2, Math.min(8, Math.ceil(-Math.log10(span)) + 3))
  return ratio(value, places)
}

/** The library's time scale, with the zone's days. The zone of `now` may change. */
export function zonedBehavior(now: { readonly zone: string }) {
  const Behavior = defaultHorzScaleBehavior()
  return class extends Behavior {
    override fillWeightsForPoints(
      points: Parameters<InstanceType<typeof Behavior>['fillWeightsForPoints']>[0],
      startIndex: number,
    ): void {
      const offsetAt = offsetsOf(now.zone)
      // Only the point before the first is looked at besides: a new bar does not take all others anew.
      const from = Math.max(0, startIndex - 1)
      const shifted = points.slice(from).map(({ time, timeWeight }) => {
        const seconds = this.key(time) as unknown as number
        const local = (seconds + offsetAt(seconds * 1000) / 1000) as UTCTimestamp
        return { time: this.convertHorzItemToInternal(local), timeWeight } as (typeof points)[number]
      })
      super.fillWeightsForPoints(shifted, startIndex - from)
      for (let i = startIndex; i < points.length; i++) points[i]!.timeWeight = shifted[i - from]!.timeWeight
    }
  }
}

export function plotText(value: number, precision: number | null = null): string {
  if (precision !== null) return ratio(value, precision)
  const size = Math.abs(value)
  if (size >= 1e7) return compact(value)
  return price(value, size >= 1000 ? 0.01 : size >= 1 ? 0.001 : 0.00001)
}
