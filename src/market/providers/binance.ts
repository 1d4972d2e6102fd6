// Binance spot, GET /api/v3/klines: up to 1,000 bars a page, oldest first, weight 2 of 6,000 a minute. Too many requests
// get 429 with Retry-After, and 418 when the client goes on regardless. The tenth column is what takers bought, as in the stream.

import { formatInterval } from '../interval.ts'
import { asList, asRecord, type BarRow, malformed, type Provider, sided } from './provider.ts'

/** Binance counts its 3d bars from 1970, we count from the start of the year, so 3d is missing here. */
const INTERVALS: ReadonlySet<string> = new Set('1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 1w 1M'.split(' '))
const PAGE = 1000

export const binance: Provider = {
  name: 'Binance',
  exchanges: ['BINANCE'],
  gapMs: 50,
  intervalName(interval) {
    const name = formatInterval(interval)
    return INTERVALS.has(name) ? name : null
  },
  pageUrl({ symbol, interval, from, to }) {
    const query = new URLSearchParams({
      symbol: symbol.replace(/[/_-]/, ''),
      interval: formatInterval(interval),
      startTime: String(from),
      endTime: String(to - 1),
      limit: String(PAGE),
    })
    return `https://api.binance.com/api/v3/klines?${query.toString()}`
  },
  readPage(body) {
    const list = asList(body)
    if (!list) throw malformed(binance)
    const rows = list.map((item): BarRow => {
      const row = asList(item)
      if (!row || row.length < 6) throw malformed(binance)
      const [time, open, high, low, close, volume] = row.map(Number)
      return sided([time ?? 0, open ?? 0, high ?? 0, low ?? 0, close ?? 0, volume ?? 0], row[9])
    })
    const last = rows.at(-1)
    return { rows, next: last && rows.length >= PAGE ? last[0] + 1 : null }
  },
  errorKind: (status, body) =>
    status === 400 && asRecord(body)?.['code'] === -1121 ? 'unknown_symbol' : null,
}
