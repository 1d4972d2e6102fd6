// Where the axes of a picture have labels: round prices, and bars with which a round stretch of time begins.

import type { Zone } from '../zone.ts'

/** Round prices between two, about `most` of them: steps of 1, 2 or 5 times a power of ten. */
export function priceTicks(low: number, high: number, most: number): readonly number[] {
  const rough = (high - low) / Math.max(1, most)
  const unit = 10 ** Math.floor(Math.log10(rough))
  const step = unit * ([1, 2, 5, 10].find((times) => times * unit >= rough * 0.999) ?? 10)
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step) - first + 1
  // Where a step is below what a double can tell apart there is nothing to label.
  if (!Number.isFinite(count) || count > 100) return []
  return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step)
}

export interface TimeTick {
  readonly bar: number
  readonly label: string
  /** A larger stretch begins than with the others: a day among hours, a year among months. */
  readonly isStrong: boolean
}

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Numbers stretches of time; each label says when one begins. `local` is a wall clock read as UTC. */
interface Stretch {
  readonly of: (local: Date) => number
  readonly kind: 'clock' | 'day' | 'month' | 'year'
}

const month = (local: Date) => local.getUTCFullYear() * 12 + local.getUTCMonth()
const STRETCHES: readonly Stretch[] = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720].map((minutes): Stretch => ({
    of: (local) => Math.floor(local.getTime() / (minutes * MINUTE)),
    kind: 'clock',
  })),
  ...[1, 2, 4].map((days): Stretch => ({
    of: (local) => Math.floor(local.getTime() / (days * DAY)),
    kind: 'day',
  })),
  // Weeks begin on Monday, and 1970-01-01 was a Thursday.
  ...[1, 2].map((weeks): Stretch => ({
    of: (local) => Math.floor((local.getTime() / DAY + 3) / (7 * weeks)),
    kind: 'day',
  })),
  ...[1, 2, 3, 6].map((months): Stretch => ({
    of: (local) => Math.floor(month(local) / months),
    kind: 'month',
  })),
  ...[1, 2, 5, 10, 20, 50].map((years): Stretch => ({
    of: (local) => Math.floor(local.getUTCFullYear() / years),
    kind: 'year',
  })),
]

/** The finest stretches of which at most `most` begin. */
export function timeTicks(times: Float64Array, zone: Zone, most: number): readonly TimeTick[] {
  const locals = Array.from(times, (time) => new Date(time + zone.offsetAt(time)))
  for (const { of, kind } of STRETCHES) {
    const begins = locals.flatMap((local, bar) =>
      bar > 0 && of(local) !== of(locals[bar - 1]!) ? [bar] : [],
    )
    if (begins.length <= most)
      return begins.map((bar) => ({ bar, ...labelOf(kind, locals[bar]!, locals[bar - 1]!) }))
  }
  return []
}

function labelOf(kind: Stretch['kind'], local: Date, before: Date): Omit<TimeTick, 'bar'> {
  const year = String(local.getUTCFullYear())
  const isNewYear = local.getUTCFullYear() !== before.getUTCFullYear()
  if (kind === 'year' || (kind !== 'clock' && isNewYear)) return { label: year, isStrong: kind !== 'year' }
  const named = MONTHS[local.getUTCMonth()]!
  if (kind === 'month') return { label: named, isStrong: false }
  const day = `${local.getUTCDate()} ${named}`
  if (kind === 'day') return { label: day, isStrong: month(local) !== month(before) }
  const isNewDay = Math.floor(local.getTime() / DAY) !== Math.floor(before.getTime() / DAY)
  return { label: isNewDay ? day : local.toISOString().slice(11, 16), isStrong: isNewDay }
}
