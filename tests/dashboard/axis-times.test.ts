// The weights that choose which times stand on the axis.

import { expect, test } from 'bun:test'
import type { UTCTimestamp } from 'lightweight-charts'
import { zonedBehavior } from '../../src/dashboard/chart/axis-text.ts'

const HOUR = 3600
const MIDNIGHT_IN_NEW_YORK = Date.UTC(2026, 2, 3, 5) / 1000

function pointsOf(hours: number) {
  const behavior = new (zonedBehavior({ zone: 'America/New_York' }))()
  const points = Array.from({ length: hours }, (_, i) => ({
    time: behavior.convertHorzItemToInternal((MIDNIGHT_IN_NEW_YORK - 4 * HOUR + i * HOUR) as UTCTimestamp),
    timeWeight: 0,
  })) as unknown as Parameters<(typeof behavior)['fillWeightsForPoints']>[0]
  const fill = (from: number) => behavior.fillWeightsForPoints(points, from)
  return { points, fill, weights: () => points.map(({ timeWeight }) => Number(timeWeight)) }
}

test('a day begins at midnight of the zone', () => {
  const { fill, weights } = pointsOf(10)
  fill(0)
  const all = weights()
  expect(all.indexOf(Math.max(...all))).toBe(4)
})

test('points that come later get the weights that they have among all', () => {
  const whole = pointsOf(60)
  whole.fill(0)
  for (const from of [1, 4, 27, 28, 29, 59]) {
    const { points, fill, weights } = pointsOf(60)
    for (let i = 0; i < from; i++) points[i]!.timeWeight = whole.points[i]!.timeWeight
    fill(from)
    expect({ from, weights: weights() }).toEqual({ from, weights: whole.weights() })
  }
})
