// Finding things, and that nobody's private things change anybody else's answer.

import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { Indexes, type SearchItem } from '../../src/search/indexes.ts'
import { createSearch } from '../../src/search/search.ts'
import { searchHere } from './search-here.ts'
import { later } from '../later.ts'

const item = (id: string, fields: Partial<SearchItem> = {}): SearchItem => ({
  type: 'idea',
  id,
  title: id,
  text: '',
  tags: [],
  symbol: null,
  author: 'ann',
  ownerId: 'usr_a',
  public: true,
  ...fields,
})
async function searchOver(items: readonly SearchItem[]) {
  const search = createSearch({
    all: () => later(items),
    privateOf: (userId) => later(items.filter((one) => one.ownerId === userId && !one.public)),
    spawn: searchHere,
    goneOf: async () => [],
    failed,
    now: () => 0,
    pause: () => Promise.resolve(),
  })
  await search.rebuild()
  return search
}
const failed = (error: unknown) => {
  throw error
}
const ids = (hits: readonly { id: string }[]) => hits.map((hit) => hit.id)

test('what was removed by another process is found no more, and the next best takes its place', async () => {
  const all = Array.from({ length: 30 }, (_, i) =>
    item(`b${i}`, { type: 'backtest', public: false, title: 'sma' }),
  )
  let left = all
  const search = createSearch({
    all: () => later([]),
    privateOf: () => later(all),
    spawn: searchHere,
    goneOf: async (hits) => hits.filter(({ id }) => !left.some((one) => one.id === id)),
    failed,
    now: () => 0,
    pause: () => Promise.resolve(),
  })
  const find = async () => ids(await search.find('sma', 'usr_a', {}, 10)).toSorted()
  expect(await find()).toHaveLength(10)
  left = all.slice(0, 7)
  expect(await find()).toEqual(left.map(({ id }) => id).toSorted())
})

