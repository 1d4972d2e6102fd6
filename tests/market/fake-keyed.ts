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
      return answer(url)
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

function answer(url: URL): Response {
  const of = (name: string) => url.searchParams.get(name) ?? ''
  if (url.hostname === 'data.alpaca.markets') {
    const bars = between(Date.parse(of('start')), Date.parse(of('end')), of('timeframe') === '1Day')
    if (url.pathname.includes('UNKNOWN'))
      return Response.json({ message: 'invalid symbol: UNKNOWN' }, { status: 422 })
    const rows = bars.map(({ time, open, high, low, close, volume }) => ({
      t: new Date(time).toISOString().replace('.000Z', 'Z'),
      o: open,
      h: high,
      l: low,
      c: close,
      v: volume,
      n: 3,
      vw: open,
    }))
    return Response.json({ bars: rows.length > 0 ? rows : null, symbol: 'AAPL', next_page_token: null })
  }
  if (url.hostname === 'api.massive.com') {
    const [from, to] = url.pathname.split('/').slice(-2).map(Number)
    const bars = between(from!, to!, url.pathname.includes('/day/'))
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
    const body = { ticker: 'AAPL', ...counts, ...(bars.length > 0 && { results }) }
    return Response.json({ ...body, status: 'DELAYED', request_id: 'x' })
  }
  if (url.hostname === 'api.tiingo.com') {
    if (url.pathname.includes('UNKNOWN')) return Response.json({ detail: 'Not found.' }, { status: 404 })
    const isDaily = url.pathname.startsWith('/tiingo/daily')
    const end = Date.parse(of('endDate')) + 86_400_000 - 1
    const bars = between(Date.parse(of('startDate')), end, isDaily)
    const inSession = bars.filter(({ time }) => isDaily || IN_SESSION.includes(time))
    return Response.json(
      inSession.map(({ time, open, high, low, close, volume }) => ({
        date: new Date(time).toISOString(),
        close,
        high,
        low,
        open,
        volume,
      })),
    )
  }
  const utc = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`)
  const isDaily = of('interval') === '1day'
  if (of('symbol') === 'UNKNOWN')
    return Response.json({
      code: 404,
      message: '**symbol** not found: UNKNOWN. Please specify it correctly according to API Documentation.',
      status: 'error',
    })
  const bars = between(utc(of('start_date')), utc(of('end_date')), isDaily).filter(
    ({ time }) => isDaily || IN_SESSION.includes(time),
  )
  if (bars.length === 0)
    return Response.json({
      code: 400,
      message: 'No data is available on the specified dates. Try setting different start/end dates.',
      status: 'error',
    })
  return Response.json({
    meta: { symbol: of('symbol'), interval: of('interval'), exchange: of('exchange'), type: 'Common Stock' },
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
  })
}

function between(from: number, to: number, isDaily: boolean) {
  const times = isDaily ? [DAY_START] : HALF_HOURS
  return times.filter((time) => time >= from && time <= to).map(barAt)
}

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
