// Finding things, and that nobody's private things change anybody else's answer.

import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { createSearch, type SearchItem } from '../../src/search/search.ts'

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
    all: () => items,
    privateOf: (userId) => items.filter((one) => one.ownerId === userId && !one.public),
    pause: () => Promise.resolve(),
  })
  await search.rebuild()
  return search
}
const ids = (hits: readonly { id: string }[]) => hits.map((hit) => hit.id)

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
    expect(ids(search.find(query, null, {}, 10))).toEqual(expected)
  })
  test('gives an anonymous caller public items, and a user their own besides', async () => {
    const search = await searchOver([
      item('pub', { text: 'golden cross' }),
      item('mine', { text: 'golden cross', public: false, type: 'backtest' }),
    ])
    expect(ids(search.find('golden', null, {}, 10))).toEqual(['pub'])
    expect(ids(search.find('golden', 'usr_b', {}, 10))).toEqual(['pub'])
    expect(ids(search.find('golden', 'usr_a', {}, 10)).toSorted()).toEqual(['mine', 'pub'])
  })
  test('filters by type, symbol, tag and author', async () => {
    const search = await searchOver([
      item('a', { text: 'x1 word', type: 'script', symbol: 'SPX', tags: ['trend'], author: 'Ann' }),
      item('b', { text: 'x1 word' }),
    ])
    for (const filters of [{ type: 'script' as const }, { symbol: 'spx' }, { tag: 'Trend' }])
      expect(ids(search.find('word', null, filters, 10))).toEqual(['a'])
    expect(ids(search.find('word', null, { author: 'ANN' }, 10)).toSorted()).toEqual(['a', 'b'])
  })
  test('follows changes', async () => {
    const search = await searchOver([])
    search.put(item('a', { text: 'first' }))
    search.put(item('a', { text: 'second' }))
    expect([search.find('first', null, {}, 5), ids(search.find('second', null, {}, 5))]).toEqual([[], ['a']])
    search.put(item('a', { text: 'second', public: false }))
    expect(search.find('second', null, {}, 5)).toEqual([])
    search.remove('idea', 'a', 'usr_a')
    expect(search.find('second', 'usr_a', {}, 5)).toEqual([])
  })
  test('shows plain text round the match', async () => {
    const search = await searchOver([
      item('a', { text: `${'before '.repeat(40)}needle <b>markup</b>\n\n${'after '.repeat(40)}` }),
    ])
    const [hit] = search.find('needle', null, {}, 1)
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
            withThem.find(query, 'usr_b', {}, 20)
            expect(JSON.stringify(withThem.find(query, reader, {}, 20))).toBe(
              JSON.stringify(without.find(query, reader, {}, 20)),
            )
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
