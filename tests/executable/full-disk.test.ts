// A store that is full: reading, deleting, signing in and stopping go on; everything else is 507 until there is room.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { BUILT, csvOf, IN_FOLDER, OWNER, Place, type Server } from './server.ts'

/** Small file systems in memory; only root may make one. */
function mountSmall(folder: string, megabytes: number): boolean {
  mkdirSync(folder, { recursive: true })
  const made = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  return made.exitCode === 0
}

const IDEA = { title: 't', body: 'b'.repeat(20_000), tags: [], visibility: 'private' }

/** Publishes ideas until that is refused; answers the ids of some. */
async function fill(server: Server): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < 4000; i++) {
    const answer = await server.call('POST', '/api/platform/ideas', IDEA)
    if (answer.status === 507) return ids
    expect(answer.status).toBe(200)
    ids.push(answer.json.id)
  }
  throw new Error('it is never full')
}

async function expectToWork(server: Server, ids: readonly string[]): Promise<void> {
  const signIn = await server.call('POST', '/api/auth/sign-in', OWNER, { cookie: '' })
  expect(signIn.status).toBe(200)
  expect((await server.call('GET', `/api/platform/ideas/${ids[0]}`)).status).toBe(200)
  expect((await server.call('POST', '/api/platform/ideas', IDEA)).status).toBe(507)
  const csv = await server.importCsv('exchange=X&symbol=Y&interval=1h', csvOf(2000))
  expect(csv.status).toBe(507)
  expect((await server.call('DELETE', `/api/platform/ideas/${ids[0]}`)).status).toBe(200)
  expect((await server.call('DELETE', `/api/platform/ideas/${ids[1]}`)).status).toBe(200)
  expect((await server.call('GET', '/api/health')).status).toBe(200)
}

describe.each(BUILT)('%s', (mode) => {
  describe('full', () => {
    const place = new Place(mode, { ...IN_FOLDER, RATE_USER: '0', RATE_ANONYMOUS: '0' })
    const small = `${place.folder}/small`
    let isSmall = false
    beforeAll(() => {
      isSmall = process.platform === 'linux' && mountSmall(small, 48)
    })
    afterAll(() => {
      if (isSmall) Bun.spawnSync(['umount', '-l', small])
      place.remove()
    })

    test('by MAX_STORAGE_MB', async () => {
      const server = await place.serve('--max-storage-mb', '3')
      await server.signUp()
      const ids = await fill(server)
      await expectToWork(server, ids)
      for (const id of ids.slice(2, 60)) await server.call('DELETE', `/api/platform/ideas/${id}`)
      expect((await server.call('POST', '/api/platform/ideas', IDEA)).status).toBe(200)
      expect(await server.stop()).toBe(0)
    })

    test('by the disk', async () => {
      if (!isSmall) return
      const data = `${small}/data`
      let server = await place.serve('--data-dir', data)
      await server.signUp()
      expect(statSync(`${data}/reserve`).size).toBe(16 << 20)
      // Somebody else takes the rest: from now on only what is free in the database itself is left.
      const ballast = `${small}/ballast`
      const free = statfsSync(small)
      writeFileSync(ballast, Buffer.alloc(free.bavail * free.bsize - (2 << 20)))
      const ids = await fill(server)
      await expectToWork(server, ids)
      expect(await server.stop()).toBe(0)
      const { headers } = server
      server = await place.serve('--data-dir', data)
      server.headers = headers
      for (const id of ids.slice(2, 20))
        expect((await server.call('DELETE', `/api/platform/ideas/${id}`)).status).toBe(200)
      rmSync(ballast)
      expect((await server.call('POST', '/api/platform/ideas', IDEA)).status).toBe(200)
      expect(await server.stop()).toBe(0)
      expect(existsSync(`${data}/reserve`)).toBe(true)
    })
  })
})
