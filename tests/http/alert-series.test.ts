// Which series an alert watches: the one that its name means to its owner, today and tomorrow.

import { expect, test } from 'bun:test'
import { alertRecords } from '../../src/notify/alerts/records.ts'
import { testServer } from './server.ts'

const DAY = 86_400_000
const START = Date.UTC(2024, 0, 1)
const NAME = 'exchange=E&symbol=S&interval=1d'

async function town() {
  const { call, signUp, services } = testServer()
  const owner = await signUp('owner@example.com')
  const member = await signUp('member@example.com')
  type Headers = typeof owner
  const { looks } = services.features
  const send = async (headers: Headers, first: number, closes: readonly number[], name = NAME) => {
    const rows = closes.map((close, i) =>
      [START + (first + i) * DAY, close, close, close, close, 1].join(','),
    )
    const answer = await call('POST', `/api/platform/bars/import?${name}`, {
      headers: { ...headers, 'content-type': 'text/csv' },
      body: ['time,open,high,low,close,volume', ...rows].join('\n'),
    })
    expect(answer.status).toBe(200)
  }
  const watch = async (headers: Headers, interval = '1d') => {
    const condition = { kind: 'price', op: 'crossing_up', price: 100, frequency: 'once_per_bar' }
    const body = { symbol: 's', exchange: 'e', interval, channels: ['email'], ...condition }
    expect((await call('POST', '/api/platform/alerts', { headers, body })).status).toBe(200)
  }
  /** The days on which the alerts of a user fired. */
  const days = async (headers: Headers) => {
    await looks.settle()
    const { json } = await call('GET', '/api/platform/alerts/firings', { headers })
    return json.firings.map(({ barTime }: { barTime: number }) => (barTime - START) / DAY).toSorted()
  }
  return { call, owner, member, send, watch, days, kv: services.kv }
}

test('an alert watches its owner’s private bars while there are some, and everybody’s else', async () => {
  const { call, owner, member, send, watch, days } = await town()
  await send(owner, 0, [90, 90])
  await watch(owner)
  await watch(member)
  await send(owner, 2, [101])
  expect([await days(owner), await days(member)]).toEqual([[2], [2]])
  // From now on the name means another series to the member.
  await send(member, 0, [90, 90, 90, 90])
  expect(await days(member)).toEqual([2])
  await send(owner, 3, [90, 101])
  expect([await days(owner), await days(member)]).toEqual([[2, 4], [2]])
  await send(member, 4, [90, 102])
  expect([await days(owner), await days(member)]).toEqual([
    [2, 4],
    [2, 5],
  ])
  const gone = await call('DELETE', `/api/platform/bars?${NAME}`, { headers: member })
  expect(gone.status).toBe(200)
  expect(await days(member)).toEqual([2, 5])
  await send(owner, 5, [90, 90, 103])
  expect([await days(owner), await days(member)]).toEqual([
    [2, 4, 7],
    [2, 5, 7],
  ])
})

test('an alert on weeks looks at the days that make them, and at those of nobody else', async () => {
  const { owner, member, send, watch, days } = await town()
  await send(owner, 0, [90, 90])
  await watch(owner, '1w')
  await send(member, 0, [90, 200, 200, 200, 200, 200, 200, 200, 90, 200])
  expect(await days(owner)).toEqual([])
  await send(owner, 7, [101, 90, 101])
  expect(await days(owner)).toEqual([7])
})

test('a series that is deleted and comes again fires for what is new only', async () => {
  const { call, owner, send, watch, days } = await town()
  await send(owner, 0, [90, 90])
  await watch(owner)
  await send(owner, 2, [101, 90])
  expect(await days(owner)).toEqual([2])
  await call('DELETE', `/api/platform/bars?${NAME}`, { headers: owner })
  expect(await days(owner)).toEqual([2])
  await send(owner, 0, [90, 101, 90])
  await send(owner, 3, [90, 90, 101])
  expect(await days(owner)).toEqual([2, 5])
})

test('private bars move the alerts whose series they become, and leave all others as they are', async () => {
  const { member, send, watch, days, kv } = await town()
  await send(member, 0, [90, 90])
  await send(member, 0, [90, 90], 'exchange=E&symbol=OTHER&interval=1d')
  await watch(member)
  await days(member)
  const { alerts } = alertRecords(kv, 0)
  const stored = async () => (await Array.fromAsync(alerts.each())).map((alert) => JSON.stringify(alert))
  const before = await stored()
  expect(before).toHaveLength(1)
  // The day's alert has its bars; those of an hour make no day of it.
  await send(member, 0, [90, 101], 'exchange=E&symbol=S&interval=1h')
  await send(member, 0, [90, 101], 'exchange=E&symbol=ELSE&interval=1d')
  await days(member)
  expect(await stored()).toEqual(before)
  // It runs no script, so those that run scripts do not come by it.
  expect(await Array.fromAsync(alerts.each('scripts'))).toEqual([])
  expect(await Array.fromAsync(alerts.each('watching'))).toHaveLength(1)
})
