// What the arguments of a strategy's declaration may be set to from outside of the script. A value that the broker cannot
// use would quietly count as not given, and a report would be of other settings than those asked for.

interface NumberRule {
  readonly min: number
  readonly whole?: boolean
}

const NUMBERS: Readonly<Record<string, NumberRule>> = {
  initial_capital: { min: 0 },
  default_qty_value: { min: 0 },
  commission_value: { min: 0 },
  slippage: { min: 0, whole: true },
  pyramiding: { min: 0, whole: true },
  margin_long: { min: 0 },
  margin_short: { min: 0 },
  backtest_fill_limits_assumption: { min: 0, whole: true },
  calc_bars_count: { min: 0, whole: true },
  risk_free_rate: { min: -Infinity },
}
export const QUANTITY_TYPES = ['fixed', 'cash', 'percent_of_equity'] as const
export const COMMISSION_TYPES = ['percent', 'cash_per_contract', 'cash_per_order'] as const
export const CLOSE_RULES = ['FIFO', 'ANY'] as const
const WORDS: Readonly<Record<string, readonly string[]>> = {
  default_qty_type: QUANTITY_TYPES,
  commission_type: COMMISSION_TYPES,
  close_entries_rule: CLOSE_RULES,
}
const FLAGS: readonly string[] = [
  'use_bar_magnifier',
  'process_orders_on_close',
  'calc_on_order_fills',
  'calc_on_every_tick',
  'calc_on_every_history_tick',
  'fill_orders_on_standard_ohlc',
]

/** The word of the list that is meant, in either case and as a script writes it too: `strategy.cash`; undefined = none. */
export function settingWord<T extends string>(value: unknown, words: readonly T[]): T | undefined {
  const bare = typeof value === 'string' ? value.replace(/^strategy\.(commission\.)?/, '').toLowerCase() : ''
  return words.find((word) => word.toLowerCase() === bare)
}

/** What the argument takes, for a message, if it does not take this value; null = it does. */
export function settingRefusal(name: string, value: unknown): string | null {
  const number = NUMBERS[name]
  if (number) {
    const isRight =
      typeof value === 'number' &&
      Number.isFinite(value) &&
      value >= number.min &&
      (!number.whole || Number.isInteger(value))
    if (isRight) return null
    const noun = number.whole ? 'a whole number' : 'a number'
    return `takes ${noun}${number.min === 0 ? ', 0 or more' : ''}`
  }
  const words = WORDS[name]
  if (words) return settingWord(value, words) ? null : `takes ${words.map((word) => `"${word}"`).join(', ')}`
  if (FLAGS.includes(name)) return typeof value === 'boolean' ? null : 'takes true or false'
  if (name === 'currency') return typeof value === 'string' ? null : 'takes a currency such as "USD"'
  return null
}
