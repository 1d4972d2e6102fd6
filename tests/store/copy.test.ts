// A whole store copied into one of the other kind: what arrives, what is refused, and how a copy that was cut short goes on.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Clock } from '../../src/lib/clock.ts'
import { seriesKey } from '../../src/market/bar-store.ts'
import { defaultSymbol } from '../../src/market/symbols.ts'
import type { Archive } from '../../src/store/archive.ts'
import { assertNoHalfCopy, copyStore } from '../../src/store/copy.ts'
import { examine } from '../../src/store/examine.ts'
import { INSTANCE_KEY } from '../../src/store/instance-key.ts'
import type { Key } from '../../src/store/kv.ts'
import { lmdbArchive } from '../../src/store/lmdb-archive.ts'
import { lmdbBars } from '../../src/store/lmdb-bars.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openStore, openToCopy } from '../../src/store/open-store.ts'
import { openPostgresToCopy } from '../../src/store/postgres/open-postgres.ts'
import { takeLease } from '../../src/store/postgres/lease.ts'
import { postgresArchive } from '../../src/store/postgres/postgres-archive.ts'
import { postgresBars } from '../../src/store/postgres/postgres-bars.ts'
import { minuteBars } from '../market/bar-store.conformance.ts'
import { rejection } from '../rejection.ts'
import { oldDataFolder } from './old-data.ts'
import { postgresProxy } from './postgres-proxy.ts'
import { postgresStores, realClock } from './postgres-stores.ts'

const folder = mkdtempSync(`${tmpdir()}/chartroom-copy-`)
const postgres = await postgresStores()
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await postgres.stop()
})

let opened = 0
const KINDS = {
  async lmdb() {
    const kv = lmdbKv({ path: `${folder}/${opened++}` })
    await migrate(kv)
    return { archive: lmdbArchive(kv), bars: lmdbBars(kv) }
  },
  async postgres() {
    const connection = await postgres.share()
    const archive = postgresArchive(connection)
    await migrate(archive.kv)
    return { archive, bars: postgresBars(connection) }
  },
} as const
type Kind = keyof typeof KINDS
const WAYS: readonly (readonly [Kind, Kind])[] = [
  ['lmdb', 'postgres'],
  ['postgres', 'lmdb'],
  ['lmdb', 'lmdb'],
]

const LONG = seriesKey('X', 'ÉTÉ', '1m')
const silent = { progress: () => {} }

/** What a store of people has: documents of all kinds of text, private and shared series, a note, facts of symbols. */
async function filled(kind: Kind) {
  const store = await KINDS[kind]()
  const { archive, bars } = store
  const sets = Array.from({ length: 300 }, (_, i) => ({
    key: ['things', 'id', i % 2 ? `№${i}\0` : i] as Key,
    value: JSON.stringify(`\u0000 é 平安 😀 ${i}`),
  }))
  await archive.kv.commit({ sets })
  await archive.kv.commit({
    sets: [{ key: INSTANCE_KEY, value: JSON.stringify({ id: kind, keyFingerprint: 'f' }) }],
  })
  await bars.upsert(LONG, minutes(0, 9000))
  await bars.upsert(LONG, minutes(4000, 5, 99.1))
  await bars.upsert({ ...seriesKey('X', '🚀', '1d'), owner: 'usr_1' }, minutes(0, 3))
  for (const note of await bars.notes()) if (note.key.symbol === LONG.symbol) await bars.clearNote(note)
  await bars.putSymbol({ ...defaultSymbol('X', 'ÉTÉ'), mintick: 0.25 })
  return store
}

const minutes = (from: number, count: number, price = 100.25) => minuteBars(from, from + count, { price })

test.each(WAYS)('all of %s is in %s afterwards, bit for bit', async (from, to) => {
  const source = await filled(from)
  const target = await KINDS[to]()
  const contents = await copyStore({ source: source.archive, target: target.archive, ...silent })
  expect(contents).toMatchObject({ documents: 301, series: 2, bars: 9003, symbols: 1, notes: 1 })
  expect(await target.bars.list()).toEqual(await source.bars.list())
  expect((await target.bars.read(LONG)).bars).toEqual((await source.bars.read(LONG)).bars)
  expect(await target.bars.notes()).toEqual(await source.bars.notes())
  expect(await target.bars.symbols()).toEqual(await source.bars.symbols())
  // It is served from: numbers of changes go on above those that were given.
  const { change: before = 0 } = (await source.bars.info(LONG)) ?? {}
  expect((await target.bars.upsert(LONG, minutes(9000, 1))).change).toBeGreaterThan(before)
  expect((await target.bars.read(LONG)).bars.length).toBe(9001)
})

