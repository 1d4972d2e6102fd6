import { describe, expect, test } from 'bun:test'
import { checkedItems, exportCsv } from '../../src/watchlists/watchlists.ts'

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
