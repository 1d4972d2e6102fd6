// The key file of a data directory: when it is taken, refused, made and replaced.

import { afterEach, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { DataRefused } from '../../src/store/data-refused.ts'
import {
  fingerprintOf,
  INSTANCE_KEY,
  judgeKey,
  KEY_FILE,
  readInstance,
  settleKey,
} from '../../src/store/instance-key.ts'
import { memoryKv } from '../../src/store/memory.ts'
import { rejection } from '../rejection.ts'

const RIGHT = Buffer.alloc(32, 1)
const WRONG = Buffer.alloc(32, 2)
const random = { bytes: (length: number) => new Uint8Array(length).fill(7) }

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

/** `file`: what the key file holds; `known`: the key whose fingerprint the database keeps; `opens`: of what is sealed. */
async function judged(
  file: Buffer | null,
  known: Buffer | null,
  opens: boolean | null,
  { newKey = false, make = memoryKv } = {},
) {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-key-`)
  folders.push(folder)
  const kv = make()
  if (file) writeFileSync(`${folder}/${KEY_FILE}`, file)
  if (known) {
    const instance = { id: 'the database', keyFingerprint: fingerprintOf(known) }
    await kv.commit({ sets: [{ key: INSTANCE_KEY, value: JSON.stringify(instance) }] })
  }
  const asked: Buffer[] = []
  const verdict = judgeKey(
    kv,
    `${folder}/${KEY_FILE}`,
    async (key) => {
      asked.push(Buffer.from(key))
      return opens
    },
    { newKey },
  )
  return { folder, kv, verdict, asked }
}

test.each([
  ['the one the database knows', RIGHT, RIGHT, null, { kind: 'right', key: RIGHT }],
  [
    'one beside data of before fingerprints, which it opens',
    RIGHT,
    null,
    true,
    { kind: 'first', key: RIGHT },
  ],
  ['one beside a database with nothing sealed', RIGHT, null, null, { kind: 'first', key: RIGHT }],
  ['none beside a database with nothing sealed', null, null, null, { kind: 'missing' }],
] as const)('a key is taken: %s', async (_name, file, known, opens, expected) => {
  const { verdict } = await judged(file, known, opens)
  expect(await verdict).toEqual(expected)
})

test.each([
  ['another than the database knows', WRONG, RIGHT, null, 'is not the key of this database'],
  ['one of another length', Buffer.concat([RIGHT, RIGHT]), RIGHT, null, 'is not the key of this database'],
  ['one of another length beside nothing sealed', Buffer.alloc(3), null, null, 'is not the key'],
  ['none beside a database that knows one', null, RIGHT, null, 'is missing'],
  ['one that does not open what is sealed', WRONG, null, false, 'is not the key of this database'],
  ['none beside what is sealed', null, null, false, 'is missing'],
] as const)(
  'a key is refused, unless a new one is asked for: %s',
  async (_name, file, known, opens, said) => {
    const { verdict, folder } = await judged(file, known, opens)
    const refusal = await rejection(verdict)
    expect(refusal).toBeInstanceOf(DataRefused)
    expect(String(refusal)).toContain(`${folder}/${KEY_FILE} ${said}`)
    const { verdict: asked } = await judged(file, known, opens, { newKey: true })
    expect(await asked).toEqual({ kind: 'lost' })
  },
)

test.each([WRONG, null])('a new key beside other servers is refused, which names them: %p', async (file) => {
  const folder = mkdtempSync(`${tmpdir()}/chartroom-key-`)
  folders.push(folder)
  const { kv } = await judged(RIGHT, RIGHT, null)
  if (file) writeFileSync(`${folder}/${KEY_FILE}`, file)
  const judge = (others: readonly string[]) =>
    judgeKey(kv, `${folder}/${KEY_FILE}`, async () => null, { newKey: true, others })
  const refusal = await rejection(judge(['mill-1', 'mill-2']))
  expect(refusal).toBeInstanceOf(DataRefused)
  expect(String(refusal)).toContain('mill-1, mill-2')
  expect(await judge([])).toEqual({ kind: 'lost' })
  // Who has the right one joins them, asked for a new one or not.
  writeFileSync(`${folder}/${KEY_FILE}`, RIGHT)
  expect(await judge(['mill-1'])).toEqual({ kind: 'right', key: RIGHT })
})

test('what is sealed is tried with the key, and nothing is tried where the fingerprint decides', async () => {
  const { verdict, asked } = await judged(RIGHT, null, true)
  await verdict
  expect(asked).toEqual([RIGHT])
  const short = await judged(Buffer.alloc(3), null, null)
  await short.verdict.catch(() => null)
  expect(short.asked).toEqual([Buffer.alloc(32)])
  const known = await judged(RIGHT, RIGHT, null)
  await known.verdict
  expect(known.asked).toEqual([])
})

test('a right key is left as it is; a first one is remembered', async () => {
  const right = await judged(RIGHT, RIGHT, null)
  expect(await settleKey(right.kv, `${right.folder}/${KEY_FILE}`, await right.verdict, random)).toEqual(RIGHT)
  expect((await readInstance(right.kv))?.id).toBe('the database')
  const first = await judged(RIGHT, null, null)
  expect(await settleKey(first.kv, `${first.folder}/${KEY_FILE}`, await first.verdict, random)).toEqual(RIGHT)
  expect(await readInstance(first.kv)).toEqual({ id: '07'.repeat(16), keyFingerprint: fingerprintOf(RIGHT) })
  expect(existsSync(`${first.folder}/${KEY_FILE}.replaced`)).toBe(false)
})

test('a key that is missing is made for nobody else to read; a lost one is kept beside its successor', async () => {
  const fresh = Buffer.alloc(32, 7)
  const missing = await judged(null, null, null)
  expect(
    Buffer.from(await settleKey(missing.kv, `${missing.folder}/${KEY_FILE}`, await missing.verdict, random)),
  ).toEqual(fresh)
  expect(readFileSync(`${missing.folder}/${KEY_FILE}`)).toEqual(fresh)
  expect(statSync(`${missing.folder}/${KEY_FILE}`).mode & 0o777).toBe(0o600)
  const lost = await judged(WRONG, RIGHT, null, { newKey: true })
  expect(
    Buffer.from(await settleKey(lost.kv, `${lost.folder}/${KEY_FILE}`, await lost.verdict, random)),
  ).toEqual(fresh)
  expect(readFileSync(`${lost.folder}/${KEY_FILE}.replaced`)).toEqual(WRONG)
  // It is the same database with another key.
  expect(await readInstance(lost.kv)).toEqual({ id: 'the database', keyFingerprint: fingerprintOf(fresh) })
})

test('fingerprints tell keys apart and give nothing of them away', () => {
  expect(fingerprintOf(RIGHT)).toMatch(/^[0-9a-f]{32}$/)
  expect(fingerprintOf(RIGHT)).not.toBe(fingerprintOf(WRONG))
  expect(fingerprintOf(RIGHT)).not.toContain('0101')
})

test('servers that make a key file at the same time go on with the one that was there first', async () => {
  const { folder, kv, verdict } = await judged(null, null, null)
  const path = `${folder}/${KEY_FILE}`
  const found = await verdict
  let made = 0
  const counting = { bytes: (length: number) => new Uint8Array(length).fill(++made) }
  const keys = await Promise.all(Array.from({ length: 3 }, () => settleKey(kv, path, found, counting)))
  expect(keys.map((key) => Buffer.from(key))).toEqual(Array.from({ length: 3 }, () => readFileSync(path)))
  expect((await readInstance(kv))?.keyFingerprint).toBe(fingerprintOf(readFileSync(path)))
  expect(readdirSync(folder)).toEqual([KEY_FILE])
})

test('of servers that find a database without a key, those with the key of the first go on', async () => {
  const { folder, kv, verdict } = await judged(RIGHT, null, null)
  const path = `${folder}/${KEY_FILE}`
  const found = await verdict
  expect(await settleKey(kv, path, found, random)).toEqual(RIGHT)
  expect(await settleKey(kv, path, found, random)).toEqual(RIGHT)
  const other = settleKey(kv, path, { kind: 'first', key: WRONG }, random)
  expect(String(await rejection(other))).toContain('settled another key for the database')
  expect((await readInstance(kv))?.keyFingerprint).toBe(fingerprintOf(RIGHT))
})

test('a key file in a folder that is not there is named together with the setting', async () => {
  const { folder, kv, verdict } = await judged(null, null, null)
  const refusal = await rejection(settleKey(kv, `${folder}/no/key`, await verdict, random))
  expect(refusal).toBeInstanceOf(DataRefused)
  expect(String(refusal)).toContain(`${folder}/no/key cannot be written`)
  expect(String(refusal)).toContain('KEY_FILE')
})
