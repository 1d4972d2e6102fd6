// A data directory of version 0.1.0, opened by the server as people start it: every answer is what it was.

import { describe, expect, test } from 'bun:test'
import { oldAnswers, oldDataFolder } from '../store/old-data.ts'
import { isMissing, MODES, Place } from './server.ts'

describe.each(MODES)('%s', (mode) => {
  test.skipIf(isMissing(mode))('data of version 0.1.0 answers as it did', async () => {
    const place = new Place(mode)
    const data = oldDataFolder(`${place.folder}/data`)
    const { owner, token, answers } = oldAnswers()
    const server = await place.serve('--data-dir', data)
    expect(server.log.text).toContain('made by version 0.1.0')
    const signIn = await server.call('POST', '/api/auth/sign-in', owner)
    expect([signIn.status, signIn.json.user.name]).toEqual([200, owner.name])
    server.headers = { cookie: /^[^;]+/.exec(signIn.headers.get('set-cookie') ?? '')?.[0] ?? '' }
    for (const [path, { status, json }] of Object.entries(answers)) {
      const answer = await server.call('GET', path)
      expect({ path, status: answer.status, json: answer.json }).toMatchObject({ path, status, json })
    }
    const bearer = { cookie: '', authorization: `Bearer ${token}` }
    expect((await server.call('GET', '/api/platform/alerts', undefined, bearer)).status).toBe(200)
    const { symbols } = (await server.call('GET', '/api/platform/symbols')).json
    expect(symbols.map(({ symbol }: { symbol: string }) => symbol)).toEqual(
      expect.arrayContaining(['BTCUSDT', '平安', 'СБЕР', '🚀', 'ÉTÉ', 'É']),
    )
    expect(await server.stop()).toBe(0)
    place.remove()
  })
})
