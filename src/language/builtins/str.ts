// str.*: text.
//
// na text in, na out, but for its length, 0 (K16), and str.tostring and str.format, which write NaN. Whatever makes text
// longer checks the limit.

import { invalidSubstring, stringWouldBeTooLong } from '../messages/failing.ts'
import { zoneNamed } from '../runtime/date-parts.ts'
import { PineArray } from '../runtime/collections.ts'
import { DEFAULT_DATE_PATTERN, formatDate } from '../runtime/date-format.ts'
import { formatMessage } from '../runtime/message-format.ts'
import {
  DEFAULT_PATTERN,
  decimalsOf,
  fixed,
  formatDouble,
  formatMintick,
  formatNumber,
  formatPercent,
  formatVolume,
} from '../runtime/number-format.ts'
import { matchRegex } from '../runtime/regex.ts'
import type { ScriptError } from '../script-error.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { TEXT } from '../runtime/sizes.ts'
import { valueText } from '../runtime/value-text.ts'
import { fn } from './define.ts'
import type { BuiltinEntry } from './registry.ts'

type Text = string | null

export const STR: readonly BuiltinEntry[] = [
  fn('str.length', 'Number of characters.', '(string string) int', {
    fn: (text: Text) => text?.length ?? 0,
    pure: true,
  }),
  fn('str.contains', 'True if the text has `str` in it.', '(string source, string str) bool', {
    fn: (source: Text, part: Text) => source !== null && part !== null && source.includes(part),
    pure: true,
  }),
  fn('str.startswith', 'True if the text starts with `str`.', '(string source, string str) bool', {
    fn: (source: Text, part: Text) => source !== null && part !== null && source.startsWith(part),
    pure: true,
  }),
  fn('str.endswith', 'True if the text ends with `str`.', '(string source, string str) bool', {
    fn: (source: Text, part: Text) => source !== null && part !== null && source.endsWith(part),
    pure: true,
  }),
  fn(
    'str.pos',
    'Place of the first `str` in the text, from 0; na if there is none.',
    '(string source, string str) int',
    {
      fn: (source: Text, part: Text) => {
        const at = source === null || part === null ? -1 : source.indexOf(part)
        return at < 0 ? Number.NaN : at
      },
      pure: true,
    },
  ),
  fn(
    'str.substring',
    'The text from `begin_pos` up to, not including, `end_pos`.',
    '(string source, int begin_pos, int end_pos = na) string',
    { fn: substring, pure: true },
  ),
  fn('str.lower', 'The text in small letters.', '(string source) string', {
    fn: (source: Text) => source?.toLowerCase() ?? null,
    pure: true,
  }),
  fn('str.upper', 'The text in capital letters.', '(string source) string', {
    fn: (source: Text) => source?.toUpperCase() ?? null,
    pure: true,
  }),
  fn('str.trim', 'The text without white space at both ends.', '(string source) string', {
    fn: (source: Text) => source?.trim() ?? '',
    pure: true,
  }),
  fn(
    'str.repeat',
    'The text `repeat` times, with `separator` in between; na for 0 times.',
    "(string source, int repeat, string separator = '') string",
    { fn: repeat, runtime: true },
  ),
  fn(
    'str.replace',
    'The text with its n-th `target` (from 0) replaced.',
    '(string source, string target, string replacement, int occurrence = 0) string',
    { fn: replace, runtime: true },
  ),
  fn(
    'str.replace_all',
    'The text with every `target` replaced.',
    '(string source, string target, string replacement) string',
    { fn: replaceAll, runtime: true },
  ),
  fn(
    'str.split',
    'The pieces of the text between separators.',
    '(string string, string separator) array<string>',
    {
      fn: split,
      runtime: true,
    },
  ),
  fn(
    'str.match',
    'The first part of the text that a regular expression matches.',
    '(string source, string regex) string',
    {
      fn: (source: Text, regex: Text) =>
        source === null || regex === null ? null : matchRegex(source, regex),
      pure: true,
    },
  ),
  fn('str.tonumber', 'The number a text is; na if it is none.', '(string string) float', {
    fn: toNumber,
    pure: true,
  }),
  fn(
    'str.tostring',
    'A value as text, numbers by a pattern (`#.##`, `0.00`) or a format.* constant.',
    [
      `(int value, string format = '${DEFAULT_PATTERN}') string`,
      `(any value, string format = '${DEFAULT_PATTERN}') string`,
    ],
    [
      {
        fn: (runtime: Runtime, value: number, pattern: Text) =>
          toText(runtime, Number.isFinite(value) ? value : Number.NaN, pattern),
        runtime: true,
      },
      { fn: toText, runtime: true },
    ],
  ),
  // An array of floats as str.format() writes it.
  fn('·floats', '', '(array<float> value) string', {
    fn: floatsToText,
    runtime: true,
  }),
  fn(
    'str.format',
    'The pattern with `{0}`, `{1,number,#.#}`, `{2,date,yyyy-MM-dd}` replaced by the arguments.',
    '(string formatString, any ...args) string',
    { fn: format, runtime: true },
  ),
  fn(
    'str.format_time',
    'A time as text, by a pattern such as `yyyy-MM-dd HH:mm`.',
    '(int time, string format = na, string timezone = na) series string',
    { fn: formatTime, runtime: true },
  ),
]

