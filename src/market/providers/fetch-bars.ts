// Fetches a series page by page into the store, from where it ends or as far back as asked.
//
// Each page is stored before the next one is requested, so a fetch that is cut short resumes where it was.

import { BAR_FIELDS, type Bars, emptyBars } from '../bars.ts'
import { type SeriesKey, seriesName, type UpsertResult } from '../bar-store.ts'
import { type Calendar, calendarOf, sessionInstant } from '../calendar.ts'
import { type ImportTarget, knownSymbol, storeBars } from '../import.ts'
import { type Interval, intervalMs, isIntraday, parseInterval } from '../interval.ts'
import { defaultSymbol } from '../symbols.ts'
import { binance } from './binance.ts'
import { coinbase } from './coinbase.ts'
import { kraken } from './kraken.ts'
import { fetchPages, type Provider, type ProviderDeps, ProviderError } from './provider.ts'
import { yahoo } from './yahoo.ts'

export const PROVIDERS: readonly Provider[] = [binance, coinbase, kraken, yahoo]

/** The provider of an exchange's symbols; null if there is none. */
export function providerOf(exchange: string): Provider | null {
  return PROVIDERS.find(({ exchanges }) => exchanges.includes(exchange)) ?? null
}

export interface FetchOptions {
  /** Default: the time of the newest cached bar, which is fetched again because it may have been forming. */
  readonly from?: number
  /** Exclusive; default: now. */
  readonly to?: number
  readonly signal?: AbortSignal
  /** Called after each page with the done fraction of the time and the number of bars so far. */
  readonly progress?: (fraction: number, bars: number) => void
}

export type FetchResult = Pick<UpsertResult, 'inserted' | 'updated'> & { readonly pages: number }

/** How far back the first fetch of a series begins by default: 5,000 bars. */
const BARS_AT_FIRST = 5000
const DATED_MARGIN_MS = 4 * 86_400_000

/** Throws ProviderError. The pages that arrived before it are stored. */
export async function fetchSeries(
  target: ImportTarget,
  key: SeriesKey,
  deps: ProviderDeps,
  { from, to = deps.clock.now(), signal, progress }: FetchOptions = {},
): Promise<FetchResult> {
  const provider = providerOf(key.exchange)
  const interval = parseInterval(key.interval)
  if (!provider || !interval)
    throw new ProviderError('unknown_symbol', `There is no provider of ${seriesName(key)}.`)
  const step = intervalMs(interval)
  const last = (await target.store.info(key))?.last
  // Providers date long bars by midnight or by the first of the month, which may lie before the session's open.
  const margin = isIntraday(interval) ? 0 : DATED_MARGIN_MS
  const start = from ?? (last === undefined ? Math.max(0, to - step * BARS_AT_FIRST) : last - margin)
  const symbol = (await knownSymbol(target, key)) ?? defaultSymbol(key.exchange, key.symbol)
  const calendar = calendarOf(symbol)
  let inserted = 0
  let updated = 0
  let pages = 0
  const query = { exchange: key.exchange, symbol: key.symbol, interval, from: start, to }
  for await (const bars of fetchPages(provider, query, deps, signal)) {
    const result = await storeBars(target, key, isIntraday(interval) ? bars : dated(bars, interval, calendar))
    inserted += result.inserted
    updated += result.updated
    pages++
    progress?.(((bars.time.at(-1) ?? start) - start) / Math.max(1, to - start), inserted + updated)
  }
  return { inserted, updated, pages }
}

/**
 * Gives days, weeks and months the time at which their period opens. Yahoo dates the forming day by its last trade, so
 * every look at it would add a new bar.
 */
function dated(bars: Bars, interval: Interval, calendar: Calendar): Bars {
  const opens = bars.time.map(
    (time) => calendar.period(sessionInstant(calendar, time, interval), interval).start,
  )
  // Of two bars of one period, the later one is more complete.
  const kept = [...opens.keys()].filter((i) => opens[i] !== opens[i + 1])
  const all = { ...bars, time: opens }
  const result = emptyBars(kept.length)
  for (const field of BAR_FIELDS) result[field].set(kept.map((i) => all[field][i] ?? 0))
  return result
}
