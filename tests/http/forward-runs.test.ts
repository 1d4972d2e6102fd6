// Forward runs over HTTP: what is answered, who is told, and that nobody else sees it.

import { expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'

const MARKET = { exchange: 'E', symbol: 'S', interval: '1h' }
const QUERY = new URLSearchParams(MARKET).toString()
const SOURCE =
  '//@version=6\nstrategy("mine", initial_capital = 5000)\nif bar_index % 3 == 0\n    strategy.entry("L", strategy.long, comment = "in", alert_message = "go")\nelse\n    strategy.close("L")\nif bar_index % 6 == 5\n    strategy.entry("S", strategy.short, limit = high * 2)\nif bar_index % 6 == 1\n    strategy.cancel("S")'

test('a strategy is followed as bars close, and receivers that are registered for it are told of its orders', async () => {
  const server = testServer(unlimited, { engine: 'real' })
  const cookie = await server.signUp()
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await server.call(method, `/api/platform${path}`, {
      headers: cookie,
      ...(body !== undefined && { body }),
    })
    return { status: answer.status, ...answer.json }
  }
  const csv = barCsv(80).trimEnd().split('\n')
  const bring = (count: number) =>
    server.call('POST', `/api/platform/bars/import?${QUERY}`, {
      headers: { ...cookie, 'content-type': 'text/csv' },
      body: `${csv.slice(0, count + 1).join('\n')}\n`,
    })
  await bring(40)
  const hook = {
    url: 'https://receiver.example/',
    events: ['order.placed', 'order.filled', 'order.cancelled'],
  }
  await call('POST', '/webhooks', { name: 'orders', ...hook })
  await call('POST', '/webhooks', { name: 'others', ...hook, events: ['alert.triggered'] })
  const body = { name: 'kept', ...MARKET, source: SOURCE, warmup: 20, overrides: { pyramiding: 1 } }
  const { id, forwardRun } = await call('POST', '/forward-runs', body)
  expect(forwardRun).toMatchObject({
    id,
    name: 'kept',
    ...MARKET,
    state: 'running',
    error: null,
    stoppedAt: null,
    warmup: 20,
    bars: 0,
    first: null,
    fills: 0,
    currency: 'USD',
  })
  expect(forwardRun.startEquity).toBe(forwardRun.equity)
  await bring(61)
  await server.services.features.forwardRuns.advanceAll()
  const after = (await call('GET', `/forward-runs/${id}`)).forwardRun
  expect(after.bars).toBe(21)
  expect(after.last - after.first).toBe(20 * 3_600_000)
  const { orders } = await call('GET', `/forward-runs/${id}/orders`)
  const filled = orders.filter(({ event }: { event: string }) => event === 'order.filled')
  expect([after.fills, filled[0]]).toMatchObject([
    filled.length,
    { orderId: expect.any(String), side: expect.any(String), qty: expect.any(Number), type: null },
  ])
  expect(orders).toContainEqual(
    expect.objectContaining({ event: 'order.placed', orderId: 'S', type: 'limit', side: 'sell' }),
  )
  const { deliveries } = await call('GET', '/webhooks/deliveries?limit=500')
  expect(deliveries.length).toBe(orders.length)
  const told = deliveries.find(({ event }: { event: string }) => event === 'order.filled')
  expect(told.data).toMatchObject({ forwardRunId: id, name: 'kept', ...MARKET })
  // The deliveries are listed newest first.
  type Told = { event: string; data: { orderId: string; barTime: string; sequence: number } }
  const inOrder = deliveries.map(({ event, data }: Told) => [
    data.sequence,
    event,
    data.orderId,
    Date.parse(data.barTime),
  ])
  type Order = { event: string; orderId: string; time: number }
  expect(inOrder.toReversed()).toEqual(
    orders.map(({ event, orderId, time }: Order, i: number) => [i + 1, event, orderId, time]),
  )
  expect(Object.keys(told.data).sort()).toEqual(
    [
      'forwardRunId',
      'sequence',
      'name',
      'exchange',
      'symbol',
      'interval',
      'barTime',
      'orderId',
      'type',
      'side',
      'qty',
      'price',
      'position',
      'status',
      'comment',
      'alertMessage',
    ].sort(),
  )
  const { report } = await call('GET', `/forward-runs/${id}/report`)
  expect([report.range.bars, report.trades.length]).toEqual([
    41,
    after.trades + (after.position === 0 ? 0 : 1),
  ])
  const { divergence } = await call('GET', `/forward-runs/${id}/divergence`)
  expect(divergence).toEqual({
    equal: true,
    said: 'A backtest of the stored bars is the same: none was corrected since.',
    corrected: 0,
    bars: [],
    onlyForward: [],
    onlyBacktest: [],
    equity: after.equity,
    backtestEquity: after.equity,
  })
  const equityOf = async (bars: string) => {
    const { tracks } = await call('GET', `/forward-runs/${id}/tracks?bars=${bars}`)
    return tracks.find(({ kind }: { kind: string }) => kind === 'equity').data as number[]
  }
  const curve = await equityOf('seen')
  expect([curve.length, curve.at(-1)]).toEqual([41, after.equity])
  expect(await equityOf('stored')).toEqual(curve)
  expect((await call('GET', `/forward-runs/${id}/tracks?bars=others`)).status).toBe(422)
  // Corrected later: what it did stays, and the bars are named with what was seen and what is there now.
  csv[55] = csv[55]!.replace(
    /^(\S+?,)([^,]+),([^,]+)/,
    (_, time, open, high) => `${time}${open},${Number(high) * 3}`,
  )
  await bring(61)
  const other = (await call('GET', `/forward-runs/${id}/divergence`)).divergence
  expect(await equityOf('seen')).toEqual(curve)
  expect(other).toMatchObject({ corrected: 1, bars: [{ seen: expect.any(Array), now: expect.any(Array) }] })
  // Its own curve needs nothing that is stored.
  await call('DELETE', `/bars?${QUERY}`)
  expect((await call('GET', `/forward-runs/${id}/tracks?bars=stored`)).tracks).toEqual([])
  expect(await equityOf('seen')).toEqual(curve)
  expect((await call('GET', '/forward-runs')).forwardRuns).toHaveLength(1)
  expect((await call('POST', `/forward-runs/${id}/stop`)).forwardRun).toMatchObject({
    state: 'stopped',
    bars: 21,
  })
  expect(await call('DELETE', `/forward-runs/${id}`)).toMatchObject({ id, deleted: true })
  expect((await call('GET', `/forward-runs/${id}`)).error.code).toBe('forward_run_not_found')
  expect((await call('POST', '/forward-runs', { ...body, symbol: 'NONE' })).error.code).toBe('bars_not_found')
  expect((await call('POST', '/forward-runs', { ...body, warmup: 0 })).status).toBe(422)
  server.pool.close()
})
