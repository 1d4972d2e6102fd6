// Loads the bars of a chart: first the newest, enough to fill a screen, then all others once those are drawn.

import { BAR_FIELDS, concatBars, emptyBars, lowerBound, sliceBars, type Bars } from '../../market/bars.ts'
import { intervalMs, isIntraday, parseInterval, type Interval } from '../../market/interval.ts'
import { call } from '../api-client.ts'
import { firstPaint } from '../first-paint.ts'
import type { Market } from '../charts.ts'
import { FIRST_PAGE } from '../first-requests.ts'
import { newestBars } from './first-bars.ts'

/** The most bars that a chart holds. */
const BARS_SHOWN = 200_000
const PAGE = 50_000

/** Calls `onBars` with the newest bars, and again once all bars up to the limit have arrived. */
export async function loadBars(
  market: Market,
  signal: AbortSignal,
  onBars: (bars: Bars, complete: boolean) => void,
): Promise<void> {
  const newest = toBars((await newestBars(market, signal)).bars)
  signal.throwIfAborted()
  let isAll = newest.length < FIRST_PAGE
  onBars(newest, isAll)
  if (isAll) return
  await firstPaint
  const parts = [newest]
  for (let size = newest.length; !isAll && size < BARS_SHOWN; size += parts[0]!.length) {
    signal.throwIfAborted()
    const query = { ...market, end: parts[0]!.time[0]! - 1, limit: Math.min(PAGE, BARS_SHOWN - size) }
    const older = await call('GET /api/platform/bars', { query, signal }).catch(() => null)
    signal.throwIfAborted()
    if (older === null || older.bars.time.length === 0) break
    parts.unshift(toBars(older.bars))
    isAll = parts[0]!.length < PAGE
  }
  onBars(concatBars(parts), true)
}

/** The bars with those that arrived since; the last one is read again, because it may have been forming. */
export async function loadNewer(market: Market, bars: Bars, signal: AbortSignal): Promise<Bars> {
  if (bars.length === 0) return bars
  const start = bars.time[bars.length - 1]!
  const answer = await call('GET /api/platform/bars', { query: { ...market, start }, signal })
  const newer = toBars(answer.bars)
  return newer.length === 0 ? bars : concatBars([sliceBars(bars, 0, bars.length - 1), newer])
}

/** The bars with those of others that lie behind them, and on request with those before them. */
export function withOthers(bars: Bars, others: Bars, { older }: { readonly older: boolean }): Bars {
  const [first, last] = [bars.time[0], bars.time[bars.length - 1]]
  if (first === undefined || last === undefined) return others
  const front = older ? firstFrom(others, first) : 0
  const back = firstFrom(others, last + 1)
  const isLonger = back < others.length
  if (front === 0 && !isLonger) return bars
  // What was the last of them may have been forming, and is known better by those who have more behind it.
  const isBetter = isLonger && others.time[back - 1] === last
  return concatBars([
    sliceBars(others, 0, front),
    sliceBars(bars, 0, isBetter ? bars.length - 1 : bars.length),
    sliceBars(others, isBetter ? back - 1 : back, others.length),
  ])
}

/** The bars of an answer as typed columns. */
export function toBars(columns: Readonly<Record<(typeof BAR_FIELDS)[number], readonly number[]>>): Bars {
  const bars = emptyBars(columns.time.length)
  for (const field of BAR_FIELDS) bars[field].set(columns[field])
  return bars
}

/** Index of the first bar at or after a time; the length if there is none. */
export const firstFrom = ({ time, length }: Bars, at: number): number =>
  lowerBound(time.subarray(0, length), at)

/** The first and the last of the bars that lie between times, both included; the last is before the first if there is none. */
export function barsBetween(
  bars: Bars,
  times: readonly number[],
): { readonly from: number; readonly to: number } {
  return { from: firstFrom(bars, Math.min(...times)), to: firstFrom(bars, Math.max(...times) + 1) - 1 }
}

/** Index of the bar in which `time` lies; the first one for times before it. */
export function barAt(bars: Bars, time: number): number {
  return Math.max(0, Math.min(bars.length, lowerBound(bars.time, time + 1)) - 1)
}

const parsed = (interval: string): Interval => parseInterval(interval) ?? { count: 1, unit: 'd' }
/** From bar to bar. */
export const barMsOf = (interval: string): number => intervalMs(parsed(interval))
/** Whether times of such bars need hours and minutes. */
export const showsClock = (interval: string): boolean => isIntraday(parsed(interval))

const LONGEST_MONTH_MS = 31 * 86_400_000

/**
 * When a bar is over: when the next one opens, and after the whole interval where none follows for longer. Months differ in
 * length, and the bar of a week that begins with a holiday opens later than the week.
 */
export function endOfBar(bars: Bars, bar: number, interval: string): number {
  const { count, unit } = parsed(interval)
  const longest = unit === 'M' ? count * LONGEST_MONTH_MS : barMsOf(interval)
  const next = bar + 1 < bars.length ? bars.time[bar + 1]! : Infinity
  return Math.min(next, bars.time[bar]! + longest)
}

/** The last bar that is over at a time; -1 = none. */
export function lastOver(bars: Bars, interval: string, time: number): number {
  const begun = firstFrom(bars, time) - 1
  return begun >= 0 && endOfBar(bars, begun, interval) > time ? begun - 1 : begun
}

/** The position of `time` on the axis in bars; fractions between bars, and beyond both ends at the pace of `barMs`. */
export function placeOf(bars: Bars, time: number, barMs: number): number {
  if (bars.length === 0) return 0
  const first = bars.time[0]!
  const last = bars.time[bars.length - 1]!
  if (time <= first) return (time - first) / barMs
  if (time >= last) return bars.length - 1 + (time - last) / barMs
  const i = barAt(bars, time)
  return i + (time - bars.time[i]!) / (bars.time[i + 1]! - bars.time[i]!)
}

/** The time of a place on the axis: what `placeOf` answers, the other way round. */
export function timeAt({ time, length }: Bars, place: number, barMs: number): number {
  if (length === 0) return 0
  if (place <= 0) return time[0]! + place * barMs
  if (place >= length - 1) return time[length - 1]! + (place - length + 1) * barMs
  const i = Math.floor(place)
  return time[i]! + (place - i) * (time[i + 1]! - time[i]!)
}

/** Heikin-Ashi bars, which average neighbouring prices. Time and volume stay the same. */
export function heikinAshi(bars: Bars): Bars {
  const made = { ...emptyBars(bars.length), time: bars.time, volume: bars.volume }
  for (let i = 0; i < bars.length; i++) {
    const [open, high, low, close] = [bars.open[i]!, bars.high[i]!, bars.low[i]!, bars.close[i]!]
    made.close[i] = (open + high + low + close) / 4
    made.open[i] = i === 0 ? (open + close) / 2 : (made.open[i - 1]! + made.close[i - 1]!) / 2
    made.high[i] = Math.max(high, made.open[i]!, made.close[i]!)
    made.low[i] = Math.min(low, made.open[i]!, made.close[i]!)
  }
  return made
}