test('data of version 0.1.0 goes into a database and back without a difference', async () => {
  const first = oldDataFolder(`${folder}/old`)
  const source = lmdbArchive(await openStore({ directory: first }))
  const between = (await KINDS.postgres()).archive
  const there = await copyStore({ source, target: between, ...silent })
  const back = lmdbArchive(await openToCopy({ directory: `${folder}/old-back` }))
  expect(await copyStore({ source: between, target: back, ...silent })).toEqual(there)
  expect(there.series).toBeGreaterThan(8)
  await Promise.all([source.close(), back.close()])
})

test.each(WAYS)('a copy from %s to %s that was cut short anywhere goes on', async (from, to) => {
  const source = (await filled(from)).archive
  const whole = await copyStore({ source, target: (await KINDS[to]()).archive, ...silent })
  for (let left = 0; ; left++) {
    const target = (await KINDS[to]()).archive
    let count = left
    const dying: Archive = { ...target, ...dyingParts(target, () => void (count-- === 0 && die())) }
    const outcome = await copyStore({ source, target: dying, ...silent }).catch(String)
    if (outcome !== 'Error: killed') {
      // One step each for its beginning, three pages of documents, two series, the notes and its end.
      expect({ outcome, left }).toEqual({ outcome: whole, left: 8 })
      return
    }
    if (left < 7) {
      expect(await rejection(assertNoHalfCopy(target.kv))).toMatchObject({
        message: expect.stringContaining('did not come to its end'),
      })
      let again = 0
      const counting: Archive = { ...target, ...dyingParts(target, () => void again++) }
      expect(await copyStore({ source, target: counting, ...silent })).toEqual(whole)
      expect(again).toBeLessThan(8 - left + 1)
    }
    await assertNoHalfCopy(target.kv)
  }
})

test('a copy outlives a database that is away for half a minute', async () => {
  const proxy = postgresProxy(postgres.url)
  let now = 0
  const clock: Clock = {
    now: () => now,
    sleep(ms, signal) {
      // An answer that does not come is another test's.
      if (signal) return new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
      now += ms
      if (now > 30_000) proxy.open()
      return realClock.sleep(1)
    },
  }
  const target = await openPostgresToCopy({
    url: proxy.url,
    clock,
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    node: 'copy',
    schema: `"${crypto.randomUUID()}"`,
  })
  const source = (await filled('lmdb')).archive
  let isCut = false
  const progress = () => {
    if (!isCut) proxy.close()
    isCut = true
  }
  expect(await copyStore({ source, target, progress })).toMatchObject({ documents: 301, bars: 9003 })
  expect(now).toBeGreaterThan(30_000)
  await target.close()
  proxy.stop()
})

test('a copy tells how far it is, and where it goes on how many came since', async () => {
  const source = (await filled('lmdb')).archive
  const target = (await KINDS.lmdb()).archive
  const said: string[] = []
  const progress = (what: string) => said.push(what)
  let count = 2
  const dying: Archive = { ...target, ...dyingParts(target, () => void (count-- === 0 && die())) }
  await copyStore({ source, target: dying, progress }).catch(String)
  expect(said.splice(0)).toEqual(['documents: 128 of 302'])
  await copyStore({ source, target, progress })
  const [more, first, second, ...comparing] = said
  expect([more, first, second]).toEqual(['documents: 46 more', 'series: 1 of 2', 'series: 2 of 2'])
  // In each of both 302 documents, of which the target has a mark of its own more, and two series.
  expect(comparing[0]).toBe('comparing: 128 of 609')
  expect(comparing.at(-1)).toBe('comparing: 609 of 609')
})

test('what of a series came before its copy was cut short is an import cut short, until the next start', async () => {
  const path = `${folder}/${opened++}`
  const kv = lmdbKv({ path })
  await migrate(kv)
  const source = (await filled('lmdb')).archive
  const series = (await source.series()).find(({ symbol }) => symbol === LONG.symbol)!
  async function* cutShort() {
    for await (const page of source.chunks(series)) {
      yield page
      die()
    }
  }
  await lmdbArchive(kv).putSeries(series, cutShort()).catch(String)
  expect(examine(`${path}/data.mdb`, null)).toMatchObject({
    series: 0,
    pending: { 'imports cut short': 1 },
    wrong: [],
  })
  await lmdbBars(kv).sweep()
  expect(examine(`${path}/data.mdb`, null)).toMatchObject({ pending: {}, wrong: [] })
})

function die(): never {
  throw new Error('killed')
}

/** Those that write, each of which may be the last. */
function dyingParts(archive: Archive, step: () => void): Pick<Archive, 'kv' | 'putSeries' | 'putNotes'> {
  const before =
    <A extends unknown[], T>(write: (...args: A) => Promise<T>) =>
    async (...args: A) => {
      const result = await write(...args)
      step()
      return result
    }
  return {
    kv: { ...archive.kv, commit: before(archive.kv.commit) },
    putSeries: before(archive.putSeries),
    putNotes: before(archive.putNotes),
  }
}

test.each(WAYS)(
  'from %s to %s: a source that is written to meanwhile is told, and copied again',
  async (from, to) => {
    const source = await filled(from)
    const target = (await KINDS[to]()).archive
    const one = { sets: [{ key: ['things', 'id', 2], value: '"later"' }] }
    let isWritten = false
    const putSeries: Archive['putSeries'] = async (...args) => {
      if (!isWritten) await source.archive.kv.commit(one)
      isWritten = true
      return target.putSeries(...args)
    }
    const first = copyStore({ source: source.archive, target: { ...target, putSeries }, ...silent })
    expect(await rejection(first)).toMatchObject({
      message: expect.stringContaining('was written to while it was copied'),
    })
    expect(await target.kv.get(['meta', 'copy'])).not.toBeNull()
    const { documents } = await copyStore({ source: source.archive, target, ...silent })
    expect(documents).toBe(301)
    expect((await target.kv.get(['things', 'id', 2]))?.value).toBe('"later"')
  },
)

test.each(['lmdb', 'postgres'] as const)('what is in %s already is neither mixed nor lost', async (to) => {
  const { archive: source } = await filled('lmdb')
  const { archive: full } = await filled(to)
  const before = await full.countDocuments()
  expect(await rejection(copyStore({ source, target: full, ...silent }))).toMatchObject({
    message: expect.stringContaining('The target is not empty'),
  })
  expect(await full.countDocuments()).toBe(before)

  // One that has bars only, or documents only, is not empty either.
  for (const has of ['bars', 'documents']) {
    const { archive, bars } = await KINDS[to]()
    if (has === 'bars') await bars.upsert(seriesKey('X', 'S', '1m'), minutes(0, 3))
    else await archive.kv.commit({ sets: [{ key: ['things', 'id', 1], value: '1' }] })
    expect(await rejection(copyStore({ source, target: archive, ...silent }))).toMatchObject({
      message: expect.stringContaining('The target is not empty'),
    })
  }

  const { archive: target } = await KINDS[to]()
  const stopped = { ...target, putSeries: () => Promise.reject(new Error('killed')) }
  await rejection(copyStore({ source, target: stopped, ...silent }))
  const { archive: other } = await filled('postgres')
  expect(await rejection(copyStore({ source: other, target, ...silent }))).toMatchObject({
    message: expect.stringContaining('a copy of another source'),
  })
  // Half of something is nobody's source.
  expect(
    await rejection(copyStore({ source: target, target: (await KINDS[to]()).archive, ...silent })),
  ).toMatchObject({ message: expect.stringContaining('did not come to its end') })
})

test.each(['lmdb', 'postgres'] as const)('nothing is left of %s that was cleared', async (kind) => {
  const { archive, bars } = await filled(kind)
  await archive.putNotes([{ key: LONG, from: 0, to: 60_000, change: 7 }])
  await archive.clear()
  expect(await archive.countDocuments()).toBe(0)
  expect(await archive.kv.get(['things', 'id', 0])).toBeNull()
  expect([await archive.series(), await archive.notes(), await archive.symbols()]).toEqual([[], [], []])
  await bars.upsert(LONG, minutes(0, 3))
  expect((await bars.read(LONG)).bars.length).toBe(3)
})

test('fences of leases stay where they are', async () => {
  const connection = await postgres.share()
  const source = postgresArchive(connection)
  await migrate(source.kv)
  const lease = await takeLease(connection, { work: 'w', clock: realClock, waits: () => {} })
  await lease.release()
  const { archive: target } = await KINDS.lmdb()
  expect(await copyStore({ source, target, ...silent })).toMatchObject({ documents: 0 })
  expect(await target.kv.get(lease.key)).toBeNull()
  await connection.close()
})
