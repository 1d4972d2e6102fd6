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
  interval: 'Write an interval such as 15m, 1h or 1d.',
  control_character: 'A line break or control character in it cannot be kept.',
  surrogate: 'A broken character in it cannot be kept.',
} satisfies Readonly<Record<TextFault, string>> & Record<string, string>

const ACRONYMS: ReadonlySet<string> = new Set(['csv', 'xlsx', 'url', 'id'])

/** What one of a list is called, where its name alone does not tell. */
const ROWS: Readonly<Record<string, string>> = { items: 'entry', parts: 'part', space: 'input' }

/** `/items/3/symbol` → `Symbol of entry 4`, `/where/0` → `Number 1 of where`, `/newPassword` → `New password`. */
export function placeName(path: string): string {
  const parts = path.split('/').slice(1)
  const at = parts.findLastIndex((part) => /^\d+$/.test(part))
  const name = wordsOf(parts.findLast((part) => !/^\d+$/.test(part)) ?? '')
  const list = parts[at - 1]
  if (list === undefined) return name
  const number = Number(parts[at]) + 1
  const row = ROWS[list] ? `${ROWS[list]} ${number}` : `number ${number} of ${wordsOf(list).toLowerCase()}`
  return at === parts.length - 1 ? wordsOf(row) : `${name} of ${row}`
}

/** `newPassword` → `New password`. */
export function wordsOf(name: string): string {
  if (ACRONYMS.has(name)) return name.toUpperCase()
  const words = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** A refusal as a sentence or two, for places without a field to show it beside. */
export function sentenceOf(message: string, fields: readonly FieldProblem[]): string {
  if (fields.length === 0 || isSentence(message)) return message
  return fields.map(saidAt).join(' ')
}

/** What is wrong with a field that is not on the page, with its name. */
export function saidAt({ path, code, message }: FieldProblem): string {
  const name = placeName(path)
  if (isSentence(message)) return `${name}: ${message}`
  const words = WORDS_BY_CODE[code] ?? UNUSABLE
  return words === NEEDED
    ? `${name} is needed.`
    : words === UNUSABLE
      ? `${name} cannot be used so.`
      : `${name}: ${words}`
}
