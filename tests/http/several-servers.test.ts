// Two servers on one store: what is done on one is known on the other, and what is to be done is done by one of them.

import { afterEach, expect, test } from 'bun:test'
import { ranges } from '../../src/lib/shards.ts'
import { runs } from '../../src/work/runs/records.ts'
import type { Kv } from '../../src/store/kv.ts'
import { barCsv } from '../bar-csv.ts'
import { testFleet } from './fleet.ts'

const { twoServers, end } = testFleet()
afterEach(end)

const BACKTEST = { name: 'run', symbol: 'S', exchange: 'E', interval: '1h', bars: 50 }

test('what one publishes, changes or removes is found by the other’s search', async () => {
  const { a, b, headers, heard } = await twoServers()
  const titles = async () =>
    (await b.call('GET', '/api/search?q=zebra', { headers })).json.results.map(
      ({ title }: { title: string }) => title,
    )
  expect(await titles()).toEqual([])
  const idea = { title: 'A zebra', body: 'stripes', visibility: 'private' }
  const { json } = await a.call('POST', '/api/platform/ideas', { headers, body: idea })
  await a.call('POST', '/api/platform/watchlists/import', {
    headers,
    body: { name: 'Zebra list', items: [{ exchange: 'E', symbol: 'S' }] },
  })
  await heard()
  expect((await titles()).toSorted()).toEqual(['A zebra', 'Zebra list'])
  await a.call('PATCH', `/api/platform/ideas/${json.id}`, { headers, body: { title: 'Two zebras' } })
  await heard()
  expect((await titles()).toSorted()).toEqual(['Two zebras', 'Zebra list'])
  await a.call('DELETE', `/api/platform/ideas/${json.id}`, { headers })
  await heard()
  expect(await titles()).toEqual(['Zebra list'])
})

test('each says which shards of which work it does, and how it fares', async () => {
  const { a, b } = await twoServers()
  const { status, json } = await b.call('GET', '/api/ready')
  const odd = Array.from({ length: 128 }, (_, i) => 2 * i + 1).join(',')
  expect([status, json]).toEqual([
    200,
    { ok: true, status: 'ready', node: 'b', shards: { symbols: odd, users: odd } },
  ])
  expect(ranges([0, 1, 2, 5, 7, 8])).toBe('0-2,5,7-8')
  const { text } = await a.call('GET', '/metrics')
  const gauges = [...text.matchAll(/^chartroom_(fleet\w+|store\w+) (.*)$/gm)]
  expect(gauges.map(([, name, value]) => [name, value])).toEqual([
    ['fleet_nodes', '2'],
    ['fleet_shards', '128'],
    ['fleet_lag_seconds', '0.02'],
    ['fleet_buried', '3'],
    ['fleet_sweep_batches', '0'],
    ['store_retries', '4'],
  ])
})

test('a session that one ends is over on the other at once, also for who used it a moment ago', async () => {
  const { a, b, headers } = await twoServers()
  expect((await b.call('GET', '/api/auth/session', { headers })).status).toBe(200)
  const token = await a.token(headers, ['watchlists:read'])
  expect((await b.call('GET', '/api/platform/watchlists', { headers: token })).status).toBe(200)
  const [{ id } = { id: '' }] = (await a.call('GET', '/api/platform/tokens', { headers })).json.tokens
  await a.call('DELETE', `/api/platform/tokens?id=${id}`, { headers })
  expect((await b.call('GET', '/api/platform/watchlists', { headers: token })).status).toBe(401)
  await a.call('POST', '/api/auth/sign-out', { headers })
  expect((await b.call('GET', '/api/platform/watchlists', { headers })).status).toBe(401)
})