/** Text a script has made, if it is not too long. */
export function limited(runtime: Runtime, text: string): string {
  if (text.length > runtime.limits.stringLength) throw tooLong(runtime, text.length)
  return runtime.budget.text(text)
}

function tooLong(runtime: Runtime, length: number): ScriptError {
  return stringWouldBeTooLong(length, runtime.limits.stringLength)
}

function substring(source: Text, begin: number, end: number): Text {
  if (source === null) return null
  const from = Number.isNaN(begin) ? 0 : Math.trunc(begin)
  const to = Number.isNaN(end) ? source.length : Math.trunc(end)
  if (from < 0 || to < from) throw invalidSubstring(from, to)
  return source.slice(from, to)
}

function repeat(runtime: Runtime, source: Text, times: number, separator: Text): Text {
  if (source === null || !(times >= 1)) return null
  const count = Math.trunc(times)
  const between = separator ?? ''
  const length = source.length * count + between.length * (count - 1)
  if (length > runtime.limits.stringLength) throw tooLong(runtime, length)
  return runtime.budget.text((source + between).repeat(count - 1) + source)
}

function replace(runtime: Runtime, source: Text, target: Text, replacement: Text, occurrence: number): Text {
  if (source === null || target === null) return null
  let at = source.indexOf(target)
  for (let left = Math.trunc(occurrence); left > 0 && at >= 0; left--) at = source.indexOf(target, at + 1)
  if (at < 0) return source
  return limited(runtime, source.slice(0, at) + (replacement ?? '') + source.slice(at + target.length))
}

function replaceAll(runtime: Runtime, source: Text, target: Text, replacement: Text): Text {
  if (source === null || target === null) return null
  // The empty text is found at both ends and between all characters.
  const pieces = target === '' ? ['', ...source.split(''), ''] : source.split(target)
  const length = source.length + (pieces.length - 1) * ((replacement ?? '').length - target.length)
  if (length > runtime.limits.stringLength) throw tooLong(runtime, length)
  return runtime.budget.text(pieces.join(replacement ?? ''))
}

function split(runtime: Runtime, text: Text, separator: Text): PineArray<Text> {
  const pieces = text === null ? [] : text === '' ? [''] : text.split(separator ?? '')
  runtime.budget.take(TEXT * pieces.length + 2 * (text?.length ?? 0))
  return new PineArray<Text>(pieces, null, runtime.budget)
}

function toNumber(text: Text): number {
  if (text === null || !/^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/.test(text)) return Number.NaN
  return Number(text)
}

function toText(runtime: Runtime, value: unknown, pattern: Text): string {
  return limited(
    runtime,
    typeof value === 'number'
      ? numberText(runtime, value, pattern ?? DEFAULT_PATTERN)
      : valueText(value, (each) => numberText(runtime, each, pattern ?? DEFAULT_PATTERN)),
  )
}

/** `[1.0, 2.5]`: as Java writes floats. */
function floatsToText(runtime: Runtime, value: PineArray<number> | null): string {
  return limited(runtime, valueText(value, formatDouble))
}

/** format.* constants are their own names. */
function numberText(runtime: Runtime, value: number, pattern: string): string {
  switch (pattern) {
    case 'mintick':
      return formatMintick(value, runtime.symbol.mintick)
    case 'price':
    case 'inherit': {
      const { precision } = runtime.declaration
      return fixed(value, typeof precision === 'number' ? precision : decimalsOf(runtime.symbol.mintick))
    }
    case 'percent':
      return formatPercent(value)
    case 'volume':
      return formatVolume(value)
    default:
      return formatNumber(value, pattern, 'half-up')
  }
}

function format(runtime: Runtime, pattern: Text, ...args: unknown[]): Text {
  return pattern === null ? null : limited(runtime, formatMessage(pattern, args))
}

function formatTime(runtime: Runtime, time: number, pattern: Text, zone: Text): Text {
  if (Number.isNaN(time)) return null
  return limited(
    runtime,
    formatDate(time, pattern ?? DEFAULT_DATE_PATTERN, zoneNamed(zone ?? runtime.timezone)),
  )
}
