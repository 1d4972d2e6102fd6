// The properties of a strategy: the arguments of its declaration that its runs may replace, as fields of a form.

import { datedDefaults, NEWEST_DAY } from '../../language/behaviour.ts'
import { commissionRefusal } from '../../wire/commission.ts'
import type { OpenScript, Overrides } from '../workspace.ts'
import { words } from '../../lib/words.ts'
import { readNumber } from './input-model.ts'

/** The arguments of a declaration, given or default; null = not given. */
export type Declaration = Readonly<Record<string, number | string | boolean | null>>

interface Common {
  readonly name: string
  readonly label: string
  readonly group: string
  readonly hint?: string
}
export type Property =
  | (Common & { readonly kind: 'number'; readonly min: number; readonly whole?: boolean })
  | (Common & { readonly kind: 'flag' })
  | (Common & { readonly kind: 'choice'; readonly options: readonly (readonly [string, string])[] })

const CURRENCIES = words('USD EUR GBP JPY CHF AUD CAD NZD HKD SGD BTC ETH USDT')

const number = (group: string, name: string, label: string, more: { whole?: true; hint?: string } = {}) =>
  ({ name, label, group, kind: 'number', min: 0, ...more }) as const
const flag = (group: string, name: string, label: string) => ({ name, label, group, kind: 'flag' }) as const
const choice = (group: string, name: string, label: string, options: Readonly<Record<string, string>>) =>
  ({ name, label, group, kind: 'choice', options: Object.entries(options) }) as const

export const PROPERTIES: readonly Property[] = [
  number('Money', 'initial_capital', 'Initial capital'),
  choice('Money', 'currency', 'Currency', {
    NONE: 'The symbol’s',
    ...Object.fromEntries(CURRENCIES.map((code) => [code, code])),
  }),
  number('Orders', 'default_qty_value', 'Order size'),
  choice('Orders', 'default_qty_type', 'Size is in', {
    fixed: 'Contracts',
    cash: 'Money',
    percent_of_equity: '% of equity',
  }),
  number('Orders', 'pyramiding', 'Pyramiding, entries', { whole: true }),
  choice('Orders', 'close_entries_rule', 'Exits close', {
    FIFO: 'The oldest entry',
    ANY: 'The entry they name',
  }),
  number('Costs', 'commission_value', 'Commission'),
  choice('Costs', 'commission_type', 'Commission is in', {
    percent: '% of the trade',
    cash_per_contract: 'Money per contract',
    cash_per_order: 'Money per order',
  }),
  number('Costs', 'slippage', 'Slippage, ticks', { whole: true }),
  number('Margin', 'margin_long', 'Margin of longs, %'),
  number('Margin', 'margin_short', 'Margin of shorts, %'),
  number('Fills', 'backtest_fill_limits_assumption', 'Limits fill after, ticks', {
    whole: true,
    hint: 'How far the price has to go past a limit.',
  }),
  flag('Fills', 'use_bar_magnifier', 'Bar magnifier'),
  flag('Fills', 'process_orders_on_close', 'Fill orders at the close'),
  flag('Fills', 'calc_on_order_fills', 'Run again after a fill'),
]

/** What applies where a declaration does not say. */
const DEFAULTS: Overrides = {
  ...datedDefaults(6, NEWEST_DAY),
  currency: 'NONE',
  pyramiding: 0,
  close_entries_rule: 'FIFO',
  commission_value: 0,
  commission_type: 'percent',
  slippage: 0,
  backtest_fill_limits_assumption: 0,
}

const MARGINS: ReadonlySet<string> = new Set(['margin_long', 'margin_short'])

/** The value that the script itself has, without the namespaces of Pine. */
export function declaredValue(
  name: string,
  declaration: Declaration,
  version: number,
): number | string | boolean {
  const given = declaration[name]
  if (typeof given === 'string') {
    const word = given.replace(/^strategy\.(commission\.)?|^currency\./, '')
    return word === '' ? (DEFAULTS[name] ?? '') : word
  }
  if (given !== null && given !== undefined) return given
  // Version 6 made 100 % margin the default; before it none was kept.
  if (MARGINS.has(name)) return version >= 6 ? 100 : 0
  return DEFAULTS[name] ?? false
}

/** How many properties differ from the script's own, the day among them. */
export const changedCount = ({ overrides = {}, asOf }: OpenScript): number =>
  Object.keys(overrides).length + (asOf === undefined ? 0 : 1)

export const withoutProperties = ({ asOf: _day, ...script }: OpenScript): OpenScript => ({
  ...script,
  overrides: {},
})

/** What differs from the declaration: the others need not be kept. */
export const withProperty = (
  before: Overrides,
  name: string,
  value: number | string | boolean,
  declared: number | string | boolean,
): Overrides => {
  const { [name]: _gone, ...others } = before
  return value === declared ? others : { ...others, [name]: value }
}

/** The number, or a sentence that says what is wrong with the text. `commissionType`: what a commission is in. */
export function readProperty(
  property: Property & { readonly kind: 'number' },
  text: string,
  commissionType: string,
): number | string {
  const value = readNumber(
    { kind: property.whole ? 'int' : 'float', minval: property.min, maxval: null },
    text,
  )
  const isCommission = property.name === 'commission_value' && typeof value === 'number'
  return (isCommission ? commissionRefusal(commissionType, value) : null) ?? value
}
