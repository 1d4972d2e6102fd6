// Makes answers that fit a mind with little room: numbers of as many digits as tell something, times that can be read, and of
// long lists and texts the beginning. What was left out is said.

import { NO_LOSSES } from '../../broker/report/summary.ts'
import type { Json } from './call.ts'

/** Characters of an answer, unless more is asked for. */
export const SHORT = 2000
export const LONG = 100_000

/** 2026-01-31, or 2026-01-31T09:30Z. */
export function timeText(ms: number): string {
  const text = new Date(ms).toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : `${text.slice(0, 16)}Z`
}

/** Prices need more digits than figures, and none of what a sum of fractions leaves behind. */
export const rounded = (value: number, digits = 5): number =>
  Number.isInteger(value) ? value : Number(value.toPrecision(digits))
export const PRICE_DIGITS = 8

/**
 * A copy without nulls and empty lists, its numbers rounded; nobody takes `12.8%` for an eighth of a percent, and a mean of bars
 * for one of years.
 */
export function brief(value: unknown): unknown {
  if (typeof value === 'number') return rounded(value)
  if (Array.isArray(value)) return value.map(brief)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (isNothing(one) ? [] : [told(name, one)])),
  )
}

function told(name: string, value: unknown): [string, unknown] {
  if (typeof value === 'number' && name.endsWith('Pct')) return [name, `${rounded(value * 100)}%`]
  if (typeof value === 'number' && isInstant(name, value)) return [name, timeText(value)]
  if (name === 'profitFactor' && value === NO_LOSSES) return [name, 'nothing was lost']
  return [name === 'sharpe' ? 'sharpeABar' : name, brief(value)]
}

/** Milliseconds of this century or the last, as the API tells times. */
export const isInstant = (name: string, value: number): boolean =>
  /^(?:time|first|last|from|to|\w+(?:At|Time))$/.test(name) &&
  Number.isInteger(value) &&
  Math.abs(value) > 1e10

const isNothing = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

/** An object with more fields than these is cut like a list. */
const FIELDS = 12

interface Cuttable {
  readonly length: number
  readonly room: number
  readonly path: string
  readonly cut: (length: number) => void
}

/**
 * The value in at most `max` characters of JSON: as long as it has more, what takes most room of its lists and texts is cut by
 * half. `left` says of what was cut how much is shown.
 */
export function fitted(value: Json, max: number): { readonly value: Json; readonly left: string[] } {
  const whole = { value: structuredClone(value) }
  const lengths = new Map<string, number>()
  const shown = new Map<string, number>()
  while (JSON.stringify(whole.value).length > max) {
    const largest = cuttable(whole, 'value', '').reduce<Cuttable | null>(
      (most, one) => (most === null || one.room > most.room ? one : most),
      null,
    )
    if (largest === null) break
    if (!lengths.has(largest.path)) lengths.set(largest.path, largest.length)
    const length = Math.floor(largest.length / 2)
    shown.set(largest.path, length)
    largest.cut(length)
  }
  const left = [...shown].map(([path, count]) => `${path}: ${count} of ${lengths.get(path)}`)
  return { value: whole.value, left: left.slice(0, 5) }
}

/** The lists of at least two items and the texts of at least 40 characters in `holder[name]`. */
function cuttable(holder: Json | unknown[], name: string | number, path: string): Cuttable[] {
  const held = holder as Record<string | number, unknown>
  const value = held[name]
  if (typeof value === 'string')
    return value.length < 40
      ? []
      : [
          {
            length: value.length,
            room: value.length,
            path,
            cut: (length) => (held[name] = `${value.slice(0, length).toWellFormed()}…`),
          },
        ]
  if (typeof value !== 'object' || value === null) return []
  const under = (key: string) => (path === '' ? key : `${path}.${key}`)
  if (!Array.isArray(value)) {
    const fields = Object.keys(value)
    const own =
      fields.length > FIELDS
        ? [
            {
              length: fields.length,
              room: JSON.stringify(value).length,
              path,
              cut: (length: number) =>
                (held[name] = Object.fromEntries(Object.entries(value).slice(0, length))),
            },
          ]
        : []
    return [...own, ...fields.flatMap((key) => cuttable(value as Json, key, under(key)))]
  }
  const own =
    value.length < 2
      ? []
      : [
          {
            length: value.length,
            room: JSON.stringify(value).length,
            path,
            cut: (length: number) => (held[name] = value.slice(0, length)),
          },
        ]
  // Of a long list its items are looked into once few are left.
  return value.length > 8 ? own : [...own, ...value.flatMap((_, i) => cuttable(value, i, `${path}[${i}]`))]
}
