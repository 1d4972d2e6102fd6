import { expect, test } from 'bun:test'
import { createPlaces } from '../../src/replay/places.ts'
import { testKv } from '../store/test-store.ts'

let now = 1
const world = () =>
  createPlaces({ kv: testKv(), clock: { now: () => now++, sleep: () => Promise.resolve() } })
const cursor = {
  symbol: 'SPX',
  interval: '1d',
  exchange: null,
  cursorBar: 7,
  barTime: null,
  speed: 2,
  start: '2020-01-01T00:00:00Z',
  end: '2020-02-01T00:00:00Z',
}

test('a cursor is one for each user, symbol and interval', async () => {
  const places = world()
  expect(await places.cursor('u', 'SPX', '1d')).toBeNull()
  await places.saveCursor('u', cursor)
  await places.saveCursor('u', { ...cursor, cursorBar: 9 })
  await places.saveCursor('v', { ...cursor, cursorBar: 1 })
  expect(await places.cursor('u', 'SPX', '1d')).toMatchObject({ cursorBar: 9 })
  expect([await places.clearCursor('u', 'SPX', '1d'), await places.clearCursor('u', 'SPX', '1d')]).toEqual([
    true,
    false,
  ])
  expect(await places.cursor('v', 'SPX', '1d')).toMatchObject({ cursorBar: 1 })
})
test('bookmarks are listed by bar, and saving one again keeps its note', async () => {
  const places = world()
  for (const bar of [100, 20, 3])
    await places.saveBookmark('u', 'SPX', '1d', bar, bar === 20 ? 'low' : undefined)
  const first = (await places.bookmarks('u', 'SPX', '1d'))[1]
  await places.saveBookmark('u', 'SPX', '1d', 20, undefined)
  expect((await places.bookmarks('u', 'SPX', '1d')).map(({ bar, note }) => [bar, note])).toEqual([
    [3, null],
    [20, 'low'],
    [100, null],
  ])
  expect((await places.bookmarks('u', 'SPX', '1d'))[1]?.createdAt).toBe(first?.createdAt ?? -1)
  expect(await places.bookmarks('u', 'SPX', '1h')).toEqual([])
  expect([
    await places.removeBookmark('u', 'SPX', '1d', 3),
    await places.removeBookmark('u', 'SPX', '1d', 3),
  ]).toEqual([true, false])
})
