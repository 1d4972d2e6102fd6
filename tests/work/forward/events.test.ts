// What a closed bar leaves in the record of a forward run.

import { expect, test } from 'bun:test'
import { stepped } from '../../../src/work/forward/events.ts'

type Step = Parameters<typeof stepped>[1]
const HOUR = 3_600_000
const MIDNIGHT = Date.UTC(2026, 0, 2)

const run = (more: object = {}) =>
  ({ bars: 4, first: 5, fills: 0, events: 0, waiting: [], equity: 100, ...more }) as never
const step = (equity: number) =>
  ({
    fills: [],
    waiting: [],
    position: 0,
    equity,
    currency: 'USD',
    summary: { trades: 0 },
  }) as unknown as Step
const bar = (time: number) => [time, 1, 2, 0, 1.5, 9] as const

test('the day begins with the equity before its first bar, and ends at midnight in UTC', () => {
  const day = Math.floor(MIDNIGHT / (24 * HOUR))
  const first = stepped(run(), step(110), bar(MIDNIGHT)).run
  expect(first.day).toEqual({ date: day, equity: 100 })
  const last = stepped(first, step(120), bar(MIDNIGHT + 23 * HOUR)).run
  expect(last).toMatchObject({ day: { date: day, equity: 100 }, equity: 120, bars: 6, close: 1.5 })
  expect(stepped(last, step(90), bar(MIDNIGHT + 24 * HOUR)).run.day).toEqual({ date: day + 1, equity: 120 })
})

test('a run that is told of no bar in the making keeps no list for that', () => {
  expect(stepped(run(), step(1), bar(MIDNIGHT)).run).not.toHaveProperty('foreseen')
  const foreseen = [MIDNIGHT, MIDNIGHT + HOUR].map((time) => ({ event: 'order.placed', time, orderId: 'L' }))
  expect(stepped(run({ foreseen }), step(1), bar(MIDNIGHT)).run.foreseen).toEqual([foreseen[1]] as never)
})
