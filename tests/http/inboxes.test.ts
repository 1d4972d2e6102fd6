// Inboxes: what is posted to a secret address is kept and forwarded, and nobody learns the address.

import { expect, spyOn, test } from 'bun:test'
import type { Inbox, InboxMessage } from '../../src/wire/inbox.ts'
import { testServer, unlimited } from './server.ts'

async function world() {
  const server = testServer(unlimited)
  const headers = await server.signUp()
  const call = (method: string, path: string, body?: object) =>
    server.call(method, `/api/platform${path}`, { headers, ...(body && { body }) })
  const post = (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    type = 'text/plain',
    more: Readonly<Record<string, string>> = {},
  ) =>
    server.app.handle(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        body,
        headers: { 'content-type': type, ...more },
      }),
    )
  const made = (await call('POST', '/inboxes', { name: 'TradingView' })).json as {
    id: string
    path: string
    inbox: Inbox
  }
  const messages = async () =>
    (await call('GET', `/inboxes/${made.id}/messages`)).json.messages as InboxMessage[]
  return { ...server, headers, call, post, messages, ...made }
}

test('takes text and JSON as TradingView sends them, and keeps both, the newest first', async () => {
  const { post, path, id, messages, call, inbox } = await world()
  expect(inbox).toMatchObject({ senders: 'anyone', channelIds: [], received: 0, lastAt: null })
  const sent = [
    ['BTCUSDT Crossing 70,000 📈', 'text/plain; charset=utf-8'],
    ['{"message":"купить","price":1}', 'application/json; charset=utf-8'],
    ['{"side":"buy"}', 'application/json'],
    ['{broken', 'application/json'],
  ] as const
  for (const [body, type] of sent) expect((await post(path, body, type)).status).toBe(200)
  expect((await messages()).map(({ text, inboxId }) => [text, inboxId])).toEqual([
    ['{broken', id],
    ['{"side":"buy"}', id],
    ['купить', id],
    ['BTCUSDT Crossing 70,000 📈', id],
  ])
  expect((await messages()).every(({ receivedAt }) => receivedAt > 0)).toBe(true)
  const [listed] = (await call('GET', '/inboxes')).json.inboxes as Inbox[]
  expect([listed?.received, listed?.lastAt]).toEqual([4, expect.any(Number)])
})

test('is deleted in one commit with all that has come', async () => {
  const { call, post, path, id, services } = await world()
  for (let i = 0; i < 30; i++) await post(path, `message ${i}`)
  const { kv } = services
  const keys = async () =>
    [
      ...(await kv.list({ prefix: ['inboxes'] }, { limit: 100 })),
      ...(await kv.list({ prefix: ['inbox-messages'] }, { limit: 100 })),
    ].filter(({ key }) => key[1] !== 'count')
  expect((await keys()).length).toBeGreaterThan(30)
  const commit = spyOn(kv, 'commit')
  try {
    expect((await call('DELETE', `/inboxes/${id}`)).status).toBe(200)
    const removing = commit.mock.calls.filter(([{ deletes = [] }]) =>
      deletes.some(([room]) => String(room).startsWith('inbox')),
    )
    expect(removing).toHaveLength(1)
  } finally {
    commit.mockRestore()
  }
  expect(await keys()).toEqual([])
})

test('the address stands in no answer but the first, and in no record', async () => {
  const { call, post, path, services } = await world()
  const secret = path.slice('/api/hooks/'.length)
  expect(secret).toMatch(/^[\w-]{43}$/)
  await post(path, 'x')
  const lists = await Promise.all([call('GET', '/inboxes'), call('GET', '/webhooks')])
  expect(lists.map(({ text }) => text).join('')).not.toContain(secret)
  const stored = await services.kv.list({ prefix: ['inboxes'] }, { limit: 100 })
  expect(JSON.stringify(stored)).not.toContain(secret)
})

test('the address stands in no log, whatever becomes of the request', async () => {
  const logged: string[] = []
  const server = testServer((services) => ({
    ...unlimited(services),
    log: (...line) => void logged.push(JSON.stringify(line)),
  }))
  const { path } = (
    await server.call('POST', '/api/platform/inboxes', {
      headers: await server.signUp(),
      body: { name: 'n' },
    })
  ).json as { path: string }
  const secret = path.slice('/api/hooks/'.length)
  const to = [path, `/${path}`, `${path}/`, `${path}?x=1`, path.toUpperCase(), path.replace('hooks', 'HOOKS')]
  for (const method of ['POST', 'GET', 'DELETE'])
    for (const one of to)
      await server.app.handle(
        new Request(`http://localhost${one}`, {
          method,
          ...(method === 'POST' && { body: 'x', headers: { 'content-type': 'text/plain' } }),
        }),
      )
  // What follows an answer is logged after it.
  await Bun.sleep(0)
  expect(logged.filter((line) => line.includes('hooks')).length).toBeGreaterThan(0)
  expect(logged.join('\n').toLowerCase()).not.toContain(secret.toLowerCase())
})

