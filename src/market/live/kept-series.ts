// What keeps a series: when it has to be asked for, from where, and what an answer says. One with a stream hears of bars
// besides (`live-series.ts`); one without is asked again and again (`polled-series.ts`).

import type { Calendar } from '../calendar.ts'
import type { BarRow } from '../providers/provider.ts'

/** When a request was sent, by our clock, and when it was answered, by the provider's, but never later. */
export interface AnswerTimes {
  readonly asked: number
  readonly said: number
}

export interface KeptSeries {
  /** When the provider is to be asked. */
  dueAt(now: number): number
  /** From where; null = as far back as for a new series. Bars before it are known to be right. */
  askFrom(now: number): number | null
  /**
   * The provider has answered with `rows`, sorted, asked for from `from` on. Answers those that are closed and so have to be
   * stored as they are.
   */
  filled(
    rows: readonly BarRow[],
    from: number | null,
    times: AnswerTimes,
    calendar: Calendar,
  ): readonly BarRow[]
  /** What was not stored is not settled. */
  unsettle(from: number): void
  /** Bars from there on may have been corrected, and are asked for soon. */
  doubt(from: number, now: number): void
  /** Nobody answers any more, so that nothing is known of the forming bar. */
  cut(): void
}

/** Providers take a moment to have the last bar as it ended. */
export const SETTLE_MS = 2000
const POLL_MIN_MS = 10_000
const POLL_MAX_MS = 15 * 60_000
/** How often a series is asked for that nobody tells of: four times while a bar of so many milliseconds forms. */
export const pollMs = (barMs: number): number => Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, barMs / 4))
/** So many bars are asked for once more, since providers correct bars late. */
export const RECENT = 32
