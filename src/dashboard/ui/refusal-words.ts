// A refusal of the server in words, for the first page too, which has no forms.
//
// The validator's messages ("expected a string of 1 to 200 characters") are for programs; whole sentences about a value
// ("The alert would expire in the past.") are shown as they are.

import type { FieldProblem } from '../../lib/problem.ts'
import type { TextFault } from '../../lib/text.ts'

export const isSentence = (message: string): boolean => /^\p{Lu}/u.test(message)

export const UNUSABLE = 'This cannot be used here.'
const NEEDED = 'This is needed.'
export const WORDS_BY_CODE: Readonly<Record<string, string>> = {
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
  if (fields.length === 0 || isSentence(message)) return message
  const reason = (one: FieldProblem) =>
    isSentence(one.message) ? one.message : (WORDS_BY_CODE[one.code] ?? UNUSABLE)
  return fields.map((one) => `${placeName(one.path)}: ${reason(one)}`).join(' ')
}
