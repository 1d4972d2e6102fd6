// Users' text: how long it is, and which characters it may contain.
//
// A character is a Unicode code point, as people (and JSON Schema) count: an emoji is one, though JavaScript counts
// two units. Texts are cut between code points, since half a pair can be neither stored nor sent on.

import { marketName } from './market-name.ts'

/**
 * A `line` (a name, a title, a tag) has no line breaks; a `market` is a line that is stored as `marketName` writes
 * it; `prose` may have line breaks; `raw` is code, addresses and files.
 */
type TextForm = 'line' | 'market' | 'prose' | 'raw'

export interface TextBounds {
  readonly form: TextForm
  readonly minLength: number
  readonly maxLength: number
}

export type TextFault = 'min_length' | 'max_length' | 'blank' | 'control_character' | 'surrogate'

// Control characters, except those that break a line in prose.
const NOT_IN_LINES = /[\p{Cc}\u2028\u2029]/u
const NOT_IN_PROSE = /[^\P{Cc}\t\n\r]/u

/** What is wrong with a text; null if nothing is. */
export function textFault(text: string, { form, minLength, maxLength }: TextBounds): TextFault | null {
  if (longerThan(text, maxLength)) return 'max_length'
  // A name may grow in upper case. It would then be stored under a name that no request may use.
  if (form === 'market' && longerThan(marketName(text), maxLength)) return 'max_length'
  if (text.length < minLength) return 'min_length'
  if (!text.isWellFormed()) return 'surrogate'
  if (isOneLine(form) && minLength > 0 && text.trim() === '') return 'blank'
  const forbidden = { line: NOT_IN_LINES, market: NOT_IN_LINES, prose: NOT_IN_PROSE, raw: null }[form]
  return forbidden?.test(text) ? 'control_character' : null
}

export function isOneLine(form: TextForm): boolean {
  return form === 'line' || form === 'market'
}

/** Whether the stored form of an exchange's or a ticker's name is too long. */
export function isLongMarketName(text: string): boolean {
  return longerThan(text, MARKET_NAME_MAX) || longerThan(marketName(text), MARKET_NAME_MAX)
}

/**
 * The most characters of an exchange and of a ticker. The limit is the same everywhere: what can be imported can be
 * replayed too.
 */
export const MARKET_NAME_MAX = 64

/** Length in code points. */
export function characters(text: string): number {
  let count = text.length
  for (let i = 0; i + 1 < text.length; i++)
    if (isHigh(text.charCodeAt(i)) && isLow(text.charCodeAt(i + 1))) {
      count -= 1
      i += 1
    }
  return count
}

/** Whether the text has more than `max` characters; reads no more of it than that takes. */
export function longerThan(text: string, max: number): boolean {
  if (text.length <= max) return false
  return text.length > 2 * max || characters(text) > max
}

/** The first `max` characters. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  let end = 0
  for (let count = 0; count < max && end < text.length; count++)
    end += isHigh(text.charCodeAt(end)) && isLow(text.charCodeAt(end + 1)) ? 2 : 1
  return text.slice(0, end)
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff
