// "Bring your TradingView export": which trades of an exported list agree with a report, and where they first diverge.
//
// A row is paired with the trade of the same side and entry minute whose exit is nearest, so that one extra trade does not
// make every later one wrong; exports of daily bars have no minutes, so their rows are paired by the day. Rows and trades
// without a partner are missing or extra. The export's times are in the chart's zone, which the file does not name: unless it
// is given, it is taken to be the zone in which most entries coincide with entries of the report.

import { tidy } from '../lib/tidy.ts'
import { lowerBound, type Bars } from '../market/bars.ts'
import { zoneOf, type Zone } from '../market/zone.ts'
import { COMPARED_FIELDS, type ComparedField, type Comparison } from '../wire/backtest.ts'
import type { ReportTrade } from '../wire/report.ts'
import type { ExportedTrade } from './exported/trade-list.ts'
import { words } from '../lib/words.ts'

export type ComparedTrade = Comparison['trades'][number]
type Difference = ComparedTrade['differences'][number]

export interface CompareOptions {
  /** IANA name or `UTC+8`; null = detect. */
  readonly timezone?: string | null
  /** The symbol's own zone is tried first. */
  readonly exchangeTimezone?: string
  readonly mintick: number
  /** The fields that count; default: all. */
  readonly fields?: readonly ComparedField[]
  /** Where the export's range ends, on its own clock: trades that were not closed by then are not compared. */
  readonly until?: number | undefined
  /** Trades of the export that could not be read: they do not agree. */
  readonly lost?: number
}

/** The zones that people set their charts to; one for each existing combination of offset and daylight saving rule. */
export const ZONES = words(
  'UTC America/New_York Europe/London Europe/Berlin Asia/Kolkata Asia/Singapore Asia/Tokyo',
  'America/Chicago America/Los_Angeles Europe/Moscow Europe/Athens Asia/Dubai Asia/Bangkok',
  'America/Sao_Paulo Australia/Sydney America/Denver America/Phoenix America/Bogota America/Toronto',
  'America/Halifax Asia/Tehran Asia/Karachi Asia/Kathmandu Asia/Dhaka Asia/Almaty Australia/Perth',
  'Australia/Adelaide Australia/Brisbane Pacific/Auckland Pacific/Honolulu America/Anchorage',
  'America/Argentina/Buenos_Aires Africa/Lagos Africa/Cairo Africa/Johannesburg Asia/Jerusalem',
  'Pacific/Fakaofo Pacific/Chatham',
)

export function compareTrades(
  exported: readonly ExportedTrade[],
  reported: readonly ReportTrade[],
  bars: Bars,
  options: CompareOptions,
): Comparison {
  const expected = exported.filter((trade) => !trade.open)
  const closed = reported.filter((trade) => trade.status === 'closed')
  const given = options.timezone ? zoneOf(options.timezone) : null
  const zone = given ?? detectZone(expected, closed, options.exchangeTimezone)
  const end = options.until === undefined ? Infinity : zone.toUtc(options.until)
  const found = closed.filter(({ exitTime }) => exitTime <= end)
  const fields = options.fields ?? COMPARED_FIELDS
  const trades: ComparedTrade[] = []
  let exact = 0
  let first: Comparison['firstDivergence'] = null
  for (const [want, got] of pairs(expected, found, zone)) {
    const differences = compareTrade(want, got, zone, options.mintick, fields)
    const row = { n: want?.n ?? got!.n, agrees: differences.length === 0, differences }
    trades.push(row)
    if (row.agrees) {
      exact++
      continue
    }
    const time = Math.min(want ? zone.toUtc(want.entry.wall) : Infinity, got ? got.entryTime : Infinity)
    if (!first || time < first.time)
      first = { ...row, time, bar: Math.min(bars.length - 1, lowerBound(bars.time, time)) }
  }
  return {
    timezone: zone.name,
    timezoneDetected: given === null,
    expected: expected.length + (options.lost ?? 0),
    found: found.length,
    exact,
    unreadable: options.lost ?? 0,
    firstDivergence: first,
    trades,
  }
}

export type Pair = readonly [ExportedTrade | undefined, ReportTrade | undefined]

/** Closed trades of both, each with its partner. */
export function pairs(expected: readonly ExportedTrade[], found: readonly ReportTrade[], zone: Zone): Pair[] {
  const byDay = expected.some((trade) => trade.entry.dateOnly)
  const keyOf = (side: string, wall: number) => `${side} ${Math.floor(wall / (byDay ? 86_400_000 : 60_000))}`
  const waiting = new Map<string, ReportTrade[]>()
  for (const trade of found) {
    const key = keyOf(trade.side, trade.entryTime + zone.offsetAt(trade.entryTime))
    const group = waiting.get(key)
    if (group) group.push(trade)
    else waiting.set(key, [trade])
  }
  const result: Pair[] = []
  const taken = new Set<ReportTrade>()
  for (const want of expected) {
    const group = waiting.get(keyOf(want.side, want.entry.wall)) ?? []
    const exit = zone.toUtc(want.exit.wall)
    let best: ReportTrade | undefined
    let cost = Infinity
    for (const got of group) {
      const far = taken.has(got)
        ? Infinity
        : Math.abs(got.exitTime - exit) +
          Math.abs(got.exitPrice - want.exit.price) +
          Math.abs(got.entryPrice - want.entry.price)
      if (far < cost) {
        cost = far
        best = got
      }
    }
    if (best) taken.add(best)
    result.push([want, best])
  }
  for (const got of found) if (!taken.has(got)) result.push([undefined, got])
  return result
}

/** The fields in which the two differ. */
export function compareTrade(
  want: ExportedTrade | undefined,
  got: ReportTrade | undefined,
  zone: Zone,
  mintick: number,
  fields: readonly ComparedField[],
): Difference[] {
  if (!want || !got)
    return want
      ? [{ field: 'missing', expected: new Date(zone.toUtc(want.entry.wall)).toISOString(), found: null }]
      : [{ field: 'extra', expected: null, found: new Date(got!.entryTime).toISOString() }]
  const differences: Difference[] = []
  const check = (
    field: ComparedField,
    equal: boolean,
    expected: string | number | null,
    found: string | number,
  ) => {
    if (!equal && fields.includes(field))
      differences.push({ field, expected, found: typeof found === 'number' ? tidy(found) : found })
  }
  check('side', want.side === got.side, want.side, got.side)
  for (const [field, fill, time] of [
    ['entryTime', want.entry, got.entryTime],
    ['exitTime', want.exit, got.exitTime],
  ] as const)
    check(field, sameTime(fill, time, zone), wallText(fill.wall), wallText(time + zone.offsetAt(time)))
  for (const [field, fill, price] of [
    ['entryPrice', want.entry, got.entryPrice],
    ['exitPrice', want.exit, got.exitPrice],
  ] as const)
    check(field, Math.abs(fill.price - price) <= priceSlack(fill.digits, mintick), fill.price, price)
  if (want.qty !== null)
    check('qty', Math.abs(want.qty - got.qty) <= 1e-6 * Math.max(1, want.qty), want.qty, got.qty)
  if (want.profit)
    check(
      'profit',
      sameShown(want.profit.value, want.profit.digits, got.profit),
      want.profit.value,
      got.profit,
    )
  const entrySignal = got.entryComment || got.entryId
  const exitSignal = got.exitComment || got.exitId
  check('entrySignal', want.entry.signal === entrySignal, want.entry.signal, entrySignal)
  check('exitSignal', want.exit.signal === exitSignal, want.exit.signal, exitSignal)
  return differences
}

/** An export of daily bars has dates only. */
function sameTime(fill: ExportedTrade['entry'], time: number, zone: Zone): boolean {
  const wall = time + zone.offsetAt(time)
  return fill.dateOnly
    ? Math.floor(fill.wall / 86_400_000) === Math.floor(wall / 86_400_000)
    : Math.floor(fill.wall / 60_000) === Math.floor(wall / 60_000)
}

/** Half of the last digit shown, or of a tick if that is coarser. */
function priceSlack(digits: number, mintick: number): number {
  return Math.max(0.5 * 10 ** -Math.max(digits, 2), mintick * 0.5) * 1.000001
}

/** J8: two decimals, or one significant digit if that would be 0.00. */
function sameShown(shown: number, digits: number, value: number): boolean {
  return Math.abs(shown - value) <= 0.51 * 10 ** -digits
}

function detectZone(
  expected: readonly ExportedTrade[],
  found: readonly ReportTrade[],
  own: string | undefined,
): Zone {
  // Days have no time of the day to find a zone by: any in which sessions begin at midnight would seem to fit.
  const length = expected.some((trade) => trade.entry.dateOnly) ? 86_400_000 : 60_000
  let best = zoneOf('UTC')
  let most = -1
  for (const name of own ? [own, ...ZONES] : ZONES) {
    const zone = zoneOf(name)
    if (!zone) continue
    const entries = new Set(
      found.map(({ entryTime }) => Math.floor((entryTime + zone.offsetAt(entryTime)) / length)),
    )
    const hits = expected.filter(({ entry }) => entries.has(Math.floor(entry.wall / length))).length
    if (hits > most) {
      most = hits
      best = zone
    }
  }
  if (!best) throw new Error('assertion failed: UTC is always known')
  return best
}

function wallText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16).replace('T', ' ')
}
