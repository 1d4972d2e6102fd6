// The broker's settings from `strategy(…)`, read once from the declaration's arguments and the request's overrides.

import { datedDefaults } from '../../language/behaviour.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { CLOSE_RULES, COMMISSION_TYPES, QUANTITY_TYPES, settingWord } from '../setting-values.ts'

type DefaultQuantity = (typeof QUANTITY_TYPES)[number]
type CommissionType = (typeof COMMISSION_TYPES)[number]
export type CloseRule = (typeof CLOSE_RULES)[number]

export interface BrokerSettings {
  readonly initialCapital: number
  readonly defaultQtyType: DefaultQuantity
  readonly defaultQtyValue: number
  readonly commissionType: CommissionType
  readonly commissionValue: number
  /** In ticks. */
  readonly slippage: number
  readonly pyramiding: number
  readonly processOrdersOnClose: boolean
  readonly calcOnOrderFills: boolean
  /** A10: the script runs at each point of the path. */
  readonly calcOnHistoryTicks: boolean
  readonly closeEntriesRule: CloseRule
  /** As fractions of the position's value: 1 = no borrowing, 0 = no margin is kept. */
  readonly marginLong: number
  readonly marginShort: number
  /** How many ticks the price must go past a limit before it counts as filled. */
  readonly fillLimitsAssumption: number
  readonly barMagnifier: boolean
  /** The account currency; the symbol's own if the script says NONE. */
  readonly currency: string
  /** In percent a year. */
  readonly riskFreeRate: number
  /** Between a relative and an absolute level, the nearer one counts from version 6 on, and the absolute one before it. */
  readonly nearerLevelWins: boolean
}

export type DeclarationArgs = Readonly<Record<string, number | string | boolean | null>>

/** Of a run without a declaration that says so: an indicator's. Those of a strategy are there already (F13). */
const UNDECLARED = datedDefaults(6, undefined)

export function brokerSettings(args: DeclarationArgs, symbol: SymbolInfo, version: number): BrokerSettings {
  const number = (name: string, otherwise: number) => {
    const value = args[name]
    return typeof value === 'number' && Number.isFinite(value) ? value : otherwise
  }
  const flag = (name: string) => args[name] === true
  const currency = typeof args.currency === 'string' ? args.currency.replace(/^currency\./, '') : ''
  // Version 6 made 100 % margin the default; before it no margin was kept.
  const margin = version >= 6 ? 100 : 0
  return {
    initialCapital: number('initial_capital', Number(UNDECLARED['initial_capital'])),
    defaultQtyType: settingWord(args.default_qty_type, QUANTITY_TYPES) ?? 'fixed',
    defaultQtyValue: number('default_qty_value', Number(UNDECLARED['default_qty_value'])),
    commissionType: settingWord(args.commission_type, COMMISSION_TYPES) ?? 'percent',
    commissionValue: number('commission_value', 0),
    slippage: Math.max(0, Math.trunc(number('slippage', 0))),
    pyramiding: number('pyramiding', 0),
    processOrdersOnClose: flag('process_orders_on_close'),
    // A3: silently ignored if orders are processed on close; with A10 the script runs after fills anyway.
    calcOnOrderFills:
      flag('calc_on_order_fills') && !flag('process_orders_on_close') && !flag('calc_on_every_history_tick'),
    calcOnHistoryTicks: flag('calc_on_every_history_tick'),
    closeEntriesRule: settingWord(args.close_entries_rule, CLOSE_RULES) ?? 'FIFO',
    marginLong: number('margin_long', margin) / 100,
    marginShort: number('margin_short', margin) / 100,
    fillLimitsAssumption: Math.max(0, Math.trunc(number('backtest_fill_limits_assumption', 0))),
    barMagnifier: flag('use_bar_magnifier'),
    currency: currency === '' || currency === 'NONE' ? symbol.currency : currency,
    riskFreeRate: number('risk_free_rate', 2),
    nearerLevelWins: version >= 6,
  }
}
