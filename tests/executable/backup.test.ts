// A server that copies its database to a folder continuously is killed, and another one goes on with what is there.

import { afterEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { BUILT, IN_FOLDER, Place } from './server.ts'

const places: Place[] = []
afterEach(() => {
  for (const place of places.splice(0)) place.remove()
})

function placeOf(...args: ConstructorParameters<typeof Place>): Place {
  const place = new Place(...args)
  places.push(place)
  return place
}

const IDEAS = '/api/platform/ideas'

describe.each(BUILT)('%s', (mode) => {
  test('what was put away is served elsewhere after kill -9, and a server that stops puts the rest away', async () => {
    const place = placeOf(mode, { ...IN_FOLDER, BACKUP: './backup' })
    let server = await place.serve()
    await server.signUp()
    const write = (title: string) => server.call('POST', IDEAS, { title, body: '', visibility: 'private' })
    expect((await write('put away')).status).toBe(200)
    // Nothing waits any more, and the newest state is not older than the idea.
    const since = Date.now()
    for (;;) {
      const { backup } = (await server.call('GET', '/api/ready')).json
      if (backup.state === 'ok' && backup.lagSeconds === 0 && backup.lastAt >= since) break
      await write('until it is')
      await Bun.sleep(50)
    }
    await server.kill()
    server = await place.serve()
    await server.signIn()
    expect((await write('the last')).status).toBe(200)
    expect(await server.stop()).toBe(0)

    // Neither the address nor the key has to stand on the command line.
    const elsewhere = placeOf(mode, {
      ...IN_FOLDER,
      BACKUP: `${place.folder}/backup`,
      KEY_FILE: `${place.folder}/data/instance.key`,
    })
    expect((await elsewhere.run('restore', '--list')).out).toMatch(/^snapshot /)
    const restored = await elsewhere.run('restore')
    expect([restored.code, restored.err]).toEqual([0, ''])
    server = await elsewhere.serve()
    await server.signIn()
    const titles = async () =>
      (await server.call('GET', IDEAS)).json.ideas.map(({ title }: { title: string }) => title)
    expect(await titles()).toContain('put away')
    expect(await titles()).toContain('the last')

    // It goes on in the same place, with a line of its own.
    while ((await server.call('GET', '/api/ready')).json.backup.state !== 'ok') await Bun.sleep(50)
    expect((await write('of the restored')).status).toBe(200)
    expect(await server.stop()).toBe(0)
    rmSync(`${elsewhere.folder}/data`, { recursive: true })
    expect((await elsewhere.run('restore')).code).toBe(0)
    server = await elsewhere.serve()
    await server.signIn()
    expect(await titles()).toContain('of the restored')
    expect(await server.stop()).toBe(0)
  })
})
