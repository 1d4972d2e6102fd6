// What links in messages do, for people who are not signed in; and acknowledging, for those who are.

import { expect, test } from 'bun:test'
import type { Alert, Firing } from '../../src/wire/alert.ts'
import type { Notification } from '../../src/wire/channel.ts'
import { barCsv } from '../bar-csv.ts'
import { testServer, unlimited } from './server.ts'

const PHONE = { name: 'phone', kind: 'ntfy', settings: { topic: 'mine' } }
const HOUR = 3_600_000

async function world() {
  const server = testServer(unlimited)
  const cookie = await server.signUp()
  const call = (method: string, path: string, body?: object, headers: Record<string, string> = cookie) =>
    server.call(method, `/api${path}`, { headers, ...(body && { body }) })
  await server.call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1h', {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: barCsv(10),
  })
  const channel = (await call('POST', '/platform/channels', PHONE)).json.id as string
  const alertOf = async (fields: object = {}) =>
    (
      await call('POST', '/platform/alerts', {
        symbol: 'ABC',
        exchange: 'X',
        interval: '1h',
        kind: 'price',
        op: 'above',
        price: 1,
        frequency: 'every_time',
        name: 'hoch 📈',
        channels: [],
        channelIds: [channel],
        ...fields,
      })
    ).json.alert as Alert
  const firingOf = async (alert: Alert) =>
    (await call('GET', `/platform/alerts/${alert.id}/firings`)).json.firings[0] as Firing
  /** The boxes of these tests seal nothing. */
  const token = (action: string, alert: Alert, firing: Firing) =>
    Buffer.from(`${action} ${alert.id} ${firing.id} ${firing.firedAt + 168 * HOUR}`).toString('base64url')
  const anonymous = (path: string, body: object) => call('POST', path, body, {})
  return { ...server, call, channel, alertOf, firingOf, token, anonymous }
}

test('a link pauses its alert without a sign-in, and looking at it does not', async () => {
  const { call, alertOf, firingOf, token, anonymous } = await world()
  const alert = await alertOf()
  const firing = await firingOf(alert)
  const body = { token: token('pause', alert, firing) }
  const state = async () => (await call('GET', `/platform/alerts/${alert.id}`)).json.alert.state
  const link = {
    action: 'pause',
    name: 'hoch 📈',
    symbol: 'ABC',
    exchange: 'X',
    interval: '1h',
    message: 'hoch 📈',
    firedAt: firing.firedAt,
    state: 'active',
    isDone: false,
    until: firing.firedAt + 168 * HOUR,
  }
  expect((await anonymous('/links/show', body)).json.link).toEqual(link)
  expect((await call('GET', '/links/follow')).status).toBe(405)
  expect(await state()).toBe('active')
  const done = { ...link, state: 'paused', isDone: true }
  expect((await anonymous('/links/follow', body)).json.link).toEqual(done)
  expect(await state()).toBe('paused')
  expect((await anonymous('/links/follow', body)).json.link).toEqual(done)
  expect((await anonymous('/links/show', body)).json.link).toEqual(done)
})

test('a link is refused when it is none, has expired, or its alert is gone', async () => {
  const { call, clock, alertOf, firingOf, token, anonymous } = await world()
  const alert = await alertOf()
  const firing = await firingOf(alert)
  const codeOf = async (value: string, path = '/links/follow') =>
    (await anonymous(path, { token: value })).json.error.code
  expect(await codeOf('nonsense')).toBe('link_not_found')
  expect(await codeOf('')).toBe('validation_failed')
  const good = token('pause', alert, firing)
  clock.advance(169 * HOUR)
  expect([await codeOf(good), await codeOf(good, '/links/show')]).toEqual(['link_expired', 'link_expired'])
  clock.advance(-169 * HOUR)
  await call('DELETE', `/platform/alerts/${alert.id}`)
  expect([await codeOf(good), await codeOf(good, '/links/show')]).toEqual([
    'alert_not_found',
    'alert_not_found',
  ])
})

test('an alert that fired for the last time stays as it is', async () => {
  const { alertOf, firingOf, token, anonymous } = await world()
  const alert = await alertOf({ frequency: 'once' })
  const body = { token: token('pause', alert, await firingOf(alert)) }
  expect((await anonymous('/links/follow', body)).json.link).toMatchObject({
    state: 'triggered',
    isDone: true,
  })
})

test('another channel is told unless a firing is acknowledged, by its owner or by link', async () => {
  const { call, channel, alertOf, firingOf, token, anonymous, signUp } = await world()
  const escalation = { channelId: channel, minutes: 10 }
  const alert = await alertOf({ escalation })
  expect(alert.escalation).toEqual(escalation)
  const firing = await firingOf(alert)
  expect([firing.escalatesAt, firing.acknowledgedAt]).toEqual([firing.firedAt + 600_000, null])
  const log = (await call('GET', `/platform/channels/${channel}/notifications`)).json
    .notifications as Notification[]
  expect(log.map(({ title, nextAt }) => [title, (nextAt ?? 0) - firing.firedAt])).toEqual([
    ['Not acknowledged: hoch 📈', 600_000],
    ['hoch 📈', 0],
  ])
  const path = `/platform/alerts/firings/${firing.id}/acknowledge`
  const theirs = await signUp('other@example.com')
  expect((await call('POST', path, {}, theirs)).json.error.code).toBe('firing_not_found')
  const seen = (await call('POST', path)).json.firing as Firing
  expect(seen.acknowledgedAt).toBeGreaterThan(0)
  expect((await call('POST', path)).json.firing).toEqual(seen)
  expect((await firingOf(alert)).acknowledgedAt).toBe(seen.acknowledgedAt)

  const other = await alertOf({ escalation })
  const body = { token: token('acknowledge', other, await firingOf(other)) }
  expect((await anonymous('/links/show', body)).json.link).toMatchObject({
    action: 'acknowledge',
    isDone: false,
  })
  expect((await anonymous('/links/follow', body)).json.link).toMatchObject({ state: 'active', isDone: true })
  expect((await firingOf(other)).acknowledgedAt).not.toBeNull()
})

test('an escalation names a channel of its owner, and minutes that make sense', async () => {
  const { call, alertOf, channel, signUp } = await world()
  const theirs = await signUp('other@example.com')
  const foreign = (await call('POST', '/platform/channels', PHONE, theirs)).json.id
  const alert = await alertOf()
  expect(alert.escalation).toBeNull()
  const changed = async (escalation: unknown) =>
    (await call('PATCH', `/platform/alerts/${alert.id}`, { escalation })).json
  expect((await changed({ channelId: foreign, minutes: 5 })).error.fields[0]).toMatchObject({
    path: '/escalation/channelId',
    code: 'not_found',
  })
  expect((await changed({ channelId: channel, minutes: 0 })).error.code).toBe('validation_failed')
  expect((await changed({ channelId: channel, minutes: 5 })).alert.escalation).toEqual({
    channelId: channel,
    minutes: 5,
  })
  expect((await changed(null)).alert.escalation).toBeNull()
})
