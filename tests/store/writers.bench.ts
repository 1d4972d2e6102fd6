// What quotas cost those who write side by side: 32 writers of one owner, whose counter all of them step, beside 32 with an owner
// each, and beside bare puts of LMDB of the same bytes. Each inserts as fast as its commits are on disk.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { collection } from '../../src/store/collection.ts'
import { lmdbKv } from '../../src/store/lmdb.ts'
import { transact } from '../../src/store/transaction.ts'

const WRITERS = 32
const INSERTS = 4_000
const ROUNDS = 7

const path = mkdtempSync(`${tmpdir()}/chartroom-writers-`)
const kv = lmdbKv({ path })
const notes = collection<{ readonly id: string; readonly ownerId: string; readonly text: string }>(
  kv,
  'notes',
  {
    indexes: { owner: ({ ownerId }) => [ownerId] },
    counts: { owner: { of: ({ ownerId }) => [ownerId], max: 1e9, noun: 'notes' } },
  },
)
const bare = kv.openDatabase<string>({ name: 'bare', encoding: 'string' })
const text = 'x'.repeat(300)
let made = 0
let attempts = 0

async function rate(write: (writer: number) => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; i < INSERTS / WRITERS; i++) await write(writer)
    }),
  )
  return (INSERTS / (performance.now() - from)) * 1000
}

const insert = (ownerId: string) =>
  transact(kv, () => {
    attempts++
    return notes.insert({ id: `note_${made++}`, ownerId, text })
  })

const KINDS: readonly (readonly [string, (writer: number) => Promise<unknown>])[] = [
  ['one owner', () => insert('usr_all')],
  ['an owner each', (writer) => insert(`usr_${writer}`)],
  ['bare puts', () => bare.put(Buffer.from(`bare ${made++}`), text)],
]
const rates = KINDS.map((): number[] => [])
for (let round = 0; round < ROUNDS; round++)
  for (const [k, [, write]] of KINDS.entries()) rates[k]?.push(await rate(write))

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
for (const [k, [name]] of KINDS.entries())
  console.log(
    `${name.padEnd(16)} ${median(rates[k] ?? [])
      .toFixed(0)
      .padStart(8)} inserts/s`,
  )
const ratios = (rates[0] ?? []).map((one, round) => one / (rates[1]?.[round] ?? 1))
console.log(
  `one owner ÷ an owner each: ${median(ratios).toFixed(2)} (wanted 0.6), ${(attempts / (2 * ROUNDS * INSERTS)).toFixed(2)} attempts an insert`,
)
await kv.close()
rmSync(path, { recursive: true, force: true })
