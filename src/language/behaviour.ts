// What TradingView has changed without a new version of the language, and on which day.
//
// A script that says nothing of its size trades otherwise on TradingView since 24 September 2026, so no run is exact unless
// it says which TradingView it follows. Every run is made as of a day: what changed until that day is in force. This is the
// one table of such days. The compiler, the broker, the properties in the editor and the comparison with an export all read
// it. Only what is certain stands in it: a measurement that was published with its exports, or TradingView's own word.

import { invalidField } from '../lib/problem.ts'

type Setting = number | string

export interface DatedChange {
  /** UTC. Runs as of this day or a later one have the change. */
  readonly day: string
  /** The first version of the language that it concerns. */
  readonly version: number
  /** Arguments of `strategy()` that have another default since. */
  readonly defaults: Readonly<Record<string, { readonly before: Setting; readonly after: Setting }>>
  /** What changed, as a clause: "a strategy of version 6 …". */
  readonly says: string
  readonly sources: readonly string[]
}

/** The oldest first. */
export const DATED_CHANGES: readonly DatedChange[] = [
  {
    // About 20:45 UTC.
    day: '2026-09-24',
    version: 6,
    defaults: {
      initial_capital: { before: 1_000_000, after: 100_000 },
      default_qty_type: { before: 'fixed', after: 'percent_of_equity' },
      // Whatever the type: 100 contracts where a script says fixed, 100 of the account's currency where it says cash.
      default_qty_value: { before: 1, after: 100 },
    },
    says: 'a strategy of version 6 that does not say otherwise starts with 100,000 and puts 100% of its equity into an order, where it started with 1,000,000 and ordered one contract',
    sources: [
      'PineForge, pineforge-codegen-oss, tests/fixtures/strategy_defaults: seven exports of TradingView',
      'PyneCore, release notes of v6.10.5 of 2026-10-02',
    ],
  },
]

/** The day on which TradingView published version 6 (its blog of that day). How it behaved before is not known here. */
export const KNOWN_FROM = '2024-12-10'

/** The newest day on which something changed that is known here: what runs are made as of unless they say otherwise. */
export const NEWEST_DAY = DATED_CHANGES.at(-1)!.day

/**
 * The day that a run is made as of. `undefined` stands for runs that were stored before runs had a day: they behave as of
 * their own time, which lies before the first change of the table.
 */
export type AsOf = string | undefined

export const isInForce = ({ day }: DatedChange, asOf: AsOf): boolean => asOf !== undefined && asOf >= day

/** The defaults of those arguments of `strategy()` of which the table knows more than one. */
export function datedDefaults(version: number, asOf: AsOf): Readonly<Record<string, Setting>> {
  const defaults: Record<string, Setting> = {}
  for (const change of DATED_CHANGES)
    for (const [name, { before, after }] of Object.entries(change.defaults)) {
      const applies = version >= change.version && isInForce(change, asOf)
      if (applies || !(name in defaults)) defaults[name] = applies ? after : before
    }
  return defaults
}

/** What is read of a declaration: `given` are the arguments that the script itself names. */
interface Declared<Value> {
  readonly kind: string
  readonly args: Readonly<Record<string, Value>>
  readonly given: readonly string[]
}

/** The arguments of a script's declaration, with the defaults of that day. */
export function argsAsOf<Value>(
  { kind, args, given }: Declared<Value>,
  version: number,
  asOf: AsOf,
): Readonly<Record<string, Value | Setting>> {
  if (kind !== 'strategy') return args
  const defaults = Object.entries(datedDefaults(version, asOf)).filter(([name]) => !given.includes(name))
  return { ...args, ...Object.fromEntries(defaults) }
}

/** What makes a script behave otherwise as of one day than as of the other. */
export function changesBetween(
  { kind, given }: Pick<Declared<unknown>, 'kind' | 'given'>,
  version: number,
  one: AsOf,
  other: AsOf,
): readonly DatedChange[] {
  return DATED_CHANGES.filter(
    (change) =>
      kind === 'strategy' &&
      version >= change.version &&
      isInForce(change, one) !== isInForce(change, other) &&
      Object.keys(change.defaults).some((name) => !given.includes(name)),
  )
}

/** Whether runs as of these days have the same changes. */
export const areAlike = (one: AsOf, other: AsOf): boolean =>
  DATED_CHANGES.every((change) => isInForce(change, one) === isInForce(change, other))

/** The day to name where a run is repeated as it was. */
export const dayToRepeat = (asOf: AsOf): string => asOf ?? dayBefore(DATED_CHANGES[0]!)

/** The last day before a change. */
export function dayBefore({ day }: DatedChange): string {
  return dayOf(Date.parse(day) - 1)
}

/** `24 September 2026`. */
export function dayText(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
}

/** Why no run is made as of this day, as a sentence with its remedy; null = one is. `now` in ms UTC. */
export function dayRefusal(day: string, now: number): string | null {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(day) && dayOf(Date.parse(day)) === day
  if (!isDay) return `It takes a day such as ${NEWEST_DAY}.`
  // Somewhere on earth it is tomorrow already; and a clock that is slow does not undo what is known.
  if (day > NEWEST_DAY && Date.parse(day) > now + EASTERNMOST_MS)
    return 'What TradingView will change is not known yet. Take a day up to today, or leave it away.'
  if (day < KNOWN_FROM)
    return `How TradingView behaved before ${dayText(KNOWN_FROM)}, when version 6 came out, is not known here. Take ${KNOWN_FROM} or a later day.`
  return null
}

const EASTERNMOST_MS = 14 * 3_600_000

/**
 * The day that a new run is made as of. A day after the newest change is the day of that change, so that the run stays what
 * it is when a later release knows of another one. Throws Problem 422.
 */
export function askedDay(asked: string | undefined, now: number, path = '/asOf'): string {
  if (asked === undefined) return NEWEST_DAY
  const refusal = dayRefusal(asked, now)
  if (refusal !== null) throw invalidField(path, 'day', `asOf: ${refusal}`)
  return asked > NEWEST_DAY ? NEWEST_DAY : asked
}

function dayOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().slice(0, 10) : ''
}
