// Channels over the API: set up, named by an alert, told when it fires, and read in the log.

import { expect, test } from 'bun:test'
import type { Channel, ChannelKind, Notification } from '../../src/wire/channel.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'

const TELEGRAM = {
  name: 'Телефон 📱',
  kind: 'telegram',
  settings: { token: '123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', chat: '5' },
}
const ALERT = {
  symbol: 'ABC',
  exchange: 'X',
  interval: '1h',
  kind: 'price',
  op: 'above',
  price: 1,
  channels: [],
}

async function world() {
  const server = testServer(unlimited)
  const cookie = await server.signUp()
  const as =
    (headers: Readonly<Record<string, string>>) => async (method: string, path: string, body?: object) =>
      server.call(method, `/api/platform${path}`, { headers, ...(body && { body }) })
  const call = as(cookie)
  await server.call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1h', {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: barCsv(10),
  })
  return { ...server, call, as, cookie }
}

test('every kind says what it needs, and what of it is secret', async () => {
  const { call } = await world()
  const { kinds } = (await call('GET', '/channels/kinds')).json as { kinds: ChannelKind[] }
  expect(kinds.map(({ kind }) => kind)).toEqual([
    'ntfy',
    'telegram',
    'discord',
    'slack',
    'gotify',
    'pushover',
    'matrix',
    'http',
    'push',
  ])
  const fields = kinds.find(({ kind }) => kind === 'telegram')?.fields ?? []
  expect(fields.map(({ name, secret, required, lines }) => [name, secret, required, lines])).toEqual([
    ['token', true, true, false],
    ['chat', false, true, false],
    ['server', false, false, false],
  ])
  expect(fields[2]?.default).toBe('https://api.telegram.org')
  for (const { label, hint } of kinds.flatMap((one) => one.fields)) expect([label, hint]).not.toContain('')
})

test('a browser subscribes for one key, whoever asks and whenever', async () => {
  const { call, as, signUp } = await world()
  const { publicKey } = (await call('GET', '/channels/push-key')).json
  expect(Buffer.from(publicKey, 'base64url')).toHaveLength(65)
  const theirs = as(await signUp('other@example.com'))
  expect((await theirs('GET', '/channels/push-key')).json.publicKey).toBe(publicKey)
})

test('an alert may name a channel alone, and its firing is told there and in the log', async () => {
  const { call, services } = await world()
  const { id, channel } = (await call('POST', '/channels', TELEGRAM)).json as { id: string; channel: Channel }
  expect(channel).toMatchObject({ name: 'Телефон 📱', settings: { chat: '5' }, secrets: ['token'] })
  expect(JSON.stringify((await call('GET', '/channels')).json)).not.toContain('AAHdq')
  const made = await call('POST', '/alerts', { ...ALERT, name: 'high', channelIds: [id] })
  expect(made.json.alert).toMatchObject({ channels: [], channelIds: [id], firings: 1 })
  const told = async () =>
    (await call('GET', `/channels/${id}/notifications`)).json.notifications as Notification[]
  const [notification] = await told()
  expect(notification).toMatchObject({ channelId: id, title: 'high', resendOf: null })
  expect(notification?.text).toMatch(/^ABC is above 1\nX:ABC 1h, close [\d.]+$/)

  const again = await call('POST', `/channels/notifications/${notification?.id}/resend`)
  expect(again.json.notification).toMatchObject({ channelId: id, resendOf: notification?.id })
  const test = await call('POST', `/channels/${id}/test`)
  expect(test.json.notification).toMatchObject({ channelId: id, title: 'Test from Chartroom' })
  expect(await told()).toHaveLength(3)

  const stop = new AbortController()
  const running = services.features.start(stop.signal)
  while ((await told()).some(({ state }) => state === 'pending')) await Bun.sleep(0)
  stop.abort()
  await running
  expect((await told()).every(({ state, attempts }) => state === 'delivered' && attempts.length === 1)).toBe(
    true,
  )
})

