// The day of whose TradingView a run is, as the pages tell and offer it.

import { changesBetween, DATED_CHANGES, dayBefore, dayText } from '../language/behaviour.ts'

/** `TradingView's rules of 24 September 2026`: it supplied the rules of a run, not its bars; runs from before runs had a day are of before the first change. */
export function asOfText(asOf: string | undefined): string {
  const first = DATED_CHANGES[0]!
  return asOf === undefined || asOf < first.day
    ? `TradingView's rules of before ${dayText(first.day)}`
    : `TradingView's rules of ${dayText(asOf)}`
}

/** The days to choose from, the newest first; '' = today's. A day that is none of these is offered besides. */
export function dayOptions(chosen: string): readonly (readonly [value: string, text: string])[] {
  const before = DATED_CHANGES.toReversed().map(
    (change) => [dayBefore(change), `Before ${dayText(change.day)}`] as const,
  )
  const isOther = chosen !== '' && !before.some(([day]) => day === chosen)
  return [['', 'Today'], ...before, ...(isOther ? [[chosen, dayText(chosen)] as const] : [])]
}

/** What makes a strategy other than it was as of an earlier day, as sentences; '' = nothing. */
export function changedText(
  given: readonly string[],
  version: number,
  before: string | undefined,
  now: string | undefined,
): string {
  return changesBetween({ kind: 'strategy', given }, version, before, now)
    .map(({ day, says }) => `Since ${dayText(day)} ${says}.`)
    .join(' ')
}
