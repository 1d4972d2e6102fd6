// Imports bars: reads the text, checks all of it, then stores it in one write. One wrong row stops the whole import.

import { BarStage } from './bar-stage.ts'
import type { Bars } from './bars.ts'
import {
  type BarDraft,
  type BarStore,
  owned,
  ownerOf,
  type SeriesInfo,
  seriesKey,
  type SeriesKey,
  type UpsertResult,
} from './bar-store.ts'
import { calendarOf } from './calendar.ts'
import { stageCsv } from './csv.ts'
import { formatInterval, type Interval, intervalMs, isIntraday, parseInterval } from './interval.ts'
import { stageJson } from './json-bars.ts'
import type { SymbolInfo } from './symbol.ts'
import { defaultSymbol, withSymbolFields } from './symbols.ts'

/** What an import writes to: the store, or the cache in front of it. */
export interface ImportTarget {
  readonly store: Pick<BarStore, 'symbol' | 'putSymbol' | 'info'>
  upsert(key: SeriesKey, bars: Bars): Promise<UpsertResult>
  draft(key: SeriesKey): BarDraft
}

export interface ImportResult extends Pick<UpsertResult, 'inserted' | 'updated'> {
  readonly series: SeriesInfo
  readonly symbol: SymbolInfo
  readonly rows: number
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
}

export interface ReadBarsOptions {
  readonly format: 'csv' | 'json'
  /** Dates without a time of day mean this symbol's sessions. */
  readonly symbol: SymbolInfo
  readonly progress?: (bytes: number) => void
}

type Input = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Bars that were read and checked. */
interface StagedBars {
  /** Sorted by time: all bars, or those at the end that are not in the draft yet. */
  readonly bars: Bars
  /** The draft with the earlier bars; null if there are none. */
  readonly draft: BarDraft | null
  readonly rows: number
}

/** Reads and checks bars. `open` makes a draft for bars that should not stay in memory. */
export type StageBars = (
  input: Input,
  options: ReadBarsOptions,
  open: (() => BarDraft) | null,
) => Promise<StagedBars>

/** Reads bars from CSV or JSON text. Throws Problem 422 naming the wrong rows. */
export async function readBars(input: Input, options: ReadBarsOptions): Promise<Bars> {
  return (await stageBars(input, options, null)).bars
}

/** Throws Problem 422 naming the wrong rows. The caller has to discard the drafts. */
export const stageBars: StageBars = async (input, { format, symbol, progress }, open) => {
  const stage = new BarStage(open)
  const calendar = calendarOf(symbol)
  if (format === 'csv') await stageCsv(input, stage, { calendar, ...(progress ? { progress } : {}) })
  else await stageJson(decoded(input), stage, calendar)
  return { ...(await stage.finish()), rows: stage.length }
}

async function* decoded(input: Input): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of input) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** Reads, checks and stores bars. A symbol seen for the first time gets our best guess of its facts. */
export async function importBars(
  target: ImportTarget,
  { owner = '', exchange, symbol, interval }: SeriesKey,
  input: Input,
  {
    format,
    progress,
    stage = stageBars,
    facts = {},
  }: Pick<ReadBarsOptions, 'format' | 'progress'> & {
    readonly stage?: StageBars
    /** Facts of the symbol that the caller states, such as its session. Throws Problem 422 if they are wrong. */
    readonly facts?: Readonly<Record<string, unknown>>
  },
): Promise<ImportResult> {
  const key = { ...owned(owner), ...seriesKey(exchange, symbol, interval) }
  const known = withSymbolFields(
    (await knownSymbol(target, key)) ?? defaultSymbol(key.exchange, key.symbol),
    facts,
  )
  const drafts: BarDraft[] = []
  const open = () => {
    const draft = target.draft(key)
    drafts.push(draft)
    return draft
  }
  try {
    const options = { format, symbol: known, ...(progress ? { progress } : {}) }
    const { bars, draft, rows } = await stage(input, options, open)
    if (draft === null) return await storeBars(target, key, bars, facts)
    await draft.add(bars)
    return await described(target, key, bars, rows, () => draft.commit(), facts)
  } finally {
    // After a commit there is no draft left to discard.
    for (const draft of drafts) await draft.discard()
  }
}

/** Stores bars that are known to be valid; used by imports and providers. */
export function storeBars(
  target: ImportTarget,
  key: SeriesKey,
  bars: Bars,
  facts: Readonly<Record<string, unknown>> = {},
): Promise<ImportResult> {
  return described(target, key, bars, bars.length, () => target.upsert(key, bars), facts)
}