test('an alert needs one way to be told, and takes only channels of its owner', async () => {
  const { call, as, signUp } = await world()
  const theirs = as(await signUp('other@example.com'))
  const { id: foreign } = (await theirs('POST', '/channels', TELEGRAM)).json
  const fieldOf = async (body: object) =>
    (await call('POST', '/alerts', { ...ALERT, ...body })).json.error.fields[0]
  expect(await fieldOf({})).toMatchObject({ path: '/channels', code: 'required' })
  expect(await fieldOf({ channelIds: [foreign] })).toMatchObject({ path: '/channelIds/0', code: 'not_found' })
  const { id } = (await call('POST', '/channels', TELEGRAM)).json
  const alert = (await call('POST', '/alerts', { ...ALERT, channels: ['webhook'], channelIds: [id] })).json.id
  expect((await call('PATCH', `/alerts/${alert}`, { channels: [] })).json.alert.channels).toEqual([])
  expect((await call('PATCH', `/alerts/${alert}`, { channelIds: [] })).status).toBe(422)
})

test('a channel is changed, disabled and deleted, and then told nothing', async () => {
  const { call } = await world()
  const { id } = (await call('POST', '/channels', TELEGRAM)).json
  const changed = await call('PATCH', `/channels/${id}`, {
    name: 'n',
    settings: { chat: '@x' },
    status: 'disabled',
  })
  expect(changed.json.channel).toMatchObject({
    name: 'n',
    settings: { chat: '@x' },
    secrets: ['token'],
    status: 'disabled',
    disabledReason: 'owner',
  })
  await call('POST', '/alerts', { ...ALERT, channelIds: [id] })
  expect((await call('GET', `/channels/${id}/notifications`)).json.notifications).toEqual([])
  expect((await call('DELETE', `/channels/${id}`)).json.id).toBe(id)
  expect((await call('GET', `/channels/${id}`)).json.error.code).toBe('channel_not_found')
  expect((await call('POST', '/channels/notifications/ntc_none/resend')).json.error.code).toBe(
    'notification_not_found',
  )
})

test('quiet hours and a digest are set, refused where they make no sense, and hold alerts back', async () => {
  const { call, clock, services } = await world()
  const quiet = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' }
  const { id, channel } = (await call('POST', '/channels', { ...TELEGRAM, quiet, digestMinutes: 30 })).json
  expect([channel.quiet, channel.digestMinutes]).toEqual([quiet, 30])
  const fieldOf = async (body: object) =>
    (await call('PATCH', `/channels/${id}`, body)).json.error.fields[0].path
  expect(await fieldOf({ quiet: { ...quiet, timezone: 'Nowhere/At all' } })).toBe('/quiet/timezone')
  expect(await fieldOf({ quiet: { ...quiet, to: '22:00' } })).toBe('/quiet/to')
  expect(await fieldOf({ quiet: { ...quiet, from: '25:00' } })).toBe('/quiet/from')
  expect(await fieldOf({ digestMinutes: 1441 })).toBe('/digestMinutes')
  // The server's clock stands at midnight.
  await call('POST', '/alerts', { ...ALERT, channelIds: [id] })
  await call('POST', '/alerts', { ...ALERT, channelIds: [id] })
  const log = async () =>
    (await call('GET', `/channels/${id}/notifications`)).json.notifications as Notification[]
  expect((await log()).map(({ nextAt }) => (nextAt ?? 0) - clock.now())).toEqual(
    [6, 6].map((h) => h * 3_600_000),
  )
  const changed = await call('PATCH', `/channels/${id}`, { quiet: null })
  expect(changed.json.channel).toMatchObject({ quiet: null, digestMinutes: 30 })
  expect((await log()).map(({ nextAt }) => nextAt)).toEqual([clock.now(), clock.now()])
  const stop = new AbortController()
  const running = services.features.start(stop.signal)
  // A page of the log names its rows before it reads them: one from the moment of the joining lacks the digest.
  while (!(await log()).some(({ state }) => state === 'delivered')) await Bun.sleep(0)
  stop.abort()
  await running
  const [digest] = await log()
  expect((await log()).map(({ state, digestId, joined }) => [state, digestId, joined])).toEqual([
    ['delivered', null, 2],
    ['joined', digest?.id ?? '', 1],
    ['joined', digest?.id ?? '', 1],
  ])
})

test('the log hides what was told from a token that may not read alerts', async () => {
  const { call, as, token, cookie } = await world()
  const { id } = (await call('POST', '/channels', TELEGRAM)).json
  await call('POST', '/alerts', { ...ALERT, channelIds: [id] })
  const blind = as(await token(cookie, ['webhooks:read']))
  expect((await blind('GET', `/channels/${id}/notifications`)).json.notifications[0]).toMatchObject({
    title: null,
    text: null,
  })
})

