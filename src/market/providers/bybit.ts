// Bybit, GET /v5/market/kline: up to 1,000 bars a page, newest first, 600 requests in 5 seconds. Spot, and the perpetual
// contracts whose ticker ends in .P. Errors come with status 200 and a number of their own.

import { formatInterval, intervalMs } from '../interval.ts'
import { asList, asRecord, type BarRow, malformed, type Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'

const NAMES: Readonly<Record<string, string>> = {
  '1m': '1',
  '3m': '3',
  '5m': '5',
  '15m': '15',
  '30m': '30',
  '1h': '60',
  '2h': '120',
  '4h': '240',
  '6h': '360',
  '12h': '720',
  '1d': 'D',
  '1w': 'W',
  '1M': 'M',
}
const PAGE = 1000

/** Bybit's own ticker, and which of its markets has it. */
export function bybitMarket(symbol: string): { readonly category: 'spot' | 'linear'; readonly name: string } {
  const name = symbol.replace(/\.P$/, '').replace(/[/_-]/, '')
  return { category: symbol.endsWith('.P') ? 'linear' : 'spot', name }
}

export const bybit: Provider = {
  name: 'Bybit',
  exchanges: ['BYBIT'],
  gapMs: 50,
  intervalName: (interval) => NAMES[formatInterval(interval)] ?? null,
  pageUrl({ symbol, interval, from, to }) {
    const { category, name } = bybitMarket(symbol)
    const query = new URLSearchParams({
      category,
      symbol: name,
      interval: NAMES[formatInterval(interval)] ?? '',
      start: String(from),
      // A page has the newest bars of its stretch, so the stretch may not hold more than a page, nor end before the next begins.
      end: String(Math.min(to, from + intervalMs(interval) * PAGE) - 1),
      limit: String(PAGE),
    })
    return `https://api.bybit.com/v5/market/kline?${query.toString()}`
  },
  readPage(body, { interval, from, to }) {
    const answer = asRecord(body)
    if (answer?.['retCode'] !== 0) throw errorOf(Number(answer?.['retCode']), String(answer?.['retMsg']))
    const list = asList(asRecord(answer['result'])?.['list'])
    if (!list) throw malformed(bybit)
    const rows = list.map((item): BarRow => {
      const row = asList(item)
      if (!row || row.length < 6) throw malformed(bybit)
      const [time, open, high, low, close, volume] = row.map(Number)
      return [time ?? 0, open ?? 0, high ?? 0, low ?? 0, close ?? 0, volume ?? 0]
    })
    const next = from + intervalMs(interval) * PAGE
    return { rows, next: next < to ? next : null }
  },
}

function errorOf(code: number, text: string): ProviderError {
  if (code === 10_006 || code === 10_018)
    return new ProviderError('rate_limited', 'Bybit: too many requests.')
  if (code === 10_001 && /symbol/i.test(text))
    return new ProviderError('unknown_symbol', 'Bybit does not know the symbol.')
  if (code === 10_016) return new ProviderError('unavailable', 'Bybit is not available.')
  return malformed(bybit)
}
