// Large bodies of many requests at once: what may be in memory is shared out, and given back.

import { expect, test } from 'bun:test'
import { Bodies } from '../../src/api/bodies.ts'
import { testServer } from './server.ts'

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
