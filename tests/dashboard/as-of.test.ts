// The day of a run, as pages tell and offer it.

import { expect, test } from 'bun:test'
import { asOfText, changedText, dayOptions } from '../../src/dashboard/as-of.ts'

test('a run says its day, and one of before runs had a day that it is of before', () => {
  expect(asOfText('2026-09-24')).toBe("TradingView's rules of 24 September 2026")
  expect(asOfText('2026-09-01')).toBe("TradingView's rules of before 24 September 2026")
  expect(asOfText(undefined)).toBe("TradingView's rules of before 24 September 2026")
})

test('today and the time before each change are offered, and a day that was chosen elsewhere', () => {
  const two = [
    ['', 'Today'],
    ['2026-09-23', 'Before 24 September 2026'],
  ] as const
  expect(dayOptions('')).toEqual(two)
  expect(dayOptions('2026-09-23')).toEqual(two)
  expect(dayOptions('2026-09-01')).toEqual([...two, ['2026-09-01', '1 September 2026']])
})

test('what has changed between two runs is one sentence, if the script leaves it open', () => {
  const said = changedText(['title'], 6, undefined, '2026-09-24')
  expect(said).toBe(
    'Since 24 September 2026 a strategy of version 6 that does not say otherwise starts with 100,000 and puts 100% of its equity into an order, where it started with 1,000,000 and ordered one contract.',
  )
  expect(changedText(['title'], 5, undefined, '2026-09-24')).toBe('')
  expect(changedText(['title'], 6, '2026-09-24', '2026-09-24')).toBe('')
  const all = ['title', 'initial_capital', 'default_qty_type', 'default_qty_value']
  expect(changedText(all, 6, undefined, '2026-09-24')).toBe('')
})