/** Writes, and describes the result. The symbol's facts are guessed from `bars`, which are some of those written. */
async function described(
  target: ImportTarget,
  key: SeriesKey,
  bars: Bars,
  rows: number,
  write: () => Promise<UpsertResult>,
  facts: Readonly<Record<string, unknown>>,
): Promise<ImportResult> {
  const known = await knownSymbol(target, key)
  const symbol = withSymbolFields(known ?? defaultSymbol(key.exchange, key.symbol, bars), facts)
  // The facts of a private series are private too, or they would reveal the symbol to others.
  if (!known || Object.values(facts).some((fact) => fact !== undefined))
    await target.store.putSymbol({ ...symbol, ...owned(ownerOf(key)) })
  const { inserted, updated, change, series } = await write()
  return {
    inserted,
    updated,
    series: series ?? { ...key, count: 0, first: 0, last: 0, change },
    symbol,
    rows,
    warnings: [...spacingWarnings(bars, key.interval), ...hoursWarnings(bars, symbol, key.interval)],
  }
}

/** The facts that were set or guessed before: the owner's own, else everybody's. */
export async function knownSymbol({ store }: ImportTarget, key: SeriesKey): Promise<SymbolInfo | null> {
  const { exchange, symbol } = key
  return (await store.symbol(exchange, symbol, ownerOf(key))) ?? store.symbol(exchange, symbol)
}

/** Warns of bars that lie closer together than their stated interval, which is then most likely wrong. */
function spacingWarnings(bars: Bars, interval: string): ImportResult['warnings'] {
  const given = parseInterval(interval)
  const found = inferInterval(bars)
  if (!given || !found || intervalMs(found) >= intervalMs(given) * 0.9) return []
  return [
    {
      code: 'interval_mismatch',
      message: `The bars were stored as ${interval}, but most of them are ${formatInterval(found)} apart.`,
    },
  ]
}

/** Fewer hours than a market has that trades around the clock, and more than one that opens twice a day. */
const HOURS_OF_A_SESSION = 18
const BARS_THAT_TELL = 50

/**
 * Warns of bars of an unknown exchange that look as if it has closing hours. We take it to trade around the clock, so its
 * days and hours end too late.
 */
function hoursWarnings(bars: Bars, symbol: SymbolInfo, interval: string): ImportResult['warnings'] {
  const given = parseInterval(interval)
  if (symbol.session !== '24x7' || !given || !isIntraday(given) || bars.length < BARS_THAT_TELL) return []
  if (intervalMs(given) > HOUR) return []
  const hours = new Set<number>()
  const days = new Set<number>()
  for (let i = 0; i < bars.length; i++) {
    const time = bars.time[i] ?? 0
    hours.add(Math.floor((time % DAY) / HOUR))
    days.add(Math.floor(time / DAY))
  }
  if (hours.size > HOURS_OF_A_SESSION || days.size < 3) return []
  return [
    {
      code: 'session_unknown',
      message: `${symbol.exchange}:${symbol.symbol} is taken to trade around the clock, but its bars keep to ${hours.size} hours of the day. State its session and time zone, such as 0930-1600 and America/New_York, or days and hours made of its bars end too late.`,
    },
  ]
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

const COMMON = [
  '1s',
  '1m',
  '3m',
  '5m',
  '15m',
  '30m',
  '1h',
  '2h',
  '4h',
  '6h',
  '12h',
  '1d',
  '1w',
  '1M',
  '3M',
  '12M',
]

/** The interval of bars that came without one: the most frequent distance between them; null for fewer than two. */
export function inferInterval(bars: Bars): Interval | null {
  const counts = new Map<number, number>()
  for (let i = 1; i < Math.min(bars.length, 5000); i++) {
    const distance = (bars.time[i] ?? 0) - (bars.time[i - 1] ?? 0)
    counts.set(distance, (counts.get(distance) ?? 0) + 1)
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])
  if (!most) return null
  const [distance] = most
  // Daily bars may be an hour off, and monthly ones three days.
  const near = COMMON.flatMap((text) => parseInterval(text) ?? []).find(
    (interval) =>
      Math.abs(intervalMs(interval) - distance) <= intervalMs(interval) * (isLong(interval) ? 0.1 : 0),
  )
  if (near) return near
  return distance % 60_000 === 0
    ? parseInterval(`${distance / 60_000}m`)
    : parseInterval(`${distance / 1000}s`)
}

function isLong({ unit }: Interval): boolean {
  return unit === 'd' || unit === 'w' || unit === 'M'
}
