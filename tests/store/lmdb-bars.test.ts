import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { type BarRange, emptyBars } from '../../src/market/bars.ts'
import { type BarStore, seriesKey } from '../../src/market/bar-store.ts'
import { prefixRange } from '../../src/store/key.ts'
import { lmdbBars, RECORDS } from '../../src/store/lmdb-bars.ts'
import { CHUNKS } from '../../src/store/lmdb-chunks.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { barStoreConformance, minuteBars, rows } from '../market/bar-store.conformance.ts'
import { rejection } from '../rejection.ts'
import { delayedBars } from '../market/delayed-bars.ts'

function open(path = mkdtempSync(`${tmpdir()}/chartroom-bars-`)) {
  const kv = lmdbKv({ path })
  return { path, kv, store: lmdbBars(kv) }
}

function conforms(name: string, over: (store: BarStore) => BarStore): void {
  barStoreConformance(name, () => {
    const { path, kv, store } = open()
    return Promise.resolve({
      store: over(store),
      close: async () => {
        await kv.close()
        rmSync(path, { recursive: true })
      },
    })
  })
}

const seed = Number(Bun.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
conforms('bars in LMDB', (store) => store)
conforms(`bars in LMDB that answers late (SEED=${seed})`, (store) => delayedBars(store, seed))

test('a long read gives others their turn, and sees nothing of what is written meanwhile', async () => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const { path, kv, store } = open()
  const old = minuteBars(0, 600_000)
  await store.upsert(key, old)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const reading = store.read(key).finally(() => (isOver = true))
  await store.upsert(key, minuteBars(0, 600_000, { price: 7 }))
  const { bars, series } = await reading
  expect(turns).toBeGreaterThan(3)
  expect(series?.count).toBe(bars.length)
  expect(Bun.hash(new Uint8Array(bars.open.slice().buffer))).toBe(Bun.hash(new Uint8Array(old.open.buffer)))
  await kv.close()
  rmSync(path, { recursive: true })
})

test('only chunks of the range are decoded', async () => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const { path, kv, store } = open()
  await store.upsert(key, minuteBars(0, 200_000))
  const ranges: [BarRange, number][] = [
    [{ last: 500 }, 1],
    [{ first: 500 }, 1],
    // Whole chunks, to the bar.
    [{ last: 200_000 % 4096 }, 1],
    [{ last: (200_000 % 4096) + 4096 }, 2],
    [{ first: 4096 }, 1],
    [{ first: 8192 }, 2],
    [{ from: 100_000 * 60_000, to: 100_500 * 60_000 }, 2],
    [{ from: 100_000 * 60_000, first: 500 }, 2],
    [{ to: 100_000 * 60_000, last: 500 }, 2],
    [{ from: 199_999 * 60_000 }, 1],
    [{}, 49],
  ]
  for (const [range, chunks] of ranges) {
    let asked = 0
    await store.read(key, range, (length) => emptyBars((asked = length)))
    expect({ range, chunks: asked / 4096 <= chunks }).toEqual({ range, chunks: true })
  }
  await kv.close()
  rmSync(path, { recursive: true })
})

test.each([15, 16, 17, 32])('an import of %i chunks in all is merged chunk for chunk', async (chunks) => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const { path, kv, store } = open()
  await store.upsert(key, minuteBars(0, 5 * 4096))
  const draft = store.draft(key)
  await draft.add(minuteBars(5 * 4096, chunks * 4096))
  const done = await draft.commit()
  expect(done).toMatchObject({ inserted: (chunks - 5) * 4096, updated: 0, series: { count: chunks * 4096 } })
  const { bars } = await store.read(key)
  expect(bars.length).toBe(chunks * 4096)
  expect(Bun.hash(bars.time.slice())).toBe(Bun.hash(minuteBars(0, chunks * 4096).time.slice()))
  await kv.close()
  rmSync(path, { recursive: true })
})

test('bars are there after opening the database again', async () => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const first = open()
  await first.store.upsert(key, minuteBars(0, 5_000))
  await first.kv.close()
  const second = open(first.path)
  expect(rows((await second.store.read(key, { last: 2 })).bars)).toEqual(rows(minuteBars(4_998, 5_000)))
  await second.kv.close()
  rmSync(first.path, { recursive: true })
})

test('what an import left behind that was cut short is swept up, and nothing else', async () => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const chunks = (kv: ReturnType<typeof open>['kv']) => [...kv.openDatabase(CHUNKS).getKeys()].length
  const { path, kv, store } = open()
  await store.upsert(key, minuteBars(0, 10_000))
  await store.draft(key).add(minuteBars(10_000, 30_000))
  expect(chunks(kv)).toBe(8)
  // Somebody else is at it.
  const parent = String(process.ppid)
  const records = kv.openDatabase<string>(RECORDS)
  const [draft = Buffer.of()] = [...records.getKeys(prefixRange(['draft']))]
  await records.put(draft, parent)
  await store.sweep()
  expect(chunks(kv)).toBe(8)
  // It has gone.
  const gone = Bun.spawn(['true'])
  await gone.exited
  await records.put(draft, String(gone.pid))
  await store.sweep()
  expect(chunks(kv)).toBe(3)
  expect(rows((await store.read(key)).bars)).toEqual(rows(minuteBars(0, 10_000)))
  await kv.close()
  rmSync(path, { recursive: true })
})

test('bars that there is no room for are refused, and leave what was there', async () => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const path = mkdtempSync(`${tmpdir()}/chartroom-bars-`)
  const kv = lmdbKv({ path, maxBytes: 200_000 })
  const store = lmdbBars(kv)
  await store.upsert(key, minuteBars(0, 1_000))
  const full = { status: 507, code: 'storage_full' }
  expect(await rejection(store.upsert(key, minuteBars(1_000, 20_000)))).toMatchObject(full)
  expect(await rejection(store.draft(key).add(minuteBars(1_000, 20_000)))).toMatchObject(full)
  // What takes the place of as much is no more.
  expect(await store.upsert(key, minuteBars(0, 1_000, { price: 7 }))).toMatchObject({ updated: 1_000 })
  expect(rows((await store.read(key)).bars)).toEqual(rows(minuteBars(0, 1_000, { price: 7 })))
  await kv.close()
  rmSync(path, { recursive: true })
})
