import { expect, test } from 'bun:test'
import { barsOf, rowsOf } from '../../../src/market/bars.ts'
import { minuteBars, rows } from '../../market/bar-store.conformance.ts'

test('a tape has what of a bar was bought where that is known, and is as it always was where it is not', () => {
  const bars = minuteBars(0, 3)
  expect(rowsOf(bars) as readonly (readonly number[])[]).toEqual(rows(bars))
  expect(barsOf(rowsOf(bars)).bought).toBeUndefined()
  const bought = Float64Array.of(0, Number.NaN, 2)
  const tape = rowsOf({ ...bars, bought })
  expect(tape.map((row) => row.length)).toEqual([7, 6, 7])
  const back = barsOf(JSON.parse(JSON.stringify(tape)) as number[][])
  expect(rows(back)).toEqual(rows(bars))
  expect([...back.bought!]).toEqual([...bought])
})
