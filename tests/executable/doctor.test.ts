import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { RECORDS, seriesRecordKey } from '../../src/store/lmdb-bars.ts'
import { CHUNKS, chunkKey } from '../../src/store/lmdb-chunks.ts'
import { lmdbKv, type LmdbKv } from '../../src/store/lmdb.ts'
import { BUILT, csvOf, IN_FOLDER, Place } from './server.ts'

/** Changes a database as a mistake of ours would. */
async function change(data: string, how: (kv: LmdbKv) => Promise<unknown>): Promise<void> {
  const kv = lmdbKv({ path: `${data}/db` })
  await how(kv)
  await kv.close()
}
const series = { exchange: 'X', symbol: 'Y', interval: '1h' }

const FINDINGS: readonly (readonly [
  name: string,
  sentence: RegExp,
  damage: (data: string) => void | Promise<void>,
])[] = [
  [
    'an index entry that points to nothing',
    /index user of sessions points to ses_none/,
    (data) =>
      change(data, (kv) =>
        kv.commit({ sets: [{ key: ['sessions', 'by', 'user', 'usr_1', 'ses_none'], value: 'null' }] }),
      ),
  ],
  [
    'a counter that is wrong',
    /The counter users all says 7, and there are 1/,
    (data) => change(data, (kv) => kv.commit({ sets: [{ key: ['users', 'count', 'all'], value: '7' }] })),
  ],
  [
    'a record that is no JSON',
    /A document cannot be read: ideas id idea_1/,
    (data) =>
      change(data, (kv) => kv.commit({ sets: [{ key: ['ideas', 'id', 'idea_1'], value: '{"id":' }] })),
  ],
  [
    'a chunk of bars that is noise',
    /A chunk of bars cannot be read/,
    (data) =>
      change(data, (kv) => kv.openDatabase<Buffer>(CHUNKS).put(chunkKey(1, 5), Buffer.from('noise!'))),
  ],
  [
    'a series that lost bars',
    /X:Y 1h has 0 bars of 300/,
    (data) =>
      change(data, async (kv) => {
        const { id, first } = JSON.parse(kv.openDatabase<string>(RECORDS).get(seriesRecordKey(series)) ?? '')
        await kv.openDatabase<Buffer>(CHUNKS).remove(chunkKey(id, first))
      }),
  ],
  [
    'bars of no series',
    /belong to no series/,
    (data) => change(data, (kv) => kv.openDatabase<string>(RECORDS).remove(seriesRecordKey(series))),
  ],
  [
    'a newer layout',
    /Run the newer program/,
    (data) => change(data, (kv) => kv.commit({ sets: [{ key: ['meta', 'schema'], value: '999' }] })),
  ],
  [
    'another key',
    /instance.key is not the key of this database/,
    (data) => writeFileSync(`${data}/instance.key`, new Uint8Array(32)),
  ],
  ['a lost key', /instance.key is missing/, (data) => rmSync(`${data}/instance.key`)],
  ['a file cut short', /is cut short/, (data) => truncateSync(`${data}/db/data.mdb`, 40_960)],
]

describe.each(BUILT)('%s', (mode) => {
  describe('the doctor', () => {
    let place: Place
    beforeAll(async () => {
      place = new Place(mode, IN_FOLDER)
      const server = await place.serve('--data-dir', 'whole')
      await server.signUp()
      await server.importCsv('exchange=X&symbol=Y&interval=1h', csvOf(300))
      await server.stop()
    })
    afterAll(() => place.remove())

    test('finds nothing wrong with what a server left, stopped or killed', async () => {
      const well = await place.run('doctor', '--data-dir', 'whole')
      expect(well).toEqual({ code: 0, out: expect.stringContaining('Nothing is wrong.'), err: '' })
      const server = await place.serve('--data-dir', 'whole')
      const beside = await place.run('doctor', '--data-dir', 'whole')
      expect([beside.code, beside.err]).toEqual([0, ''])
      await server.kill()
      expect((await place.run('doctor', '--data-dir', 'whole')).code).toBe(0)
    })

    test.each(FINDINGS)('names %s, and changes nothing', async (_name, sentence, damage) => {
      const data = `${place.folder}/ill`
      rmSync(data, { recursive: true, force: true })
      cpSync(`${place.folder}/whole`, data, { recursive: true })
      rmSync(`${data}/server.pid`, { force: true })
      await damage(data)
      rmSync(`${data}/db/lock.mdb`, { force: true })
      const before = readFileSync(`${data}/db/data.mdb`)
      const { code, out, err } = await place.run('doctor', '--data-dir', data)
      expect([code, out + err]).toEqual([1, expect.stringMatching(sentence)])
      expect(readFileSync(`${data}/db/data.mdb`).equals(before)).toBe(true)
      expect(existsSync(`${data}/db/lock.mdb`)).toBe(false)
    })

    test('says where there is nothing to read', async () => {
      const { code, err } = await place.run('doctor', '--data-dir', 'nowhere')
      expect([code, err]).toEqual([2, expect.stringContaining('There is no database')])
      expect(existsSync(`${place.folder}/nowhere`)).toBe(false)
    })
  })
})
