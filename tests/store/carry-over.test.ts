import { afterAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import * as lmdb from 'lmdb'
import { type BarStore, type SeriesInfo, seriesKey } from '../../src/market/bar-store.ts'
import { carryOver, oldChunkKey } from '../../src/store/carry-over.ts'
import type { Kv } from '../../src/store/kv.ts'
import { lmdbBars } from '../../src/store/lmdb-bars.ts'
import { lmdbKv, openEnvironment, openTable } from '../../src/store/lmdb.ts'
import { migrate } from '../../src/store/migrate.ts'
import { isTurn } from '../long.ts'
import { rejection } from '../rejection.ts'
import { oldDataFolder } from './old-data.ts'

const folders: string[] = []
function oldData(): string {
  const folder = oldDataFolder()
  folders.push(folder)
  return `${folder}/db`
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** Everything in a database of today, as one text. */
async function contents(kv: Kv, bars: BarStore): Promise<string> {
  const series: unknown[] = []
  for (const info of await bars.list())
    series.push([info, Bun.hash(JSON.stringify((await bars.read(info)).bars)).toString(36)])
  const documents: unknown[] = []
  for (let after = {}; ;) {
    const page = await kv.list({ prefix: [] }, { limit: 1000, ...after })
    documents.push(...page.map(({ key, value }) => [key, value]))
    const last = page.at(-1)
    if (!last) break
    after = { after: last.key }
  }
  return JSON.stringify([documents, series, await bars.symbols()], null, 1)
}

async function carriedOver(path: string): Promise<string> {
  await carryOver(path)
  const kv = lmdbKv({ path })
  expect(await migrate(kv)).toBeGreaterThan(1)
  const all = await contents(kv, lmdbBars(kv))
  await kv.close()
  return all
}

let whole: string
async function expected(): Promise<string> {
  whole ??= await carriedOver(oldData())
  return whole
}

// Its types leave this function out.
const { keyValueToBuffer } = lmdb as unknown as { keyValueToBuffer: (key: number[]) => Uint8Array }

test('keys of the old encoding are read as it wrote them', () => {
  const times = [0, 1, 1_704_067_200_000, -957_312_000_000, 8.64e15, -8.64e15, -1, 0.5]
  for (const id of [1, 2, 255, 65_536, 4_294_967_296])
    for (const time of times) expect(oldChunkKey(keyValueToBuffer([id, time]))).toEqual([id, time])
})

test('series and symbols of version 0.1.0 are all there, with names in every alphabet', async () => {
  const path = oldData()
  await carryOver(path)
  const kv = lmdbKv({ path })
  const bars = lmdbBars(kv)
  const shown = ({ exchange, symbol, interval, count }: SeriesInfo) =>
    `${exchange}:${symbol} ${interval} ${count}`
  expect((await bars.list()).map(shown).sort()).toEqual(
    [
      'ACME:OLD 15m 200',
      'ACME:WAR 1d 4',
      'BINANCE:BTCUSDT 1h 9001',
      'NASDAQ:AAPL 1d 1260',
      'SP:SPX 1d 5105',
      'SSE:平安 1d 30',
      'X:ÉTÉ 1d 30',
      'X:🚀 1d 30',
      'ММВБ:СБЕР 1d 30',
    ].sort(),
  )
  expect((await bars.symbol('X', 'É'))?.description).toBe('é')
  expect(Array.from((await bars.read(seriesKey('ACME', 'WAR', '1d'))).bars.time)[0]).toBe(
    Date.UTC(1939, 8, 1),
  )
  await kv.close()
})

test('of two series that differ by the spelling of an accent the one written to last wins', async () => {
  const path = oldData()
  await carryOver(path)
  const kv = lmdbKv({ path })
  const { bars } = await lmdbBars(kv).read(seriesKey('X', 'e\u0301te\u0301', '1d'))
  // The composed one was imported last, around a price of 500.
  expect(Array.from(bars.close).every((close) => close > 400)).toBe(true)
  await kv.close()
})

test('it is the number of the change that says which was last, not the order of the names', async () => {
  const path = oldData()
  const environment = openEnvironment(path, {})
  const records = openTable<string>(environment, { name: 'series', encoding: 'string' })
  const found = [...records.getRange()].flatMap(({ key, value }) => {
    const record = JSON.parse(value) as SeriesInfo
    return record.symbol?.normalize('NFC') === 'ÉTÉ' && record.interval ? [{ key, record }] : []
  })
  expect(found).toHaveLength(2)
  const [first, second] = found
  await records.put(first!.key, JSON.stringify({ ...first!.record, change: second!.record.change }))
  await records.put(second!.key, JSON.stringify({ ...second!.record, change: first!.record.change }))
  await environment.close()
  await carryOver(path)
  const kv = lmdbKv({ path })
  const { bars } = await lmdbBars(kv).read(seriesKey('X', 'ÉTÉ', '1d'))
  expect(Array.from(bars.close).every((close) => close < 400)).toBe(true)
  await kv.close()
})

test('a database with a single chunk of bars keeps it', async () => {
  const path = oldData()
  const environment = openEnvironment(path, {})
  const records = openTable<string>(environment, { name: 'series', encoding: 'string' })
  const chunks = openTable<Buffer>(environment, { name: 'bars', encoding: 'binary' })
  let kept = -1
  // Read whole before anything is removed of it.
  const [rows, chunkKeys] = [[...records.getRange()], [...chunks.getKeys()]]
  for (const { key, value } of rows) {
    const { symbol, interval, id } = JSON.parse(value) as SeriesInfo & { readonly id: number }
    if (symbol === '🚀' && interval) kept = id
    else if (interval) await records.remove(key)
  }
  for (const key of chunkKeys) if (oldChunkKey(key)[0] !== kept) await chunks.remove(key)
  expect([...chunks.getKeys()]).toHaveLength(1)
  await environment.close()
  await carryOver(path)
  const kv = lmdbKv({ path })
  expect((await lmdbBars(kv).read(seriesKey('X', '🚀', '1d'))).bars.length).toBe(30)
  await kv.close()
})

test('the old database goes when the new one is in its place, and a second start leaves all as it is', async () => {
  const path = oldData()
  const first = await carriedOver(path)
  expect(readdirSync(`${path}/..`).sort()).toEqual(['db', 'instance.key'])
  expect(await carriedOver(path)).toBe(first)
})

test('a carrying over that is killed at any step is made good by the next start', async () => {
  const child = (path: string, fatal: string) =>
    Bun.spawn([process.execPath, `${import.meta.dir}/carry-over-child.ts`, path, fatal], { stdout: 'pipe' })
  const steps = Number(await new Response(child(oldData(), 'none').stdout).text())
  expect(steps).toBeGreaterThan(7)
  for (let step = 0; step < steps; step++) {
    // Always around the two renames, which are the last steps.
    if (step < steps - 3 && !isTurn(0, step % 4, 4)) continue
    const path = oldData()
    expect(await child(path, String(step)).exited).not.toBe(0)
    expect({ step, same: (await carriedOver(path)) === (await expected()) }).toEqual({ step, same: true })
    expect(readdirSync(`${path}/..`).sort()).toEqual(['db', 'instance.key'])
  }
})

test('a carrying over that fails leaves the old database byte for byte', async () => {
  const path = oldData()
  const before = readFileSync(`${path}/data.mdb`)
  const failing = carryOver(path, {
    step: (name) => {
      if (name === 'copied') throw new Error('no more')
    },
  })
  expect(await rejection(failing)).toMatchObject({ message: 'no more' })
  expect(readFileSync(`${path}/data.mdb`).equals(before)).toBe(true)
  expect(existsSync(`${path}.new`)).toBe(false)
  expect(await carriedOver(path)).toBe(await expected())
})
