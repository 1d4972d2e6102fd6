// Flipped bits in what is stored: refused wherever they are read, with the name of what is damaged.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { seriesKey } from '../../src/market/bar-store.ts'
import type { Log } from '../../src/lib/log.ts'
import { decodeAll, encodeChunk } from '../../src/store/bar-chunks.ts'
import { collection } from '../../src/store/collection.ts'
import { isWhole, versionOf } from '../../src/store/damage.ts'
import { examine } from '../../src/store/examine.ts'
import { lmdbBars } from '../../src/store/lmdb-bars.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { minuteBars } from '../market/bar-store.conformance.ts'
import { rejection } from '../rejection.ts'

const SERIES = seriesKey('BINANCE', 'BTCUSDT', '1m')
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const refusal = async (work: Promise<unknown>) => String(await rejection(work))

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[bit >> 3]! ^= 1 << (bit & 7)
  return copy
}

test('a text is whole as it was written, and with any bit flipped of it or of its version it is not', () => {
  const text = '{"name":"Über","price":100}'
  const bytes = new TextEncoder().encode(text)
  const version = versionOf(123_456, text)
  expect(versionOf(123_456, bytes)).toBe(version)
  expect(isWhole(version, text)).toBe(true)
  for (let bit = 0; bit < bytes.length * 8; bit++)
    expect(isWhole(version, new TextDecoder().decode(flipped(bytes, bit)))).toBe(false)
  const number = new Uint8Array(Float64Array.of(version).buffer)
  for (let bit = 0; bit < 64; bit++)
    expect(isWhole(new Float64Array(flipped(number, bit).buffer)[0]!, text)).toBe(false)
})

test('the versions of texts never repeat, and those of programs from before pass', () => {
  expect(versionOf(7, 'a')).not.toBe(versionOf(8, 'a'))
  expect(versionOf(8, 'a')).toBeGreaterThan(versionOf(7, 'b'))
  expect(isWhole(7, 'a')).toBe(true)
})

/** A database in whose file one bit of `mark` is flipped, wherever it stands. */
async function damaged(mark: (bytes: Buffer) => Buffer) {
  const path = mkdtempSync(`${tmpdir()}/chartroom-damage-`)
  folders.push(path)
  const before = lmdbKv({ path })
  for (const [id, price] of [
    ['n1', 1234],
    ['n2', 5678],
  ])
    await before.commit({
      sets: [{ key: ['notes', 'id', String(id)], value: JSON.stringify({ id, price }) }],
      sums: [{ key: ['notes', 'count', 'all'], step: 1 }],
    })
  await lmdbBars(before).upsert(SERIES, minuteBars(0, 100))
  await before.close()
  const file = `${path}/data.mdb`
  const bytes = readFileSync(file)
  const sought = mark(bytes)
  let found = 0
  for (let at = bytes.indexOf(sought); at >= 0; at = bytes.indexOf(sought, at + 1), found++) bytes[at]! ^= 1
  expect(found).toBeGreaterThan(0)
  writeFileSync(file, bytes)
  return { kv: lmdbKv({ path }), wrong: () => examine(file, null)?.wrong }
}

test('a flipped bit in a document is refused with its name, and what stands beside it is served', async () => {
  const { kv, wrong } = await damaged(() => Buffer.from('234}'))
  expect(await refusal(kv.get(['notes', 'id', 'n1']))).toContain('notes/id/n1 is damaged')
  expect(await refusal(kv.getMany([['notes', 'id', 'n1']]))).toContain('notes/id/n1 is damaged')
  expect(await refusal(kv.list({ prefix: ['notes'] }, { limit: 10 }))).toContain('notes/id/n1 is damaged')
  expect((await kv.get(['notes', 'id', 'n2']))?.value).toContain('5678')
  // It may be written anew.
  await kv.commit({ sets: [{ key: ['notes', 'id', 'n1'], value: '{"id":"n1"}' }] })
  expect((await kv.get(['notes', 'id', 'n1']))?.value).toBe('{"id":"n1"}')
  await kv.close()
  expect(wrong()).toEqual([])
})

test('what is done for everybody leaves out what is damaged, and the log names it', async () => {
  const { kv } = await damaged(() => Buffer.from('234}'))
  const notes = collection<{ id: string; price: number }>(kv, 'notes')
  const logged: unknown[] = []
  const log: Log = (_level, _message, fields) => void logged.push(fields?.['error'])
  expect(await Array.fromAsync(notes.each(undefined, [], log))).toEqual([{ id: 'n2', price: 5678 }])
  expect(logged).toEqual([expect.stringContaining('notes/id/n1 is damaged')])
  expect(await refusal(Array.fromAsync(notes.each()))).toContain('notes/id/n1 is damaged')
  await kv.close()
})

test('the doctor names a document in which a bit has flipped', async () => {
  const { kv, wrong } = await damaged(() => Buffer.from('234}'))
  await kv.close()
  expect(wrong()).toEqual(['The document notes/id/n1 is damaged.'])
})

test('a flipped bit in bars is refused with the name of their series, when they are read and when more come', async () => {
  const chunk = encodeChunk(minuteBars(0, 100))
  const { kv } = await damaged((bytes) => {
    const at = bytes.indexOf(chunk.subarray(200, 240))
    return bytes.subarray(at, at + 40)
  })
  const bars = lmdbBars(kv)
  expect(await refusal(bars.read(SERIES))).toContain('BINANCE:BTCUSDT 1m is damaged')
  expect(await refusal(bars.upsert(SERIES, minuteBars(90, 110)))).toContain('BINANCE:BTCUSDT 1m is damaged')
  await kv.close()
})

test('any flipped bit of a chunk of bars is noticed, and one of an earlier version is read as it is', () => {
  const bars = minuteBars(0, 7)
  const chunk = encodeChunk(bars)
  expect(decodeAll([chunk])).toEqual(bars)
  for (let bit = 0; bit < chunk.length * 8; bit++) expect(() => decodeAll([flipped(chunk, bit)])).toThrow()
  const earlier = Buffer.from(chunk)
  earlier.writeUInt32LE(0, 4)
  expect(decodeAll([earlier])).toEqual(bars)
})
