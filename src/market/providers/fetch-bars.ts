// Fetches a series page by page into the store, from where it ends or as far back as asked.
//
// Each page is stored before the next one is requested, so a fetch that is cut short resumes where it was.

import { type Bars, pickBars, sliceBars } from '../bars.ts'
import { type SeriesKey, seriesName, type UpsertResult } from '../bar-store.ts'
import { type Calendar, calendarOf, sessionInstant } from '../calendar.ts'
import { type ImportTarget, knownSymbol, storeBars } from '../import.ts'
import { type Interval, intervalMs, isIntraday, parseInterval } from '../interval.ts'
import { defaultSymbol } from '../symbols.ts'
import { binance } from './binance.ts'
import { bybit } from './bybit.ts'
import { coinbase } from './coinbase.ts'
import { hyperliquid } from './hyperliquid.ts'
import { kraken } from './kraken.ts'
import { okx } from './okx.ts'
import { fetchPages, type Provider, type ProviderDeps } from './provider.ts'
import { ProviderError } from './provider-error.ts'
import { yahoo } from './yahoo.ts'

export const PROVIDERS: readonly Provider[] = [binance, bybit, coinbase, hyperliquid, kraken, okx, yahoo]

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
  /** Leaves out what is not over, or not yet told of for certain: of a series that is kept fresh only closed bars are stored. */
  readonly closedOnly?: boolean
  /** Called after each page with the done fraction of the time and the number of bars so far. */
  readonly progress?: (fraction: number, bars: number) => void
}

export type FetchResult = Pick<UpsertResult, 'inserted' | 'updated'> & { readonly pages: number }

/** How far back the first fetch of a series begins by default: 5,000 bars. */
export const BARS_AT_FIRST = 5000
/** Providers date long bars by midnight or by the first of the month, which may lie before the session's open. */
const DATED_MARGIN_MS = 4 * 86_400_000

/** The provider of an exchange's symbols; null if there is none. */
export type ProviderOf = (exchange: string) => Provider | null

export interface FetchDeps extends ProviderDeps {
  /** Without it: one of those that need no key. */
  readonly providerOf?: ProviderOf | undefined
}

/** Throws ProviderError. The pages that arrived before it are stored. */
export async function fetchSeries(
  target: ImportTarget,
  key: SeriesKey,
  deps: FetchDeps,
  { from, to = deps.clock.now(), signal, closedOnly = false, progress }: FetchOptions = {},
): Promise<FetchResult> {
  const provider = (deps.providerOf ?? providerOf)(key.exchange)
  const interval = parseInterval(key.interval)
  if (!provider || !interval)
    throw new ProviderError('unknown_symbol', `There is no provider of ${seriesName(key)}.`)
  const step = intervalMs(interval)
  const last = (await target.store.info(key))?.last
  const start =
    from ?? (last === undefined ? Math.max(0, to - step * BARS_AT_FIRST) : last - marginOf(interval))
  const calendar = await calendarFor(target, key)
  let inserted = 0
  let updated = 0
  let pages = 0
  const endOf = (time: number) => calendar.period(time, interval).end
  const delayMs = provider.delayMs?.(key.exchange, interval) ?? 0
  const isOver = (time: number) => endOf(time) + delayMs <= deps.clock.now()
  for await (const page of datedPages(provider, key, { from: start, to, interval, calendar }, deps, signal)) {
    const over = closedOnly ? page.time.findLastIndex(isOver) + 1 : page.length
    const bars = over < page.length ? sliceBars(page, 0, over) : page
    if (bars.length === 0) continue
    const result = await storeBars(target, key, bars)
    inserted += result.inserted
    updated += result.updated
    pages++
    progress?.(((bars.time.at(-1) ?? start) - start) / Math.max(1, to - start), inserted + updated)
  }
  return { inserted, updated, pages }
}

/** Where a fetch of a series has to begin to see its newest bars again, as the provider dates them. */
export const marginOf = (interval: Interval): number => (isIntraday(interval) ? 0 : DATED_MARGIN_MS)

export async function calendarFor(target: ImportTarget, key: SeriesKey): Promise<Calendar> {
  return calendarOf((await knownSymbol(target, key)) ?? defaultSymbol(key.exchange, key.symbol))
}

interface Stretch {
  readonly from: number
  readonly to: number
  readonly interval: Interval
  readonly calendar: Calendar
}

/** The pages of a stretch, whose bars have the times that ours have. Throws ProviderError. */
export async function* datedPages(
  provider: Provider,
  { exchange, symbol }: SeriesKey,
  { from, to, interval, calendar }: Stretch,
  deps: ProviderDeps,
  signal?: AbortSignal,
): AsyncGenerator<Bars> {
  const query = { exchange, symbol, interval, from, to, now: deps.clock.now() }
  for await (const bars of fetchPages(provider, query, deps, signal))
    yield datedAs(bars, provider, interval, calendar)
}

/** The bars of an answer with the times that ours have. */
export function datedAs(bars: Bars, provider: Provider, interval: Interval, calendar: Calendar): Bars {
  if (!isIntraday(interval)) return dated(bars, interval, calendar)
  return provider.hasExtendedHours ? ofSession(bars, calendar) : bars
}

/** Without the bars before and after the session's hours. */
function ofSession(bars: Bars, calendar: Calendar): Bars {
  const kept = [...bars.time.keys()].filter((i) => calendar.isOpen(bars.time[i]!))
  return kept.length === bars.length ? bars : pickBars(bars, kept)
}

/** The time of ours that a provider's date of a bar means. */
export const openingOf = (time: number, interval: Interval, calendar: Calendar): number =>
  isIntraday(interval) ? time : calendar.period(sessionInstant(calendar, time, interval), interval).start

/**
 * Gives days, weeks and months the time at which their period opens. Yahoo dates the forming day by its last trade, so
 * every look at it would add a new bar.
 */
function dated(bars: Bars, interval: Interval, calendar: Calendar): Bars {
  const opens = bars.time.map((time) => openingOf(time, interval, calendar))
  // Of two bars of one period, the later one is more complete.
  const kept = [...opens.keys()].filter((i) => opens[i] !== opens[i + 1])
  return pickBars({ ...bars, time: opens }, kept)
}