test('a backtest that one runs is watched, told of and ended on the other', async () => {
  const { a, b, headers, heard, userId } = await twoServers()
  const told: string[] = []
  b.services.features.onRunDone(({ name }) => told.push(name))
  const later = { ...headers, prefer: 'respond-async' }
  const made = await a.call('POST', '/api/platform/backtests', {
    headers: later,
    body: { ...BACKTEST, source: 'sum' },
  })
  expect(made.status).toBe(202)
  const states: string[] = []
  const watching = b.services.runs.watch(userId, made.json.id, new AbortController().signal, ({ state }) =>
    states.push(state),
  )
  await a.services.runs.settled()
  await heard()
  await watching
  expect(states.at(-1)).toBe('done')
  expect(told).toEqual(['run'])
  // Its name is no news of that kind.
  await a.call('PATCH', `/api/platform/backtests/${made.json.id}`, { headers, body: { name: 'other' } })
  await heard()
  expect(told).toEqual(['run'])

  const endless = await a.call('POST', '/api/platform/backtests', {
    headers: later,
    body: { ...BACKTEST, source: 'for ever' },
  })
  expect((await b.call('DELETE', `/api/platform/backtests/${endless.json.id}`, { headers })).status).toBe(200)
  await heard()
  await a.services.runs.settled()
  expect(a.services.runs.running).toBe(0)
})

test('a backtest that nobody waits for is run by whichever server has a free worker, and begun by two at most', async () => {
  const { a, b, headers, heard, kv, alive } = await twoServers()
  const later = { ...headers, prefer: 'respond-async' }
  const post = async (source: string) =>
    (await a.call('POST', '/api/platform/backtests', { headers: later, body: { ...BACKTEST, source } })).json
      .id
  let left = 0
  a.services.runs.onLeft(() => left++)
  const long = await post('for ever')
  expect(left).toBe(0)
  const short = await post('sum')
  expect(left).toBe(1)
  expect(await runs(kv).get(long)).toMatchObject({ node: 'a', begun: 1 })
  expect(await runs(kv).get(short)).toMatchObject({ state: 'queued', node: null })
  expect(await a.services.runs.takeUp()).toBe(true)
  expect(await b.services.runs.takeUp()).toBe(false)
  await b.services.runs.settled()
  expect(await runs(kv).get(short)).toMatchObject({ state: 'done', summary: { trades: 0 } })

  // What a server does that is there stays its own; of one that is gone, another takes it up.
  await b.services.runs.recover()
  expect(await runs(kv).get(long)).toMatchObject({ node: 'a' })
  alive.delete('a')
  await b.services.runs.recover()
  await b.services.runs.takeUp()
  expect(await runs(kv).get(long)).toMatchObject({ state: 'queued', node: 'b', begun: 2 })
  alive.delete('b')
  alive.add('c')
  await b.services.runs.recover()
  expect(await runs(kv).get(long)).toMatchObject({ state: 'failed', error: { code: 'interrupted' } })
  await heard()
  await Promise.all([a, b].map(({ services }) => services.runs.settled()))
})

test('a backtest whose outcome could not be stored is begun again by its server', async () => {
  const { a, b, headers, kv } = await twoServers()
  const later = { ...headers, prefer: 'respond-async' }
  const post = async (source: string) =>
    (await a.call('POST', '/api/platform/backtests', { headers: later, body: { ...BACKTEST, source } })).json
      .id
  const long = await post('for ever')
  const lost = await post('sum')
  await runs(kv).update(lost, (run) => ({ ...run, node: 'a', begun: 1 }))
  expect(await b.services.runs.takeUp()).toBe(false)
  expect(await a.services.runs.takeUp()).toBe(true)
  expect(await runs(kv).get(lost)).toMatchObject({ state: 'queued', node: 'a', begun: 1 })
  await a.call('DELETE', `/api/platform/backtests/${long}`, { headers })
  await a.services.runs.settled()
  expect(await a.services.runs.takeUp()).toBe(false)
  await a.services.runs.settled()
  expect(await runs(kv).get(lost)).toMatchObject({ state: 'done' })
})

