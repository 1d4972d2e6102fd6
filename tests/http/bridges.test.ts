// Bridges over HTTP: orders of a forward run and of an alert are stored with what they come of, and nobody else sees them.

import { expect, setDefaultTimeout, test } from 'bun:test'
import type { BridgeOrder } from '../../src/wire/bridge.ts'
import type { Scope } from '../../src/wire/scopes.ts'
import { testServer, unlimited } from './server.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const HOUR = 3_600_000
const MARKET = { exchange: 'E', symbol: 'S', interval: '1h' }
const SOURCE =
  '//@version=6\nstrategy("x")\nif bar_index % 4 == 0\n    strategy.entry("L", strategy.long, qty = 2)\nif bar_index % 4 == 2\n    strategy.close("L")'
const URL_OF = 'https://broker.example/in/some-long-secret'

async function world() {
  const server = testServer(unlimited, { engine: 'real' })
  const [owner, other] = [await server.signUp('owner@example.com'), await server.signUp('b@example.com')]
  const start = server.services.clock.now() - 30 * HOUR
  const call = async (method: string, path: string, body?: unknown, headers: object = owner) => {
    const answer = await server.call(method, `/api/platform${path}`, {
      headers: headers as Record<string, string>,
      ...(body !== undefined && { body }),
    })
    return { status: answer.status, text: answer.text, ...answer.json }
  }
  const bring = async (count: number) => {
    const row = (i: number) => `${start + i * HOUR},${10 + i},${12 + i},${9 + i},${11 + i},5`
    const body = ['time,open,high,low,close,volume', ...Array.from({ length: count }, (_, i) => row(i))].join(
      '\n',
    )
    const query = new URLSearchParams(MARKET).toString()
    await server.call('POST', `/api/platform/bars/import?${query}`, {
      headers: { ...owner, 'content-type': 'text/csv' },
      body,
    })
    await server.services.features.forwardRuns.advanceAll()
    await server.services.features.looks.settle()
  }
  const tokenOf = (scopes: readonly Scope[]) => server.token(owner, scopes)
  await bring(22)
  return { server, other, call, bring, tokenOf }
}

test('what a run and an alert do are orders, each stored once under its key, as long as nobody ends the dry run', async () => {
  const { call, bring, other } = await world()
  const { id: runId } = await call('POST', '/forward-runs', {
    name: 'run',
    ...MARKET,
    source: SOURCE,
    warmup: 10,
  })
  const alert = {
    ...MARKET,
    kind: 'price',
    op: 'above',
    price: 5,
    frequency: 'every_time',
    channels: ['email'],
  }
  const { id: alertId } = await call('POST', '/alerts', { ...alert, name: 'Выше' })
  const body = { template: 'generic', url: URL_OF, name: 'Мост' }
  const ofRun = await call('POST', '/bridges', { ...body, sourceId: runId, dryRun: false })
  expect(ofRun.bridge).toMatchObject({ dryRun: true, host: 'broker.example', sourceId: runId, ...MARKET })
  expect(ofRun.text).not.toContain('some-long-secret')
  const needs = await call('POST', '/bridges', { ...body, sourceId: alertId })
  expect(needs.error.fields[0]).toMatchObject({ path: '/side' })
  await call('POST', '/bridges', { ...body, sourceId: alertId, side: 'sell', qty: 3, validSeconds: 604_800 })
  await bring(29)
  const { orders } = await call('GET', '/bridges/orders')
  const of = (id: string) => orders.filter(({ sourceId }: { sourceId: string }) => sourceId === id)
  expect(
    of(runId).map(({ side, qty, reason }: Record<string, unknown>) => [side, qty, reason]),
  ).toContainEqual(['buy', 2, 'dry_run'])
  expect(of(runId)[0]).toMatchObject({ bridgeId: ofRun.id })
  expect(of(alertId)[0]).toMatchObject({ side: 'sell', qty: 3, state: 'cancelled', reason: 'dry_run' })
  expect(new Set(orders.map(({ key }: { key: string }) => key)).size).toBe(orders.length)
  const { bridges, stopped } = await call('GET', '/bridges')
  expect([bridges.length, stopped]).toEqual([2, false])
  const theirs = await call('GET', '/bridges', undefined, other)
  expect([theirs.bridges, (await call('GET', '/bridges/orders', undefined, other)).orders]).toEqual([[], []])
  for (const [method, path] of [
    ['PATCH', `/bridges/${ofRun.id}`],
    ['DELETE', `/bridges/${ofRun.id}`],
    ['POST', `/bridges/${ofRun.id}/test`],
    ['POST', `/bridges/orders/${orders[0].id}/resend`],
  ] as const)
    expect([path, (await call(method, path, {}, other)).status]).toEqual([path, 404])
  expect((await call('POST', '/bridges', { ...body, sourceId: runId }, other)).status).toBe(422)
})

