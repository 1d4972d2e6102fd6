import { expect, test } from 'bun:test'
import { transact } from '../../src/store/transaction.ts'
import { dropDrafts, dropText, largeText, stageText, textKeys } from '../../src/store/large-text.ts'
import { memoryKv } from '../../src/store/memory.ts'

const KEY = ['report', 'bt_1']
const LARGE = `{"a":"${'x😀'.repeat(1_400_000)}"}`
/** As a worker hands it over: in pieces of whole characters, a large one among them. */
const pieces = (text: string) =>
  [text.slice(0, 1), text.slice(1, 6), text.slice(6)].map((piece) => Buffer.from(piece))
const everything = { start: ['a'], end: ['zzz'] }
const keys = async (kv: ReturnType<typeof memoryKv>) =>
  (await kv.list(everything, { limit: 100 })).map(({ key }) => key)

async function read(kv: ReturnType<typeof memoryKv>): Promise<string | null> {
  const found = await largeText(kv, KEY)
  return found && (await Array.fromAsync(found.parts)).join('')
}

test.each(['{"small":1}', '{"\ufeffa":"\ufeff"}', LARGE])(
  'a text comes back as it was, and its keys take all of it away',
  async (text) => {
    const kv = memoryKv()
    const staged = await stageText(kv, KEY, pieces(text))
    expect(await read(kv)).toBeNull()
    await transact(kv, () => staged)
    expect((await largeText(kv, KEY))?.length).toBe(text.length)
    expect(await read(kv)).toBe(text)
    // Half a pair could not be stored.
    const parts = await Array.fromAsync((await largeText(kv, KEY))?.parts ?? [])
    expect(parts.every((part) => part.isWellFormed())).toBe(true)
    await transact(kv, async () => ({ deletes: await textKeys(kv, KEY) }))
    expect(await keys(kv)).toEqual([])
  },
)

test('a text that was staged and never committed is removed, and a committed one stays', async () => {
  const kv = memoryKv()
  await transact(kv, () => ({}))
  const staged = await stageText(kv, KEY, pieces(LARGE))
  await transact(kv, () => staged)
  await stageText(kv, ['report', 'bt_2'], pieces(LARGE))
  await stageText(kv, ['report', 'bt_3'], pieces(LARGE))
  await dropText(kv, ['report', 'bt_2'])
  // More than are listed at a time.
  for (let i = 0; i < 120; i++) await kv.commit({ sets: [{ key: ['text-draft', 'note', i], value: '1' }] })
  await dropDrafts(kv)
  expect((await keys(kv)).every((key) => key[1] === 'bt_1')).toBe(true)
  await dropText(kv, KEY)
  expect(await read(kv)).toBe(LARGE)
})
