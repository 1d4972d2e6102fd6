import { describe, expect, test } from 'bun:test'
import { idSource } from '../../../src/lib/ids.ts'
import {
  checkedItems,
  Watchlists,
  exportCsv,
  WATCHLISTS_PER_USER,
} from '../../../src/people/watchlists/watchlists.ts'
import { testKv } from '../../store/test-store.ts'
import { rejection } from '../../rejection.ts'

describe('an import', () => {
  test('keeps rows as they are meant', () => {
    expect(
      checkedItems([
        { symbol: ' aapl ', exchange: 'nasdaq', note: null },
        { symbol: 'SP:SPX' },
        { symbol: 'BTCUSD', exchange: '', note: 'coin' },
      ]),
    ).toEqual({
      items: [
        { symbol: 'AAPL', exchange: 'NASDAQ', note: null },
        { symbol: 'SPX', exchange: 'SP', note: null },
        { symbol: 'BTCUSD', exchange: '', note: 'coin' },
      ],
      warnings: [],
    })
  })
  test('collapses duplicates and says which', () => {
    const { items, warnings } = checkedItems([
      { symbol: 'A', exchange: 'X' },
      { symbol: 'a', exchange: 'x' },
      { symbol: 'X:A' },
    ])
    expect([items.length, warnings.map((one) => one.path)]).toEqual([1, ['/items/1', '/items/2']])
  })
  test('is all or nothing and names every bad row', () => {
    const rows = [{ symbol: 'A' }, { symbol: '' }, { symbol: 'two words' }, { symbol: 'B', exchange: 'x y' }]
    expect(() => checkedItems(rows)).toThrow('3 of 4 rows')
    try {
      checkedItems(rows)
    } catch (error) {
      const { details } = error as { details: { fields: { path: string }[] } }
      expect(details.fields.map((field) => field.path)).toEqual([
        '/items/1/symbol',
        '/items/2/symbol',
        '/items/3/exchange',
      ])
    }
  })
})

test('an exported formula is text to a spreadsheet', () => {
  const items = [
    { symbol: '=CMD', exchange: 'X', note: '@SUM(A1)' },
    { symbol: 'A', exchange: '', note: 'says "hi", twice\n' },
  ]
  const csv = exportCsv({ id: 'wl_1', ownerId: 'u', name: 'n', items, createdAt: 0, updatedAt: 0 })
  expect(csv).toBe(`symbol,exchange,note\r\n'=CMD,X,'@SUM(A1)\r\nA,,"says ""hi"", twice\n"\r\n`)
})

describe('a name', () => {
  const fieldsOf = (row: { symbol: string; exchange?: string }) => {
    try {
      checkedItems([row])
      return []
    } catch (error) {
      return (error as { details: { fields: { path: string; code: string }[] } }).details.fields
    }
  }
  test('has 64 characters at most, a symbol at least one', () => {
    const long = 'é'.repeat(65)
    expect(checkedItems([{ symbol: long.slice(1), exchange: long.slice(1) }]).items).toEqual([
      { symbol: 'É'.repeat(64), exchange: 'É'.repeat(64), note: null },
    ])
    expect(fieldsOf({ symbol: long })).toMatchObject([{ path: '/items/0/symbol', code: 'symbol' }])
    expect(fieldsOf({ symbol: 'A', exchange: long })).toMatchObject([
      { path: '/items/0/exchange', code: 'exchange' },
    ])
    expect(fieldsOf({ symbol: ' ' })).toMatchObject([{ code: 'symbol' }])
    expect(fieldsOf({ symbol: 'X:' })).toMatchObject([{ code: 'symbol' }])
  })
  test('before a colon is the exchange, unless another is given', () => {
    const { items } = checkedItems([{ symbol: 'X: a', exchange: 'Y' }, { symbol: 'x:b:c' }, { symbol: ':d' }])
    expect(items.map(({ exchange, symbol }) => `${exchange}:${symbol}`)).toEqual(['Y:A', 'X:B', ':D'])
  })
  test('that cannot be read is named a hundred times at most', () => {
    const rows = Array.from({ length: 101 }, () => ({ symbol: '' }))
    expect(() => checkedItems(rows)).toThrow('101 of 101 rows cannot be read. Nothing was imported.')
    expect(() => checkedItems(rows)).toThrow(
      expect.objectContaining({ status: 422, code: 'validation_failed' }),
    )
    try {
      checkedItems(rows)
    } catch (error) {
      expect((error as { details: { fields: unknown[] } }).details.fields).toHaveLength(100)
    }
  })
})

