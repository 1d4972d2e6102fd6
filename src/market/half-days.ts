// The days on which the stock exchanges of the United States close early, at 13:00 in New York.
//
// NYSE and Nasdaq publish the rule: the day before Independence Day (3 July, Monday to Thursday), the day after
// Thanksgiving (the fourth Thursday of November), and Christmas Eve (24 December, Monday to Thursday). If 3 July or 24
// December is a Friday, the holiday is observed on it and there is no session at all. The rule has held since 1993, and for
// July since 1995. Until 2012, when the fourth of July was a Thursday, the Friday after it had the short session instead.

const DAY = 86_400_000
const EARLY_CLOSE = 13 * 60
const [THURSDAY, FRIDAY] = [4, 5]

/** Minutes from midnight in New York at which the session of a day (days since 1970) closes early; null if it does not. */
export function earlyCloseInNewYork(day: number): number | null {
  const date = new Date(day * DAY)
  const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
  const weekday = date.getUTCDay()
  const isEarly =
    (month === 7 && year >= 1995 && isByIndependenceDay(year, dayOfMonth, weekday)) ||
    // The day after the fourth Thursday is the Friday from the 23rd to the 29th.
    (month === 11 && year >= 1993 && weekday === FRIDAY && dayOfMonth >= 23 && dayOfMonth <= 29) ||
    (month === 12 && year >= 1993 && dayOfMonth === 24 && weekday >= 1 && weekday <= THURSDAY)
  return isEarly ? EARLY_CLOSE : null
}

function isByIndependenceDay(year: number, dayOfMonth: number, weekday: number): boolean {
  const movesBehind = year < 2013
  if (dayOfMonth === 5) return movesBehind && weekday === FRIDAY
  const isWednesday = weekday === 3
  return dayOfMonth === 3 && weekday >= 1 && weekday <= THURSDAY && !(movesBehind && isWednesday)
}
