import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { BUILT, IN_FOLDER, Place } from './server.ts'

describe.each(BUILT)('%s', (mode) => {
  describe('a data directory', () => {
    test('has one server, which a second one is told of, and commands beside it', async () => {
      const place = new Place(mode, IN_FOLDER)
      const server = await place.serve()
      await server.signUp()
      const second = await place.run('serve', '--port', '0')
      expect(second).toEqual({ code: 1, out: '', err: expect.stringContaining('Stop it first') })
      expect(second.err).toContain(`Process ${server.process.pid} is serving this data directory`)
      expect((await place.run('user', 'list')).out).toContain('owner@example.com')
      expect((await place.run('backup', 'copy')).code).toBe(0)
      expect(readdirSync(`${place.folder}/copy`).sort()).toEqual(['db', 'instance.key'])
      expect((await server.call('GET', '/api/auth/session')).status).toBe(200)
      expect(await server.stop()).toBe(0)
      expect(existsSync(`${place.folder}/data/server.pid`)).toBe(false)
      expect(await (await place.serve()).stop()).toBe(0)
      place.remove()
    })

    test('is free again the moment its server is killed, whoever has its number by then', async () => {
      const place = new Place(mode, IN_FOLDER)
      for (let round = 0; round < 3; round++) await (await place.serve()).kill()
      // The number of a process that lives, as after a restart of the machine.
      writeFileSync(`${place.folder}/data/server.pid`, `${process.pid} ${hostname()}\n`)
      expect(await (await place.serve()).stop()).toBe(0)
      place.remove()
    })

    test('has one server also when several are started at once', async () => {
      const place = new Place(mode, IN_FOLDER)
      const started = Array.from({ length: 4 }, () => place.spawn(['serve', '--port', '0']))
      const codes: (number | null)[] = started.map(() => null)
      started.forEach((child, i) => void child.exited.then((code) => (codes[i] = code)))
      // Those that are refused end by themselves.
      await Promise.all(started.map(({ stderr }) => firstLine(stderr)))
      while (codes.filter((code) => code === 1).length < 3)
        await Promise.race(started.filter((_, i) => codes[i] === null).map(({ exited }) => exited))
      const [winner] = started.filter((_, i) => codes[i] === null)
      winner?.kill('SIGTERM')
      expect(await winner?.exited).toBe(0)
      place.remove()
    })
  })
})

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<void> {
  await stream.getReader().read()
}
