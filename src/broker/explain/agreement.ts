// How far a run agrees with an export, as one number to be increased.

import type { Zone } from '../../market/zone.ts'
import type { Report, ReportTrade } from '../../wire/report.ts'
import { COMPARED_FIELDS } from '../../wire/backtest.ts'
import { compareTrade, pairs, type Pair } from '../compare.ts'
import type { ExportedTrade } from '../exported/trade-list.ts'

export interface Agreement {
  readonly exact: number
  readonly found: number
  /** Trades of the run before the export begins, or after it ends. */
  readonly outside: number
  /** The fraction of all fields of all trades that agree, from 0 to 1; a number that is nearly right counts in part. */
  readonly score: number
  /** Nothing is missing, extra or different, except trades outside the export and as many as it lost. */
  readonly agrees: boolean
}

const MINUTE = 60_000
/** How much a number counts that is almost right. */
const NEARLY = 0.6

/** `lost`: so many trades of the export could not be read, and may be those of the run that have no partner. */
export function agreementOf(
  expected: readonly ExportedTrade[],
  report: Pick<Report, 'trades' | 'mintick'>,
  zone: Zone,
  lost: number,
): Agreement & { readonly pairs: readonly Pair[] } {
  const found = report.trades.filter(({ status }) => status === 'closed')
  const paired = pairs(expected, found, zone)
  const isOutside = outsideOf(expected, zone)
  let exact = 0
  let fields = 0
  let outside = 0
  const within: Pair[] = []
  for (const pair of paired) {
    const [want, got] = pair
    if (!want && got && isOutside(got)) {
      outside++
      continue
    }
    within.push(pair)
    if (want && got) {
      const differences = compareTrade(want, got, zone, report.mintick, COMPARED_FIELDS)
      if (differences.length === 0) exact++
      fields += COMPARED_FIELDS.length
      for (const { expected: wanted, found: had } of differences) fields -= 1 - nearness(wanted, had)
    }
  }
  const inside = found.length - outside
  const most = Math.max(expected.length, inside - lost)
  return {
    exact,
    found: found.length,
    outside,
    score: most === 0 ? 1 : fields / (COMPARED_FIELDS.length * most),
    agrees: exact === expected.length && inside <= expected.length + lost,
    pairs: within,
  }
}

/** Quantities grow from trade to trade: with the right capital all of them become nearly right before one is exact. */
function nearness(a: unknown, b: unknown): number {
  if (typeof a !== 'number' || typeof b !== 'number') return 0
  const apart = Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b))
  return apart >= 0 ? NEARLY / (1 + 100 * apart) : 0
}

function outsideOf(expected: readonly ExportedTrade[], zone: Zone): (trade: ReportTrade) => boolean {
  let from = Infinity
  let to = -Infinity
  for (const { entry, exit } of expected) {
    from = Math.min(from, zone.toUtc(entry.wall))
    to = Math.max(to, zone.toUtc(exit.wall))
  }
  // Exports of daily bars have no minutes.
  if (expected.some(({ entry }) => entry.dateOnly)) to += 1440 * MINUTE - MINUTE
  return ({ entryTime, exitTime }) => entryTime < from || exitTime > to + MINUTE
}
