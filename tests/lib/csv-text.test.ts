// What is written as CSV is read back as it was, and runs nothing in a spreadsheet.

import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { csvRows } from '../../src/lib/csv-rows.ts'
import { csvRow } from '../../src/lib/csv-text.ts'

test.each([
  ['plain text', ['a', 'b c'], 'a,b c'],
  ['commas, quotes and lines', ['a,b', 'say "x"', 'c\nd'], '"a,b","say ""x""","c\nd"'],
  ['what would be a formula', ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1'], "'=1+1,'+1,'-1,'@SUM(A1),'\t=1"],
  ['a formula with a comma', ['=HYPERLINK("x","y")'], `"'=HYPERLINK(""x"",""y"")"`],
  [
    'numbers that were written with their decimals',
    ['-3.00', '-0.5', '-1.5x', '-.5'],
    "-3.00,-0.5,'-1.5x,'-.5",
  ],
  ['numbers, below zero too', [-1.5, 0, 1e21], '-1.5,0,1e+21'],
])('%s', (_, cells, line) => {
  expect(csvRow(cells)).toBe(line)
})

test('any cells come back, with an apostrophe in front of a formula', () => {
  const filled = fc.string({ maxLength: 20 }).filter((text) => text.trim() !== '')
  fc.assert(
    fc.property(fc.array(filled, { minLength: 1, maxLength: 5 }), (cells) => {
      const [row] = csvRows(csvRow(cells), ',')
      expect(row?.cells).toEqual(
        cells.map((cell) => (/^[=+\-@\t\r]/.test(cell) && !/^-\d+\.\d+$/.test(cell) ? `'${cell}` : cell)),
      )
    }),
  )
})

test('numbers come without the noise of sums, and whole', () => {
  expect(csvRow([0.1 + 0.2, 2693.849931999999, -0.07 * 100, 1e-7, 1_700_000_000_123, 2 ** 53 - 1])).toBe(
    '0.3,2693.849932,-7,1e-7,1700000000123,9007199254740991',
  )
})
