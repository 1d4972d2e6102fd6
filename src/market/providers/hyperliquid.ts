// Hyperliquid, POST /info with `candleSnapshot`: up to 500 bars an answer, oldest first, and only the newest 5,000 of each
// interval. A request weighs 20 of 1,200 a minute, and one more for each 60 bars.

import { formatInterval, intervalMs } from '../interval.ts'
import { asList, asRecord, type BarRow, malformed, type Provider } from './provider.ts'

const INTERVALS: ReadonlySet<string> = new Set('1m 3m 5m 15m 30m 1h 2h 4h 8h 12h 1d 1w 1M'.split(' '))
const PAGE = 500

/** `BTCUSDC.P`, `BTCUSD` and `BTC` → `BTC`, since all of its contracts are quoted in dollars. */
export const hyperliquidCoin = (symbol: string): string =>
  symbol.replace(/\.P$/, '').replace(/(?<=.)[/_-]?(USDC|USDT|USD)$/, '')

export const hyperliquid: Provider = {
  name: 'Hyperliquid',
  exchanges: ['HYPERLIQUID'],
  gapMs: 1500,
  intervalName(interval) {
    const name = formatInterval(interval)
    return INTERVALS.has(name) ? name : null
  },
  pageUrl: () => 'https://api.hyperliquid.xyz/info',
  pageBody: ({ symbol, interval, from, to }) => ({
    type: 'candleSnapshot',
    req: {
      coin: hyperliquidCoin(symbol),
      interval: formatInterval(interval),
      startTime: from,
      endTime: Math.min(to, from + intervalMs(interval) * PAGE) - 1,
    },
  }),
  readPage(body, { interval, from, to }) {
    const list = asList(body)
    if (!list) throw malformed(hyperliquid)
    const rows = list.map(candleOf)
    const next = from + intervalMs(interval) * PAGE
    return { rows, next: next < to ? next : null }
  },
  // It answers an unknown coin with 500 and `null`.
  errorKind: (status, body) => (status === 500 && body === null ? 'unknown_symbol' : null),
}

export function candleOf(item: unknown): BarRow {
  const candle = asRecord(item)
  if (!candle) throw malformed(hyperliquid)
  const { t, o, h, l, c, v } = candle
  return [Number(t), Number(o), Number(h), Number(l), Number(c), Number(v)]
}
