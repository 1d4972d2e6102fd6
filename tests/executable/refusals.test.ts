// Data that is foreign, newer, torn or corrupt is refused with a sentence, and is byte for byte what it was.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'lmdb'
import { RECORDS, seriesRecordKey } from '../../src/store/lmdb-bars.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { oldDataFolder } from '../store/old-data.ts'
import { BUILT, IN_FOLDER, Place } from './server.ts'

/** Changes some bytes in the middle of a file. */
function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const all = readFileSync(path)
  all.set(bytes, at)
  writeFileSync(path, all)
}
const noise = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 167 + 13) & 255)

const DAMAGES: readonly (readonly [
  name: string,
  sentence: string,
  damage: (data: string) => void | Promise<void>,
])[] = [
  ['an empty file', 'is empty', (data) => truncateSync(`${data}/db/data.mdb`, 0)],
  ['a file of noise', 'is no database', (data) => writeFileSync(`${data}/db/data.mdb`, noise(100_000))],
  ['a text', 'is no database', (data) => writeFileSync(`${data}/db/data.mdb`, 'SQLite format 3\0')],
  [
    'a first page of zeros',
    'is no database',
    (data) => overwrite(`${data}/db/data.mdb`, 0, new Uint8Array(4096)),
  ],
  ['half of the file', 'is cut short', (data) => halve(`${data}/db/data.mdb`)],
  ['one page', 'is damaged', (data) => truncateSync(`${data}/db/data.mdb`, 4096)],
  [
    'noise over everything behind the first pages',
    'is damaged',
    (data) => {
      const path = `${data}/db/data.mdb`
      overwrite(path, 8192, noise(statSync(path).size - 8192))
    },
  ],
  [
    'zeros over everything behind the first pages',
    'is damaged',
    (data) => {
      const path = `${data}/db/data.mdb`
      overwrite(path, 8192, new Uint8Array(statSync(path).size - 8192))
    },
  ],
  [
    "another program's database",
    'is a database of another program',
    async (data) => {
      rmSync(`${data}/db`, { recursive: true })
      const other = open({ path: `${data}/db`, noSubdir: false })
      await other.openDB({ name: 'theirs' }).put('a', 1)
      await other.close()
    },
  ],
  [
    'a newer version',
    'Run the newer program',
    async (data) => {
      const kv = lmdbKv({ path: `${data}/db` })
      await kv.commit({ sets: [{ key: ['meta', 'schema'], value: '999' }] })
      await kv.close()
    },
  ],
  [
    'a folder in its place',
    'cannot be read',
    (data) => {
      rmSync(`${data}/db/data.mdb`)
      mkdirSync(`${data}/db/data.mdb`)
    },
  ],
  [
    'a pipe in its place',
    'is no file',
    (data) => {
      rmSync(`${data}/db/data.mdb`)
      Bun.spawnSync(['mkfifo', `${data}/db/data.mdb`])
    },
  ],
  [
    'a pipe in the place of its key',
    'is no file',
    (data) => {
      rmSync(`${data}/instance.key`)
      Bun.spawnSync(['mkfifo', `${data}/instance.key`])
    },
  ],
  ['no key', '--new-key', (data) => rmSync(`${data}/instance.key`)],
  ['another key', '--new-key', (data) => writeFileSync(`${data}/instance.key`, noise(32))],
  ['a key cut short', '--new-key', (data) => truncateSync(`${data}/instance.key`, 7)],
  [
    'a lock file of another program',
    'is no lock file',
    (data) => writeFileSync(`${data}/server.lock`, noise(9000)),
  ],
]

function halve(path: string): void {
  truncateSync(path, Math.floor(statSync(path).size / 2))
}

/** What lies in a folder, but for who was there last. */
function snapshot(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile() && !/^(lock\.mdb|server\.pid|server\.lock)$/.test(entry.name))
      .map(({ parentPath, name }) => [name, Bun.hash(readFileSync(`${parentPath}/${name}`)).toString(36)]),
  )
}

describe.each(BUILT)('%s', (mode) => {
  describe('refused', () => {
    let place: Place
    beforeAll(async () => {
      place = new Place(mode, IN_FOLDER)
      const server = await place.serve('--data-dir', 'whole', '--webhook-allow', 'loopback')
      await server.signUp()
      const url = 'http://127.0.0.1:9/hook'
      await server.call('POST', '/api/platform/webhooks', {
        name: 'n',
        url,
        events: ['backtest.reportReady'],
      })
      await server.stop()
    })
    afterAll(() => place.remove())

    test.each(DAMAGES)('%s', async (_name, sentence, damage) => {
      const data = `${place.folder}/damaged`
      rmSync(data, { recursive: true, force: true })
      cpSync(`${place.folder}/whole`, data, { recursive: true })
      await damage(data)
      const before = snapshot(data)
      const serve = await place.run('serve', '--port', '0', '--data-dir', data)
      expect(serve).toEqual({ code: 1, out: '', err: expect.stringContaining(sentence) })
      expect(serve.err.trim().split('\n')).toHaveLength(1)
      expect(snapshot(data)).toEqual(before)
    })

    test('a record that is no JSON any more, on which the start depends', async () => {
      const data = `${place.folder}/garbled`
      cpSync(`${place.folder}/whole`, data, { recursive: true })
      const kv = lmdbKv({ path: `${data}/db` })
      const key = seriesRecordKey({ exchange: 'SP', symbol: 'SPX', interval: '1d' })
      await kv.openDatabase<string>(RECORDS).put(key, '{/')
      await kv.close()
      const serve = await place.run('serve', '--port', '0', '--data-dir', data)
      expect(serve).toEqual({ code: 1, out: '', err: expect.stringContaining('chartroom doctor') })
    })

    test('a key of another database beside data of version 0.1.0', async () => {
      const data = oldDataFolder(`${place.folder}/old`)
      writeFileSync(`${data}/instance.key`, noise(32))
      const before = snapshot(data)
      const serve = await place.run('serve', '--port', '0', '--data-dir', data)
      expect(serve).toEqual({ code: 1, out: '', err: expect.stringContaining('--new-key') })
      expect(snapshot(data)).toEqual(before)
    })

    test('a lost key is replaced when that is asked for, and its webhooks wait for new secrets', async () => {
      const data = `${place.folder}/lost`
      cpSync(`${place.folder}/whole`, data, { recursive: true })
      rmSync(`${data}/instance.key`)
      const flags = ['--data-dir', data, '--webhook-allow', 'loopback']
      const first = await place.serve(...flags, '--new-key')
      expect(await first.stop()).toBe(0)
      // The flag is needed once.
      const server = await place.serve(...flags)
      const signIn = await server.call('POST', '/api/auth/sign-in', {
        email: 'owner@example.com',
        password: 'correct horse battery',
      })
      server.headers = { cookie: /^[^;]+/.exec(signIn.headers.get('set-cookie') ?? '')?.[0] ?? '' }
      const [webhook] = (await server.call('GET', '/api/platform/webhooks')).json.webhooks
      expect(webhook).toMatchObject({ status: 'disabled', disabledReason: 'secret_lost' })
      const path = `/api/platform/webhooks/${webhook.id}`
      expect((await server.call('PATCH', path, { status: 'active' })).status).toBe(409)
      expect((await server.call('POST', `${path}/rotate`)).json.webhook).toMatchObject({
        status: 'active',
        disabledReason: null,
        rotating: false,
      })
      expect(await server.stop()).toBe(0)
    })
  })
})