test('an alert that one sets is judged by whoever has its symbol, once, and both tell their dashboards', async () => {
  const { a, b, headers, heard, servers } = await twoServers()
  const fired: string[][] = [[], []]
  for (const [i, { services }] of servers.entries())
    services.features.onFired(({ barTime }) => fired[i]?.push(String(barTime)))
  const alert = {
    symbol: 'S',
    exchange: 'E',
    interval: '1h',
    kind: 'price',
    op: 'above',
    price: 1,
    frequency: 'every_time',
    channels: ['email'],
  }
  await a.call('POST', '/api/platform/alerts', { headers, body: alert })
  for (const [at, server] of [b, a].entries()) {
    const csv = barCsv(2, Date.UTC(2026, 0, 10 + at))
    expect(
      (
        await server.call('POST', '/api/platform/bars/import?exchange=E&symbol=S&interval=1h', {
          headers: { ...headers, 'content-type': 'text/csv' },
          body: csv,
        })
      ).status,
    ).toBe(200)
    await heard()
    for (const { services } of servers) await services.features.looks.settle()
    await heard()
  }
  expect(fired[0]?.length).toBeGreaterThan(1)
  expect(fired[0]).toEqual(fired[1] ?? [])
  expect(new Set(fired[0]).size).toBe(fired[0]?.length ?? 0)
})

test('a sweep that one is asked for is done by whoever has its user, and watched on both', async () => {
  const { servers, headers, heard, userId, give } = await twoServers('real')
  const [asked, doing] = servers.toSorted((x) => (x.fleet.holds(userId) ? 1 : -1))
  const body = {
    name: 'sweep',
    symbol: 'S',
    interval: '1h',
    exchange: 'E',
    bars: 50,
    source:
      '//@version=6\nstrategy("s")\nn = input.int(1, "n")\nif bar_index % n == 0\n    strategy.entry("L", strategy.long)\n',
    space: [{ input: 'n', min: 2, max: 6, step: 1 }],
  }
  const made = await asked!.call('POST', '/api/platform/sweeps', { headers, body })
  expect(made.status).toBe(200)
  const over: string[] = []
  asked!.services.features.sweeps.onOver(({ state }) => over.push(state))
  const watching = asked!.services.features.sweeps.watch(
    userId,
    made.json.id,
    new AbortController().signal,
    () => {},
  )
  await heard()
  await doing!.services.features.sweeps.watch(userId, made.json.id, new AbortController().signal, () => {})
  await heard()
  await watching
  expect(over).toEqual(['done'])
  expect(asked!.pool.running).toBe(0)
  const read = (await asked!.call('GET', `/api/platform/sweeps/${made.json.id}`, { headers })).json
  expect(read).toMatchObject({ sweep: { state: 'done', tried: 5 } })

  // One that is under way when its user goes to another server is gone on with there.
  const second = await doing!.call('POST', '/api/platform/sweeps', { headers, body })
  await give(userId)
  await heard()
  await asked!.services.features.sweeps.watch(userId, second.json.id, new AbortController().signal, () => {})
  const done = (await doing!.call('GET', `/api/platform/sweeps/${second.json.id}`, { headers })).json
  expect(done).toMatchObject({ sweep: { state: 'done', tried: 5 } })
})

test('what is sent again to another server while the first still works on it is not done twice', async () => {
  const { a, b, headers, alive, userId } = await twoServers()
  const keyed = { ...headers, 'idempotency-key': 'one' }
  const idea = { title: 'Once', body: 'x', visibility: 'private' }
  const before = a.services.kv.commit
  const held = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const kv = a.services.kv as { commit: Kv['commit'] }
  kv.commit = async (commit) => {
    if (commit.sets?.some(({ key }) => key[0] === 'ideas')) {
      reached.resolve()
      await held.promise
    }
    return before(commit)
  }
  const first = a.call('POST', '/api/platform/ideas', { headers: keyed, body: idea })
  await reached.promise
  const second = await b.call('POST', '/api/platform/ideas', { headers: keyed, body: idea })
  expect(second).toMatchObject({ status: 409, json: { error: { code: 'idempotency_in_progress' } } })
  // Taken for gone, it can finish nothing any more that another has begun again.
  alive.delete('a')
  const third = await b.call('POST', '/api/platform/ideas', { headers: keyed, body: idea })
  expect(third.status).toBe(200)
  held.resolve()
  expect((await first).status).toBe(409)
  expect((await b.services.features.ideas.list(userId, { limit: 9 })).items).toHaveLength(1)
})