test('answers that repeat the message are hidden from such a token, and show nobody its links', async () => {
  const offline = () => {
    throw new Error('no network in tests')
  }
  const server = testServer(unlimited, {
    network: {
      http: async () => offline(),
      openSocket: offline,
      publicUrl: 'https://room.example',
      send: async ({ body }) => ({
        status: 200,
        retryAfter: null,
        excerpt: JSON.stringify({ ok: true, result: JSON.parse(new TextDecoder().decode(body)) }),
        failure: null,
      }),
    },
  })
  const cookie = await server.signUp()
  const get = async (headers: Readonly<Record<string, string>>, path: string) =>
    (await server.call('GET', `/api/platform${path}`, { headers })).json
  const post = async (path: string, body: object) =>
    (await server.call('POST', `/api/platform${path}`, { headers: cookie, body })).json
  await server.call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1h', {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: barCsv(10),
  })
  const { id } = await post('/channels', TELEGRAM)
  const hook = await post('/webhooks', {
    name: 'w',
    url: 'https://hook.example',
    events: ['alert.triggered'],
  })
  await post('/alerts', { ...ALERT, name: 'secret plan', channels: ['webhook'], channelIds: [id] })
  const logs = (headers: Readonly<Record<string, string>>) =>
    Promise.all([
      get(headers, `/channels/${id}/notifications`),
      get(headers, `/webhooks/${hook.id}/deliveries`),
    ])
  const stop = new AbortController()
  const running = server.services.features.start(stop.signal)
  while (JSON.stringify(await logs(cookie)).includes('"pending"')) await Bun.sleep(0)
  stop.abort()
  await running
  const [told, delivered] = await logs(cookie)
  expect(told.notifications[0].attempts[0].excerpt).toMatch(/secret plan[^]*\/tap#…/)
  expect(delivered.deliveries[0].attempts[0].excerpt).toContain('secret plan')
  const stored = await server.services.kv.list({ prefix: ['notifications'] }, { limit: 100 })
  expect(JSON.stringify(stored)).not.toMatch(/tap#\w/)
  const blind = await logs(await server.token(cookie, ['webhooks:read']))
  expect(JSON.stringify(blind)).not.toContain('secret plan')
  expect(blind[0].notifications[0].attempts).toMatchObject([{ status: 200, excerpt: null }])
  expect(blind[1].deliveries[0].attempts).toMatchObject([{ status: 200, excerpt: null }])
})

test('a notification that waits shows the refusal and its next time, and nothing that it is counted by', async () => {
  const offline = (): never => {
    throw new Error('no network in tests')
  }
  const server = testServer(unlimited, {
    network: {
      http: async () => offline(),
      openSocket: offline,
      send: async () => ({ status: 429, retryAfter: '3600', excerpt: '', failure: null }),
    },
  })
  const headers = await server.signUp()
  const { id } = (await server.call('POST', '/api/platform/channels', { headers, body: TELEGRAM })).json
  await server.call('POST', `/api/platform/channels/${id}/test`, { headers })
  const shown = async () =>
    (await server.call('GET', `/api/platform/channels/${id}/notifications`, { headers })).json
      .notifications[0] as Notification
  const fresh = await shown()
  const stop = new AbortController()
  const running = server.services.features.start(stop.signal)
  while ((await shown()).attempts.length === 0) await Bun.sleep(0)
  stop.abort()
  await running
  const waiting = await shown()
  expect(waiting).toMatchObject({ state: 'pending', attempts: [{ status: 429 }], nextAt: expect.any(Number) })
  expect(Object.keys(waiting).toSorted()).toEqual(Object.keys(fresh).toSorted())
})

test('a message names its alert, says what happened and where, and no line twice', async () => {
  const { call } = await world()
  const { id } = (await call('POST', '/channels', TELEGRAM)).json
  for (const body of [{}, { name: 'n' }, { name: 'n', message: 'own' }, { message: 'own' }])
    await call('POST', '/alerts', { ...ALERT, ...body, channelIds: [id] })
  const log = (await call('GET', `/channels/${id}/notifications`)).json.notifications as Notification[]
  const market = expect.stringMatching(/^X:ABC 1h, close [\d.]+$/)
  expect(log.map(({ title, text }) => [title, ...(text ?? '').split('\n')]).toReversed()).toEqual([
    ['ABC is above 1', market],
    ['n', 'ABC is above 1', market],
    ['n', 'own', market],
    ['ABC is above 1', 'own', market],
  ])
})
