// Labels on a price axis where they would lie on each other.

import { expect, test } from 'bun:test'
import { merging, sinceFirst, type AxisLabel } from '../../src/dashboard/chart/axis-labels.ts'
import { NO_BARS } from '../../src/dashboard/chart/scene.ts'

const label = (y: number | null, text: string, importance = 0): AxisLabel => ({
  importance,
  color: '#112233',
  y: () => y,
  text: () => text,
})
const shown = (...labels: AxisLabel[]) =>
  merging(labels)
    .filter((view) => view.visible?.() ?? true)
    .map((view) => `${view.text()} at ${view.coordinate()}`)

test('of labels that lie on each other the most important stays, as it is', () => {
  expect(shown(label(100, '2,863.09'), label(104, '2,860.00'), label(101, '2,874.56', 2))).toEqual([
    '2,874.56 at 101',
  ])
})

test('of labels that matter alike the first stays', () => {
  expect(shown(label(50, 'fast'), label(52, 'slow'))).toEqual(['fast at 50'])
})

test('labels that do not reach each other stay two, and one hidden by a label does not hide a third', () => {
  expect(shown(label(100, 'a', 2), label(117, 'b'))).toEqual(['a at 100', 'b at 117'])
  expect(shown(label(100, 'a', 2), label(116, 'b'))).toEqual(['a at 100'])
  expect(shown(label(100, 'a', 2), label(110, 'b'), label(118, 'c'))).toEqual(['a at 100', 'c at 118'])
})

test('a value without a place on the axis has no label', () => {
  expect(shown(label(null, 'none', 2), label(5, 'x'))).toEqual(['x at 5'])
})

test('on a scale in per cent a label says how far its value is from the first close in view', () => {
  const bars = { ...NO_BARS, length: 3, close: Float64Array.of(50, 100, 80) }
  expect(sinceFirst(120, bars, 1.7)).toBe('+20.00%')
  expect(sinceFirst(80, bars, 1)).toBe('−20.00%')
  expect(sinceFirst(80, bars, -12)).toBe('+60.00%')
  expect(sinceFirst(80, bars, 40)).toBeNull()
})
