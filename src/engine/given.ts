// What programs hand over, looked at before it is used. Not all of them are written in TypeScript, and an option with a typing
// error that is passed over answers a report of something else.

import { invalidField, type Problem } from '../lib/problem.ts'
import type { Market } from './market.ts'

export const wrong = (name: string, expected: string): Problem =>
  invalidField(`/${name}`, 'invalid', `${name}: expected ${expected}.`)

export function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw wrong(name, 'a text')
  return value
}

/** What is not given is empty. */
export function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(name, 'an object')
  return value as Readonly<Record<string, unknown>>
}

/** The fields of a type, each of which has to be named: an option that is forgotten here would be refused. */
export const fieldsOf = <T>(fields: Readonly<Record<keyof T, true>>): readonly string[] => Object.keys(fields)

/** An object with none but these fields. */
export function named(value: unknown, name: string, fields: readonly string[]): void {
  for (const key of Object.keys(object(value, name)))
    if (!fields.includes(key))
      throw invalidField(
        `/${name}/${key}`,
        'unknown',
        `${name}: there is no “${key}”. There are ${fields.join(', ')}.`,
      )
}

export function list(value: unknown, name: string, of: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(name, `a list of ${of}`)
  return value
}

export function texts(value: unknown, name: string): void {
  for (const [i, one] of list(value, name, 'texts').entries()) text(one, `${name}/${i}`)
}

export function whole(value: unknown, name: string, min: number, max: number): void {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max)
    throw wrong(name, `a whole number from ${min} to ${max}`)
}

export function func(value: unknown, name: string): void {
  if (value !== undefined && typeof value !== 'function') throw wrong(name, 'a function')
}

export function market(value: unknown, name: string): void {
  const { bars, symbol, interval } = (value ?? {}) as Partial<Market>
  if (
    !(bars?.time instanceof Float64Array) ||
    typeof symbol?.symbol !== 'string' ||
    typeof interval !== 'string'
  )
    throw wrong(name, 'a market, as barsFromCsv or barsFromRows makes it')
}
