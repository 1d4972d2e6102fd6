// Data of companies and order flow, for which there is no source here: dividends, earnings, footprints. Scripts that read
// them run and get na, and the report says so once.

import { fn, variable } from './define.ts'
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

const FOOTPRINT: readonly (readonly [string, string])[] = [
  ['buy_volume', '(footprint id) series float'],
  ['sell_volume', '(footprint id) series float'],
  ['total_volume', '(footprint id) series float'],
  ['delta', '(footprint id) series float'],
  ['poc', '(footprint id) volume_row'],
  ['vah', '(footprint id) volume_row'],
  ['val', '(footprint id) volume_row'],
  ['rows', '(footprint id) array<volume_row>'],
  ['get_row_by_price', '(footprint id, series float price) volume_row'],
]

const VOLUME_ROW: readonly (readonly [string, string])[] = [
  ['up_price', '(volume_row id) series float'],
  ['down_price', '(volume_row id) series float'],
  ['buy_volume', '(volume_row id) series float'],
  ['sell_volume', '(volume_row id) series float'],
  ['total_volume', '(volume_row id) series float'],
  ['delta', '(volume_row id) series float'],
  ['has_buy_imbalance', '(volume_row id) series bool'],
  ['has_sell_imbalance', '(volume_row id) series bool'],
]

const DOC = 'Not known here: na.'

export const EVENTS: readonly BuiltinEntry[] = [
  ...FUTURE.map(([name, type]) =>
    variable(name, DOC, type, { get: () => Number.NaN, fixed: true }, 'source'),
  ),
  ...methods('footprint', FOOTPRINT),
  ...methods('volume_row', VOLUME_ROW),
]

function methods(space: string, list: readonly (readonly [string, string])[]): BuiltinEntry[] {
  return list.map(([name, signature]) => {
    const na = signature.endsWith('float') ? Number.NaN : signature.endsWith('bool') ? false : null
    return fn(`${space}.${name}`, DOC, signature, { fn: () => na }, 'source')
  })
}
