// Text of users: how long it is, and what may not be in it.
//
// A character is a Unicode code point, as people (and JSON Schema) count: an emoji is one, though it is two of
// JavaScript's units. What is cut is cut between code points, since half a pair can be neither stored nor sent on.

/**
 * A `line` (a name, a title, a tag) stands on one; a `market` is a line that is kept as `marketName` has it; `prose` may break
 * lines; `raw` is code, addresses and files.
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

/** What is wrong with a text; null = nothing. */
export function textFault(text: string, { form, minLength, maxLength }: TextBounds): TextFault | null {
  if (longerThan(text, maxLength)) return 'max_length'
  // What grows in upper case would be kept as a name that nobody may ask for.
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

/**
 * A name of an exchange or a ticker as it is kept: in upper case, as TradingView has them, and composed (NFC), since
 * the `é` of one keyboard is an `e` and an accent on another and both mean the same symbol.
 */
export function marketName(text: string): string {
  return text.normalize('NFC').toUpperCase().normalize('NFC')
}

/** Whether an exchange or a ticker is longer than any may be, as it is kept. */
export function isLongMarketName(text: string): boolean {
  return longerThan(text, MARKET_NAME_MAX) || longerThan(marketName(text), MARKET_NAME_MAX)
}

/** Most characters of an exchange and of a ticker. One length everywhere: what can be imported can be replayed too. */
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

/** Whether it has more than `max` characters; looks at no more of it than it needs. */
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
