// Texts of items that are kept by version: always what printing the record again would give.

import { expect, test } from 'bun:test'
import { ItemTexts } from '../../src/http/item-texts.ts'
import { answerText } from '../../src/http/json-text.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { collection } from '../../src/store/collection.ts'
import type { Kv } from '../../src/store/kv.ts'
import { transact } from '../../src/store/transaction.ts'
import { testKv } from '../store/test-store.ts'

interface Note {
  readonly id: string
  readonly ownerId: string
  readonly text: string
}

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

const wire = ({ id, text }: Note, mine: boolean) => ({ id, text, mine })

test.each([
  ['by their versions', () => () => null],
  ['by the moment of the store', (kv: Kv) => () => kv.moment?.() ?? null],
])(`lists are those of the present records, %s, and each is printed once, SEED=${SEED}`, async (_by, of) => {
  const random = seededRandom(SEED)
  const pick = <T>(items: readonly T[]) => items[Math.floor(random.uniform() * items.length)]!
  const kv = testKv()
  const stored = collection<Note>(kv, 'notes')
  let printed = 0
  const texts = new ItemTexts(stored, (record: Note, mine) => (printed++, wire(record, mine)), of(kv))
  const ids = ['a', 'b', 'c', 'd', 'e']
  const read = async (listed: readonly string[], reader: string | null) =>
    JSON.parse(await answerText({ list: await texts.list(listed, reader) })).list
  for (let step = 0; step < 300; step++) {
    const id = pick(ids)
    const before = await stored.stored(id)
    const record = { id, ownerId: pick(['ann', 'bob']), text: `"mine":false ${step}` }
    if (random.uniform() < 0.3)
      await transact(kv, () =>
        before
          ? random.uniform() < 0.5
            ? stored.remove(before)
            : stored.replace(before, record)
          : stored.insert(record),
      )
    const [reader, asked] = [pick(['ann', 'bob', null]), ids.filter(() => random.uniform() < 0.7)]
    const now = await stored.getMany(asked)
    expect(await read(asked, reader)).toEqual(now.map((note) => wire(note, note.ownerId === reader)))
    const so = printed
    await read(asked, reader)
    expect(printed).toBe(so)
  }
})

test('texts that were made first make room, and are made again', async () => {
  const kv = testKv()
  const stored = collection<Note>(kv, 'notes')
  for (const id of ['a', 'b', 'c'])
    await transact(kv, () => stored.insert({ id, ownerId: 'ann', text: 'x'.repeat(2 << 20) }))
  const made: string[] = []
  const texts = new ItemTexts(stored, (record: Note, mine) => (made.push(record.id), wire(record, mine)))
  for (const id of ['a', 'b', 'c', 'c', 'a']) await texts.list([id], 'ann')
  expect(made).toEqual(['a', 'b', 'c', 'a'])
})
