// What a doctor says: of a database that is right nothing, of each thing that is wrong a sentence.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { emptyBars } from '../../src/market/bars.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { chunkLength, decodeAll, decodeChunk, encodeChunk } from '../../src/store/bar-chunks.ts'
import { collection } from '../../src/store/collection.ts'
import { examine } from '../../src/store/examine.ts'
import { fingerprintOf, INSTANCE_KEY } from '../../src/store/instance-key.ts'
import type { Key } from '../../src/store/kv.ts'
import { lmdbBars, RECORDS, seriesRecordKey } from '../../src/store/lmdb-bars.ts'
import { CHUNKS, chunkKey } from '../../src/store/lmdb-chunks.ts'
import { stageText } from '../../src/store/large-text.ts'
import { lmdbKv, type LmdbKv } from '../../src/store/lmdb.ts'
import { migrate, VERSION_KEY } from '../../src/store/migrate.ts'
import { transact } from '../../src/store/transaction.ts'
import { minuteBars } from '../market/bar-store.conformance.ts'

interface Note {
  readonly id: string
  readonly owner: string
  readonly state?: string
}
const KEY = Buffer.alloc(32, 1)
const SERIES = seriesKey('BINANCE', 'BTCUSDT', '1m')
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** A database with a bit of everything, and what `change` makes of it. */
async function examined(change: (kv: LmdbKv) => Promise<unknown> = async () => {}, key: Buffer | null = KEY) {
  const path = mkdtempSync(`${tmpdir()}/chartroom-examine-`)
  folders.push(path)
  const kv = lmdbKv({ path })
  await migrate(kv)
  const instance = { id: 'i', keyFingerprint: fingerprintOf(KEY) }
  await kv.commit({ sets: [{ key: INSTANCE_KEY, value: JSON.stringify(instance) }] })
  const notes = collection<Note>(kv, 'deliveries', {
    indexes: { owner: ({ owner }) => [owner] },
    unique: { id: ({ id }) => [id] },
    counts: { owner: { of: ({ owner }) => [owner] } },
  })
  for (const [i, state] of ['pending', 'pending', 'delivered'].entries())
    await transact(kv, () => notes.insert({ id: `n${i}`, owner: `u${i % 2}`, state }))
  const bars = lmdbBars(kv)
  await bars.upsert(SERIES, minuteBars(0, 5_000))
  await change(kv)
  await kv.close()
  const found = examine(`${path}/data.mdb`, key)
  if (!found) throw new Error('no database')
  return found
}

const set = (key: Key, value: string) => (kv: LmdbKv) => kv.commit({ sets: [{ key, value }] })
const drop = (key: Key) => (kv: LmdbKv) => kv.commit({ deletes: [key] })
const chunks = (kv: LmdbKv) => kv.openDatabase<Buffer>(CHUNKS)
const records = (kv: LmdbKv) => kv.openDatabase<string>(RECORDS)
const seriesId = (kv: LmdbKv) =>
  (JSON.parse(records(kv).get(seriesRecordKey(SERIES)) ?? '{}') as { readonly id: number }).id
const series = (change: object) => async (kv: LmdbKv) => {
  const record = JSON.parse(records(kv).get(seriesRecordKey(SERIES)) ?? '{}') as object
  await records(kv).put(seriesRecordKey(SERIES), JSON.stringify({ ...record, ...change }))
}

test('a database that is right has nothing wrong, and is counted', async () => {
  const { file: _file, layout, ...found } = await examined()
  expect(layout).toBeGreaterThan(1)
  expect(found).toEqual({
    records: 3,
    indexEntries: 6,
    series: 1,
    bars: 5_000,
    pending: { deliveries: 2 },
    wrong: [],
  })
  expect(examine('/nowhere/data.mdb', null)).toBeNull()
})

test.each(['backtest-beginning', 'snapshot-picture', 'portfolio-trades'])(
  'the plain text of a %s is nothing wrong',
  async (noun) => {
    expect((await examined(set([noun, 'x_1'], '//@version=6'))).wrong).toEqual([])
  },
)

test('the parts of a long text are nothing wrong, written or still being written, and others are', async () => {
  const key = ['backtest-tracks', 'x_1']
  const text = [Buffer.from(JSON.stringify(['x'.repeat(2 << 20), 'y'.repeat(2 << 20)]))]
  const stage = (kv: LmdbKv) => stageText(kv, key, text)
  const drafted = await examined(stage)
  expect(drafted.wrong).toEqual([])
  const whole = await examined(async (kv) => {
    const changes = await stage(kv)
    await transact(kv, () => changes)
  })
  expect(whole.wrong).toEqual([])
  const without = await examined(async (kv) => {
    await stage(kv)
    await drop(['text-draft', ...key])(kv)
  })
  expect(without.wrong[0]).toBe('A document cannot be read: backtest-tracks x_1 0.')
})

test('an import that was cut short waits, and is nothing wrong', async () => {
  const found = await examined((kv) => lmdbBars(kv).draft(SERIES).add(minuteBars(9_000, 9_010)))
  expect(found.wrong).toEqual([])
  expect(found.pending).toEqual({ deliveries: 2, 'imports cut short': 1 })
  expect([found.series, found.bars]).toEqual([1, 5_000])
})