describe('the lists of a user', () => {
  function world() {
    const kv = testKv()
    let now = 1
    const clock = { now: () => now++, sleep: () => Promise.resolve() }
    const newId = idSource({ clock, random: { bytes: (n) => new Uint8Array(n) } })
    return { kv, lists: new Watchlists({ kv, clock, newId }) }
  }
  const rows = [{ symbol: 'A', exchange: 'X' }]
  const gone = { code: 'watchlist_not_found' }

  test('are made, read, changed and removed by nobody else', async () => {
    const { lists } = world()
    const { watchlist } = await lists.import('ann', 'Mine', [...rows, ...rows])
    expect(watchlist).toEqual({
      id: expect.stringMatching(/^wl_/),
      ownerId: 'ann',
      name: 'Mine',
      items: [{ symbol: 'A', exchange: 'X', note: null }],
      createdAt: watchlist.createdAt,
      updatedAt: watchlist.createdAt,
    })
    expect(await lists.get('ann', watchlist.id)).toEqual(watchlist)
    expect(await rejection(lists.get('bob', watchlist.id))).toMatchObject(gone)
    expect(await rejection(lists.change('bob', watchlist.id, { name: 'x' }))).toMatchObject(gone)
    expect(await rejection(lists.remove('bob', watchlist.id))).toMatchObject(gone)
    await lists.import('bob', 'Other', rows)
    expect((await lists.list('ann', { limit: 9 })).items).toEqual([watchlist])
    expect((await Array.fromAsync(lists.eachOf('ann'))).map(({ name }) => name)).toEqual(['Mine'])
    expect((await Array.fromAsync(lists.each())).map(({ name }) => name)).toEqual(['Mine', 'Other'])
    await lists.remove('ann', watchlist.id)
    expect(await rejection(lists.get('ann', watchlist.id))).toMatchObject(gone)
    expect(await rejection(lists.remove('ann', watchlist.id))).toMatchObject(gone)
  })
  test('change in what was named, all or nothing', async () => {
    const { lists } = world()
    const { watchlist } = await lists.import('ann', 'Mine', rows)
    const renamed = await lists.change('ann', watchlist.id, { name: 'Other' })
    expect(renamed).toEqual({
      watchlist: { ...watchlist, name: 'Other', updatedAt: expect.any(Number) },
      warnings: [],
    })
    expect(renamed.watchlist.updatedAt).toBeGreaterThan(watchlist.updatedAt)
    const filled = await lists.change('ann', watchlist.id, { items: [{ symbol: 'b' }, { symbol: 'B' }] })
    expect(filled.watchlist).toMatchObject({
      name: 'Other',
      items: [{ symbol: 'B', exchange: '', note: null }],
    })
    expect(filled.warnings).toEqual([{ code: 'duplicate_item', path: '/items/1' }])
    expect(
      await rejection(lists.change('ann', watchlist.id, { name: 'x', items: [{ symbol: '' }] })),
    ).toMatchObject({
      code: 'validation_failed',
    })
    expect(await lists.get('ann', watchlist.id)).toEqual(filled.watchlist)
    expect((await lists.change('ann', watchlist.id, { items: [] })).watchlist.items).toEqual([])
  })
  test('have stamps that change with them alone', async () => {
    const { lists } = world()
    const { watchlist } = await lists.import('ann', 'Mine', rows)
    const before = [await lists.listStamp('ann'), await lists.stamp(watchlist.id)]
    await lists.import('bob', 'Other', rows)
    expect([await lists.listStamp('ann'), await lists.stamp(watchlist.id)]).toEqual(before)
    await lists.change('ann', watchlist.id, { name: 'x' })
    expect((await lists.listStamp('ann')) === before[0]).toBe(false)
    expect((await lists.stamp(watchlist.id)) === before[1]).toBe(false)
  })
  test('are 200 at most', async () => {
    const { kv, lists } = world()
    const key = ['watchlists', 'count', 'owner', 'ann']
    await kv.commit({ sets: [{ key, value: String(WATCHLISTS_PER_USER - 1) }] })
    await lists.import('ann', 'last', rows)
    expect(await rejection(lists.import('ann', 'more', rows))).toMatchObject({
      code: 'quota_exceeded',
      message: 'You can have at most 200 watchlists. Delete some first.',
    })
  })
})
