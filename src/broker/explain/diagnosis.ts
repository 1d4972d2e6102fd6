// What an export tells of causes that no run can try: rows that were altered, bars that you have not, bars of another feed, another
// text of the script.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { Zone } from '../../market/zone.ts'
import { COMPARED_FIELDS } from '../../wire/backtest.ts'
import type { Report } from '../../wire/report.ts'
import { compareTrade, type Pair } from '../compare.ts'
import type { ExportedTrade } from '../exported/trade-list.ts'
import type { ExplainedChange } from './change.ts'
import { contradictionOf } from './contradiction.ts'
import { barAt, barOutside } from './notes.ts'

/** So many fills of a list must say the same. */
const SHARE = 0.03
/** So many trades agree behind the last one that differs where only the beginning does. */
const SETTLED = 8

interface Evidence {
  readonly expected: readonly ExportedTrade[]
  readonly pairs: readonly Pair[]
  readonly report: Report
  readonly bars: Bars
  readonly zone: Zone
}

/** The likeliest such cause; null if nothing in the lists speaks for one. */
export function diagnosisOf(evidence: Evidence): ExplainedChange | null {
  return (
    contradictionOf(evidence) ??
    otherCurrency(evidence) ??
    missingHistory(evidence) ??
    otherFeed(evidence) ??
    otherSignals(evidence)
  )
}

/** What is left when nothing else is. */
export const OTHER_SCRIPT: ExplainedChange = {
  kind: 'script_version',
  message: 'The script was another version of it, or its inputs were others than those that were tried',
}

/** What else moves only profits, a fee or what a point is worth, has been tried by then. */
function otherCurrency({ pairs, report, zone }: Evidence): ExplainedChange | null {
  const both = pairs.filter(([want, got]) => want && got)
  const inPlace = both.filter((pair) => agreesInPlace(pair, report, zone))
  const ofProfit = inPlace.filter(([want, got]) => {
    const differences = compareTrade(want, got, zone, report.mintick, COMPARED_FIELDS)
    return differences.length === 1 && differences[0]!.field === 'profit'
  })
  return ofProfit.length >= 3 && inPlace.length >= both.length * (1 - SHARE)
    ? {
        kind: 'currency',
        message:
          "At the same fills only profits differ, as if the symbol's currency were another than the account's, which TradingView turns into each other at each day's rate",
      }
    : null
}

function missingHistory({ expected, pairs, report, bars, zone }: Evidence): ExplainedChange | null {
  const first = bars.time[0] ?? NaN
  const before = expected.filter(({ entry }) => zone.toUtc(entry.wall) < first).length
  if (before > 0)
    return {
      kind: 'history_missing',
      message: `The export begins before your bars: ${before} of its trades are older`,
    }
  const timed = timeline(pairs, zone)
  const last = timed.findLastIndex(({ pair }) => !agreesInPlace(pair, report, zone))
  const isBeginning = last >= 0 && last < timed.length * 0.4 && timed.length - 1 - last >= SETTLED
  return isBeginning
    ? {
        kind: 'history_missing',
        message: 'Only the beginning differs: what the script works out there hangs on bars older than yours',
      }
    : null
}

/** At the same time for the same order another price than the open that both filled at, or one outside of the bar. */
function otherFeed({ pairs, report, bars, zone }: Evidence): ExplainedChange | null {
  const { mintick } = report
  const steps: number[] = []
  let isOutside = 0
  let fills = 0
  for (const [want, got] of pairs) {
    if (!want) continue
    for (const fill of [want.entry, want.exit]) {
      fills += Number(barAt(bars, zone, fill) >= 0)
      isOutside += Number(barOutside(bars, zone, fill, 1.5 * mintick) >= 0)
    }
    if (got && Math.abs(got.entryPrice - bars.open[lowerBound(bars.time, got.entryTime)]!) < mintick / 2)
      steps.push((want.side === 'long' ? 1 : -1) * Math.round((want.entry.price - got.entryPrice) / mintick))
  }
  // Slippage moves all fills by the same.
  const others = steps.filter((one) => one !== 0).length
  const isSpread = new Set(steps).size > 2 && others > steps.length / 10 && others >= 3
  return isSpread || (isOutside >= 3 && isOutside > fills * SHARE)
    ? {
        kind: 'other_feed',
        message: 'Its bars are those of another feed: prices at the same times are others',
      }
    : null
}

function otherSignals({ expected, report }: Evidence): ExplainedChange | null {
  const known = new Set(
    report.trades.flatMap((one) => [one.entryComment || one.entryId, one.exitComment || one.exitId]),
  )
  const unknown = expected
    .flatMap(({ entry, exit }) => [entry.signal, exit.signal])
    .filter((signal) => signal !== '' && !known.has(signal) && !/^(?:Margin call|Open|Close )/.test(signal))
  if (unknown.length < 3 || unknown.length < expected.length * SHARE) return null
  return {
    kind: 'script_version',
    message: `The script was another version of it: it never fills an order called "${unknown[0]!.slice(0, 60)}"`,
  }
}

interface Timed {
  readonly pair: Pair
  readonly time: number
}

function timeline(pairs: readonly Pair[], zone: Zone): Timed[] {
  return pairs.map((pair) => ({ pair, time: timeOf(pair, zone) })).sort((a, b) => a.time - b.time)
}

function timeOf([want, got]: Pair, zone: Zone): number {
  return Math.min(want ? zone.toUtc(want.entry.wall) : Infinity, got ? got.entryTime : Infinity)
}

const PLACE = ['side', 'entryTime', 'exitTime', 'entryPrice', 'exitPrice'] as const

function agreesInPlace([want, got]: Pair, { mintick }: Report, zone: Zone): boolean {
  return compareTrade(want, got, zone, mintick, PLACE).length === 0
}

/** The first time at which the lists differ; Infinity if they do not. */
export function firstOther(pairs: readonly Pair[], { mintick }: Report, zone: Zone): number {
  const times = pairs.map(([want, got]) => {
    const fields = compareTrade(want, got, zone, mintick, COMPARED_FIELDS).map(({ field }) => field)
    if (fields.length === 0) return Infinity
    const isOfExit = want && got && fields.every((field) => /^exit|^profit$/.test(field))
    return isOfExit ? Math.min(zone.toUtc(want.exit.wall), got.exitTime) : timeOf([want, got], zone)
  })
  return times.reduce((first, time) => Math.min(first, time), Infinity)
}
