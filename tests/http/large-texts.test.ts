// The largest texts that a user may send, over HTTP and with the real engine: the server's own thread looks into none.

import { expect, test } from 'bun:test'
import { testServer } from './server.ts'

/** Turns of the event loop that others had while something was done. */
async function turnsDuring<T>(work: () => Promise<T>): Promise<{ readonly turns: number; readonly done: T }> {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  try {
    return { done: await work(), turns }
  } finally {
    isOver = true
  }
}

/** What is read, routed and answered on the server's own thread takes some; a text that is compiled there takes one. */
const ENOUGH_TURNS = 30

async function world() {
  const server = testServer(undefined, { engine: 'real' })
  const headers = await server.signUp()
  const post = (path: string, body: object) =>
    server.call('POST', `/api/platform${path}`, { headers, body: { ...body } })
  // The engine is loaded by then.
  await post('/scripts/check', { source: 'plot(close)' })
  return { ...server, headers, post }
}

const UNCLOSED = `//@version=6\nindicator("x")\n${'x = "abc\n'.repeat(33_000)}`
const RUN = { name: 'n', symbol: 'ABC', exchange: 'X', interval: '1d', bars: 30, inputs: {} }

test('300 kB of unclosed strings are checked beside the server, and the first 100 mistakes told', async () => {
  const { post, pool } = await world()
  const { turns, done } = await turnsDuring(() => post('/scripts/check', { source: UNCLOSED }))
  expect(done.status).toBe(200)
  expect(done.json.diagnostics.length).toBeLessThanOrEqual(101)
  expect(turns).toBeGreaterThan(ENOUGH_TURNS)
  pool.close()
})

test('300 kB of unclosed strings are stored as a draft, and looked into beside the server', async () => {
  const { post, pool } = await world()
  const { turns, done } = await turnsDuring(() => post('/scripts', { name: 'draft', source: UNCLOSED }))
  expect([done.status, done.json.script.kind]).toEqual([200, 'draft'])
  expect(done.json.diagnostics.length).toBeLessThanOrEqual(101)
  expect(turns).toBeGreaterThan(ENOUGH_TURNS)
  pool.close()
})

test('a megabyte of empty lines is run beside the server', async () => {
  const { call, headers, post, pool } = await world()
  await call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1d', {
    body: 'time,open,high,low,close,volume\n2024-01-01,1,2,1,2,3',
    headers: { ...headers, 'content-type': 'text/csv' },
  })
  const source = `//@version=6\nindicator("x")\n${'\n'.repeat(500_000)}plot(close)`
  const { turns, done } = await turnsDuring(() => post('/backtests/preview', { ...RUN, source }))
  expect(done.status).toBe(200)
  expect(turns).toBeGreaterThan(ENOUGH_TURNS)
  pool.close()
})

test('a list of trades of 14 MB of quotes is refused beside the server', async () => {
  const { call, headers, post, pool } = await world()
  await call('POST', '/api/platform/bars/import?symbol=ABC&exchange=X&interval=1d', {
    body: 'time,open,high,low,close,volume\n2024-01-01,1,2,1,2,3',
    headers: { ...headers, 'content-type': 'text/csv' },
  })
  const { json } = await post('/backtests', { ...RUN, source: '//@version=6\nindicator("x")\nplot(close)' })
  const { turns, done } = await turnsDuring(() =>
    post(`/backtests/${json.id}/compare`, { csv: '"'.repeat(14 << 20) }),
  )
  // No trade is found in it, or its time is over where the machine has much else to do.
  expect(done.status).toBe(422)
  expect(turns).toBeGreaterThan(ENOUGH_TURNS)
  pool.close()
})
