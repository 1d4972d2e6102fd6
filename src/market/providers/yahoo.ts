// Yahoo Finance's chart endpoint, GET /v8/finance/chart/AAPL: all bars of a stretch at once, with nulls where nothing was
// traded. Intraday history is short: minute bars a week a request and a month back, hours for two years.
//
// These are forty lines of our own because yahoo-finance2 needs cookies and half a megabyte for endpoints we do not use.

import { formatInterval, type Interval, intervalMs, isIntraday } from '../interval.ts'
import {
  asList,
  asRecord,
  type BarQuery,
  type BarRow,
  malformed,
  type Provider,
  requireSymbol,
} from './provider.ts'
import { ProviderError } from './provider-error.ts'

const INTERVALS: Readonly<Record<string, string>> = {
  '1m': '1m',
  '2m': '2m',
  '5m': '5m',
  '15m': '15m',
  '30m': '30m',
  '1h': '60m',
  '90m': '90m',
  '1d': '1d',
  '1w': '1wk',
  '1M': '1mo',
  '3M': '3mo',
}
const DAY = 86_400_000
/** The longest stretch of one request by interval; intervals not listed are fetched in one request. */
const SPAN_DAYS: Readonly<Record<string, number>> = {
  '1m': 7,
  '2m': 59,
  '5m': 59,
  '15m': 59,
  '30m': 59,
  '90m': 59,
  '1h': 700,
}

/** How far back it has an interval, a day less than it refuses; intervals not listed have no end. */
const REACH_DAYS: Readonly<Record<string, number>> = {
  '1m': 29,
  '2m': 59,
  '5m': 59,
  '15m': 59,
  '30m': 59,
  '90m': 59,
  '1h': 729,
}

/** The suffix of an exchange's tickers at Yahoo. */
const SUFFIXES: Readonly<Record<string, string>> = {
  NASDAQ: '',
  NYSE: '',
  AMEX: '',
  ARCA: '',
  OTC: '',
  SP: '',
  DJ: '',
  CBOE: '',
  FX: '=X',
  FX_IDC: '=X',
  LSE: '.L',
  XETR: '.DE',
  EURONEXT: '.PA',
  MIL: '.MI',
  BME: '.MC',
  SIX: '.SW',
  TSX: '.TO',
  TSE: '.T',
  HKEX: '.HK',
  NSE: '.NS',
  BSE: '.BO',
  ASX: '.AX',
  KRX: '.KS',
}
/** Exchanges whose prices Yahoo has as they are made; those of others are 15 to 20 minutes old, as its help says. */
const AT_ONCE = ['NASDAQ', 'NYSE', 'AMEX', 'ARCA', 'SP', 'DJ', 'FX', 'FX_IDC']
const DELAY_MS = 20 * 60_000

/** Yahoo's own names of indices. */
const INDICES: Readonly<Record<string, string>> = {
  'SP:SPX': '^GSPC',
  'DJ:DJI': '^DJI',
  'NASDAQ:IXIC': '^IXIC',
  'NASDAQ:NDX': '^NDX',
  'CBOE:VIX': '^VIX',
}

