import { expect, test } from 'bun:test'
import Papa from 'papaparse'
import { csvRows, delimiterOf } from '../../src/lib/csv-rows.ts'

const ours = (text: string, delimiter = ',') => [...csvRows(text, delimiter)].map(({ cells }) => cells)
const theirs = (text: string, delimiter = ',') =>
  Papa.parse<string[]>(text, { delimiter, skipEmptyLines: 'greedy' }).data

test.each([
  'a,b\n1,2',
  'a,b\r\n"x, y","he said ""no"""\r\n',
  '\n\n,,\n1,,3\n',
  '"two\nlines",2\n3,4',
  'a;b\n1;2',
  '',
])('%j is read as another reader reads it', (text) => {
  const delimiter = delimiterOf(text)
  expect(ours(text, delimiter)).toEqual(theirs(text, delimiter))
})

test('random text without stray quotes is read as another reader reads it', () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  let state = seed | 1
  const next = (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
  const cells = ['', 'x', '1.5', '"a,b"', '"""q"""', '"l\nm"', 'ж']
  for (let i = 0; i < 300; i++) {
    const rows = Array.from({ length: next(5) }, () =>
      Array.from({ length: 1 + next(4) }, () => cells[next(cells.length)]).join(','),
    )
    const text = rows.join(next(2) ? '\n' : '\r\n')
    expect([seed, text, ours(text)]).toEqual([seed, text, theirs(text)])
  }
})

test('a quote that is never closed, millions of commas and of quotes are one bounded row each', () => {
  expect(ours('a,"b\nc,d')).toEqual([['a', 'b\nc,d']])
  const [row] = ours(`x${','.repeat(3_000_000)}`)
  expect(row?.length).toBe(1000)
  expect(ours('"'.repeat(7_000_000))[0]?.[0]?.length ?? 0).toBeLessThanOrEqual(4000)
})

test('the rows behind one with too many cells are read as they are', () => {
  const many = ',"a ""b"",\nc"x,'.repeat(2000)
  const rows = ours(`1${many}\n2,3\n4${many}`)
  expect(rows.map(({ length }) => length)).toEqual([1000, 2, 1000])
  expect(rows[1]).toEqual(['2', '3'])
  expect(ours(`${','.repeat(999)}x\ny`).map((row) => [row.length, row.at(-1)])).toEqual([
    [1000, 'x'],
    [1, 'y'],
  ])
})