describe('search', () => {
  test.each([
    ['turtle', ['i1']],
    ['turt', ['i1']],
    ['turtel', ['i1']],
    ['breakout', ['i1', 'i2']],
    ['breakout spx', ['i2']],
    ['nothing', []],
    ['  ', []],
    ['!!!', []],
  ])('for %p finds %p', async (query, expected) => {
    const search = await searchOver([
      item('i1', { title: 'Turtle breakout', text: 'Donchian channels' }),
      item('i2', { title: 'Opening range', text: 'A breakout of the first hour', symbol: 'SPX' }),
    ])
    expect(ids(await search.find(query, null, {}, 10))).toEqual(expected)
  })
  test('gives an anonymous caller public items, and a user their own besides', async () => {
    const search = await searchOver([
      item('pub', { text: 'golden cross' }),
      item('mine', { text: 'golden cross', public: false, type: 'backtest' }),
    ])
    expect(ids(await search.find('golden', null, {}, 10))).toEqual(['pub'])
    expect(ids(await search.find('golden', 'usr_b', {}, 10))).toEqual(['pub'])
    expect(ids(await search.find('golden', 'usr_a', {}, 10)).toSorted()).toEqual(['mine', 'pub'])
  })
  test('filters by type, symbol, tag and author', async () => {
    const search = await searchOver([
      item('a', { text: 'x1 word', type: 'script', symbol: 'SPX', tags: ['trend'], author: 'Ann' }),
      item('b', { text: 'x1 word' }),
    ])
    for (const filters of [{ type: 'script' as const }, { symbol: 'spx' }, { tag: 'Trend' }])
      expect(ids(await search.find('word', null, filters, 10))).toEqual(['a'])
    expect(ids(await search.find('word', null, { author: 'ANN' }, 10)).toSorted()).toEqual(['a', 'b'])
  })
  test('follows changes', async () => {
    const search = await searchOver([])
    search.put(item('a', { text: 'first' }))
    search.put(item('a', { text: 'second' }))
    expect([await search.find('first', null, {}, 5), ids(await search.find('second', null, {}, 5))]).toEqual([
      [],
      ['a'],
    ])
    search.put(item('a', { text: 'second', public: false }))
    expect(await search.find('second', null, {}, 5)).toEqual([])
    search.remove('idea', 'a', 'usr_a')
    expect(await search.find('second', 'usr_a', {}, 5)).toEqual([])
  })
  test('shows plain text round the match', async () => {
    const search = await searchOver([
      item('a', { text: `${'before '.repeat(40)}needle <b>markup</b>\n\n${'after '.repeat(40)}` }),
    ])
    const [hit] = await search.find('needle', null, {}, 1)
    expect(hit?.snippet).toMatch(/^….*needle <b>markup<\/b> after.*…$/)
    expect(hit?.snippet.length).toBeLessThanOrEqual(162)
  })
  test("private items of others never change a byte of one's answer", () => {
    const words = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'alphabet', 'betas', 'rsi', 'macd')
    const text = fc.array(words, { minLength: 1, maxLength: 6 }).map((list) => list.join(' '))
    const items = (owner: string, isPublic: boolean) =>
      fc.array(text, { maxLength: 8 }).map((texts) =>
        texts.map((one, i) =>
          item(`${owner}${isPublic ? 'p' : 's'}${i}`, {
            title: one,
            text: one,
            ownerId: owner,
            public: isPublic,
          }),
        ),
      )
    return fc.assert(
      fc.asyncProperty(
        items('usr_a', true),
        items('usr_a', false),
        items('usr_b', false),
        text,
        async (shared, mine, theirs, query) => {
          const without = await searchOver([...shared, ...mine])
          const withThem = await searchOver([...theirs, ...shared, ...mine])
          for (const reader of ['usr_a', null]) {
            await withThem.find(query, 'usr_b', {}, 20)
            expect(JSON.stringify(await withThem.find(query, reader, {}, 20))).toBe(
              JSON.stringify(await without.find(query, reader, {}, 20)),
            )
          }
        },
      ),
      { numRuns: 60 },
    )
  })
  test('reads a user’s items a slice at a time, and is answered from those that were read', async () => {
    let time = 0
    let pauses = 0
    const many = Array.from({ length: 400 }, (_, i) => item(`m${i}`, { text: 'common', public: false }))
    const { promise: held, resolve: go } = Promise.withResolvers<void>()
    const search = createSearch({
      spawn: searchHere,
      goneOf: async () => [],
      failed,
      all: () => later([]),
      async *privateOf() {
        for (const one of many) {
          // A record a millisecond.
          time++
          yield one
        }
      },
      now: () => time,
      pause: () => (++pauses < 60 ? Promise.resolve() : held),
    })
    const found = await search.find('common', 'usr_a', {}, 1000)
    expect(found.length).toBeGreaterThan(100)
    expect(found.length).toBeLessThan(400)
    go()
    while ((await search.find('common', 'usr_a', {}, 1000)).length < 400) await Promise.resolve()
  })
  test('what changes while a user’s items are read is newer than what was read', async () => {
    let time = 0
    const search = createSearch({
      spawn: searchHere,
      goneOf: async () => [],
      failed,
      all: () => later([]),
      async *privateOf() {
        time += 10
        yield item('first', { text: 'old', public: false })
        yield item('second', { text: 'old', public: false })
      },
      now: () => time,
      async pause() {
        search.put(item('second', { text: 'new', public: false }))
      },
    })
    expect(ids(await search.find('old', 'usr_a', {}, 5))).toEqual(['first'])
    expect(ids(await search.find('new', 'usr_a', {}, 5))).toEqual(['second'])
  })
  test('a thread that dies answers nothing, and the next one knows all again', async () => {
    const threads: ReturnType<typeof searchHere>[] = []
    const search = createSearch({
      goneOf: async () => [],
      spawn() {
        const thread = searchHere()
        threads.push(thread)
        return thread
      },
      failed: () => {},
      all: () => later([item('a', { text: 'word' })]),
      privateOf: () => later([]),
      now: () => 0,
      pause: () => Promise.resolve(),
    })
    await search.rebuild()
    threads[0]?.onerror?.(new ErrorEvent('error'))
    while (!search.isReady()) await Promise.resolve()
    expect(ids(await search.find('word', null, {}, 5))).toEqual(['a'])
    expect(threads).toHaveLength(2)
  })
  test('a user with very much has it all found by title, and the texts of those who searched long ago make room', async () => {
    const evicted: string[] = []
    const indexes = new Indexes((userId) => evicted.push(userId))
    const text = 'lorem ipsum '.repeat(600)
    for (const ownerId of ['usr_a', 'usr_b', 'usr_c']) {
      indexes.begin(ownerId)
      for (let i = 0; i < 300; i++)
        indexes.addOwn(item(`${ownerId}${i}`, { title: `title${i}`, text, ownerId, public: false }))
    }
    expect(indexes.find('title299', 'usr_c', {}, 5).map(({ id }) => id)).toContain('usr_c299')
    expect(evicted).toEqual(['usr_a'])
  })
})