test('the bar that forms on the server with its stream is shown by the other', async () => {
  const { a, b, headers, heard } = await twoServers()
  const series = { exchange: 'E', symbol: 'FORMING', interval: '1h' }
  const query = new URLSearchParams(series).toString()
  await a.call('POST', `/api/platform/bars/import?${query}`, {
    headers: { ...headers, 'content-type': 'text/csv' },
    body: barCsv(1),
  })
  const time = Date.UTC(2026, 0, 1, 1)
  const told = {
    key: ['feeds', 'forming', 'E', 'FORMING', '1h'],
    value: JSON.stringify([time, 5, 9, 4, 7, 1]),
  }
  for (const server of [a, b]) await server.services.kv.commit({ sets: [told] })
  await heard()
  const answers = await Promise.all(
    [a, b].map(
      async ({ call }) => (await call('GET', `/api/platform/bars/forming?${query}`, { headers })).json,
    ),
  )
  // One of them would have the stream, and knows better than what was told.
  expect(answers.filter(({ live }) => live)).toHaveLength(1)
  expect(answers.find(({ live }) => live)).toMatchObject({
    bar: { time, open: 5, high: 9, low: 4, close: 7, volume: 1 },
  })
})

test('a server that the others may have taken for gone asks for nothing, until it is heard of again', async () => {
  const network = {
    http: () => Promise.reject(new Error('nobody runs')),
    openSocket: () => {
      throw new Error('nobody runs')
    },
  }
  const { a, headers } = await twoServers('stand-in', network)
  const { feeds } = a.services.features
  for (const symbol of Array.from({ length: 12 }, (_, i) => `S${i}`))
    await a.call('POST', '/api/platform/feeds', {
      headers,
      body: { exchange: 'NASDAQ', symbol, interval: '1m' },
    })
  const asked = async () => {
    await feeds.sync()
    return (await feeds.list()).filter(({ poll }) => poll).length
  }
  const before = await asked()
  expect(before).toBeGreaterThan(0)
  a.fleet.cutOff(true)
  expect((await feeds.list()).filter(({ poll }) => poll)).toEqual([])
  expect(await asked()).toBe(0)
  a.fleet.cutOff(false)
  await a.services.features.feeds.gained()
  expect(await asked()).toBe(before)
})

test('what is asked for with a key is asked for by one server, which counts its requests; without a key each asks for its own', async () => {
  const network = {
    http: () => Promise.reject(new Error('nobody runs')),
    openSocket: () => {
      throw new Error('nobody runs')
    },
  }
  const { servers, a, b, headers, heard, give } = await twoServers('stand-in', network)
  const symbols = Array.from({ length: 12 }, (_, i) => `S${i}`)
  for (const symbol of symbols)
    await a.call('POST', '/api/platform/feeds', {
      headers,
      body: { exchange: 'NASDAQ', symbol, interval: '1m' },
    })
  const kept = async () => {
    await Promise.all(servers.map(({ services }) => services.features.feeds.sync()))
    const lists = servers.map(({ services }) => services.features.feeds.list())
    return (await Promise.all(lists)).map((list) => list.filter(({ poll }) => poll).length)
  }
  const [ofA, ofB] = await kept()
  expect([ofA! + ofB!, ofA! > 0, ofB! > 0]).toEqual([12, true, true])
  const key = { key: 'mkey', secret: '' }
  expect(
    (await a.call('PUT', '/api/platform/providers/Massive/key', { headers, body: key })).status,
  ).toBeLessThan(300)
  await heard()
  expect(new Set(await kept())).toEqual(new Set([0, 12]))
  const before = await kept()
  await give('provider Massive')
  expect(await kept()).toEqual(before.toReversed())
  expect((await b.call('GET', '/api/platform/feeds', { headers })).text).not.toContain('mkey')
})
