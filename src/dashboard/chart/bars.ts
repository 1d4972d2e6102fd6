// Loads the bars of a chart: first the newest, enough to fill a screen, then all others once those are drawn.

import { emptyBars, lowerBound, sliceBars, type Bars } from '../../market/bars.ts'
import { intervalMs, isIntraday, parseInterval } from '../../market/interval.ts'
import { call } from '../api-client.ts'
import { firstPaint } from '../first-paint.ts'
import type { Market } from '../charts.ts'
import { FIRST_PAGE } from '../first-requests.ts'
import { newestBars } from './first-bars.ts'

/** The most bars that a chart holds. */
const BARS_SHOWN = 200_000
const PAGE = 50_000

type Columns = Readonly<Record<'time' | 'open' | 'high' | 'low' | 'close' | 'volume', readonly number[]>>

/** Calls `onBars` with the newest bars, and again once all bars up to the limit have arrived. */
export async function loadBars(
  market: Market,
  signal: AbortSignal,
  onBars: (bars: Bars, complete: boolean) => void,
): Promise<void> {
  const page = async (end: number, limit: number) => {
    const answer = await call('GET /api/platform/bars', { query: { ...market, end, limit }, signal })
    return toBars(answer.bars)
  }
  let bars = toBars((await newestBars(market, signal)).bars)
  signal.throwIfAborted()
  const isAll = bars.length < FIRST_PAGE
  let complete = isAll
  onBars(bars, isAll)
  await firstPaint
  signal.throwIfAborted()
  const parts = [bars]
  let size = bars.length
  while (!complete && size < BARS_SHOWN) {
    const older = await page(bars.time[0]! - 1, Math.min(PAGE, BARS_SHOWN - size)).catch((error: unknown) => {
      signal.throwIfAborted()
      // The first page had fewer bars than asked for: there are no older ones.
      if (parts.length > 0) return emptyBars(0)
      throw error
    })
    if (older.length > 0) {
      parts.unshift(older)
      bars = older
      size += older.length
    }
    complete = older.length < PAGE
  }
  if (!isAll) onBars(parts.length > 1 ? joined(parts, size) : bars, true)
}

/** The bars with those that arrived since; the last one is read again, because it may have been forming. */
export async function loadNewer(market: Market, bars: Bars, signal: AbortSignal): Promise<Bars> {
  if (bars.length === 0) return bars
  const start = bars.time[bars.length - 1]!
  const answer = await call('GET /api/platform/bars', { query: { ...market, start }, signal })
  const newer = toBars(answer.bars)
  if (newer.length === 0) return bars
  return joined([sliceBars(bars, 0, bars.length - 1), newer], bars.length - 1 + newer.length)
}

/** The bars with those of others that lie behind them, and on request with those before them. */
export function withOthers(bars: Bars, others: Bars, { older }: { readonly older: boolean }): Bars {
  const [first, last] = [bars.time[0], bars.time[bars.length - 1]]
  if (first === undefined || last === undefined) return others
  const times = others.time.subarray(0, others.length)
  const front = older ? lowerBound(times, first) : 0
  const back = lowerBound(times, last + 1)
  const isLonger = back < others.length
  if (front === 0 && !isLonger) return bars
  // What was the last of them may have been forming, and is known better by those who have more behind it.
  const [kept, from] =
    isLonger && times[back - 1] === last ? [bars.length - 1, back - 1] : [bars.length, back]
  const size = front + kept + others.length - from
  return joined(
    [sliceBars(others, 0, front), sliceBars(bars, 0, kept), sliceBars(others, from, others.length)],
    size,
  )
}

/** The bars of an answer as typed columns. */
export function toBars(columns: Columns): Bars {
  return {
    length: columns.time.length,
    time: Float64Array.from(columns.time),
    open: Float64Array.from(columns.open),
    high: Float64Array.from(columns.high),
    low: Float64Array.from(columns.low),
    close: Float64Array.from(columns.close),
    volume: Float64Array.from(columns.volume),
  }
}

function joined(parts: readonly Bars[], size: number): Bars {
  const all = emptyBars(size)
  let at = 0
  for (const part of parts) {
    for (const field of ['time', 'open', 'high', 'low', 'close', 'volume'] as const)
      all[field].set(part[field], at)
    at += part.length
  }
  return all
}

/** Index of the bar in which `time` lies; the first one for times before it. */
export function barAt(bars: Bars, time: number): number {
  return Math.max(0, Math.min(bars.length, lowerBound(bars.time, time + 1)) - 1)
}

const LONGEST_MONTH_MS = 31 * 86_400_000

/**
 * When a bar is over: when the next one opens, and after the whole interval where none follows for longer. Months differ in
 * length, and the bar of a week that begins with a holiday opens later than the week.
 */
export function endOfBar(bars: Bars, bar: number, interval: string): number {
  const parsed = parseInterval(interval) ?? { count: 1, unit: 'd' }
  const longest = parsed.unit === 'M' ? parsed.count * LONGEST_MONTH_MS : intervalMs(parsed)
  const next = bar + 1 < bars.length ? bars.time[bar + 1]! : Infinity
  return Math.min(next, bars.time[bar]! + longest)
}

/** The last bar that is over at a time; -1 = none. */
export function lastOver(bars: Bars, interval: string, time: number): number {
  const begun = lowerBound(bars.time.subarray(0, bars.length), time) - 1
  return begun >= 0 && endOfBar(bars, begun, interval) > time ? begun - 1 : begun
}

/** From bar to bar. */
export function barMsOf(interval: string): number {
  const parsed = parseInterval(interval)
  return parsed ? intervalMs(parsed) : 86_400_000
}

/** The position of `time` on the axis in bars; fractions between bars, and beyond both ends. */
export function placeOf(bars: Bars, time: number, interval: string): number {
  if (bars.length === 0) return 0
  const first = bars.time[0]!
  const last = bars.time[bars.length - 1]!
  const step = barMsOf(interval)
  if (time <= first) return (time - first) / step
  if (time >= last) return bars.length - 1 + (time - last) / step
  const i = barAt(bars, time)
  return i + (time - bars.time[i]!) / (bars.time[i + 1]! - bars.time[i]!)
}

/** The time of a place on the axis: what `placeOf` answers, the other way round. */
export function timeAt({ time, length }: Bars, place: number, interval: string): number {
  if (length === 0) return 0
  const step = barMsOf(interval)
  if (place <= 0) return time[0]! + place * step
  if (place >= length - 1) return time[length - 1]! + (place - length + 1) * step
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

/** Whether times of such bars need hours and minutes. */
export function showsClock(interval: string): boolean {
  const parsed = parseInterval(interval)
  return parsed !== null && isIntraday(parsed)
}