test.each([
  [
    'a record that is no JSON',
    set(['deliveries', 'id', 'n0'], '{'),
    'A document cannot be read: deliveries id n0.',
  ],
  [
    'a record under another name',
    set(['deliveries', 'id', 'n0'], '{"id":"n9"}'),
    'A record of deliveries is kept as n0 and calls itself otherwise.',
  ],
  ['a record that is null', set(['deliveries', 'id', 'n0'], 'null'), 'A record of deliveries is kept as n0'],
  [
    'a record that is gone',
    drop(['deliveries', 'id', 'n0']),
    'index owner of deliveries points to n0, which is not there.',
  ],
  ['its name', drop(['deliveries', 'id', 'n0']), 'name id of deliveries points to n0, which is not there.'],
  ['a counter', drop(['deliveries', 'id', 'n0']), 'The counter deliveries owner says 3, and there are 2.'],
  [
    'a counter that is too high',
    set(['deliveries', 'count', 'owner', 'u0'], '7'),
    'The counter deliveries owner says 8, and there are 3.',
  ],
  ['a layout of a later version', set(VERSION_KEY, '999'), '999'],
  [
    'a chunk that is none',
    async (kv: LmdbKv) => chunks(kv).put(chunkKey(seriesId(kv), 0), Buffer.alloc(4)),
    'A chunk of bars cannot be read: ',
  ],
  [
    'a chunk under another time',
    async (kv: LmdbKv) =>
      chunks(kv).put(chunkKey(seriesId(kv), -1), chunks(kv).get(chunkKey(seriesId(kv), 0))!),
    'A chunk of bars cannot be read: ',
  ],
  [
    'a chunk whose times do not rise',
    async (kv: LmdbKv) => {
      const bars = minuteBars(0, 4096)
      bars.time[9] = bars.time[8]!
      await chunks(kv).put(chunkKey(seriesId(kv), 0), encodeChunk(bars))
    },
    'A chunk of bars cannot be read: ',
  ],
  [
    'a bar that none could be',
    async (kv: LmdbKv) => {
      const bytes = chunks(kv).get(chunkKey(seriesId(kv), 0))!
      const bars = emptyBars(chunkLength(bytes))
      decodeChunk(bytes, bars, 0)
      bars.volume[7] = -1
      await chunks(kv).put(chunkKey(seriesId(kv), 0), encodeChunk(bars))
    },
    'BINANCE:BTCUSDT 1m is damaged at 1970-01-01T00:07:00.000Z: volume is negative.',
  ],
  [
    'a bar of which more was bought than traded',
    async (kv: LmdbKv) => {
      const bars = decodeAll([chunks(kv).get(chunkKey(seriesId(kv), 0))!])
      const bought = bars.volume.map((volume, i) =>
        i === 7 ? volume + 1 : i % 2 === 0 ? Number.NaN : volume,
      )
      await chunks(kv).put(chunkKey(seriesId(kv), 0), encodeChunk({ ...bars, bought }))
    },
    'BINANCE:BTCUSDT 1m is damaged at 1970-01-01T00:07:00.000Z: more was bought than traded.',
  ],
  [
    'a bar that none could be, of a series that is gone',
    async (kv: LmdbKv) => {
      const bars = minuteBars(0, 3)
      bars.volume[1] = -1
      await chunks(kv).put(chunkKey(99, 0), encodeChunk(bars))
    },
    'Series number 99 is damaged at 1970-01-01T00:01:00.000Z: volume is negative.',
  ],
  [
    'a chunk that is gone',
    async (kv: LmdbKv) => chunks(kv).remove(chunkKey(seriesId(kv), 0)),
    'has 904 bars of 5000.',
  ],
  [
    'all chunks that are gone',
    async (kv: LmdbKv) => {
      for (const time of [0, 4096 * 60_000]) await chunks(kv).remove(chunkKey(seriesId(kv), time))
    },
    'has 0 bars of 5000.',
  ],
  ['a count', series({ count: 5_001 }), 'BINANCE:BTCUSDT 1m has 5000 bars of 5001.'],
  ['a first time', series({ first: 1 }), 'BINANCE:BTCUSDT 1m begins or ends at another time than it says.'],
  ['a last time', series({ last: 1 }), 'BINANCE:BTCUSDT 1m begins or ends at another time than it says.'],
  [
    'a series that is gone',
    async (kv: LmdbKv) => records(kv).remove(seriesRecordKey(SERIES)),
    'belong to no series.',
  ],
  [
    'a record of bars that is no JSON',
    async (kv: LmdbKv) => records(kv).put(seriesRecordKey(SERIES), '{'),
    'A record of bars cannot be read: ',
  ],
] as const)('%s is told', async (_name, change, said) => {
  const { wrong } = await examined(change)
  expect(wrong.filter((sentence) => sentence.includes(said))).toHaveLength(1)
})

test('two chunks that hold the same time are told', async () => {
  const { wrong } = await examined(async (kv) => {
    const id = seriesId(kv)
    const first = Buffer.from(chunks(kv).get(chunkKey(id, 0))!)
    await lmdbBars(kv).upsert({ ...SERIES, symbol: 'X' }, minuteBars(10, 20))
    const other = (
      JSON.parse(records(kv).get(seriesRecordKey({ ...SERIES, symbol: 'X' })) ?? '{}') as { id: number }
    ).id
    await chunks(kv).put(chunkKey(other, 0), first)
  })
  expect(wrong[0]).toMatch(/^Two chunks of series number \d+ hold the same time\.$/)
})

test.each([
  [null, 'instance.key is missing: put the right one back'],
  [Buffer.alloc(32, 2), 'instance.key is not the key of this database: put the right one back'],
])('a key file that is not the database’s is told: %p', async (key, said) => {
  const { wrong } = await examined(undefined, key)
  expect(wrong).toEqual([expect.stringContaining(said)])
})

test('of very many mistakes the first are told, and how many more there are', async () => {
  const { wrong } = await examined((kv) =>
    kv.commit({
      sets: Array.from({ length: 60 }, (_, i) => ({
        key: ['scripts', 'by', 'owner', 'u', `s${i}`],
        value: 'null',
      })),
    }),
  )
  expect(wrong).toHaveLength(51)
  expect(wrong[50]).toBe('… and 10 more')
})
