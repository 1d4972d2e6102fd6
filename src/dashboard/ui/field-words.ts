// What a field accepts, in words: as a hint before a mistake, and as an explanation after one.
//
// The bounds are the ones that the server checks. Its validator's messages ("expected a string of 1 to 200 characters") are
// for programs; whole sentences about a value ("The alert would expire in the past.") are shown as they are.

import type { FieldProblem } from '../../lib/problem.ts'
import { textFault, type TextFault } from '../../lib/text.ts'
import { count, quantity } from '../format.ts'
import type { WireField } from './wire-fields.ts'

export type InputType = 'text' | 'email' | 'url' | 'password' | 'datetime-local' | 'time'

/** The hint of a number: `A whole number from 1 to 1,000.` */
export function wants({ kind, min, max, above }: WireField): string | undefined {
  if (kind !== 'number' && kind !== 'integer') return undefined
  const noun = kind === 'integer' ? 'A whole number' : 'A number'
  if (above !== undefined) return `${noun} above ${quantity(above)}.`
  if (min !== undefined && max !== undefined) return `${noun} from ${quantity(min)} to ${quantity(max)}.`
  return min === undefined
    ? `${noun}, like ${kind === 'integer' ? '5' : '12.5'}.`
    : `${noun}, ${quantity(min)} or more.`
}

export const PASSWORD_HINT = 'At least 8 characters. A short sentence is better than a short riddle.'

/** What is wrong with a text; undefined if nothing is, as far as the browser can tell. */
export function faultOf(field: WireField, text: string, type: InputType = 'text'): string | undefined {
  if (text.trim() === '') return field.required && field.min !== 0 ? NEEDED : undefined
  if (type === 'email' && !/^[^\s@]+@[^\s@]+$/.test(text.trim()))
    return 'An e-mail address, like name@example.com.'
  if (type === 'url' && !URL.canParse(text.trim())) return 'A full address, like https://example.com/hook.'
  if (field.kind === 'number' || field.kind === 'integer') return fits(field, text) ? undefined : wants(field)
  if (field.kind !== 'text') return undefined
  const { max = Infinity } = field
  const form = type === 'password' ? 'raw' : field.lines ? 'prose' : 'line'
  const fault = textFault(text, { form, minLength: 0, maxLength: max })
  return fault === 'max_length' ? `At most ${count(max)} characters.` : fault ? BY_CODE[fault] : undefined
}

function fits(
  { kind, min = -Infinity, max = Infinity, above = -Infinity }: WireField,
  text: string,
): boolean {
  const value = Number(text)
  return (
    Number.isFinite(value) &&
    (kind === 'number' || Number.isInteger(value)) &&
    value >= min &&
    value <= max &&
    value > above
  )
}

const NEEDED = 'This is needed.'
const BY_CODE: Readonly<Record<string, string>> = {
  required: NEEDED,
  min_length: NEEDED,
  min_items: NEEDED,
  blank: NEEDED,
  max_length: 'This is too long.',
  max_items: 'There are too many.',
  minimum: 'This number is too small.',
  exclusive_minimum: 'This number is too small.',
  maximum: 'This number is too large.',
  control_character: 'A line break or control character in it cannot be kept.',
  surrogate: 'A broken character in it cannot be kept.',
} satisfies Readonly<Record<TextFault, string>> & Record<string, string>

/** What the server found wrong with a field. */
export function refusalOf(
  { code, message }: Pick<FieldProblem, 'code' | 'message'>,
  field?: WireField,
  text = '',
): string {
  if (/^\p{Lu}/u.test(message)) return message
  return (
    (field && faultOf(field, text)) ?? BY_CODE[code] ?? (field && wants(field)) ?? 'This cannot be used here.'
  )
}

/** `/items/3/symbol` → `Symbol of number 4`, `/newPassword` → `New password`. */
export function placeName(path: string): string {
  const parts = path.split('/').slice(1)
  const row = parts.findLast((part) => /^\d+$/.test(part))
  const name = parts.findLast((part) => !/^\d+$/.test(part)) ?? ''
  return `${wordsOf(name)}${row === undefined ? '' : ` of number ${Number(row) + 1}`}`
}

/** `newPassword` → `New password`. */
export function wordsOf(name: string): string {
  const words = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** A refusal as a sentence or two, for places without a field to show it beside. */
export function sentenceOf(message: string, fields: readonly FieldProblem[]): string {
  if (fields.length === 0 || /^\p{Lu}/u.test(message)) return message
  return fields.map((field) => `${placeName(field.path)}: ${refusalOf(field)}`).join(' ')
}
