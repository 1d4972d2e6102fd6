// Continuous futures over HTTP: a name that is read, run, swept and replayed as any series, made of what its user sees.

import { expect, test } from 'bun:test'
import { testServer } from './server.ts'

const SOURCE = '//@version=6\nindicator("x")\nplot(close)'
const day = (n: number) => new Date(Date.UTC(2025, 0, 1 + n)).toISOString()

async function world() {
  const { call, signUp } = testServer()
  const headers = await signUp()
  const put = (symbol: string, from: number, to: number, price: number, volume: number) =>
    call('POST', `/api/platform/bars/import?exchange=CME&symbol=${symbol}&interval=1d`, {
      headers: { ...headers, 'content-type': 'text/csv' },
      body: `time,open,high,low,close,volume\n${Array.from({ length: to - from }, (_, i) => `${day(from + i)},${price},${price},${price},${price},${volume}`).join('\n')}`,
    })
  await put('ESH2025', 0, 30, 100, 5)
  await put('ESM2025', 20, 50, 110, 9)
  const get = (path: '/api/platform/bars' | '/api/platform/bars/contracts', symbol: string) =>
    call('GET', `${path}?exchange=CME&interval=1d&symbol=${encodeURIComponent(symbol)}`, {
      headers,
    })
  return { call, headers, get, put }
}

test('bars of a continuous future change contracts, and grow with them', async () => {
  const { get, put } = await world()
  const closes = async (symbol: string) =>
    (await get('/api/platform/bars', symbol)).json.bars.close as number[]
  const plain = await closes('es1!')
  expect([plain.length, plain.indexOf(110)]).toEqual([50, 21])
  expect(new Set(await closes('ES1!B'))).toEqual(new Set([110]))
  await put('ESM2025', 50, 52, 111, 9)
  expect((await closes('ES1!')).length).toBe(52)
})

test('its contracts are listed with what moves their prices', async () => {
  const { get } = await world()
  const { json } = await get('/api/platform/bars/contracts', 'ES1!B')
  const changed = Date.UTC(2025, 0, 22)
  const [first, second] = json.contracts
  expect(first).toEqual({ symbol: 'ESH2025', from: null, to: first.to, shift: 10, factor: 1 })
  expect(second).toEqual({ symbol: 'ESM2025', from: first.to, to: null, shift: 0, factor: 1 })
  expect(Math.abs(first.to - changed)).toBeLessThan(86_400_000)
})

test('what is not made of contracts is said', async () => {
  const { get } = await world()
  for (const [symbol, says] of [
    ['NQ1!', 'No contracts of CME:NQ are stored. A continuous future is named NQ1! and made of series'],
    ['ESH2025', 'CME:ESH2025 1d is stored as it is, not made of contracts.'],
  ] as const) {
    const { status, json } = await get('/api/platform/bars/contracts', symbol)
    expect([status, json.error.code]).toEqual([404, 'bars_not_found'])
    expect(json.error.message).toStartWith(says)
  }
})

test('a contract further behind than there are any says how many there are', async () => {
  const { get, put, call, headers } = await world()
  const shown = 'Of CME:ES 2 contracts are stored (ESH2025, ESM2025), too few for a number 3. Import later'
  for (const path of ['/api/platform/bars', '/api/platform/bars/contracts'] as const) {
    const { status, json } = await get(path, 'ES3!')
    expect([path, status, json.error.code]).toEqual([path, 404, 'bars_not_found'])
    expect(json.error.message).toStartWith(
      `CME:ES3! is number 3, counted from the contract in front. ${shown}`,
    )
  }
  // There is one more, which begins when the first is not in front any more.
  await put('ESU2025', 45, 52, 120, 1)
  const lacking =
    'Of CME:ES 3 contracts are stored (ESH2025, ESM2025, ESU2025), and none of them has bars of 1d while it is number 3.'
  const { status, json } = await get('/api/platform/bars', 'ES3!')
  expect(status).toBe(404)
  expect(json.error.message).toContain(lacking)
  expect((await get('/api/platform/bars/contracts', 'ES3!')).json.error).toMatchObject({
    code: 'bars_not_found',
    message: json.error.message,
  })
  const run = { name: 'n', exchange: 'CME', symbol: 'ES3!', interval: '1d', bars: 40, source: SOURCE }
  expect((await call('POST', '/api/platform/backtests', { headers, body: run })).json.error.message).toBe(
    json.error.message,
  )
  expect((await get('/api/platform/bars', 'ES2!')).status).toBe(200)
})

test('a contract that has bars only before and behind its turn is none of that number', async () => {
  const { get, put } = await world()
  // ESZ2025 is third while ESM2025 is in front, from day 21 to 49.
  await put('ESU2025', 45, 60, 120, 1)
  await put('ESZ2025', 0, 3, 130, 1)
  await put('ESZ2025', 55, 57, 130, 1)
  for (const path of ['/api/platform/bars', '/api/platform/bars/contracts'] as const) {
    const { status, json } = await get(path, 'ES3!')
    expect([path, status]).toEqual([path, 404])
    expect(json.error.message).toContain('none of them has bars of 1d while it is number 3.')
  }
  await put('ESZ2025', 30, 31, 130, 1)
  const { bars } = (await get('/api/platform/bars', 'ES3!')).json
  expect(bars.time).toEqual([Date.parse(day(30))])
})

test('a script runs on it, and what is stored of the run finds its bars again', async () => {
  const { call, headers } = await world()
  const body = { name: 'n', exchange: 'CME', symbol: 'ES1!B', interval: '1d', bars: 40, source: SOURCE }
  const { json } = await call('POST', '/api/platform/backtests', { headers, body })
  // What this runner reports is the sum of the closes.
  expect(json.result.report.sum).toBe(40 * 110)
  const again = await call('POST', `/api/platform/backtests/${json.id}/replay?exchange=CME`, { headers })
  expect(again.json.error).toBeUndefined()
})

test('alerts and forward runs name the contract to follow instead', async () => {
  const { call, headers } = await world()
  const market = { symbol: 'ES1!', exchange: 'CME', interval: '1d' }
  const alert = { ...market, kind: 'price', op: 'above', price: 1, channels: ['email'] }
  const run = { ...market, name: 'n', source: '//@version=6\nstrategy("x")' }
  for (const [path, body] of [
    ['alerts', alert],
    ['forward-runs', run],
  ] as const) {
    const { status, json } = await call('POST', `/api/platform/${path}`, { headers, body })
    expect([path, status, json.error.fields]).toEqual([
      path,
      422,
      [expect.objectContaining({ path: '/symbol', code: 'unsupported' })],
    ])
    expect(json.error.fields[0].message).toContain('Follow the contract itself, ESM2025.')
  }
  // An alert cannot be moved there either.
  const made = await call('POST', '/api/platform/alerts', { headers, body: { ...alert, symbol: 'ESM2025' } })
  const moved = await call('PATCH', `/api/platform/alerts/${made.json.alert.id}`, {
    headers,
    body: { symbol: 'ES1!' },
  })
  expect([made.status, moved.status]).toEqual([200, 422])
})
