// Finding things, and that nobody's private things change anybody else's answer.

import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { Indexes, type SearchItem } from '../../../src/people/search/indexes.ts'
import { Search } from '../../../src/people/search/search.ts'
import { searchHere } from './search-here.ts'
import { PostedFields, PackedSearch } from '../../../src/people/search/postings.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { later } from '../../later.ts'
import MiniSearch from 'minisearch'
import { rounds } from '../../long.ts'

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
  const search = new Search({
    everybodys: () => later(items),
    privateOf: (userId) => later(items.filter((one) => one.ownerId === userId && !one.public)),
    spawn: searchHere,
    added: async () => [],
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
  const search = new Search({
    everybodys: () => later([]),
    privateOf: () => later(all),
    spawn: searchHere,
    added: async () => [],
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

test('what is kept of a word is what a Map of Maps would have, whatever is added and removed', () => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = seededRandom(seed)
  for (let round = 0; round < 200; round++) {
    const ours = new PostedFields()
    const theirs = new Map<number, Map<number, number>>()
    let document = 0
    for (let step = 0; step < 40; step++) {
      const field = random.below(3)
      if (random.below(3) > 0) {
        document += random.below(2)
        const known = theirs.get(field) ?? new Map<number, number>()
        theirs.set(field, known.set(document, (known.get(document) ?? 0) + 1))
        expect(ours.add(field, document)).toBe(known.get(document) === 1)
      } else if (random.below(4) === 0) expect(ours.delete(field)).toBe(theirs.delete(field))
      else {
        const gone = random.below(document + 1)
        const [list, map] = [ours.get(field), theirs.get(field)]
        expect([list?.get(gone), list?.delete(gone)]).toEqual([map?.get(gone), map?.delete(gone)])
        const kept = random.below(document + 1)
        if (map?.has(kept)) {
          list?.set(kept, 7)
          map.set(kept, 7)
        }
      }
      const plain = (fields: Iterable<readonly [number, Iterable<readonly [number, number]>]>) =>
        Array.from(fields, ([name, postings]) => Array.from(postings, (one) => `${name} ${one.join(' ')}`))
          .flat()
          .toSorted()
      expect({ seed, round, step, kept: plain(ours) }).toEqual({ seed, round, step, kept: plain(theirs) })
      expect([ours.size, ours.get(field)?.size]).toEqual([theirs.size, theirs.get(field)?.size])
    }
  }
})

test('an index answers as MiniSearch itself does, while texts come, change and go', () => {
  const random = seededRandom(5)
  const searchOptions = { prefix: true, fuzzy: 1, combineWith: 'AND' as const }
  const options = { fields: ['title', 'text'], searchOptions }
  const [ours, theirs] = [new PackedSearch(options), new MiniSearch(options)]
  const word = () => String.fromCharCode(97 + random.below(4)).repeat(1 + random.below(5))
  const there = new Set<number>()
  for (let i = 0; i < 600; i++) {
    const id = random.below(40)
    for (const index of [ours, theirs]) if (there.has(id)) index.discard(id)
    if (there.delete(id)) continue
    there.add(id)
    const one = { id, title: word(), text: Array.from({ length: random.below(12) }, word).join(' ') }
    for (const index of [ours, theirs]) index.add(one)
    const query = `${word()} ${word()}`
    expect(ours.search(query)).toEqual(theirs.search(query))
  }
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
      { numRuns: rounds(60) },
    )
  })
  test('reads a user’s items a slice at a time, and is answered from those that were read', async () => {
    let time = 0
    let pauses = 0
    const many = Array.from({ length: 400 }, (_, i) => item(`m${i}`, { text: 'common', public: false }))
    const { promise: held, resolve: go } = Promise.withResolvers<void>()
    const search = new Search({
      spawn: searchHere,
      added: async () => [],
      goneOf: async () => [],
      failed,
      everybodys: () => later([]),
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
    const search = new Search({
      spawn: searchHere,
      added: async () => [],
      goneOf: async () => [],
      failed,
      everybodys: () => later([]),
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
    const search = new Search({
      added: async () => [],
      goneOf: async () => [],
      spawn() {
        const thread = searchHere()
        threads.push(thread)
        return thread
      },
      failed: () => {},
      everybodys: () => later([item('a', { text: 'word' })]),
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
  test('a user with very much has it all found by title, and who searched longest ago makes room', () => {
    const evicted: string[] = []
    const indexes = new Indexes({
      evicted: (userId) => evicted.push(userId),
      budget: { own: 400_000, all: 1_000_000 },
    })
    const text = 'lorem ipsum '.repeat(200)
    const find = (q: string, userId: string) => indexes.find(q, userId, {}, 1000).length
    const add = (ownerId: string, from: number, count: number) => {
      for (let i = from; i < from + count; i++)
        indexes.addOwn(item(`${ownerId}${i}`, { title: `title${i}`, text, ownerId, public: false }))
    }
    for (const ownerId of ['usr_a', 'usr_b', 'usr_c']) {
      indexes.begin(ownerId)
      add(ownerId, 0, 130)
    }
    expect(ids(indexes.find('title129', 'usr_b', {}, 1))).toEqual(['usr_b129'])
    expect(find('lorem', 'usr_b')).toBe(96)
    expect(evicted).toEqual(['usr_a'])
    // Searching is use: now it is the one who did not.
    indexes.begin('usr_d')
    add('usr_d', 0, 130)
    expect(evicted).toEqual(['usr_a', 'usr_c'])
    for (let i = 0; i < 130; i++) indexes.remove('idea', `usr_d${i}`, 'usr_d')
    indexes.begin('usr_e')
    add('usr_e', 0, 60)
    expect(evicted).toEqual(['usr_a', 'usr_c'])
  })
  test('what was made on the way is collected by how much came in', () => {
    let collections = 0
    const indexes = new Indexes({ evicted: () => {}, collect: () => void collections++ })
    const add = (count: number, name: string) => {
      for (let i = 0; i < count; i++) indexes.addPublic(item(name + i, { text: 'x '.repeat(5000) }))
    }
    add(100, 'a')
    expect(collections).toBe(0)
    add(50, 'b')
    expect(collections).toBe(1)
  })
})

describe('a word', () => {
  const found = async (query: string, ...texts: string[]) => {
    const search = await searchOver(texts.map((text, i) => item(`i${i}`, { title: `Title ${i}`, text })))
    return ids(await search.find(query, null, {}, 10)).toSorted()
  }
  test('may have a letter wrong from four letters on, and two from six', async () => {
    expect(await found('wava', 'wave', 'wabe')).toEqual(['i0'])
    expect(await found('cat', 'car')).toEqual([])
    expect(await found('cross', 'crass')).toEqual(['i0'])
    expect(await found('cross', 'crabs')).toEqual([])
    expect(await found('golden', 'gulten')).toEqual(['i0'])
    expect(await found('golden', 'gultan')).toEqual([])
  })
  test('is forgiven in the first three of a search', async () => {
    expect(await found('alpha bravo delto', 'alpha bravo delta echos')).toEqual(['i0'])
    expect(await found('alpha bravo delta echas', 'alpha bravo delta echos')).toEqual([])
  })
  test('is found by its first two letters, and not by one', async () => {
    expect([await found('mo', 'momentum'), await found('m', 'momentum')]).toEqual([['i0'], []])
  })
  test('in the title weighs more than a symbol, that more than a tag, and that more than the text', async () => {
    const search = await searchOver([
      item('text', { title: 'a1', text: 'pivot' }),
      item('tag', { title: 'a2', tags: ['pivot'] }),
      item('symbol', { title: 'a3', symbol: 'PIVOT' }),
      item('title', { title: 'pivot' }),
    ])
    const hits = await search.find('pivot', null, {}, 10)
    expect(ids(hits)).toEqual(['title', 'symbol', 'tag', 'text'])
    for (const { score } of hits) expect(score).toBe(Math.round(score * 1000) / 1000)
    expect(ids(await search.find('pivot', null, {}, 2))).toEqual(['title', 'symbol'])
  })
})

test('one’s own things are looked through for the kinds that are asked for alone', async () => {
  const search = await searchOver([
    item('idea', { text: 'golden', public: false }),
    item('run', { text: 'golden', public: false, type: 'backtest' }),
    item('open', { text: 'golden', type: 'backtest' }),
  ])
  const own = async (...types: ('idea' | 'backtest')[]) =>
    ids(await search.find('golden', 'usr_a', {}, 10, types)).toSorted()
  expect([await own('idea'), await own('idea', 'backtest'), await own()]).toEqual([
    ['idea', 'open'],
    ['idea', 'open', 'run'],
    ['open'],
  ])
})

test('a search that never comes to an end of what is gone answers without it after five rounds', async () => {
  const all = Array.from({ length: 30 }, (_, i) => item(`i${i}`, { title: 'sma' }))
  let rounds = 0
  const search = new Search({
    everybodys: () => later(all),
    privateOf: () => later([]),
    spawn: searchHere,
    added: async () => [],
    // Whenever it is asked, the first of what was found is gone.
    goneOf: async (hits) => {
      rounds++
      return hits.slice(0, 1)
    },
    failed,
    now: () => 0,
    pause: () => Promise.resolve(),
  })
  await search.rebuild()
  const hits = await search.find('sma', null, {}, 4)
  expect([rounds, hits.length, new Set(ids(hits)).size]).toEqual([5, 3, 3])
})
