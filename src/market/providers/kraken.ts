// Kraken, GET /0/public/OHLC: always the newest 720 bars, whatever `since` says, so older ones are out of reach. Errors
// come in a list, with status 200. It allows one request a second.

import { intervalMs } from '../interval.ts'
import { asList, asRecord, type BarRow, malformed, type Provider } from './provider.ts'
import { ProviderError } from './provider-error.ts'

/** Kraken's weeks begin on Thursday, so we build ours from its days. */
const MINUTES: ReadonlySet<number> = new Set([1, 5, 15, 30, 60, 240, 1440])
/** Kraken's own tickers. */
const RENAMED: Readonly<Record<string, string>> = { BTC: 'XBT', DOGE: 'XDG' }

export const kraken: Provider = {
  name: 'Kraken',
  exchanges: ['KRAKEN'],
  gapMs: 1000,
  intervalName(interval) {
    const minutes = intervalMs(interval) / 60_000
    return MINUTES.has(minutes) ? String(minutes) : null
  },
  pageUrl({ symbol, interval, from }) {
    const query = new URLSearchParams({
      pair: symbol.replace(/[/_-]/, '').replace(/BTC|DOGE/, (coin) => RENAMED[coin] ?? coin),
      interval: String(intervalMs(interval) / 60_000),
      // Kraken excludes `since` itself.
      since: String(Math.floor(from / 1000) - 1),
    })
    return `https://api.kraken.com/0/public/OHLC?${query.toString()}`
  },
  readPage(body) {
    const answer = asRecord(body)
    const [error] = asList(answer?.['error']) ?? []
    if (typeof error === 'string') throw errorOf(error)
    const entry = Object.entries(asRecord(answer?.['result']) ?? {}).find(([name]) => name !== 'last')
    const list = asList(entry?.[1])
    if (!list) throw malformed(kraken)
    const rows = list.map((item): BarRow => {
      const row = asList(item)
      if (!row || row.length < 7) throw malformed(kraken)
      // The sixth column is the volume-weighted price.
      const [time, open, high, low, close, , volume] = row.map(Number)
      return [(time ?? 0) * 1000, open ?? 0, high ?? 0, low ?? 0, close ?? 0, volume ?? 0]
    })
    return { rows, next: null }
  },
}

function errorOf(text: string): ProviderError {
  if (/rate limit|Too many requests/i.test(text))
    return new ProviderError('rate_limited', 'Kraken: too many requests.')
  if (/Unknown asset pair/i.test(text))
    return new ProviderError('unknown_symbol', 'Kraken does not know the symbol.')
  if (/EService|EGeneral:Internal/i.test(text))
    return new ProviderError('unavailable', 'Kraken is not available.')
  return malformed(kraken)
}
