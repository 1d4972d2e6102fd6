import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { seriesKey } from '../../src/market/bar-store.ts'
import { prefixRange } from '../../src/store/key.ts'
import { CHUNKS, lmdbBars, RECORDS } from '../../src/store/lmdb-bars.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { barStoreConformance, minuteBars, rows } from '../market/bar-store.conformance.ts'

function open(path = mkdtempSync(`${tmpdir()}/chartroom-bars-`)) {
  const kv = lmdbKv({ path })
  return { path, kv, store: lmdbBars(kv) }
}

barStoreConformance('bars in LMDB', () => {
  const { path, kv, store } = open()
  return Promise.resolve({
    store,
    close: async () => {
      await kv.close()
      rmSync(path, { recursive: true })
    },
  })
})

test('bars are there after opening the database again', async () => {
  const key = seriesKey('BINANCE', 'BTCUSDT', '1m')
  const first = open()
  await first.store.upsert(key, minuteBars(0, 5_000))
  await first.kv.close()
  const second = open(first.path)
  expect(rows(second.store.read(key, { last: 2 }))).toEqual(rows(minuteBars(4_998, 5_000)))
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
  await records.put(draft, String(process.pid))
  await store.sweep()
  expect(chunks(kv)).toBe(3)
  expect(rows(store.read(key))).toEqual(rows(minuteBars(0, 10_000)))
  await kv.close()
  rmSync(path, { recursive: true })
})
