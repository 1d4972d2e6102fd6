// A data directory of each earlier version, opened by the server as people start it: every answer is what it was.

import { describe, expect, test } from 'bun:test'
import { OLD_VERSIONS, oldAnswers, oldDataFolder } from '../store/old-data.ts'
import { BUILT, IN_FOLDER, Place, type Server } from './server.ts'

/** What more there is to see, by version. */
const BEYOND = {
  '0.1.0': async (server: Server) => {
    expect(server.log.text).toContain('made by version 0.1.0')
    const { symbols } = (await server.call('GET', '/api/platform/symbols')).json
    expect(symbols.map(({ symbol }: { symbol: string }) => symbol)).toEqual(
      expect.arrayContaining(['BTCUSDT', '平安', 'СБЕР', '🚀', 'ÉTÉ', 'É']),
    )
  },
  '0.2.0': async (server: Server) => {
    const [channel] = (await server.call('GET', '/api/platform/channels')).json.channels
    // Needs the sealed secret, which is not given again.
    const changed = await server.call('PATCH', `/api/platform/channels/${channel.id}`, {
      settings: { topic: 'other' },
    })
    expect([changed.status, changed.json.channel?.secrets]).toEqual([200, ['token']])
  },
} satisfies Record<(typeof OLD_VERSIONS)[number], (server: Server) => Promise<void>>

describe.each(BUILT)('%s', (mode) => {
  test.each(OLD_VERSIONS)('data of version %s answers as it did', async (version) => {
    const place = new Place(mode, IN_FOLDER)
    const data = oldDataFolder(`${place.folder}/data`, version)
    const { owner, token, answers } = oldAnswers(version)
    const server = await place.serve('--data-dir', data)
    const signIn = await server.call('POST', '/api/auth/sign-in', owner)
    expect([signIn.status, signIn.json.user.name]).toEqual([200, owner.name])
    server.headers = { cookie: /^[^;]+/.exec(signIn.headers.get('set-cookie') ?? '')?.[0] ?? '' }
    for (const [path, { status, json }] of Object.entries(answers)) {
      const answer = await server.call('GET', path)
      expect({ path, status: answer.status, json: answer.json }).toMatchObject({ path, status, json })
    }
    const bearer = { cookie: '', authorization: `Bearer ${token}` }
    expect((await server.call('GET', '/api/platform/alerts', undefined, bearer)).status).toBe(200)
    await BEYOND[version](server)
    expect(await server.stop()).toBe(0)
    place.remove()
  })
})
