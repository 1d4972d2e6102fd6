// Alpaca, GET /v2/stocks/AAPL/bars, or /v2/stocks/bars for several symbols, one after the other: up to 10,000 bars a page, oldest
// first, 200 requests a minute. The feed is IEX, which every key may have as it happens. Bars have pre- and after-market trades
// in them, so none longer than half an hour are asked for: those would begin outside of the session.

import { formatInterval } from '../../interval.ts'
import { malformedList } from '../../listings/fetch-list.ts'
import { listing, listings, type SymbolList } from '../../listings/listing.ts'
import { stockType } from '../../listings/stock-lists.ts'
import { Pace } from '../pace.ts'
import {
  asList,
  asRecord,
  type BarQuery,
  type BarRow,
  malformed,
  type Provider,
  requireSymbol,
} from '../provider.ts'
import { AMERICAN, type Credentials, type KeyedProvider, numberIn } from './keyed-provider.ts'

const NAMES: Readonly<Record<string, string>> = {
  '1m': '1Min',
  '2m': '2Min',
  '3m': '3Min',
  '5m': '5Min',
  '10m': '10Min',
  '15m': '15Min',
  '30m': '30Min',
  '1d': '1Day',
  '1w': '1Week',
  '1M': '1Month',
}
const NAME = 'Alpaca'

const headersOf = ({ key, secret }: Credentials) => ({
  'APCA-API-KEY-ID': key,
  'APCA-API-SECRET-KEY': secret,
})

function asked({ interval, from, to }: BarQuery): URLSearchParams {
  return new URLSearchParams({
    timeframe: NAMES[formatInterval(interval)] ?? '',
    start: new Date(from).toISOString(),
    // It is inclusive.
    end: new Date(to - 1).toISOString(),
    limit: '10000',
    adjustment: 'split',
    feed: 'iex',
    sort: 'asc',
  })
}

function rowOf(item: unknown): BarRow {
  const bar = asRecord(item)
  const [open, high, low, close, volume] = ['o', 'h', 'l', 'c', 'v'].map((name) => numberIn(bar?.[name]))
  return [Date.parse(String(bar?.['t'])), open!, high!, low!, close!, volume!]
}

const providerOf = (credentials: Credentials): Provider => ({
  name: NAME,
  exchanges: AMERICAN,
  gapMs: 300,
  pace: new Pace([{ count: 200, perMs: 60_000 }]),
  hasExtendedHours: true,
  headers: headersOf(credentials),
  intervalName: (interval) => NAMES[formatInterval(interval)] ?? null,
  pageUrl(query) {
    const path = `v2/stocks/${encodeURIComponent(query.symbol)}/bars`
    return `https://data.alpaca.markets/${path}?${asked(query).toString()}`
  },
  readPage(body, { symbol }) {
    const answer = asRecord(body)
    // A stretch without trades has null in place of its bars.
    const list = answer?.['bars'] === null ? [] : asList(answer?.['bars'])
    if (!list) throw malformed({ name: NAME })
    requireSymbol(NAME, symbol, answer?.['symbol'])
    const rows = list.map(rowOf)
    const last = rows.at(-1)
    return { rows, next: last && answer?.['next_page_token'] ? last[0] + 1 : null }
  },
  batch: {
    most: 100,
    isPaidBySymbol: false,
    pageUrl(queries) {
      const query = asked(queries[0]!)
      query.set('symbols', queries.map(({ symbol }) => symbol).join(','))
      return `https://data.alpaca.markets/v2/stocks/bars?${query.toString()}`
    },
    readPage(body, queries) {
      const answer = asRecord(body)
      const bars = asRecord(answer?.['bars'])
      if (!bars) throw malformed({ name: NAME })
      // Symbol comes after symbol: of a page that is full the last one may lack some, and those behind it all.
      const isFull = Boolean(answer?.['next_page_token'])
      const whole = Object.keys(bars).slice(0, isFull ? -1 : undefined)
      return queries.map(({ symbol }) => {
        if (isFull && !whole.includes(symbol)) return null
        return (asList(bars[symbol]) ?? []).map(rowOf)
      })
    },
  },
  errorKind: (status, body) =>
    status === 401 || status === 403
      ? 'unauthorized'
      : status === 422 || (status === 400 && /symbol/i.test(String(asRecord(body)?.['message'])))
        ? 'unknown_symbol'
        : null,
})

const listOf = (credentials: Credentials): SymbolList => ({
  provider: NAME,
  exchanges: AMERICAN,
  gapMs: 300,
  async *read(pages) {
    // Keys of paper accounts begin with PK, and are known on another host.
    const host = credentials.key.startsWith('PK') ? 'paper-api' : 'api'
    const url = `https://${host}.alpaca.markets/v2/assets?status=active&asset_class=us_equity`
    const all = asList(await pages.json({ url, headers: headersOf(credentials) }))
    if (!all) throw malformedList(NAME)
    yield listings(
      all.map((item) => {
        const one = asRecord(item)
        if (one?.['status'] !== 'active') return null
        const name = typeof one['name'] === 'string' ? one['name'] : ''
        return listing(one['exchange'], one['symbol'], name, stockType(name, /\bETF\b/.test(name)))
      }),
    )
  },
})

export const alpaca: KeyedProvider = {
  name: NAME,
  exchanges: AMERICAN,
  needsSecret: true,
  limits: '200 requests a minute',
  make: (credentials) => ({ provider: providerOf(credentials), list: listOf(credentials) }),
}
