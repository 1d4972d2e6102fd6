// Twelve Data, GET /time_series: up to 5,000 bars a request; a free key has 8 requests a minute and 800 a day. Refusals come
// with `status: "error"` and a code in the body, whatever the status of the answer. Several symbols can be asked for at once; each
// counts as a request, and has an answer of its own under its name.

import { formatInterval, intervalMs } from '../../interval.ts'
import { malformedList } from '../../listings/fetch-list.ts'
import { listing, listings, type SymbolList } from '../../listings/listing.ts'
import type { SymbolType } from '../../../lib/symbol-type.ts'
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
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts'
import { AMERICAN, type Credentials, type KeyedProvider, numberIn } from './keyed-provider.ts'

const NAMES: Readonly<Record<string, string>> = {
  '1m': '1min',
  '5m': '5min',
  '15m': '15min',
  '30m': '30min',
  '45m': '45min',
  '1h': '1h',
  '2h': '2h',
  '4h': '4h',
  '1d': '1day',
  '1w': '1week',
  '1M': '1month',
}
/** By our exchange, the name that it has there; '' for pairs of currencies, which have none. */
const EXCHANGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(AMERICAN.map((name) => [name, name])),
  ARCA: 'NYSE',
  AMEX: 'NYSE',
  BATS: 'CBOE',
  LSE: 'LSE',
  XETR: 'XETR',
  TSX: 'TSX',
  FX: '',
  FX_IDC: '',
}
const TYPES: Readonly<Record<string, SymbolType>> = {
  'Exchange-Traded Fund': 'fund',
  ETF: 'fund',
  'Depositary Receipt': 'dr',
  'American Depositary Receipt': 'dr',
  Warrant: 'warrant',
  Right: 'right',
}
const NAME = 'Twelve Data'
const HOST = 'https://api.twelvedata.com'
const PAGE = 5000

const headersOf = ({ key }: Credentials) => ({ authorization: `apikey ${key}` })
const instant = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

const providerOf = (credentials: Credentials): Provider => ({
  name: NAME,
  exchanges: Object.keys(EXCHANGES),
  gapMs: 0,
  pace: new Pace([
    { count: 8, perMs: 60_000 },
    { count: 800, perMs: 86_400_000 },
  ]),
  headers: headersOf(credentials),
  intervalName: (interval) => NAMES[formatInterval(interval)] ?? null,
  pageUrl: (query) => urlOf(query, symbolOf(query)),
  readPage(body, query) {
    const end = endOf(query)
    const rows = rowsIn(body, query)
    if (rows instanceof ProviderError) throw rows
    return { rows, next: end < query.to ? end : null }
  },
  batch: {
    most: 8,
    isPaidBySymbol: true,
    pageUrl: (queries) => urlOf(queries[0]!, queries.map(symbolOf).join(',')),
    readPage(body, queries) {
      const answer = asRecord(body)
      // Refused as a whole.
      const refusal = refusalIn(body)
      if (!answer) throw malformed({ name: NAME })
      if (refusal === 'empty') return queries.map(() => [])
      if (refusal) throw refusedBy(refusal, body)
      return queries.map((query) => {
        const own = answer[symbolOf(query)]
        return own === undefined ? malformed({ name: NAME }) : rowsIn(own, query)
      })
    },
  },
  errorKind(_, body) {
    const refusal = refusalIn(body)
    return refusal === 'empty' ? null : refusal
  },
  isEmpty: (body) => refusalIn(body) === 'empty',
})

const symbolOf = ({ exchange, symbol }: BarQuery): string =>
  EXCHANGES[exchange] === '' && /^[A-Z]{6}$/.test(symbol)
    ? `${symbol.slice(0, 3)}/${symbol.slice(3)}`
    : symbol

const endOf = ({ interval, from, to }: BarQuery): number => Math.min(to, from + intervalMs(interval) * PAGE)

