// OKX, GET /api/v5/market/history-candles: up to 100 bars a page, newest first, 20 requests in 2 seconds. The newest 1,440
// bars, with the forming one, are at /api/v5/market/candles, 300 a page. Days without `utc` in their name begin in Hong Kong.

import { formatInterval, intervalMs } from '../interval.ts'
import { asList, asRecord, type BarRow, malformed, type Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'

const NAMES: Readonly<Record<string, string>> = {
  '1s': '1s',
  '1m': '1m',
  '3m': '3m',
  '5m': '5m',
  '15m': '15m',
  '30m': '30m',
  '1h': '1H',
  '2h': '2H',
  '4h': '4H',
  '6h': '6Hutc',
  '12h': '12Hutc',
  '1d': '1Dutc',
  '1w': '1Wutc',
  '1M': '1Mutc',
}
const PAGE = 100
/** A page that begins less than this many bars ago is asked of the newest bars, which reach 1,440 back. */
const NEWEST_BARS = 1400
const QUOTES = /(USDT|USDC|USD|EUR|BTC|ETH)$/

/** `BTCUSDT` → `BTC-USDT`, and of perpetual contracts `BTCUSDT.P` → `BTC-USDT-SWAP`. */
export function okxInstrument(symbol: string): string {
  const spot = symbol.replace(/\.P$/, '')
  const name = spot.includes('-') ? spot : spot.replace(QUOTES, '-$1')
  return symbol.endsWith('.P') ? `${name}-SWAP` : name
}

export const okx: Provider = {
  name: 'OKX',
  exchanges: ['OKX'],
  gapMs: 100,
  intervalName: (interval) => NAMES[formatInterval(interval)] ?? null,
  pageUrl({ symbol, interval, from, to, now }) {
    const step = intervalMs(interval)
    const end = Math.min(to, from + step * PAGE)
    const query = new URLSearchParams({
      instId: okxInstrument(symbol),
      bar: NAMES[formatInterval(interval)] ?? '',
      // Both are exclusive: bars before `after`, and behind `before`.
      after: String(end),
      before: String(from - 1),
      limit: String(PAGE),
    })
    const name = now - from <= step * NEWEST_BARS ? 'candles' : 'history-candles'
    return `https://www.okx.com/api/v5/market/${name}?${query.toString()}`
  },
  readPage(body, { interval, from, to }) {
    const answer = asRecord(body)
    if (answer?.['code'] !== '0') throw okxError(String(answer?.['code']))
    const list = asList(answer['data'])
    if (!list) throw malformed(okx)
    const rows = list.map((item): BarRow => {
      const row = asList(item)
      if (!row || row.length < 6) throw malformed(okx)
      const [time, open, high, low, close, volume] = row.map(Number)
      return [time ?? 0, open ?? 0, high ?? 0, low ?? 0, close ?? 0, volume ?? 0]
    })
    const next = from + intervalMs(interval) * PAGE
    return { rows, next: next < to ? next : null }
  },
  errorKind: (_, body) => {
    const code = asRecord(body)?.['code']
    return typeof code === 'string' ? okxError(code).kind : null
  },
}

function okxError(code: string): ProviderError {
  if (code === '50011') return new ProviderError('rate_limited', 'OKX: too many requests.')
  if (code === '51001') return new ProviderError('unknown_symbol', 'OKX does not know the symbol.')
  if (code === '50001' || code === '50013') return new ProviderError('unavailable', 'OKX is not available.')
  return malformed(okx)
}
