// Bars that are held out, figures of a part of a backtest, and the judgement on it.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { edgeOf } from '../../src/broker/statistics/edge.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const HOUR = 3_600_000
const FIRST = Date.UTC(2026, 0, 1)
const SOURCE = `//@version=6
strategy("s")
if bar_index % 4 == 0
    strategy.entry("L", strategy.long, 1)
if bar_index % 4 == 2
    strategy.close("L")`
const SERIES = 'exchange=E&symbol=S&interval=1h'

async function server(bars = 400) {
  const made = testServer(undefined, { engine: 'real' })
  const headers = await made.signUp()
  await made.call('POST', `/api/platform/bars/import?${SERIES}`, {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(bars, FIRST),
  })
  const ask = (method: string, path: string, body?: unknown) =>
    made.call(method, `/api/platform${path}`, { headers, ...(body !== undefined && { body }) })
  const ran = async (body: object = {}) =>
    (
      await ask('POST', '/backtests', {
        name: 'a',
        exchange: 'E',
        symbol: 'S',
        interval: '1h',
        bars: 400,
        source: SOURCE,
        ...body,
      })
    ).json
  return { ...made, headers, ask, ran, close: () => made.pool.close() }
}

test('a stretch has the trades that closed in it, and all stretches together have all', async () => {
  const { ask, ran, close } = await server()
  const { id, result } = await ran()
  const stretch = async (query: string) => (await ask('GET', `/backtests/${id}/stretch${query}`)).json.stretch
  const { trades } = result.report as { trades: { exitTime: number; profit: number; status: string }[] }
  const cut = FIRST + 150 * HOUR
  const [before, behind, whole] = [
    await stretch(`?end=${cut}`),
    await stretch(`?start=${new Date(cut).toISOString()}`),
    await stretch(''),
  ]
  const closed = trades.filter(({ status }) => status === 'closed')
  expect(before).toMatchObject({ from: FIRST, to: cut - HOUR, bars: 150 })
  expect(behind).toMatchObject({ from: cut, to: FIRST + 399 * HOUR, bars: 250 })
  expect(before.trades).toBe(closed.filter(({ exitTime }) => exitTime < cut).length)
  expect(before.trades + behind.trades).toBe(closed.length)
  expect(whole.trades).toBe(closed.length)
  // Profits of stretches are those of equity at closes, with what is open.
  expect(before.netProfit + behind.netProfit).toBeCloseTo(
    closed.reduce((sum, { profit }) => sum + profit, 0) + result.report.all.openProfit,
    6,
  )
  expect(await stretch('?start=2030-01-01')).toBeNull()
  expect((await ask('GET', `/backtests/${id}/stretch?start=yesterday`)).json.error.fields).toMatchObject([
    { path: '/start', code: 'time' },
  ])
  close()
})

test('the first look fixes what is held out; what lies before or within it alone cannot be judged', async () => {
  const { ask, ran, call, signUp, close } = await server()
  const holdOut = async () => (await ask('GET', `/hold-out?${SERIES}`)).json.holdOut
  const from = FIRST + 300 * HOUR
  expect(await holdOut()).toEqual({ from, bars: 100, looks: 0 })
  const within = await ran({ bars: 50 })
  const refused = await ask('POST', `/backtests/${within.id}/judge`)
  expect([refused.status, refused.json.error.message]).toEqual([
    409,
    expect.stringContaining('no bars before those held out, which begin at 2026-01-13T12:00:00.000Z'),
  ])
  expect(await holdOut()).toMatchObject({ looks: 0 })
  const { id } = await ran()
  const judge = async () => (await ask('POST', `/backtests/${id}/judge`)).json.judgement
  expect(await judge()).toMatchObject({ look: 1, tried: 1, before: { bars: 300 }, heldOut: { bars: 100 } })
  expect(await judge()).toMatchObject({ look: 1 })
  expect(await holdOut()).toEqual({ from, bars: 100, looks: 1 })
  // Another script on the same market counts, too.
  await ran({ source: SOURCE.replace('% 4 == 2', '% 4 == 3') })
  expect(await judge()).toMatchObject({ tried: 2, allowed: 0.025 })
  // Nobody else has looked, and nobody else may.
  const other = await signUp('other@example.com')
  expect(
    (await call('GET', `/api/platform/hold-out?${SERIES}`, { headers: other })).json.holdOut,
  ).toMatchObject({
    looks: 0,
  })
  expect((await call('POST', `/api/platform/backtests/${id}/judge`, { headers: other })).status).toBe(404)
  expect((await call('GET', `/api/platform/backtests/${id}/stretch`, { headers: other })).status).toBe(404)
  expect((await ask('GET', '/hold-out?exchange=E&symbol=NONE&interval=1h')).json.error.code).toBe(
    'bars_not_found',
  )
  close()
})

test('looks go along to another server, and count once', async () => {
  const here = await server()
  const { id } = await here.ran()
  await here.ask('POST', `/backtests/${id}/judge`)
  const exported = await here.app.handle(
    new Request('http://localhost/api/platform/export', { headers: here.headers }),
  )
  const file = new Uint8Array(await exported.arrayBuffer())
  const there = await server()
  for (const count of ['imported', 'present']) {
    const { json } = await there.call('POST', '/api/platform/import', {
      headers: { ...there.headers, 'content-type': 'application/gzip' },
      body: file,
    })
    expect([count, json[count]['hold-out']]).toEqual([count, 1])
    expect((await there.ask('GET', `/hold-out?${SERIES}`)).json.holdOut).toMatchObject({ looks: 1 })
  }
  here.close()
  there.close()
})

test('luck alone shows an edge once in twenty at most: it has to be rarer with every try and every look', () => {
  const stretch = (sharpe: number, count: number, trades = 100) => ({
    record: { sharpe, count, skewness: 0, kurtosis: 3 },
    trades,
  })
  const good = stretch(0.12, 1001)
  const held = stretch(0.15, 301)
  expect(edgeOf(good, held, { tried: 1, look: 1 })).toMatchObject({ edge: true, allowed: 0.025 })
  // The best of a thousand worthless tries over a thousand bars has 3.26 / √1000 by luck.
  expect(edgeOf(good, held, { tried: 1000, look: 1 }).edge).toBe(false)
  expect(edgeOf(good, held, { tried: 1000, look: 1 }).luck).toBeCloseTo(0.29, 1)
  expect(edgeOf(good, held, { tried: 1, look: 3 })).toMatchObject({ edge: false, allowed: 0.05 / 12 })
  expect(edgeOf(good, stretch(0.15, 301, 9), { tried: 1, look: 1 }).edge).toBe(false)
  expect(edgeOf(stretch(0.12, 1001, 9), held, { tried: 1, look: 1 }).edge).toBe(false)
  expect(edgeOf(good, stretch(0, 0), { tried: 1, look: 1 })).toMatchObject({ edge: false, luckHeldOut: null })
  // Returns that are skewed to the right do not make it surer.
  const skewed = { ...held, record: { ...held.record, skewness: 5, kurtosis: 30 } }
  expect(edgeOf(good, skewed, { tried: 1, look: 1 }).luckHeldOut).toBeGreaterThanOrEqual(
    edgeOf(good, held, { tried: 1, look: 1 }).luckHeldOut!,
  )
})
