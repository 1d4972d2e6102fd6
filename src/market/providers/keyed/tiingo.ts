// Tiingo: GET /tiingo/daily/AAPL/prices for days, weeks and months, GET /iex/AAPL/prices for minutes and hours; a free key has 50
// requests an hour and 1,000 a day. Both take days as bounds and answer a bare list, oldest first. Prices of days are as they
// were traded: Tiingo's adjusted ones have dividends in them and change with each. Days are there at 17:30 in New York, and are
// corrected until 20:00.

import { formatInterval, isIntraday, intervalMs } from '../../interval.ts'
import { Pace } from '../pace.ts'
import { asList, asRecord, type BarRow, malformed, type Provider } from '../provider.ts'
import { AMERICAN, type Credentials, type KeyedProvider, numberIn } from './keyed-provider.ts'

const NAMES: Readonly<Record<string, string>> = {
  '1m': '1min',
  '5m': '5min',
  '15m': '15min',
  '30m': '30min',
  '1h': '1hour',
  '1d': 'daily',
  '1w': 'weekly',
  '1M': 'monthly',
}
const NAME = 'Tiingo'
const DAY = 86_400_000
/** An answer has at most 10,000 rows, and a day of trading 390 minutes. */
const ROWS = 9000
const MINUTES_A_DAY = 390
const DAILY_DELAY_MS = 90 * 60_000

const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10)

function endOf(interval: Parameters<typeof intervalMs>[0], from: number, to: number): number {
  if (!isIntraday(interval)) return to
  const rowsADay = (MINUTES_A_DAY * 60_000) / intervalMs(interval)
  return Math.min(to, (Math.floor(from / DAY) + Math.max(1, Math.floor(ROWS / rowsADay))) * DAY)
}

const providerOf = ({ key }: Credentials): Provider => ({
  name: NAME,
  exchanges: AMERICAN,
  gapMs: 0,
  pace: new Pace([
    { count: 50, perMs: 3_600_000 },
    { count: 1000, perMs: DAY },
  ]),
  delayMs: (_, interval) => (isIntraday(interval) ? 0 : DAILY_DELAY_MS),
  headers: { authorization: `Token ${key}` },
  intervalName: (interval) => NAMES[formatInterval(interval)] ?? null,
  pageUrl({ symbol, interval, from, to }) {
    const query = new URLSearchParams({
      startDate: dateOf(from),
      endDate: dateOf(endOf(interval, from, to)),
      resampleFreq: NAMES[formatInterval(interval)] ?? '',
      ...(isIntraday(interval) && { columns: 'open,high,low,close,volume' }),
    })
    const folder = isIntraday(interval) ? 'iex' : 'tiingo/daily'
    const ticker = encodeURIComponent(symbol.replace('.', '-'))
    return `https://api.tiingo.com/${folder}/${ticker}/prices?${query.toString()}`
  },
  readPage(body, { interval, from, to }) {
    const list = asList(body)
    if (!list) throw malformed({ name: NAME })
    const rows = list.map((item): BarRow => {
      const bar = asRecord(item)
      const [open, high, low, close, volume] = ['open', 'high', 'low', 'close', 'volume'].map((name) =>
        numberIn(bar?.[name]),
      )
      return [Date.parse(String(bar?.['date'])), open!, high!, low!, close!, volume!]
    })
    const end = endOf(interval, from, to)
    return { rows, next: end < to ? end : null }
  },
  errorKind: (status) => (status === 401 || status === 403 ? 'unauthorized' : null),
})

export const tiingo: KeyedProvider = {
  name: NAME,
  exchanges: AMERICAN,
  needsSecret: false,
  limits: '50 requests an hour, 1,000 a day',
  make: (credentials) => ({ provider: providerOf(credentials), list: null }),
}