test('a wrong, an empty, a too long and a garbled message are refused', async () => {
  const { post, path, messages } = await world()
  const codes = await Promise.all(
    (
      [
        ['/api/hooks/nothing', 'x'],
        [`${path.slice(0, -1)}!`, 'x'],
        [path, '  '],
        [path, 'я'.repeat(9000)],
        [path, new Uint8Array([0xff, 0xfe])],
      ] as const
    ).map(async ([to, body]) => {
      const answer = await post(to, body)
      return [answer.status, ((await answer.json()) as { error: { code: string } }).error.code]
    }),
  )
  expect(codes).toEqual([
    [404, 'inbox_not_found'],
    [404, 'inbox_not_found'],
    [422, 'validation_failed'],
    [413, 'payload_too_large'],
    [422, 'validation_failed'],
  ])
  const picture = await post(path, 'x', 'image/png')
  expect(picture.status).toBe(415)
  expect(await picture.text()).toContain('or application/x-www-form-urlencoded.')
  expect(await messages()).toEqual([])
})

test('everything goes to the channels of the inbox, which must be its owner’s', async () => {
  const { call, post, path, id, signUp, call: _call, ...server } = await world()
  const ntfy = { name: 'phone', kind: 'ntfy', settings: { topic: 't' } }
  const mine = (await call('POST', '/channels', ntfy)).json.id as string
  const other = await signUp('other@example.com')
  const theirs = (await server.app
    .handle(
      new Request('http://localhost/api/platform/channels', {
        method: 'POST',
        body: JSON.stringify(ntfy),
        headers: { ...other, 'content-type': 'application/json' },
      }),
    )
    .then((answer) => answer.json())) as { id: string }
  const refused = await call('PATCH', `/inboxes/${id}`, { channelIds: [mine, theirs.id] })
  expect(refused.json.error.fields[0]).toMatchObject({ path: '/channelIds/1', code: 'not_found' })
  await call('PATCH', `/inboxes/${id}`, { channelIds: [mine], name: 'Old alerts' })
  await post(path, '@everyone buy')
  const { notifications } = (await call('GET', `/channels/${mine}/notifications`)).json
  expect(notifications).toMatchObject([{ title: 'Old alerts', text: '@everyone buy', state: 'pending' }])
})

test('an inbox for TradingView alone refuses everybody else', async () => {
  const { call, post, path, id, messages } = await world()
  await call('PATCH', `/inboxes/${id}`, { senders: 'tradingview' })
  const answer = await post(path, 'x', 'text/plain', { 'chartroom-hops': '9' })
  expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
    403,
    'sender_refused',
  ])
  expect(await messages()).toEqual([])
  // Nor can they have it say that a message went in a circle.
  expect(((await call('GET', '/inboxes')).json.inboxes as Inbox[])[0]?.circleAt).toBeNull()
})

test('the newest 500 messages are kept', async () => {
  const { post, path, messages, call, id } = await world()
  for (let i = 0; i < 503; i++) await post(path, `n${i}`)
  const pages: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { json } = await call('GET', `/inboxes/${id}/messages?limit=100${cursor && `&cursor=${cursor}`}`)
    pages.push(...(json.messages as InboxMessage[]).map(({ text }) => text))
    cursor = json.nextCursor as string | null
  }
  expect([pages.length, new Set(pages).size]).toEqual([500, 500])
  expect(pages).toContain('n502')
  expect(pages).not.toContain('n2')
  expect(await messages()).toHaveLength(100)
})

test('a deleted inbox takes nothing, and its messages are gone', async () => {
  const { call, post, path, id, services } = await world()
  await post(path, 'x')
  expect((await call('DELETE', `/inboxes/${id}`)).json.id).toBe(id)
  expect((await post(path, 'x')).status).toBe(404)
  expect((await call('GET', `/inboxes/${id}/messages`)).json.error.code).toBe('inbox_not_found')
  expect(await services.kv.list({ prefix: ['inbox-messages', 'id'] }, { limit: 10 })).toEqual([])
})

test('each inbox has a limit of its own, and wrong secrets have another', async () => {
  const server = testServer(({ settings }) => ({
    settings: { ...settings, rates: { ...settings.rates, anonymous: { quota: 3, windowSeconds: 60 } } },
  }))
  const headers = await server.signUp()
  const made = async () =>
    (await server.call('POST', '/api/platform/inboxes', { headers, body: { name: 'n' } })).json.path as string
  const [flooded, calm] = [await made(), await made()]
  const post = async (path: string) =>
    (
      await server.app.handle(
        new Request(`http://localhost${path}`, {
          method: 'POST',
          body: 'x',
          headers: { 'content-type': 'text/plain' },
        }),
      )
    ).status
  const times = (path: string) => Array.fromAsync({ length: 5 }, () => post(path))
  expect(await times(`/api/hooks/${'a'.repeat(43)}`)).toContain(429)
  expect(await times(flooded)).toEqual([200, 200, 200, 429, 429])
  expect(await times(calm)).toEqual([200, 200, 200, 429, 429])
})

test('a message that goes in a circle is stopped after five inboxes, and its inbox says so', async () => {
  const { call, path, id, messages, post } = await world()
  const pass = (hops: string) => post(path, `round ${hops}`, 'text/plain', { 'chartroom-hops': hops })
  const circleAt = async () => ((await call('GET', '/inboxes')).json.inboxes as Inbox[])[0]?.circleAt
  for (const hops of ['0', '4', 'many', '-1']) expect((await pass(hops)).status).toBe(200)
  expect(await circleAt()).toBeNull()
  const stopped = await pass('5')
  expect([stopped.status, ((await stopped.json()) as { error: { code: string } }).error.code]).toEqual([
    422,
    'message_in_circle',
  ])
  expect([await circleAt(), (await messages()).length]).toEqual([expect.any(Number), 4])
  expect((await call('PATCH', `/inboxes/${id}`, { name: 'n' })).json.inbox.circleAt).toBeNumber()
})
