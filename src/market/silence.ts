// Whether bars of a series still come, by its newest one. An alert waits for nothing else, and a file of the past brings none.

import { intervalMs, parseInterval } from './interval.ts'

/** Holidays pass without a bar. */
const DAYS_MS = 6 * 86_400_000
const PERIODS = 5
const REMEDY = 'Follow or fetch it under Markets, or import bars as they end.'

/** What to say to who waits for bars that a provider is asked for; null while it brings them. `said`: how it goes, as a sentence. */
export function feedSilence({ state, failures, newestBar, said }: Asked): string | null {
  if (state === 'retrying') return failures > 0 || newestBar === null ? `No new bars come. ${said}` : said
  return state === 'waiting' || newestBar === null ? `No new bar has come yet. ${said}` : null
}

interface Asked {
  readonly state: string
  readonly failures: number
  readonly newestBar: number | null
  readonly said: string
}

/**
 * What to say to who waits for bars of a series; null if its newest bar, of the time `newest` in UTC ms, has just ended. `why`:
 * what is known of the reason, with the remedy.
 */
export function silenceText(
  { exchange, symbol, interval: given }: Record<'exchange' | 'symbol' | 'interval', string>,
  newest: number | null,
  now: number,
  why: string | null,
): string | null {
  const interval = parseInterval(given)
  if (!interval) return null
  const name = `${exchange}:${symbol} ${given}`
  if (newest === null) return `No new bars come: there are none of ${name} yet. ${why ?? REMEDY}`
  if (now - newest < Math.max(PERIODS * intervalMs(interval), DAYS_MS)) return null
  const day = new Date(newest).toISOString().slice(0, 10)
  return `No new bars come: the newest of ${name} is of ${day}. ${why ?? REMEDY}`
}
