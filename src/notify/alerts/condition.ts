// When an alert's condition holds: pure functions of the last values.
//
// A closed bar is judged by its close, like Pine's ta.crossover. A forming bar may have been at prices that its
// close does not show, so there a crossing counts from the previous close to the bar's high or low.

import { unreachable } from '../../lib/assert.ts'
import type { Operator } from '../../wire/alert.ts'

/** Operators that need `price2` beside `price`. */
export const CHANNEL_OPERATORS: readonly Operator[] = [
  'entering_channel',
  'exiting_channel',
  'inside_channel',
  'outside_channel',
]
/** Operators that compare with the value `bars` bars ago. */
export const MOVE_OPERATORS: readonly Operator[] = [
  'moving_up',
  'moving_down',
  'moving_up_pct',
  'moving_down_pct',
]
/** Those of them that take `percent` instead of `price`. */
export const PERCENT_OPERATORS: readonly Operator[] = ['moving_up_pct', 'moving_down_pct']

/** States, which may hold from the start, so that an alert fires at once. All other operators are events. */
export const STATE_OPERATORS: readonly Operator[] = ['above', 'below', 'inside_channel', 'outside_channel']

export interface Thresholds {
  readonly op: Operator
  /** The level, one bound of the channel, or the distance moved. */
  readonly price: number
  /** The channel's other bound; either may be the upper one. */
  readonly price2: number
  /** For the `_pct` operators: 5 = five per cent. */
  readonly percent: number
}

/** The watched value on one bar. Without a range (volume, a plot), `high` and `low` are the value itself. NaN = unknown. */
export interface Values {
  readonly value: number
  readonly high: number
  readonly low: number
  /** The bar before. */
  readonly previous: number
  /** The value as many bars ago as the alert looks back. */
  readonly past: number
  readonly closed: boolean
}

/** Comparisons with NaN are false, so that no condition holds if a value is missing. */
export function holds({ op, price, price2, percent }: Thresholds, values: Values): boolean {
  const { value, high, low, previous, past, closed } = values
  const [floor, ceiling] = price <= price2 ? [price, price2] : [price2, price]
  const inside = (x: number) => x >= floor && x <= ceiling
  const outside = (x: number) => x < floor || x > ceiling
  const up = closed ? previous <= price && value > price : previous < price && high >= price
  const down = closed ? previous >= price && value < price : previous > price && low <= price
  switch (op) {
    case 'above':
      return value > price
    case 'below':
      return value < price
    case 'crossing_up':
      return up
    case 'crossing_down':
      return down
    case 'crossing':
      return up || down
    case 'inside_channel':
      return inside(value)
    case 'outside_channel':
      return outside(value)
    case 'entering_channel':
      return outside(previous) && (closed ? inside(value) : high >= floor && low <= ceiling)
    case 'exiting_channel':
      return inside(previous) && (closed ? outside(value) : high > ceiling || low < floor)
    case 'moving_up':
      return value - past >= price
    case 'moving_down':
      return past - value >= price
    case 'moving_up_pct':
      return past > 0 && ((value - past) / past) * 100 >= percent
    case 'moving_down_pct':
      return past > 0 && ((past - value) / past) * 100 >= percent
    default:
      return unreachable(op)
  }
}
