// Watched scans: somebody is told what becomes true, once, and also of what came while no server ran.

import { expect, test } from 'bun:test'
import { SCAN, scanServer } from './scan-server.ts'
import { testKv } from '../../store/test-store.ts'

const PATH = '/api/platform/scans'
const UP = [50, 50, 50, 50, 50, 50, 60]

async function watching(options: Parameters<typeof scanServer>[0] = {}) {
  const server = await scanServer(options)
  const stop = new AbortController()
  const running = server.services.features.start(stop.signal)
  const until = async <T>(look: () => Promise<T | null | undefined | false>): Promise<T> => {
    for (;;) {
      const found = await look()
      if (found) return found
      await Bun.sleep(5)
    }
  }
  const close = async () => {
    stop.abort()
    await running
    server.pool.close()
  }
  const scanOf = async (id: string) => (await server.call('GET', `${PATH}/${id}`)).json.scan
  const letters = async () =>
    (await server.call('GET', '/api/platform/alerts/outbox')).json.letters as { text: string }[]
  return { ...server, until, close, scanOf, letters }
}

test('a condition that becomes true on a market is told, and what was true is not', async () => {
  const { scan, call, put, until, scanOf, rows, letters, close } = await watching()
  const { id } = await scan()
  const answer = await call('PATCH', `${PATH}/${id}`, {
    name: 'renamed',
    watch: { conditions: ['Above'], channels: ['email'] },
  })
  expect(answer.json.scan).toMatchObject({
    name: 'renamed',
    watch: { conditions: ['Above'], channels: ['email'], webhookIds: [] },
    news: [],
  })
  await put('X:FLAT', UP)
  const { news, conditions } = await until(async () => {
    const found = await scanOf(id)
    return found.news.length > 0 && found
  })
  expect(news).toEqual([
    {
      exchange: 'X',
      symbol: 'FLAT',
      condition: 'Above',
      time: Date.UTC(2024, 0, 7),
      close: 60,
      at: expect.any(Number),
    },
  ])
  expect(conditions[0]).toEqual({ title: 'Above', holds: 4 })
  const [row] = await rows(id, '?where=symbol=%27FLAT%27')
  expect(row.holds).toEqual([0, 3])
  expect(row.fired).toBeUndefined()
  const [letter] = await letters()
  expect(letter?.text).toContain('X:FLAT  Above, close 60, bar of 2024-01-07')

  // It ends and begins again while the bar forms: told once a bar.
  await put('X:FLAT', [...UP.slice(0, 6), 40])
  await until(async () => (await scanOf(id)).conditions[0].holds === 3)
  await put('X:FLAT', [...UP.slice(0, 6), 70])
  await until(async () => (await scanOf(id)).conditions[0].holds === 4)
  expect((await scanOf(id)).news).toHaveLength(1)
  await put('X:FLAT', [...UP.slice(0, 6), 70, 10])
  await until(async () => (await scanOf(id)).conditions[0].holds === 3)
  await put('X:FLAT', [...UP.slice(0, 6), 70, 10, 300])
  await until(async () => (await scanOf(id)).news.length === 2)
  expect(await letters()).toHaveLength(2)

  // A market of nobody's list, and an end of the watching.
  expect((await call('PATCH', `${PATH}/${id}`, { watch: null })).json.scan.watch).toBeNull()
  await close()
})

test('what came while no server ran is told after the next start, and webhooks are told market by market', async () => {
  const kv = testKv()
  const first = await scanServer({ kv })
  const { id } = await first.scan()
  const hook = await first.call('POST', '/api/platform/webhooks', {
    name: 'hook',
    url: 'https://example.com/hook',
    events: ['alert.triggered'],
  })
  expect(hook.status).toBe(200)
  const watch = { channels: ['webhook'], webhookIds: [hook.json.id] }
  expect((await first.call('PATCH', `${PATH}/${id}`, { watch })).status).toBe(200)
  await first.put('X:FLAT', UP)
  first.pool.close()
  const { scanOf, until, call, close } = await watching({
    kv,
    bars: first.services.bars,
    seed: 2,
    signedUp: first.cookie,
  })
  await until(async () => (await scanOf(id)).news.length === 2)
  const { deliveries } = (await call('GET', `/api/platform/webhooks/${hook.json.id}/deliveries`)).json
  expect(deliveries).toHaveLength(2)
  await close()
})

test.each([
  [{ channels: [] }, '/watch/channels'],
  [{ channels: ['pigeon'] }, '/watch'],
  [{ channels: ['email'], conditions: ['Below'] }, '/watch/conditions/0'],
  [{ channels: ['webhook'], webhookIds: ['wh_1'] }, '/watch/webhookIds/0'],
])('%j is refused at %s', async (watch, path) => {
  const { scan, call, pool } = await scanServer()
  const { id } = await scan({ symbols: [{ symbol: 'X:FLAT' }] })
  const { status, json } = await call('PATCH', `${PATH}/${id}`, { watch })
  expect([status, json.error.fields[0].path]).toEqual([422, path])
  pool.close()
})

test('ten scans of a user are watched at most, and nobody changes those of another', async () => {
  const { scan, call, signUp, ended, pool } = await scanServer()
  const watch = { channels: ['email'] }
  const ids: string[] = []
  for (let i = 0; i < 11; i++) ids.push((await scan({ symbols: [{ symbol: 'X:FLAT' }] })).id)
  for (const id of ids.slice(0, 10))
    expect((await call('PATCH', `${PATH}/${id}`, { watch })).status).toBe(200)
  const refused = await call('PATCH', `${PATH}/${ids[10]}`, { watch })
  expect([refused.status, refused.json.error.code]).toEqual([422, 'quota_exceeded'])
  // One of the ten is watched otherwise, and another user's are not counted.
  const conditions = { ...watch, conditions: ['Above'] }
  expect((await call('PATCH', `${PATH}/${ids[0]}`, { watch: conditions })).status).toBe(200)
  const other = await signUp('other@example.com')
  const theirs = await call('POST', PATH, { ...SCAN, symbols: [{ symbol: 'X:FLAT' }] }, other)
  await ended(theirs.json.id, other)
  expect((await call('PATCH', `${PATH}/${theirs.json.id}`, { watch }, other)).status).toBe(200)
  expect((await call('PATCH', `${PATH}/${ids[0]}`, { watch: null }, other)).status).toBe(404)
  pool.close()
})
