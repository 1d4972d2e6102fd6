// Coinbase Exchange, GET /products/BTC-USD/candles: up to 300 bars a page, newest first, 10 requests a second. Times
// without a trade have no bars, so an empty page does not mean the end.

import { intervalMs } from '../interval.ts'
import { asList, type BarRow, malformed, type Provider } from './provider.ts'

const GRANULARITIES: ReadonlySet<number> = new Set([60, 300, 900, 3600, 21_600, 86_400])
const PAGE = 300
const QUOTES = /(USDT|USDC|USD|EUR|GBP|BTC|ETH)$/

/** `BTCUSD` → `BTC-USD`. */
export const coinbaseProduct = (symbol: string): string =>
  symbol.includes('-') ? symbol : symbol.replace(QUOTES, '-$1')

/** A page that began within a bar might be one bar too long, which is refused. */
const pageStart = (from: number, step: number): number => from - (from % step)

export const coinbase: Provider = {
  name: 'Coinbase',
  exchanges: ['COINBASE'],
  gapMs: 120,
  intervalName(interval) {
    const seconds = intervalMs(interval) / 1000
    return GRANULARITIES.has(seconds) ? String(seconds) : null
  },
  pageUrl({ symbol, interval, from, to }) {
    const step = intervalMs(interval)
    const start = pageStart(from, step)
    const query = new URLSearchParams({
      granularity: String(step / 1000),
      start: new Date(start).toISOString(),
      // Both ends are inclusive.
      end: new Date(Math.min(to, start + step * PAGE) - 1).toISOString(),
    })
    return `https://api.exchange.coinbase.com/products/${encodeURIComponent(coinbaseProduct(symbol))}/candles?${query.toString()}`
  },
  readPage(body, { interval, from, to }) {
    const list = asList(body)
    if (!list) throw malformed(coinbase)
    const rows = list.map((item): BarRow => {
      const row = asList(item)
      if (!row || row.length < 6) throw malformed(coinbase)
      // The low comes before the high, and both before the open.
      const [time, low, high, open, close, volume] = row.map(Number)
      return [(time ?? 0) * 1000, open ?? 0, high ?? 0, low ?? 0, close ?? 0, volume ?? 0]
    })
    const step = intervalMs(interval)
    const next = pageStart(from, step) + step * PAGE
    return { rows, next: next < to ? next : null }
  },
}
