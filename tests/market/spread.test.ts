// Formulas over symbols: what they mean, what they refuse, and the bars that come of them.

import { describe, expect, test } from 'bun:test'
import { emptyBars, type Bars } from '../../src/market/bars.ts'
import { isFormula, parseSpread, spreadBars, SpreadError } from '../../src/market/spread.ts'

describe('a formula', () => {
  test.each([
    ['X:A/X:B', [6, 3], 2],
    ['X:A - X:B * 2', [6, 3], 0],
    ['(X:A-X:B)*2', [6, 3], 6],
    ['-X:A + 1.5', [6], -4.5],
    ['8/X:A/2', [2], 2],
    ['x:a*X:A', [3], 9],
    ['"COINBASE:BTC-USD"-X:B', [6, 3], 3],
    ['1INCH:USD/2', [8], 4],
    ['CME:ES1!-CBOT:YM1!', [6, 3], 3],
  ] as const)('%s of %p is %p', (text, prices, value) => {
    expect(parseSpread(text).value(prices)).toBe(value)
  })

  test('names each symbol once, in upper case', () => {
    expect(parseSpread('x:a/(X:A+y:b)').parts).toEqual([
      { exchange: 'X', symbol: 'A' },
      { exchange: 'Y', symbol: 'B' },
    ])
  })

  test.each([
    ['X:A/', 'The formula ends where a symbol or a number should stand.'],
    ['X:A X:B', '“X:B” stands where an operator (+ - * /) should.'],
    ['(X:A', 'A bracket is opened and not closed.'],
    ['X:A)', '“)” stands where an operator (+ - * /) should.'],
    ['X:A*/X:B', '“/” stands where a symbol or a number should.'],
    ['BTCUSDT/X:B', 'Write the exchange before “BTCUSDT”, as BINANCE:BTCUSDT.'],
    ['"X:A', 'A quote is opened and not closed.'],
    ['1+2', 'The formula has no symbol in it.'],
    ['', 'The formula ends where a symbol or a number should stand.'],
    [Array.from({ length: 9 }, (_, i) => `X:S${i}`).join('+'), 'A formula can have at most 8 symbols.'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => parseSpread(text)).toThrow(new SpreadError(message))
  })

  test('is told from a symbol by its operators', () => {
    expect(['BTCUSDT', 'X:A', '"COINBASE:BTC-USD"', 'X:A/X:B', '1/X:A'].map(isFormula)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ])
  })
})

/** Rows of time, open, high, low, close. */
function barsOf(rows: readonly (readonly [number, number, number, number, number])[]): Bars {
  const bars = emptyBars(rows.length)
  for (const [i, row] of rows.entries())
    for (const [f, field] of (['time', 'open', 'high', 'low', 'close'] as const).entries())
      bars[field][i] = row[f]!
  return bars
}
const rowsOf = ({ time, open, high, low, close, length }: Bars) =>
  Array.from({ length }, (_, i) => [time[i], open[i], high[i], low[i], close[i]])

test('a spread has the bars that all symbols have, and leaves out what cannot be divided', () => {
  const a = barsOf([
    [1, 10, 12, 8, 11],
    [2, 11, 14, 10, 12],
    [4, 12, 12, 6, 9],
    [5, 9, 9, 9, 9],
  ])
  const b = barsOf([
    [0, 1, 1, 1, 1],
    [1, 5, 6, 2, 4],
    [3, 4, 4, 4, 4],
    [4, 4, 6, 3, 3],
    [5, 0, 1, 0, 1],
  ])
  expect(rowsOf(spreadBars(parseSpread('X:A/X:B'), [a, b]))).toEqual([
    // 10/5, 12/6, 8/2, 11/4: the highest of the four is the high.
    [1, 2, 4, 2, 2.75],
    [4, 3, 3, 2, 3],
  ])
  expect(rowsOf(spreadBars(parseSpread('X:B-X:A'), [b, a]))).toHaveLength(3)
})
