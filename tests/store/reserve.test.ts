// The file that is kept back for a full disk, and what may be written then.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Commit, Key } from '../../src/store/kv.ts'
import { mayUseReserve, RESERVE_FILE, Reserve } from '../../src/store/reserve.ts'

const BYTES = 3 << 20
const folders: string[] = []
function folder(): string {
  const made = mkdtempSync(`${tmpdir()}/chartroom-reserve-`)
  folders.push(made)
  return made
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true })
})

test('is made, given up once, and made again when there is room', () => {
  const data = folder()
  const path = `${data}/${RESERVE_FILE}`
  const reserve = new Reserve(data, BYTES)
  expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([BYTES, 0o600])
  expect(existsSync(`${path}.partial`)).toBe(false)
  expect(reserve.isLow).toBe(false)
  expect([reserve.release(), existsSync(path)]).toEqual([true, false])
  expect(reserve.release()).toBe(false)
  // The disk of this machine has room, so that the next question makes it again.
  expect([reserve.isLow, statSync(path).size]).toEqual([false, BYTES])
  reserve.full()
  expect(reserve.isLow).toBe(false)
})

test('is the 16 MB that the help names', () => {
  const data = folder()
  expect(new Reserve(data, undefined, () => Infinity).isLow).toBe(false)
  expect(statSync(`${data}/${RESERVE_FILE}`).size).toBe(16 * 2 ** 20)
})

test('a reserve that the disk has no room for is not made, and stays missing', () => {
  const data = folder()
  const reserve = new Reserve(data, Number.MAX_SAFE_INTEGER)
  expect(existsSync(`${data}/${RESERVE_FILE}`)).toBe(false)
  expect([reserve.isLow, reserve.release(), reserve.isLow]).toEqual([false, false, true])
  reserve.full()
  expect([reserve.isLow, reserve.isLow]).toEqual([true, true])
})

test('is only made where the same again stays free, and is enough while that is so', () => {
  const data = folder()
  let free = 2 * BYTES - 1
  const reserve = new Reserve(data, BYTES, () => free)
  expect(existsSync(`${data}/${RESERVE_FILE}`)).toBe(false)
  reserve.full()
  expect(reserve.isLow).toBe(true)
  free = 2 * BYTES
  expect(reserve.isLow).toBe(false)
  expect(statSync(`${data}/${RESERVE_FILE}`).size).toBe(BYTES)
  // It is there now.
  free = BYTES - 1
  reserve.full()
  expect(reserve.isLow).toBe(true)
  free = BYTES
  expect(reserve.isLow).toBe(false)
})

test('is bytes that no file system makes small', () => {
  const data = folder()
  expect(new Reserve(data, BYTES).isLow).toBe(false)
  expect(Bun.gzipSync(readFileSync(`${data}/${RESERVE_FILE}`)).length).toBeGreaterThan(BYTES)
})

const sizes: Readonly<Record<string, number>> = { a: 100, b: 2000 }
const sizeOf = (key: Key) => sizes[String(key[0])] ?? null
const setting = (key: string, length: number) => ({ key: [key], value: 'x'.repeat(length) })

test.each([
  ['deletes', { deletes: [['a']] }, true],
  ['nothing', {}, true],
  ['says that it is essential', { sets: [setting('new', 9000)], essential: true }, true],
  ['makes a key', { sets: [setting('new', 1)] }, false],
  ['makes a key for one that goes', { sets: [setting('new', 100)], deletes: [['a']] }, true],
  ['makes a key for one that was never there', { sets: [setting('new', 100)], deletes: [['never']] }, false],
  ['makes two keys for one that goes', { sets: [setting('c', 1), setting('d', 1)], deletes: [['b']] }, false],
  ['grows by a state’s change', { sets: [setting('a', 1124)] }, true],
  ['grows by more', { sets: [setting('a', 1125)] }, false],
  ['grows by what another frees', { sets: [setting('a', 3124)], deletes: [['b']] }, true],
  ['grows by more than another frees', { sets: [setting('a', 3125)], deletes: [['b']] }, false],
  ['shrinks', { sets: [setting('b', 0)] }, true],
] satisfies [string, Commit, boolean][])('a commit that %s', (_name, commit, expected) => {
  expect(mayUseReserve(commit, sizeOf)).toBe(expected)
})
