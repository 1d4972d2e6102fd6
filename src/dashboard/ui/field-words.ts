// What a field accepts, in words: as a hint before a mistake, and as an explanation after one.
//
// The bounds are the ones that the server checks.

import type { FieldProblem } from '../../lib/problem.ts'
import { textFault } from '../../lib/text.ts'
import { count, quantity } from '../format.ts'
import { isSentence, UNUSABLE, WORDS_BY_CODE } from './refusal-words.ts'
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
  if (text.trim() === '') return field.required && field.min !== 0 ? WORDS_BY_CODE['required'] : undefined
  if (type === 'email' && !/^[^\s@]+@[^\s@]+$/.test(text.trim()))
    return 'An e-mail address, like name@example.com.'
  if (type === 'url' && !URL.canParse(text.trim())) return 'A full address, like https://example.com/hook.'
  if (field.kind === 'number' || field.kind === 'integer') return fits(field, text) ? undefined : wants(field)
  if (field.kind !== 'text') return undefined
  const { max = Infinity } = field
  const form = type === 'password' ? 'raw' : field.lines ? 'prose' : 'line'
  const fault = textFault(text, { form, minLength: 0, maxLength: max })
  return fault === 'max_length'
    ? `At most ${count(max)} characters.`
    : fault
      ? WORDS_BY_CODE[fault]
      : undefined
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

/** What the server found wrong with a field. */
export function refusalOf(
  { code, message }: Pick<FieldProblem, 'code' | 'message'>,
  field?: WireField,
  text = '',
): string {
  if (isSentence(message)) return message
  return (field && faultOf(field, text)) ?? WORDS_BY_CODE[code] ?? (field && wants(field)) ?? UNUSABLE
}
