// str.format(): Java's MessageFormat patterns.
//
// `{0}` is argument 0 (a number grouped and with up to three decimals), `{0,number,#.##}` a number by a pattern or as
// `integer`, `currency`, `percent`; `{0,date,yyyy-MM-dd}` and `{0,time,HH:mm}` a time in UTC. What stands between
// single quotes is literal, two of them are one.

import { noPlaceholder, openBrace } from '../messages/failing.ts'
import { zoneOf } from '../../market/zone.ts'
import { formatDate } from './date-format.ts'
import { MESSAGE_PATTERN, formatNumber } from './number-format.ts'
import { valueText } from './value-text.ts'

const NUMBER_STYLES: ReadonlyMap<string, string> = new Map([
  ['', MESSAGE_PATTERN],
  ['integer', '#,##0'],
  ['currency', '$#,##0.00;-$#,##0.00'],
  ['percent', '#,##0%'],
])
const DATE_STYLES: ReadonlyMap<string, string> = new Map([
  ['', 'MMM d, yyyy'],
  ['short', 'M/d/yy'],
  ['medium', 'MMM d, yyyy'],
  ['long', 'MMMM d, yyyy'],
  ['full', 'EEEE, MMMM d, yyyy'],
])
const TIME_STYLES: ReadonlyMap<string, string> = new Map([
  ['', 'h:mm:ss a'],
  ['short', 'h:mm a'],
  ['medium', 'h:mm:ss a'],
  ['long', 'h:mm:ss a z'],
  ['full', 'h:mm:ss a z'],
])

export function formatMessage(pattern: string, args: readonly unknown[]): string {
  let text = ''
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!
    if (char === "'") {
      const end = pattern.indexOf("'", i + 1)
      text += end === i + 1 ? "'" : pattern.slice(i + 1, end < 0 ? undefined : end)
      i = end < 0 ? pattern.length : end
    } else if (char === '{') {
      const end = closingBrace(pattern, i)
      text += placeholder(pattern.slice(i + 1, end), args, pattern)
      i = end
    } else text += char
  }
  return text
}

function closingBrace(pattern: string, open: number): number {
  let depth = 0
  let quoted = false
  for (let i = open; i < pattern.length; i++) {
    if (pattern[i] === "'") quoted = !quoted
    else if (!quoted && pattern[i] === '{') depth++
    else if (!quoted && pattern[i] === '}' && --depth === 0) return i
  }
  throw openBrace(pattern)
}

function placeholder(inner: string, args: readonly unknown[], pattern: string): string {
  const [, index = '', kind = '', style = ''] = /^(\d*)(?:,\s*(\w+)\s*(?:,([^]*))?)?$/.exec(inner) ?? []
  if (index === '') throw noPlaceholder(pattern, inner)
  // Java leaves a placeholder without an argument as it is.
  if (Number(index) >= args.length) return `{${index}}`
  const value = args[Number(index)]
  if (typeof value !== 'number')
    return valueText(value, (each) => formatNumber(each, MESSAGE_PATTERN, 'half-even'))
  switch (kind.toLowerCase()) {
    case 'date':
      return dateText(value, DATE_STYLES.get(style.trim()) ?? style)
    case 'time':
      return dateText(value, TIME_STYLES.get(style.trim()) ?? style)
    default:
      return formatNumber(value, NUMBER_STYLES.get(style.trim().toLowerCase()) ?? style, 'half-even')
  }
}

function dateText(time: number, pattern: string): string {
  const utc = zoneOf('UTC')
  return utc === null || Number.isNaN(time) ? 'NaN' : formatDate(time, pattern, utc)
}
