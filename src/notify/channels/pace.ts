// When a channel may speak: not in its quiet hours, and not sooner after its last message than its digest allows. What comes
// meanwhile waits, and is joined into one message.

import { invalidField } from '../../lib/problem.ts'

/** Hours of a day in a time zone; `from` may be later than `to`, and then they go over midnight. */
export interface QuietHours {
  /** `22:00` */
  readonly from: string
  readonly to: string
  /** `Europe/Berlin` */
  readonly timezone: string
}

export interface Pace {
  readonly quiet: QuietHours | null
  /** At most one message in as many minutes; 0 = each alert at once. */
  readonly digestMinutes: number
}

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/
const MINUTE = 60_000
const DAY_MINUTES = 24 * 60

/** The first moment from `now` on at which a channel may speak. Missing fields are of old records. */
export function freeAt(
  {
    quiet = null,
    digestMinutes = 0,
    lastSuccessAt,
  }: Partial<Pace> & { readonly lastSuccessAt: number | null },
  now: number,
): number {
  // A clock that was set back must not keep a channel silent for longer than it asks for.
  const last = Math.min(lastSuccessAt ?? Number.NEGATIVE_INFINITY, now)
  const at = Math.max(now, digestMinutes === 0 ? now : last + digestMinutes * MINUTE)
  return quiet === null ? at : quietEnd(quiet, at)
}

/** Throws Problem 422 that names what is wrong. */
export function checkQuiet({ from, to, timezone }: QuietHours): void {
  for (const [name, text] of Object.entries({ from, to }))
    if (!CLOCK.test(text)) throw invalidField(`/quiet/${name}`, 'format', 'Write a time like 22:00.')
  try {
    localMinutes(timezone, 0)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw invalidField('/quiet/timezone', 'unknown', 'This is no time zone. Write it like Europe/Berlin.')
  }
  if (from === to)
    throw invalidField(
      '/quiet/to',
      'range',
      'Quiet hours that end when they begin are none. To be told nothing at all, disable the channel.',
    )
}

/** `at`, or the end of the quiet hours if it lies in them. */
function quietEnd({ from, to, timezone }: QuietHours, at: number): number {
  const [begin, end] = [minutesOf(from), minutesOf(to)]
  const isQuiet = (minute: number) =>
    begin < end ? begin <= minute && minute < end : minute >= begin || minute < end
  const minute = localMinutes(timezone, at)
  if (!isQuiet(minute)) return at
  const guess = at - (at % MINUTE) + ((end - minute + DAY_MINUTES) % DAY_MINUTES) * MINUTE
  // Clocks may have been put forward or back in between.
  const off = ((localMinutes(timezone, guess) - end + DAY_MINUTES * 1.5) % DAY_MINUTES) - DAY_MINUTES / 2
  const corrected = guess - off * MINUTE
  // The hour at which they end may be left out that night; then the guess is the next one there is.
  return isQuiet(localMinutes(timezone, corrected)) ? guess : corrected
}

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))

/** Minutes since midnight on the clocks of a zone. Throws RangeError if there is no such zone. */
function localMinutes(timezone: string, at: number): number {
  const text = clockText(timezone, at)
  return minutesOf(text)
}

/** What a clock in the zone shows: `07:05`. */
export function clockText(timezone: string, at: number): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at)
}