test('a token makes and stops bridges of what it may read, and never ends a dry run', async () => {
  const { call, tokenOf } = await world()
  const { id: sourceId } = await call('POST', '/forward-runs', { name: 'run', ...MARKET, source: SOURCE })
  const body = { template: 'generic', url: URL_OF, name: 'x', sourceId }
  const blind = await tokenOf(['webhooks:write', 'webhooks:read'])
  expect((await call('POST', '/bridges', body, blind)).error.code).toBe('insufficient_scope')
  const token = await tokenOf(['webhooks:write', 'webhooks:read', 'backtests:read'])
  const { id } = await call('POST', '/bridges', body, token)
  expect((await call('GET', '/bridges', undefined, blind)).bridges).toEqual([])
  expect((await call('GET', '/bridges', undefined, token)).bridges.length).toBe(1)
  expect((await call('PATCH', `/bridges/${id}`, { dryRun: false }, token)).error.code).toBe(
    'session_required',
  )
  expect((await call('PUT', '/bridges/switch', { stopped: true }, token)).stopped).toBe(true)
  expect((await call('POST', `/bridges/${id}/test`, undefined, token)).status).toBe(409)
  await call('PUT', '/bridges/switch', { stopped: false }, token)
  const tried = await call('POST', `/bridges/${id}/test`, undefined, token)
  expect([tried.order.reason, tried.order.qty, JSON.parse(tried.body).order]).toEqual(['test', 0, 'TEST'])
  expect((await call('PATCH', `/bridges/${id}`, { dryRun: false })).bridge.dryRun).toBe(false)
  expect(await call('DELETE', `/bridges/${id}`)).toMatchObject({ status: 200, ok: true, id })
  expect((await call('GET', '/bridges')).bridges).toEqual([])
})

test.each([
  [{ url: 'http://10.0.0.1/' }, '/url'],
  [{ template: 'alpaca' }, '/secret'],
  [{ template: 'alpaca', secret: 's', body: '{"symbol": "A"}' }, '/body'],
  [{ sourceId: 'al_nobody' }, '/sourceId'],
  [{ channelIds: ['ch_nobody'] }, '/channelIds/0'],
  [{ qty: -1 }, '/qty'],
  [{ maxPosition: 0 }, '/maxPosition'],
  [{ validSeconds: 1 }, '/validSeconds'],
])('a bridge with %p is refused at %s', async (wrong, path) => {
  const { call } = await world()
  const { id: sourceId } = await call('POST', '/forward-runs', { name: 'run', ...MARKET, source: SOURCE })
  const answer = await call('POST', '/bridges', {
    template: 'generic',
    url: URL_OF,
    name: 'x',
    sourceId,
    ...wrong,
  })
  expect([answer.status, answer.error.fields[0].path]).toEqual([422, path])
})

test('an import of old bars sends nothing of an alert or a strategy, and says of which bar it came too late', async () => {
  const offline = (): never => {
    throw new Error('no network in tests')
  }
  const sent: string[] = []
  const server = testServer(unlimited, {
    engine: 'real',
    network: {
      http: async () => offline(),
      openSocket: offline,
      async send({ body }) {
        sent.push(new TextDecoder().decode(body))
        return { status: 200, retryAfter: null, excerpt: 'ok', failure: null }
      },
    },
  })
  const headers = await server.signUp()
  const post = async (path: string, body: unknown, type = 'application/json', method = 'POST') =>
    (
      await server.call(method, `/api/platform${path}`, {
        headers: { ...headers, 'content-type': type },
        body,
      })
    ).json
  const start = Date.UTC(2024, 4, 5)
  const bring = async (from: number, count: number) => {
    const row = (i: number) => `${start + (from + i) * HOUR},100,102,98,101,5`
    const rows = Array.from({ length: count }, (_, i) => row(i))
    const body = ['time,open,high,low,close,volume', ...rows].join('\n')
    await post(`/bars/import?${new URLSearchParams(MARKET).toString()}`, body, 'text/csv')
    await server.services.features.forwardRuns.advanceAll()
    await server.services.features.looks.settle()
  }
  await bring(0, 22)
  const run = await post('/forward-runs', { name: 'run', ...MARKET, source: SOURCE, warmup: 10 })
  const level = { ...MARKET, kind: 'price', op: 'above', price: 50, channels: ['email'] }
  const alert = await post('/alerts', { ...level, frequency: 'every_time', name: 'level' })
  const body = { template: 'traderspost', url: URL_OF, validSeconds: 60 }
  for (const more of [
    { name: 'of the run', sourceId: run.id },
    { name: 'of the alert', sourceId: alert.id, side: 'buy', qty: 0.02 },
  ]) {
    const { id } = await post('/bridges', { ...body, ...more })
    await post(`/bridges/${id}`, { dryRun: false }, undefined, 'PATCH')
  }
  const stop = new AbortController()
  const running = server.services.features.start(stop.signal)
  await bring(22, 6)
  const orders = async () =>
    (await server.call('GET', '/api/platform/bridges/orders', { headers })).json.orders as BridgeOrder[]
  while ((await orders()).some(({ state }) => state === 'pending')) await Bun.sleep(0)
  stop.abort()
  await running
  const late = (await orders()).filter(({ qty }) => qty > 0)
  expect(new Set(late.map(({ sourceId }) => sourceId))).toEqual(new Set([run.id, alert.id]))
  expect(late.map(({ state, reason }) => `${state} ${reason}`)).not.toContain('delivered null')
  const { bridges } = (await server.call('GET', '/api/platform/bridges', { headers })).json
  expect(bridges.find((one: { sourceId: string }) => one.sourceId === alert.id)).toMatchObject({
    expected: 0,
    held: 0,
    difference: 0,
  })
  expect(late.filter(({ reason }) => reason === 'late').map(({ barTime }) => barTime)).toContain(
    start + 22 * HOUR,
  )
  expect(sent).toEqual([])
})
