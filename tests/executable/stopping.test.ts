// A server that is told to stop while a script runs that would go on for a minute.

import { describe, expect, test } from 'bun:test'
import { isOnPostgres } from '../store/own-database.ts'
import { backtestOf, BUILT, Place } from './server.ts'

/** Every bar stays within the limit of rounds; all of them together take minutes. */
const SLOW = '//@version=6\nstrategy("x")\nn = 0.0\nfor i = 0 to 4000000\n    n += math.sin(i)\nplot(n)'

describe.each(BUILT)('%s', (mode) => {
  describe('stopping', () => {
    test('who waits for a run is told so at once, and a run that was cut is marked as interrupted or begun again', async () => {
      const place = new Place(mode)
      try {
        const server = await place.serve()
        await server.signUp()
        const path = '/api/platform/backtests'
        const later = await server.call('POST', path, backtestOf(SLOW), { prefer: 'respond-async' })
        const events = await fetch(`${server.base}${path}/${later.json.id}/events`, {
          headers: server.headers,
        })
        const reader = events.body?.getReader()
        for (let text = ''; !text.includes('"running"');)
          text = new TextDecoder().decode((await reader?.read())?.value)
        const waiting = server.call('POST', path, backtestOf(SLOW))
        // The one behind it in the same connection pool tells that it arrived.
        expect((await server.call('GET', path)).json.backtests).toHaveLength(1)
        const stopped = server.stop()
        const answer = await waiting
        expect([answer.status, answer.json.error.code, answer.headers.get('retry-after')]).toEqual([
          503,
          'shutting_down',
          '5',
        ])
        expect(await stopped).toBe(0)
        expect(server.log.text).not.toContain('"level":"error"')

        const next = await place.serve()
        const { backtest } = (await next.call('GET', `${path}/${later.json.id}`, undefined, server.headers))
          .json
        // Of a database there may be other servers, who go on with it.
        expect(backtest).toMatchObject(
          isOnPostgres
            ? { state: expect.stringMatching(/^(queued|running)$/), error: null }
            : { state: 'failed', error: { code: 'interrupted' } },
        )
        expect(await next.stop()).toBe(0)
      } finally {
        place.remove()
      }
    })
  })
})
