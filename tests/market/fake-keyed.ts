// Alpaca, Massive, Tiingo and Twelve Data, as their documentation has them: fields and their order, limits, and error bodies.

import { asRecord } from '../../src/market/providers/provider.ts'

const MINUTE = 60_000

export interface KeyedVenue {
  readonly requests: { readonly url: URL; readonly headers: Readonly<Record<string, string>> }[]
  readonly http: (
    url: string,
    signal?: AbortSignal,
    body?: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Response>
  /** Answers instead of the next requests, in turn. */
  readonly faults: (() => Response)[]
}

/** A day of New York with bars of 30 minutes from 8:00 to 17:00, in winter; days stand for all longer intervals. */
export const DAY_START = Date.UTC(2025, 0, 6)
const OPEN = DAY_START + 14.5 * 3_600_000
export const HALF_HOURS = Array.from({ length: 18 }, (_, i) => DAY_START + 13 * 3_600_000 + i * 30 * MINUTE)
export const IN_SESSION = HALF_HOURS.filter((time) => time >= OPEN && time < OPEN + 390 * MINUTE)

const barAt = (time: number) => {
  const price = 100 + ((time / (30 * MINUTE)) % 7)
  return { time, open: price, high: price + 2, low: price - 1, close: price + 1, volume: 10 }
}

const KEYS: Readonly<Record<string, (headers: Readonly<Record<string, string>>) => boolean>> = {
  'data.alpaca.markets': (headers) =>
    headers['APCA-API-KEY-ID'] === 'PKTEST' && headers['APCA-API-SECRET-KEY'] === 'secret',
  'api.massive.com': (headers) => headers['authorization'] === 'Bearer mkey',
  'api.tiingo.com': (headers) => headers['authorization'] === 'Token tkey',
  'api.twelvedata.com': (headers) => headers['authorization'] === 'apikey dkey',
}

export function keyedVenue(): KeyedVenue {
  const requests: KeyedVenue['requests'] = []
  const faults: KeyedVenue['faults'] = []
  return {
    requests,
    faults,
    async http(address, _signal, _body, headers = {}) {
      const url = new URL(address)
      requests.push({ url, headers })
      const fault = faults.shift()
      if (fault) return fault()
      if (!KEYS[url.hostname]?.(headers)) return refusal(url.hostname)
      return keyedAnswer(url, fixedBars)
    },
  }
}

function refusal(host: string): Response {
  if (host === 'data.alpaca.markets') return Response.json({ message: 'forbidden.' }, { status: 403 })
  if (host === 'api.massive.com')
    return Response.json({ status: 'ERROR', request_id: 'x', error: 'Unknown API Key' }, { status: 401 })
  if (host === 'api.tiingo.com') return Response.json({ detail: 'Invalid token.' }, { status: 401 })
  return Response.json({
    code: 401,
    message: '**apikey** parameter is incorrect or not specified.',
    status: 'error',
  })
}

/** A bar as a provider has it. */
export interface KeyedBar {
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** The bars of a symbol; `to` is inclusive. `isOfSession`: without what was traded before and after it. */
export type KeyedBars = (asked: {
  readonly symbol: string
  readonly from: number
  readonly to: number
  readonly isDaily: boolean
  readonly isOfSession: boolean
}) => readonly KeyedBar[]

const utc = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)

/** Answers a request for bars as its host documents it. */
export function keyedAnswer(url: URL, barsOf: KeyedBars): Response {
  if (url.hostname === 'data.alpaca.markets') return alpacaAnswer(url, barsOf)
  if (url.hostname === 'api.massive.com') return massiveAnswer(url, barsOf)
  if (url.hostname === 'api.tiingo.com') return tiingoAnswer(url, barsOf)
  return twelveDataAnswer(url, barsOf)
}

const ALPACA_MOST = 10_000

function alpacaAnswer({ pathname, searchParams }: URL, barsOf: KeyedBars): Response {
  const of = (name: string) => searchParams.get(name) ?? ''
  const asked = {
    from: Date.parse(of('start')),
    to: Date.parse(of('end')),
    isDaily: of('timeframe') === '1Day',
    isOfSession: false,
  }
  const rowsOf = (symbol: string) =>
    barsOf({ ...asked, symbol }).map(({ time, open, high, low, close, volume }) => ({
      t: new Date(time).toISOString().replace('.000Z', 'Z'),
      o: open,
      h: high,
      l: low,
      c: close,
      v: volume,
      n: 3,
      vw: open,
    }))
  const many = of('symbols')
  const symbols = many === '' ? [decodeURIComponent(pathname.split('/')[3] ?? '')] : many.split(',').sort()
  const unknown = symbols.find((symbol) => symbol === 'UNKNOWN')
  if (unknown) return Response.json({ message: `invalid symbol: ${unknown}` }, { status: 422 })
  if (many === '') {
    const rows = rowsOf(symbols[0]!)
    return Response.json({ bars: rows.length > 0 ? rows : null, symbol: symbols[0], next_page_token: null })
  }
  const bars: Record<string, unknown[]> = {}
  let left = Math.min(ALPACA_MOST, Number(of('limit')))
  for (const symbol of symbols) {
    const rows = rowsOf(symbol).slice(0, left)
    left -= rows.length
    if (rows.length > 0) bars[symbol] = rows
  }
  return Response.json({ bars, next_page_token: left === 0 ? 'QUFQTHxN' : null })
}

function massiveAnswer({ pathname }: URL, barsOf: KeyedBars): Response {
  const [symbol = '', , , , from, to] = pathname.split('/').slice(4)
  const asked = {
    from: Number(from),
    to: Number(to),
    isDaily: pathname.includes('/day/'),
    isOfSession: false,
  }
  const bars = barsOf({ ...asked, symbol: decodeURIComponent(symbol) })
  const results = bars.map(({ time, open, high, low, close, volume }) => ({
    v: volume,
    vw: open,
    o: open,
    c: close,
    h: high,
    l: low,
    t: time,
    n: 3,
  }))
  const counts = { queryCount: bars.length, resultsCount: bars.length, adjusted: true }
  const body = { ticker: decodeURIComponent(symbol), ...counts, ...(bars.length > 0 && { results }) }
  return Response.json({ ...body, status: 'DELAYED', request_id: 'x' })
}

function tiingoAnswer({ pathname, searchParams }: URL, barsOf: KeyedBars): Response {
  const isDaily = pathname.startsWith('/tiingo/daily')
  const symbol = decodeURIComponent(pathname.split('/')[isDaily ? 3 : 2] ?? '')
  if (symbol === 'UNKNOWN') return Response.json({ detail: 'Not found.' }, { status: 404 })
  const from = Date.parse(searchParams.get('startDate') ?? '')
  const to = Date.parse(searchParams.get('endDate') ?? '') + 86_400_000 - 1
  return Response.json(
    barsOf({ symbol, from, to, isDaily, isOfSession: true }).map(
      ({ time, open, high, low, close, volume }) => ({
        date: new Date(time).toISOString(),
        close,
        high,
        low,
        open,
        volume,
      }),
    ),
  )
}

function twelveDataAnswer({ searchParams }: URL, barsOf: KeyedBars): Response {
  const of = (name: string) => searchParams.get(name) ?? ''
  const isDaily = of('interval') === '1day'
  const asked = { from: utc(of('start_date')), to: utc(of('end_date')), isDaily, isOfSession: true }
  const answerOf = (symbol: string) => {
    if (symbol === 'UNKNOWN')
      return {
        code: 404,
        message: '**symbol** not found: UNKNOWN. Please specify it correctly according to API Documentation.',
        status: 'error',
      }
    const bars = barsOf({ ...asked, symbol })
    if (bars.length === 0)
      return {
        code: 400,
        message: 'No data is available on the specified dates. Try setting different start/end dates.',
        status: 'error',
      }
    return {
      meta: { symbol, interval: of('interval'), exchange: of('exchange'), type: 'Common Stock' },
      values: bars.map(({ time, open, high, low, close, volume }) => ({
        datetime: new Date(time)
          .toISOString()
          .slice(0, isDaily ? 10 : 19)
          .replace('T', ' '),
        open: open.toFixed(5),
        high: high.toFixed(5),
        low: low.toFixed(5),
        close: close.toFixed(5),
        volume: String(volume),
      })),
      status: 'ok',
    }
  }
  const symbols = of('symbol').split(',')
  return Response.json(
    symbols.length === 1
      ? answerOf(symbols[0]!)
      : Object.fromEntries(symbols.map((symbol) => [symbol, answerOf(symbol)])),
  )
}

const fixedBars: KeyedBars = ({ from, to, isDaily, isOfSession }) =>
  (isDaily ? [DAY_START] : isOfSession ? IN_SESSION : HALF_HOURS)
    .filter((time) => time >= from && time <= to)
    .map(barAt)

/** What a page of a list of symbols says, by host and path. */
export function keyedList(address: string, headers: Readonly<Record<string, string>> = {}): Response {
  const { hostname, pathname, search } = new URL(address)
  if (hostname.endsWith('alpaca.markets'))
    return Response.json([
      {
        class: 'us_equity',
        exchange: 'NASDAQ',
        symbol: 'AAPL',
        name: 'Apple Inc. Common Stock',
        status: 'active',
      },
      { class: 'us_equity', exchange: 'ARCA', symbol: 'SPY', name: 'SPDR S&P 500 ETF', status: 'active' },
      { class: 'us_equity', exchange: 'OTC', symbol: 'OLD', name: 'Old', status: 'inactive' },
    ])
  if (hostname === 'api.massive.com') {
    const isSecond = search.includes('cursor=two')
    const one = isSecond
      ? { ticker: 'SPY', name: 'SPDR S&P 500', primary_exchange: 'ARCX', type: 'ETF' }
      : { ticker: 'AAPL', name: 'Apple Inc.', primary_exchange: 'XNAS', type: 'CS' }
    // The key must go to no other host, whatever the answer names.
    const next = { next_url: 'https://evil.example/v3/reference/tickers?cursor=two' }
    return Response.json({ status: 'OK', results: [one], ...(!isSecond && next) })
  }
  if (hostname === 'api.twelvedata.com' && asRecord(headers)) {
    const apple = {
      symbol: 'AAPL',
      name: 'Apple Inc',
      exchange: 'NASDAQ',
      mic_code: 'XNGS',
      type: 'Common Stock',
    }
    const euro = { symbol: 'EUR/USD', currency_base: 'Euro', currency_quote: 'US Dollar' }
    return Response.json({ data: pathname === '/stocks' ? [apple] : pathname === '/etfs' ? [] : [euro] })
  }
  return new Response('not found', { status: 404 })
}
