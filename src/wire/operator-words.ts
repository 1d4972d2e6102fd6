// What the operators of alerts are called, in the order in which a form offers them.

import type { Operator } from './alert.ts'

/** What an operator waits for, and what has happened when it fires. */
export const OPERATOR_WORDS: Readonly<Record<Operator, readonly [waits: string, fired: string]>> = {
  crossing: ['crosses', 'crossed'],
  crossing_up: ['crosses above', 'crossed above'],
  crossing_down: ['crosses below', 'crossed below'],
  above: ['is above', 'is above'],
  below: ['is below', 'is below'],
  entering_channel: ['enters the channel', 'entered the channel'],
  exiting_channel: ['leaves the channel', 'left the channel'],
  inside_channel: ['is inside the channel', 'is inside the channel'],
  outside_channel: ['is outside the channel', 'is outside the channel'],
  moving_up: ['moves up by', 'moved up by'],
  moving_down: ['moves down by', 'moved down by'],
  moving_up_pct: ['moves up by', 'moved up by'],
  moving_down_pct: ['moves down by', 'moved down by'],
}
