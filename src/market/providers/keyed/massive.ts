// Massive (Polygon until 2025), GET /v2/aggs/ticker/AAPL/range/5/minute/FROM/TO: all bars of a stretch up to 50,000 of the base
// interval, oldest first; a free key has 5 requests a minute. Bars have pre- and after-market trades in them, so none longer than
// half an hour are asked for. Without a plan for it, the newest quarter of an hour is held back.

import { formatInterval } from '../../interval.ts'
import { malformedList } from '../../listings/fetch-list.ts'
import { listing, listings, type SymbolList } from '../../listings/listing.ts'
import type { SymbolType } from '../../../lib/symbol-type.ts'
import { Pace } from '../pace.ts'
import { asList, asRecord, type BarRow, malformed, type Provider, requireSymbol } from '../provider.ts'
import { AMERICAN, type Credentials, type KeyedProvider, numberIn } from './keyed-provider.ts'

const NAMES: Readonly<Record<string, string>> = {
  '1m': '1/minute',
  '2m': '2/minute',
  '3m': '3/minute',
  '5m': '5/minute',
  '10m': '10/minute',
  '15m': '15/minute',
  '30m': '30/minute',
  '1d': '1/day',
  '1w': '1/week',
  '1M': '1/month',
}
/** The operating MIC of an exchange, as its list has it. */
const EXCHANGES: Readonly<Record<string, string>> = {
  XNAS: 'NASDAQ',
  XNYS: 'NYSE',
  XASE: 'AMEX',
  ARCX: 'ARCA',
  BATS: 'BATS',
}
const TYPES: Readonly<Record<string, SymbolType>> = {
  ETF: 'fund',
  ETN: 'fund',
  ETV: 'fund',
  FUND: 'fund',
  ADRC: 'dr',
  WARRANT: 'warrant',
  RIGHT: 'right',
  BOND: 'bond',
}
const NAME = 'Massive'
const HOST = 'https://api.massive.com'
const DELAY_MS = 15 * 60_000

const headersOf = ({ key }: Credentials) => ({ authorization: `Bearer ${key}` })

const providerOf = (credentials: Credentials): Provider => ({
  name: NAME,
  exchanges: AMERICAN,
  gapMs: 0,
  pace: new Pace([{ count: 5, perMs: 60_000 }]),
  hasExtendedHours: true,
  delayMs: () => DELAY_MS,
  headers: headersOf(credentials),
  intervalName: (interval) => NAMES[formatInterval(interval)] ?? null,
  pageUrl({ symbol, interval, from, to }) {
    const range = NAMES[formatInterval(interval)] ?? ''
    const query = 'adjusted=true&sort=asc&limit=50000'
    return `${HOST}/v2/aggs/ticker/${encodeURIComponent(symbol)}/range/${range}/${from}/${to - 1}?${query}`
  },
  readPage(body, { symbol }) {
    const answer = asRecord(body)
    requireSymbol(NAME, symbol, answer?.['ticker'])
    const status = answer?.['status']
    // Without bars there is no list at all.
    const list = answer?.['resultsCount'] === 0 ? [] : asList(answer?.['results'])
    if ((status !== 'OK' && status !== 'DELAYED') || !list) throw malformed({ name: NAME })
    const rows = list.map((item): BarRow => {
      const bar = asRecord(item)
      const [time, open, high, low, close, volume] = ['t', 'o', 'h', 'l', 'c', 'v'].map((name) =>
        numberIn(bar?.[name]),
      )
      return [time!, open!, high!, low!, close!, volume!]
    })
    const last = rows.at(-1)
    return { rows, next: last && answer?.['next_url'] ? last[0] + 1 : null }
  },
  errorKind: (status) => (status === 401 || status === 403 ? 'unauthorized' : null),
})

const listOf = (credentials: Credentials): SymbolList => ({
  provider: NAME,
  exchanges: Object.values(EXCHANGES),
  gapMs: 12_000,
  async *read(pages) {
    const path = '/v3/reference/tickers'
    for (let query = 'market=stocks&active=true&limit=1000&order=asc&sort=ticker'; ;) {
      const url = `${HOST}${path}?${query}`
      const answer = asRecord(await pages.json({ url, headers: headersOf(credentials) }))
      const all = asList(answer?.['results'])
      if (answer?.['status'] !== 'OK' || !all) throw malformedList(NAME)
      yield listings(
        all.map((item) => {
          const one = asRecord(item)
          const exchange = EXCHANGES[String(one?.['primary_exchange'])]
          return listing(exchange, one?.['ticker'], one?.['name'], TYPES[String(one?.['type'])] ?? 'stock')
        }),
      )
      const next = answer['next_url']
      if (typeof next !== 'string' || !URL.canParse(next)) return
      // Only the place is taken of it: the key goes to no address that an answer names.
      const { search } = new URL(next)
      if (search.slice(1) === query) return
      query = search.slice(1)
    }
  },
})

export const massive: KeyedProvider = {
  name: NAME,
  exchanges: AMERICAN,
  needsSecret: false,
  limits: '5 requests a minute',
  make: (credentials) => ({ provider: providerOf(credentials), list: listOf(credentials) }),
}
