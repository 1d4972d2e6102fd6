// A disk that is full, seen from the store: what may be written, and what was deleted counts as room.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { durable, lmdbKv } from '../../src/store/lmdb.ts'
import { Reserve } from '../../src/store/reserve.ts'
import { rejection } from '../rejection.ts'

test.each([
  'Transaction failed: MDB_MAP_FULL: Environment mapsize limit reached',
  'commit failed',
  'ENOSPC: write',
  'No space left on device',
])('a write that ends with "%s" found a full disk', async (message) => {
  expect(await rejection(durable(() => Promise.reject(new Error(message))))).toMatchObject({
    status: 507,
    code: 'storage_full',
  })
})

test('one that ends otherwise is a mistake of ours', async () => {
  for (const mistake of [new Error('MDB_BAD_TXN'), 'no space'])
    expect(await durable(() => Promise.reject(mistake)).catch((error: unknown) => error)).toBe(mistake)
  expect(await durable(async () => 7)).toBe(7)
})

/** A disk that is full when the test says so. */
class Disk extends Reserve {
  isFull = false
  override get isLow(): boolean {
    return this.isFull
  }
}

test('on a full disk things are stored again as soon as enough was deleted, though the file keeps its size', async () => {
  const path = mkdtempSync(`${tmpdir()}/chartroom-room-`)
  const disk = new Disk(path, 1 << 20)
  const kv = lmdbKv({ path, reserve: disk })
  const put = (i: number) => kv.commit({ sets: [{ key: ['thing', i], value: 'x'.repeat(100_000) }] })
  for (let i = 0; i < 100; i++) await put(i)
  disk.isFull = true
  expect(await rejection(put(100))).toMatchObject({ status: 507, code: 'storage_full' })
  for (let i = 0; i < 30; i++) await kv.commit({ deletes: [['thing', i]] })
  // Some of it stays for deleting and signing in.
  expect(await rejection(put(100))).toMatchObject({ status: 507 })
  for (let i = 30; i < 70; i++) await kv.commit({ deletes: [['thing', i]] })
  expect(await put(100)).toBe(true)
  await kv.close()
  rmSync(path, { recursive: true })
})
