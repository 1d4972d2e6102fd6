// The properties of a strategy: the arguments of its declaration that its runs may replace, as fields of a form.

import { datedDefaults, NEWEST_DAY } from '../../language/behaviour.ts'
import { commissionRefusal } from '../../wire/commission.ts'
import type { OpenScript, Overrides } from '../workspace.ts'
import { words } from '../../lib/words.ts'

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

const CURRENCIES = words('NONE USD EUR GBP JPY CHF AUD CAD NZD HKD SGD BTC ETH USDT')

export const PROPERTIES: readonly Property[] = [
  { name: 'initial_capital', label: 'Initial capital', group: 'Money', kind: 'number', min: 0 },
  {
    name: 'currency',
    label: 'Currency',
    group: 'Money',
    kind: 'choice',
    options: CURRENCIES.map((code) => [code, code === 'NONE' ? 'The symbol’s' : code] as const),
  },
  { name: 'default_qty_value', label: 'Order size', group: 'Orders', kind: 'number', min: 0 },
  {
    name: 'default_qty_type',
    label: 'Size is in',
    group: 'Orders',
    kind: 'choice',
    options: [
      ['fixed', 'Contracts'],
      ['cash', 'Money'],
      ['percent_of_equity', '% of equity'],
    ],
  },
  { name: 'pyramiding', label: 'Pyramiding, entries', group: 'Orders', kind: 'number', min: 0, whole: true },
  {
    name: 'close_entries_rule',
    label: 'Exits close',
    group: 'Orders',
    kind: 'choice',
    options: [
      ['FIFO', 'The oldest entry'],
      ['ANY', 'The entry they name'],
    ],
  },
  { name: 'commission_value', label: 'Commission', group: 'Costs', kind: 'number', min: 0 },
  {
    name: 'commission_type',
    label: 'Commission is in',
    group: 'Costs',
    kind: 'choice',
    options: [
      ['percent', '% of the trade'],
      ['cash_per_contract', 'Money per contract'],
      ['cash_per_order', 'Money per order'],
    ],
  },
  { name: 'slippage', label: 'Slippage, ticks', group: 'Costs', kind: 'number', min: 0, whole: true },
  { name: 'margin_long', label: 'Margin of longs, %', group: 'Margin', kind: 'number', min: 0 },
  { name: 'margin_short', label: 'Margin of shorts, %', group: 'Margin', kind: 'number', min: 0 },
  {
    name: 'backtest_fill_limits_assumption',
    label: 'Limits fill after, ticks',
    group: 'Fills',
    hint: 'How far the price has to go past a limit.',
    kind: 'number',
    min: 0,
    whole: true,
  },
  { name: 'use_bar_magnifier', label: 'Bar magnifier', group: 'Fills', kind: 'flag' },
  { name: 'process_orders_on_close', label: 'Fill orders at the close', group: 'Fills', kind: 'flag' },
  { name: 'calc_on_order_fills', label: 'Run again after a fill', group: 'Fills', kind: 'flag' },
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
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return 'Not a number.'
  if (property.whole && !Number.isInteger(value)) return 'A whole number, please.'
  if (value < property.min) return `${property.min} or more.`
  const refusal = property.name === 'commission_value' ? commissionRefusal(commissionType, value) : null
  return refusal ?? value
}
