// A server with many markets and a script to scan them with, for tests.

import type { ScanBody } from '../../../src/wire/scan.ts'
import { testServer } from '../../http/server.ts'

/** True on the last bar where the close is above the average of the last three. */
export const SCREEN = `//@version=6
indicator("screen")
length = input.int(3, "Length")
average = ta.sma(close, length)
plot(average, "Average 3")
plot(close / close[1] - 1, "move")
plot(bar_index < 2 ? 1 : na, "never now")
plotshape(close > open, "Up")
alertcondition(close > average, "Above", "above its average")
alertcondition(close > 1e9, "Never")
if close > 115
    alert("high: " + str.tostring(close))
`

export const HOLDS = `//@version=6
strategy("hold", initial_capital = 1000, default_qty_type = strategy.fixed, default_qty_value = 1)
if bar_index == 1
    strategy.entry("L", strategy.long)
if bar_index == 3
    strategy.close_all()
if bar_index == 4
    strategy.entry("L", strategy.long)
`

/** Closes of so many days. */
export function closesCsv(closes: readonly number[]): string {
  const rows = closes.map((close, i) => {
    const open = closes[i - 1] ?? close
    return [Date.UTC(2024, 0, 1 + i), open, Math.max(open, close), Math.min(open, close), close, 1].join(',')
  })
  return `time,open,high,low,close,volume\n${rows.join('\n')}\n`
}

export const MARKETS: Readonly<Record<string, readonly number[]>> = {
  'X:RISES': [100, 101, 103, 106, 110, 120],
  'X:FALLS': [100, 99, 97, 94, 90, 80],
  'X:FLAT': [50, 50, 50, 50, 50, 50],
  'Y:RISES': [10, 11, 12, 13, 14, 15],
  'БИРЖА:СБЕР': [200, 210, 190, 220, 180, 230],
}

export const SCAN: ScanBody = { name: 'above', interval: '1d', bars: 6, source: SCREEN }

export async function scanServer({
  signedUp,
  ...options
}: Parameters<typeof testServer>[1] & { readonly signedUp?: { readonly cookie: string } } = {}) {
  const server = testServer(() => ({}), { engine: 'real', ...options })
  const cookie = signedUp ?? (await server.signUp())
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = cookie,
  ) => server.call(method, path, { headers, ...(body !== undefined && { body }) })
  const put = (name: string, closes: readonly number[], interval = '1d', headers = cookie) => {
    const [exchange = '', symbol = ''] = name.split(':')
    const query = new URLSearchParams({ symbol, exchange, interval })
    return server.call('POST', `/api/platform/bars/import?${query.toString()}`, {
      body: closesCsv(closes),
      headers: { ...headers, 'content-type': 'text/csv' },
    })
  }
  if (!signedUp) for (const [name, closes] of Object.entries(MARKETS)) await put(name, closes)
  async function ended(id: string, headers = cookie) {
    const { user } = (await call('GET', '/api/auth/session', undefined, headers)).json
    await server.services.features.scans.watch(user.id, id, new AbortController().signal, () => {})
    return (await call('GET', `/api/platform/scans/${id}`, undefined, headers)).json.scan
  }
  const scan = async (change: Partial<ScanBody> = {}) => {
    const made = await call('POST', '/api/platform/scans', { ...SCAN, ...change })
    if (made.status !== 200) throw new Error(made.text)
    return ended(made.json.id)
  }
  const rows = async (id: string, query = '') =>
    (await call('GET', `/api/platform/scans/${id}/results${query}`)).json.rows
  return { ...server, cookie, call, put, scan, ended, rows }
}
