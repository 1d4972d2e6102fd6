import { expect, test } from 'bun:test'
import { emptyBars } from '../../src/market/bars.ts'
import { withForming } from '../../src/market/forming.ts'

const MINUTE = 60_000

function stored() {
  const bars = emptyBars(2)
  bars.time.set([0, MINUTE])
  bars.close.set([1, 2])
  return bars
}
const barAt = (time: number) => ({ time, open: 5, high: 9, low: 4, close: 7, volume: 1 })
const shown = (time: number | null) => {
  const bars = withForming(stored(), time === null ? null : barAt(time))
  return [[...bars.time], [...bars.close]]
}

test('the bar that is not over stands behind the stored ones', () => {
  expect(shown(2 * MINUTE)).toEqual([
    [0, MINUTE, 2 * MINUTE],
    [1, 2, 7],
  ])
})

test('where a part of it is stored it takes its place, and an older one is not shown', () => {
  expect(shown(MINUTE)).toEqual([
    [0, MINUTE],
    [1, 7],
  ])
  for (const time of [0, null])
    expect(shown(time)).toEqual([
      [0, MINUTE],
      [1, 2],
    ])
  expect([...withForming(emptyBars(0), barAt(MINUTE)).close]).toEqual([7])
})
