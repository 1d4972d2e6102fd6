// The inputs panel without its drawing: rows and groups of inputs, and reading what was typed.

import type { Input as ScriptInput } from '../../wire/script.ts'

export type { ScriptInput }

export const SOURCES = ['open', 'high', 'low', 'close', 'hl2', 'hlc3', 'ohlc4', 'hlcc4', 'volume'] as const

export interface InputGroup {
  readonly name: string
  /** Inputs with the same `inline` name share a row. */
  readonly rows: readonly (readonly ScriptInput[])[]
}

/** Groups in the order they first appear, as TradingView has them. */
export function groupsOf(list: readonly ScriptInput[]): InputGroup[] {
  const groups = new Map<string, ScriptInput[][]>()
  for (const input of list) {
    const rows = groups.get(input.group) ?? []
    groups.set(input.group, rows)
    const row = input.inline === '' ? undefined : rows.find((one) => one[0]?.inline === input.inline)
    if (row) row.push(input)
    else rows.push([input])
  }
  return [...groups].map(([name, rows]) => ({ name, rows }))
}

export const isChanged = (input: ScriptInput, given: Readonly<Record<string, unknown>>): boolean =>
  given[input.label] !== undefined && given[input.label] !== input.default

/** The number, or a sentence that says what is wrong with the text. */
export function readNumber(input: ScriptInput, text: string): number | string {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) return 'Not a number.'
  if (input.kind === 'int' && !Number.isInteger(value)) return 'A whole number, please.'
  if (input.minval !== null && value < input.minval) return `${input.minval} or more.`
  if (input.maxval !== null && value > input.maxval) return `${input.maxval} or less.`
  return value
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