export const yahoo: Provider = {
  name: 'Yahoo Finance',
  exchanges: Object.keys(SUFFIXES),
  gapMs: 500,
  delayMs: (exchange) => (AT_ONCE.includes(exchange) ? 0 : DELAY_MS),
  intervalName: (interval) => INTERVALS[formatInterval(interval)] ?? null,
  reachMs: (interval) => (REACH_DAYS[formatInterval(interval)] ?? Infinity) * DAY,
  pageUrl(query) {
    const { interval, from, to } = query
    const name = formatInterval(interval)
    const asked = new URLSearchParams({
      period1: String(Math.floor(from / 1000)),
      period2: String(Math.ceil(endOf(name, from, to) / 1000)),
      interval: INTERVALS[name] ?? name,
      includePrePost: 'false',
    })
    return `https://query1.finance.yahoo.com/v8/finance/chart/${encodeURIComponent(tickerOf(query))}?${asked.toString()}`
  },
  readPage(body, query) {
    const { interval, from, to } = query
    const chart = asRecord(asRecord(body)?.['chart'])
    const result = asRecord(asList(chart?.['result'])?.[0])
    if (!result) throw new ProviderError('unknown_symbol', 'Yahoo Finance does not know the symbol.')
    requireSymbol(yahoo.name, tickerOf(query), asRecord(result['meta'])?.['symbol'])
    const end = endOf(formatInterval(interval), from, to)
    const next = end < to ? end : null
    const times = asList(result['timestamp'])
    // A stretch without trades has no list of times at all.
    if (!times) return { rows: [], next }
    const quote = asRecord(asList(asRecord(result['indicators'])?.['quote'])?.[0])
    const [open, high, low, close, volume] = ['open', 'high', 'low', 'close', 'volume'].map((name) =>
      asList(quote?.[name]),
    )
    if (!open || !high || !low || !close) throw malformed(yahoo)
    const rows = times.map((time, i): BarRow => [
      Number(time) * 1000,
      price(open[i]),
      price(high[i]),
      price(low[i]),
      price(close[i]),
      Number(volume?.[i] ?? 0),
    ])
    return { rows: withoutPrice(rows, interval, asRecord(result['meta'])), next }
  },
  errorKind: (status, body) =>
    status === 404 || asRecord(asRecord(body)?.['chart'])?.['error'] === 'Not Found'
      ? 'unknown_symbol'
      : null,
}

/**
 * Behind the bars comes the price of now, dated by its trade. Within a day it is in the bar before it as well; of a week or
 * longer that bar lacks it, and it has the whole day.
 */
function withoutPrice(
  rows: readonly BarRow[],
  interval: Interval,
  meta: Readonly<Record<string, unknown>> | null,
): readonly BarRow[] {
  const [before, last] = [rows.at(-2), rows.at(-1)]
  if (!last) return rows
  const isPrice = last[0] === Number(meta?.['regularMarketTime']) * 1000
  const bars = rows.slice(0, -1)
  if (isIntraday(interval))
    return isPrice || (before && last[0] - before[0] < intervalMs(interval)) ? bars : rows
  const offset = Number(meta?.['gmtoffset'] ?? 0) * 1000
  if (!isPrice || !before || interval.unit === 'd' || !isOnePeriod(before[0], last[0], interval, offset))
    return rows
  const [time, open, high, low, , volume] = before
  const whole: BarRow = [
    time,
    open,
    Math.max(high, last[2]),
    Math.min(low, last[3]),
    last[4],
    volume + last[5],
  ]
  return [...bars.slice(0, -1), whole]
}

/** Whether the second instant is in the week, or the months, that begin with the first. */
function isOnePeriod(first: number, second: number, { count, unit }: Interval, offset: number): boolean {
  if (unit === 'w') return second - first < 7 * DAY * count
  const [from, to] = [first, second].map((time) => new Date(time + offset))
  const months =
    (to!.getUTCFullYear() - from!.getUTCFullYear()) * 12 + to!.getUTCMonth() - from!.getUTCMonth()
  return months < count
}

const tickerOf = ({ exchange, symbol }: Pick<BarQuery, 'exchange' | 'symbol'>): string =>
  INDICES[`${exchange}:${symbol}`] ?? `${symbol.replace('.', '-')}${SUFFIXES[exchange] ?? ''}`

function endOf(interval: string, from: number, to: number): number {
  const days = SPAN_DAYS[interval]
  return days === undefined ? to : Math.min(to, from + days * DAY)
}

/**
 * Yahoo's prices are 32-bit floats: 1438.3599853515625 was 1438.36. A null, where nothing was traded, becomes NaN, which
 * makes the row no bar.
 */
function price(value: unknown): number {
  if (typeof value !== 'number') return Number.NaN
  return Math.fround(value) === value ? Number(value.toPrecision(7)) : value
}
