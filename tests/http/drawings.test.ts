// Drawings on charts over HTTP.

import { expect, test } from 'bun:test'
import { testServer } from './server.ts'

const MARKET = { exchange: 'BINANCE', symbol: 'BTCUSDT' }
const line = (id: string, price = 100) => ({
  id,
  tool: 'trend-line',
  points: [
    { time: 1_700_000_000_000, price },
    { time: 1_700_086_400_000, price: price + 5 },
  ],
  style: { color: '#2962ff', lineWidth: 2 },
})

async function world() {
  const server = testServer()
  const headers = await server.signUp()
  const as = (who: object) => ({
    drawings: async (market = MARKET) =>
      (
        await server.call('GET', `/api/platform/drawings?${new URLSearchParams(market).toString()}`, {
          headers: { ...who },
        })
      ).json,
    change: (body: object) =>
      server.call('PATCH', '/api/platform/drawings', {
        body: { ...MARKET, ...body },
        headers: { ...who },
      }),
    markets: async (query = '') =>
      (await server.call('GET', `/api/platform/drawings/markets${query}`, { headers: { ...who } })).json,
  })
  return {
    ...server,
    me: as(headers),
    anybody: as({}),
    other: async () => as(await server.signUp('other@example.com')),
  }
}

test('drawings are put, replaced in their place, and removed', async () => {
  const { me } = await world()
  expect(await me.drawings()).toEqual({ ok: true, ...MARKET, revision: 0, drawings: [] })
  const first = (await me.change({ put: [line('a'), line('b')] })).json
  expect(first).toMatchObject({ ok: true, count: 2 })
  const second = (await me.change({ put: [line('a', 7), line('c')], remove: ['b', 'unknown'] })).json
  expect(second.revision).toBeGreaterThan(first.revision)
  const { revision, drawings } = await me.drawings()
  expect(revision).toBe(second.revision)
  expect(drawings).toEqual([line('a', 7), line('c')])
})

test('an exchange and a symbol are one whatever their case', async () => {
  const { me } = await world()
  await me.change({ exchange: 'binance', symbol: 'btcusdt', put: [line('a')] })
  expect((await me.drawings()).drawings).toEqual([line('a')])
})

test("nobody sees or changes another's drawings", async () => {
  const { me, anybody, other } = await world()
  await me.change({ put: [line('a')] })
  const stranger = await other()
  expect((await stranger.drawings()).drawings).toEqual([])
  await stranger.change({ remove: ['a'], put: [line('b')] })
  expect((await me.drawings()).drawings).toEqual([line('a')])
  expect((await anybody.change({ put: [line('c')] })).status).toBe(401)
})

test('symbols with drawings are listed, and no longer when the last one is gone', async () => {
  const { me } = await world()
  await me.change({ put: [line('a')] })
  await me.change({ symbol: 'ETHUSDT', put: [line('a'), line('b')] })
  const page = await me.markets('?limit=1')
  expect(page.markets).toMatchObject([{ ...MARKET, drawings: 1 }])
  expect((await me.markets(`?cursor=${page.nextCursor}`)).markets).toMatchObject([
    { symbol: 'ETHUSDT', drawings: 2 },
  ])
  await me.change({ remove: ['a'] })
  expect((await me.markets()).markets).toMatchObject([{ symbol: 'ETHUSDT' }])
})

test('changes of two tabs at once are both kept', async () => {
  const { me } = await world()
  await Promise.all(Array.from({ length: 20 }, (_, i) => me.change({ put: [line(`d${i}`)] })))
  const { drawings } = await me.drawings()
  expect(drawings.map(({ id }: { id: string }) => id).toSorted()).toEqual(
    Array.from({ length: 20 }, (_, i) => `d${i}`).toSorted(),
  )
})

test('a symbol has at most 1,000 drawings of 512 kB; what is too much changes nothing', async () => {
  const { me } = await world()
  await me.change({ put: Array.from({ length: 1000 }, (_, i) => line(`d${i}`)) })
  const above = await me.change({ put: [line('x')] })
  expect([above.status, above.json.error.code]).toEqual([422, 'quota_exceeded'])
  expect((await me.change({ put: [line('x')], remove: ['d0'] })).json.count).toBe(1000)
  const wordy = { ...line('e'), style: { text: 'x'.repeat(2000) } }
  const heavy = await me.change({
    symbol: 'HEAVY',
    put: Array.from({ length: 300 }, (_, i) => ({ ...wordy, id: `e${i}` })),
  })
  expect([heavy.status, heavy.json.error.code]).toEqual([422, 'quota_exceeded'])
  expect((await me.drawings({ ...MARKET, symbol: 'HEAVY' })).drawings).toEqual([])
})

test.each([
  [{ tool: 'laser' }, '/put/0/tool'],
  [{ points: [{ time: 1, price: 1 }] }, '/put/0/points'],
  [{ points: [{ time: 'now', price: 1 }] }, '/put/0/points/0/time'],
  [{ points: [] }, '/put/0/points'],
  [{ id: '../x' }, '/put/0/id'],
  [{ style: { color: 'red' } }, '/put/0/style/color'],
  [{ style: { lineWidth: 1e9 } }, '/put/0/style/lineWidth'],
])('a drawing with %p is refused at %s', async (fields, path) => {
  const { me } = await world()
  const { status, json } = await me.change({ put: [{ ...line('a'), ...fields }] })
  expect([status, json.error.code, json.error.fields?.[0]?.path]).toEqual([422, 'validation_failed', path])
})
