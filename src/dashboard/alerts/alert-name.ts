// What an alert on a plot is called where nobody named it.

import type { Args } from '../../wire/operations.ts'
import type { Crossing } from '../studies/crossings.ts'
import { conditionText } from './alert-model.ts'

/** `crossing`: what the alert waits for. An alert on a plot that nobody named is called by that: `RSI crosses 70`. */
export function nameOf(
  { name = '', ...body }: Args<'POST /api/platform/alerts'>['body'],
  crossing: Crossing | undefined,
): string {
  if (name !== '' || body.kind !== 'indicator') return name
  if (crossing?.isDifference && body.op === 'crossing') return crossing.text
  return conditionText({ ...NOTHING, ...body })
}
const NOTHING = { op: null, price: null, price2: null, percent: null, bars: 0, plot: '' }
