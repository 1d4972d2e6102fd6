// Large bodies of many requests at once: what may be in memory is shared out, and given back.

import { expect, test } from 'bun:test'
import { barCsv } from '../bar-csv.ts'
import { Bodies } from '../../src/http/bodies.ts'
import { testServer } from './server.ts'
import { HandClock } from '../lib/hand-clock.ts'

test.each(['/platform/scripts/check', '/platform/backtests/ID/compare', '/platform/bars/import?QUERY'])(
  'a large body that stops coming gives its room back: %s',
  async (template) => {
    const clock = new HandClock()
    const { app, call, signUp } = testServer(() => ({ clock }))
    const headers = { ...(await signUp()), 'content-type': 'text/csv' }
    const query = 'exchange=E&symbol=S&interval=1d'
    await call('POST', `/api/platform/bars/import?${query}`, { headers, body: barCsv(20) })
    const run = { name: 'n', symbol: 'S', exchange: 'E', interval: '1d', bars: 9, source: 'sum' }
    const { id } = (
      await call('POST', '/api/platform/backtests', { headers: { cookie: headers.cookie }, body: run })
    ).json
    const path = template.replace('ID', id).replace('QUERY', query)
    const type = path.includes('import') ? 'text/csv' : 'application/json'
    const request = new Request(`http://localhost/api${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1000)) }),
    })
    let status = 0
    const answered = app.handle(request).then((answer) => (status = answer.status))
    // An import asks for its bytes from a thread of its own, which takes its time on a busy machine.
    while (clock.asleep === 0) await clock.settle()
    expect(status).toBe(0)
    await clock.pass(30_000)
    expect([await answered, app.gate.bodies.bytes]).toEqual([408, 0])
  },
)

test('one client has half of the room, all together have the whole, and what is let go can be taken again', () => {
  const bodies = new Bodies(100)
  const first = bodies.open('usr_1')
  first.add(30)
  first.add(20)
  expect(() => bodies.open('usr_1').add(1)).toThrow('as many large requests as it can')
  bodies.open('usr_2').add(50)
  expect(() => bodies.open('usr_3').add(1)).toThrow()
  first.release()
  first.release()
  expect(bodies.bytes).toBe(50)
  bodies.open('usr_3').add(50)
})

test('large bodies that are still coming leave room for those of others, and are told when there is none', async () => {
  const { app, call, signUp } = testServer()
  const cookie = await signUp()
  const { bodies } = app.gate
  const others = ['usr_a', 'usr_b'].map((user) => bodies.open(user))
  for (const held of others) held.add(64 << 20)
  const bring = () =>
    call('POST', '/api/platform/watchlists/import', { body: { name: 'list', items: [] }, headers: cookie })
  const refused = await bring()
  expect([refused.status, refused.json]).toMatchObject([
    503,
    { error: { code: 'overloaded', retryAfter: 5 } },
  ])
  others[0]?.release()
  expect((await bring()).status).toBe(200)
  expect(bodies.bytes).toBe(64 << 20)
})