function urlOf(query: BarQuery, symbol: string): string {
  const venue = EXCHANGES[query.exchange] ?? ''
  const asked = new URLSearchParams({
    symbol,
    ...(venue !== '' && { exchange: venue }),
    interval: NAMES[formatInterval(query.interval)] ?? '',
    start_date: instant(query.from),
    end_date: instant(endOf(query) - 1),
    timezone: 'UTC',
    order: 'ASC',
    outputsize: String(PAGE),
  })
  return `${HOST}/time_series?${asked.toString()}`
}

/** The rows of one symbol's answer, or why there are none. */
function rowsIn(body: unknown, query: BarQuery): readonly BarRow[] | ProviderError {
  const answer = asRecord(body)
  const refusal = refusalIn(body)
  if (refusal === 'empty') return []
  if (refusal) return refusedBy(refusal, body)
  const list = asList(answer?.['values'])
  if (!list) return malformed({ name: NAME })
  requireSymbol(NAME, symbolOf(query), asRecord(answer?.['meta'])?.['symbol'])
  return list.map((item): BarRow => {
    const bar = asRecord(item)
    const [open, high, low, close] = ['open', 'high', 'low', 'close'].map((name) => numberIn(bar?.[name]))
    // Pairs of currencies have no volume.
    const volume = bar?.['volume'] === undefined ? 0 : numberIn(bar['volume'])
    return [timeIn(bar?.['datetime']), open!, high!, low!, close!, volume]
  })
}

const refusedBy = (kind: ProviderErrorKind, body: unknown): ProviderError =>
  new ProviderError(kind, `${NAME} refused the request: ${messageIn(body)}`)

/** `2021-09-16` or `2021-09-16 15:59:00`, in UTC as we asked for it. */
function timeIn(value: unknown): number {
  const [, day = '', clock = '00:00:00'] =
    /^(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}:\d{2}))?$/.exec(String(value)) ?? []
  return Date.parse(`${day}T${clock}Z`)
}

const messageIn = (body: unknown) => String(asRecord(body)?.['message']).slice(0, 200)

function refusalIn(body: unknown): ProviderErrorKind | 'empty' | null {
  const answer = asRecord(body)
  if (answer?.['status'] !== 'error') return null
  const code = answer['code']
  if (code === 400 && /no data is available/i.test(messageIn(body))) return 'empty'
  if (code === 401 || code === 403) return 'unauthorized'
  if (code === 404) return 'unknown_symbol'
  if (code === 429) return 'rate_limited'
  return code === 500 ? 'unavailable' : 'malformed'
}

const listOf = (credentials: Credentials): SymbolList => ({
  provider: NAME,
  exchanges: Object.keys(EXCHANGES),
  gapMs: 8000,
  async *read(pages) {
    for (const path of ['stocks', 'etfs', 'forex_pairs']) {
      const url = `${HOST}/${path}${path === 'forex_pairs' ? '' : '?country=United%20States'}`
      const all = asList(asRecord(await pages.json({ url, headers: headersOf(credentials) }))?.['data'])
      if (!all) throw malformedList(NAME)
      yield listings(
        all.map((item) => {
          const one = asRecord(item)
          if (path === 'forex_pairs') {
            const pair = String(one?.['symbol']).replace('/', '')
            return listing(
              'FX',
              pair,
              `${String(one?.['currency_base'])} / ${String(one?.['currency_quote'])}`,
              'forex',
            )
          }
          const type = path === 'etfs' ? 'fund' : (TYPES[String(one?.['type'])] ?? 'stock')
          return Object.hasOwn(EXCHANGES, String(one?.['exchange']))
            ? listing(one?.['exchange'], one?.['symbol'], one?.['name'], type)
            : null
        }),
      )
    }
  },
})

export const twelveData: KeyedProvider = {
  name: NAME,
  exchanges: Object.keys(EXCHANGES),
  needsSecret: false,
  limits: '8 requests a minute, 800 a day',
  make: (credentials) => ({ provider: providerOf(credentials), list: listOf(credentials) }),
}
