// The inputs panel without its drawing: rows and groups of inputs, and reading what was typed.

import type { Input as ScriptInput } from '../../wire/script.ts'

export type { ScriptInput }

export const SOURCES = ['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4', 'hlcc4', 'volume'] as const

/** Groups in the order they first appear, as TradingView has them; inputs with the same `inline` name share a row. */
export function groupsOf(list: readonly ScriptInput[]) {
  const groups = Map.groupBy(list, ({ group }) => group)
  return [...groups].map(([name, inputs]) => {
    const rows = Map.groupBy(inputs, (input) => input.inline || input)
    return { name, rows: [...rows.values()] }
  })
}

export const isChanged = (input: ScriptInput, given: Readonly<Record<string, unknown>>): boolean =>
  given[input.label] !== undefined && given[input.label] !== input.default

/** The number, or a sentence that says what is wrong with the text. */
export function readNumber(
  { kind, minval, maxval }: Pick<ScriptInput, 'kind' | 'minval' | 'maxval'>,
  text: string,
): number | string {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return 'Not a number.'
  if (kind === 'int' && !Number.isInteger(value)) return 'A whole number, please.'
  if (minval !== null && value < minval) return `${minval} or more.`
  return maxval !== null && value > maxval ? `${maxval} or less.` : value
}

/** A Date reaches this many ms before and after 1970. */
const DATE_MAX = 8.64e15

/**
 * A time in the format of a browser's date field, in UTC; '' if the number is not a time, such as `input.time(na)` or 1e18.
 */
export const toDateTime = (value: unknown): string =>
  typeof value === 'number' && Math.abs(value) <= DATE_MAX ? new Date(value).toISOString().slice(0, 16) : ''

/** `#RRGGBBAA` in two parts, as a browser's colour field needs it. */
export function toHex(value: unknown): { rgb: string; alpha: number } {
  const match = typeof value === 'string' ? /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(value) : null
  return match
    ? { rgb: `#${(match[1] ?? '').toLowerCase()}`, alpha: Number.parseInt(match[2] ?? 'ff', 16) }
    : { rgb: '#2962ff', alpha: 255 }
}
