// Data of companies, for which there is no source here: dividends, earnings. Scripts that read them run and get na, and the
// report says so once.

import { variable } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

const FUTURE: readonly (readonly [string, string])[] = [
  ['dividends.future_amount', 'series float'],
  ['dividends.future_ex_date', 'series int'],
  ['dividends.future_pay_date', 'series int'],
  ['earnings.future_eps', 'series float'],
  ['earnings.future_period_end_time', 'series int'],
  ['earnings.future_revenue', 'series float'],
  ['earnings.future_time', 'series int'],
]

const DOC = 'Not known here: na.'

export const EVENTS: readonly BuiltinEntry[] = FUTURE.map(([name, type]) =>
  variable(name, DOC, type, { get: () => Number.NaN, fixed: true }, 'source'),
)
