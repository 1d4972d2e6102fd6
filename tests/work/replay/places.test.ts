import { expect, test } from 'bun:test'
import { BOOKMARKS_MAX, Places } from '../../../src/work/replay/places.ts'
import { testKv } from '../../store/test-store.ts'
import { rejection } from '../../rejection.ts'

let now = 1
const world = (kv = testKv()) =>
  new Places({ kv, clock: { now: () => now++, sleep: () => Promise.resolve() } })
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

test('a cursor is answered as it was saved, and a place keeps its id', async () => {
  const places = world()
  const saved = await places.saveCursor('u', cursor)
  expect(saved).toEqual({
    ...cursor,
    id: expect.stringMatching(/^cur_[0-9a-z]{26}$/),
    updatedAt: saved.updatedAt,
  })
  expect(await places.cursor('u', 'SPX', '1d')).toEqual(saved)
  const moved = await places.saveCursor('u', { ...cursor, cursorBar: 8 })
  expect(moved).toMatchObject({ id: saved.id, cursorBar: 8 })
  expect(moved.updatedAt).toBeGreaterThan(saved.updatedAt)
  const others = [
    await places.saveCursor('v', cursor),
    await places.saveCursor('u', { ...cursor, symbol: 'NDX' }),
    await places.saveCursor('u', { ...cursor, interval: '1h' }),
  ]
  expect(new Set([saved, ...others].map(({ id }) => id)).size).toBe(4)
})
test('an old cursor and an old bookmark, kept without an id, have the one they would be given', async () => {
  const kv = testKv()
  const places = world(kv)
  const { id: _cursor, ...oldCursor } = await places.saveCursor('u', cursor)
  const { id: _bookmark, ...oldBookmark } = await places.saveBookmark('u', 'SPX', '1d', 3, null)
  await kv.commit({
    sets: [
      { key: ['cursors', 'u', 'SPX', '1d'], value: JSON.stringify(oldCursor) },
      { key: ['bookmarks', 'u', 'SPX', '1d', 3], value: JSON.stringify(oldBookmark) },
    ],
  })
  expect((await places.cursor('u', 'SPX', '1d'))?.id).toBe(_cursor)
  expect((await places.bookmarks('u', 'SPX', '1d')).map(({ id }) => id)).toEqual([_bookmark])
})
test('a note is taken away by null and left alone by nothing', async () => {
  const places = world()
  const save = (note: string | null | undefined) => places.saveBookmark('u', 'SPX', '1d', 20, note)
  const first = await save('low')
  expect(first).toEqual({
    id: expect.stringMatching(/^bm_[0-9a-z]{26}$/),
    symbol: 'SPX',
    interval: '1d',
    bar: 20,
    note: 'low',
    createdAt: first.updatedAt,
    updatedAt: first.updatedAt,
  })
  const again = await save(undefined)
  expect(again).toEqual({ ...first, updatedAt: again.updatedAt })
  expect(again.updatedAt).toBeGreaterThan(first.updatedAt)
  expect((await save(null)).note).toBeNull()
  expect((await save(undefined)).note).toBeNull()
})
test('a symbol and interval can have 1,000 bookmarks, those that are there can be saved again', async () => {
  const kv = testKv()
  const places = world(kv)
  const sets = Array.from({ length: BOOKMARKS_MAX - 1 }, (_, bar) => ({
    key: ['bookmarks', 'u', 'SPX', '1d', bar],
    value: JSON.stringify({ bar, note: null, createdAt: 0, updatedAt: 0 }),
  }))
  await kv.commit({ sets })
  const save = (bar: number) => places.saveBookmark('u', 'SPX', '1d', bar, 'x')
  // Two at a time for the one place that is left.
  const both = await Promise.allSettled([save(5000), save(6000)])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(await rejection(save(7000))).toMatchObject({
    status: 422,
    code: 'quota_exceeded',
    message: 'A symbol and interval can have at most 1000 bookmarks.',
  })
  expect((await save(7)).note).toBe('x')
  expect(await places.bookmarks('u', 'SPX', '1d')).toHaveLength(BOOKMARKS_MAX)
  await places.saveBookmark('u', 'SPX', '1h', 7000, 'x')
  await places.removeBookmark('u', 'SPX', '1d', 7)
  expect((await save(7000)).bar).toBe(7000)
})
