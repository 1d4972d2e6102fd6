// Numbers as text: Java's DecimalFormat patterns, which Pine took over, and TradingView's own formats.
//
// A pattern is `prefix digits suffix`, and after a `;` perhaps another one for negative numbers. In the digits, `0`
// is a digit that is always shown, `#` one that is shown when needed, `,` sets the grouping and `.` the decimals. A
// `%` in prefix or suffix multiplies by 100, `'` quotes.
//
// A number's digits are the shortest that name its double (0.1, not 0.1000000000000000055511151231257827). TradingView
// rounds them in two ways. str.tostring() takes a half up, judged on those digits: 2.675 is 2.68. str.format() does as
// Java's DecimalFormat: ties go to the even digit, judged on the exact value, so that 2.675, which is really a little
// less, is 2.67, and 0.125, which is exact, is 0.12.
import { memo } from '../../lib/memo.ts'

/** How the last shown digit is found. */
export type Rounding = 'half-up' | 'half-even'

interface Pattern {
  readonly prefix: string
  readonly suffix: string
  readonly minIntegers: number
  readonly minDecimals: number
  readonly maxDecimals: number
  /** Digits a group; 0 = no grouping. */
  readonly group: number
  readonly multiplier: number
}

/** What str.tostring() uses when it is given no format. */
export const DEFAULT_PATTERN = '#.##########'
/** What str.format() uses for `{0}`. */
export const MESSAGE_PATTERN = '#,##0.###'

export function formatNumber(value: number, pattern: string, rounding: Rounding): string {
  // str.tostring() takes an infinity for na; DecimalFormat has a sign for it (K13).
  if (Number.isNaN(value) || (rounding === 'half-up' && Math.abs(value) === Infinity)) return 'NaN'
  const size = Math.abs(value)
  if (pattern === DEFAULT_PATTERN && (size >= 1e21 || (size <= 1e-21 && size > 0)))
    return String(value).replace(/e\+?/, 'E')
  const [positive, negative] = patternsOf(pattern)
  // DecimalFormat keeps the sign of what rounds to nothing.
  const isBelow = value < 0 || (rounding === 'half-even' && Object.is(value, -0))
  const chosen = isBelow && negative !== null ? negative : positive
  const sign = isBelow && negative === null ? '-' : ''
  const text = digits(size, positive, rounding)
  const shown = rounding === 'half-up' && sign === '-' && /^[0.,]*$/.test(text) ? '' : sign
  return `${shown}${chosen.prefix}${text}${chosen.suffix}`
}

/** As Java writes a double: at least one decimal, and an exponent below a thousandth and from ten million on. */
export function formatDouble(value: number): string {
  const size = Math.abs(value)
  if (Number.isFinite(value) && size !== 0 && (size < 1e-3 || size >= 1e7)) {
    const [mantissa = '', exponent = ''] = value.toExponential().split('e')
    return `${withDecimal(mantissa)}E${Number(exponent)}`
  }
  return Number.isFinite(value) ? withDecimal(Object.is(value, -0) ? '-0' : String(value)) : String(value)
}

function withDecimal(digits: string): string {
  return digits.includes('.') ? digits : `${digits}.0`
}

/** Nearest multiple of the tick, ties away from zero, with as many decimals as the tick has. */
export function formatMintick(value: number, mintick: number): string {
  if (!Number.isFinite(value)) return String(value)
  const ticks = Math.floor(Math.abs(value) / mintick + 0.5 + 1e-9)
  return fixed(Math.sign(value) * ticks * mintick, decimalsOf(mintick))
}

/** `1.234K`, `5.1M`, `2B`, `1.5T`: up to three decimals; below a thousand none (K13). */
export function formatVolume(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  const size = Math.abs(value)
  const [unit, letter] =
    size >= 1e12
      ? [1e12, 'T']
      : size >= 1e9
        ? [1e9, 'B']
        : size >= 1e6
          ? [1e6, 'M']
          : size >= 1e3
            ? [1e3, 'K']
            : [1, '']
  return `${formatNumber(value / unit, letter === '' ? '0' : '0.###', 'half-up')}${letter}`
}

export function formatPercent(value: number): string {
  return `${fixed(value, 2)}%`
}

/** Decimals needed to write a tick: 2 for 0.25, 5 for 0.00001. */
export function decimalsOf(mintick: number): number {
  for (let decimals = 0; decimals < 16; decimals++) {
    const scaled = mintick * 10 ** decimals
    if (Math.abs(scaled - Math.round(scaled)) < 1e-7 * Math.max(1, scaled) && Math.round(scaled) > 0)
      return decimals
  }
  return 16
}

/** Exactly `decimals` decimals, a half up. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return 'NaN'
  const text = roundedDigits(Math.abs(value), decimals, 'half-up')
  return value < 0 && /[1-9]/.test(text) ? `-${text}` : text
}

function digits(value: number, pattern: Pattern, rounding: Rounding): string {
  if (value === Infinity) return '∞'
  const text = roundedDigits(value * pattern.multiplier, pattern.maxDecimals, rounding)
  const [integers = '', decimals = ''] = text.split('.')
  let whole = integers === '0' ? '' : integers
  if (whole.length < pattern.minIntegers) whole = whole.padStart(pattern.minIntegers, '0')
  let fraction = decimals
  while (fraction.length > pattern.minDecimals && fraction.endsWith('0')) fraction = fraction.slice(0, -1)
  if (whole === '' && fraction === '') whole = '0'
  if (pattern.group > 0) whole = grouped(whole, pattern.group)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function grouped(whole: string, size: number): string {
  const groups: string[] = []
  let rest = whole
  while (rest.length > size) {
    groups.unshift(rest.slice(-size))
    rest = rest.slice(0, -size)
  }
  groups.unshift(rest)
  return groups.join(',')
}

/** A number of 0 or more with exactly `decimals` decimals. */
function roundedDigits(value: number, decimals: number, rounding: Rounding): string {
  const [whole, fraction] = shortestDigits(value)
  if (fraction.length <= decimals) return withPoint(whole, fraction.padEnd(decimals, '0'))
  // From here on the number is below 2^53, for it has decimals.
  const kept = BigInt(whole + fraction.slice(0, decimals))
  const up =
    rounding === 'half-up'
      ? fraction.charCodeAt(decimals) >= FIVE
      : roundsToEvenUp(value, fraction, decimals, kept)
  const text = (up ? kept + 1n : kept).toString().padStart(decimals + 1, '0')
  return withPoint(text.slice(0, text.length - decimals), text.slice(text.length - decimals))
}
const FIVE = '5'.charCodeAt(0)

function withPoint(whole: string, fraction: string): string {
  return fraction === '' ? whole : `${whole}.${fraction}`
}

/** The shortest digits that name the double, written out without an exponent: before the point and behind it. */
function shortestDigits(value: number): readonly [whole: string, fraction: string] {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const shift = Number(exponent)
  if (shift === 0) return [whole, fraction]
  if (shift > 0) return [whole + fraction.padEnd(shift, '0').slice(0, shift), fraction.slice(shift)]
  return ['0', '0'.repeat(-shift - 1) + whole + fraction]
}

/** Whether the digits behind the kept ones take the last of these up. A lone 5 is a tie only where the double is exactly that. */
function roundsToEvenUp(value: number, fraction: string, decimals: number, kept: bigint): boolean {
  const rest = fraction.slice(decimals)
  if (rest !== '5') return rest.charCodeAt(0) >= FIVE
  if (isExactTie(value, decimals)) return kept % 2n === 1n
  return BigInt(value.toFixed(decimals).replace('.', '')) > kept
}

/** Halfway means value·10^places·2 is odd; a double times 2^(places+1) has lost nothing, and ·5^places keeps what is odd odd. */
function isExactTie(value: number, places: number): boolean {
  return (value * 2 ** (places + 1)) % 2 === 1
}

/** Patterns are few and used on every bar: read once. */
const patternsOf = memo(1000, (text): readonly [Pattern, Pattern | null] => {
  const [positive = '', negative] = splitUnquoted(text)
  return [readPattern(positive), negative === undefined ? null : readPattern(negative)]
})

function splitUnquoted(text: string): string[] {
  const parts = ['']
  let quoted = false
  for (const char of text) {
    if (char === "'") quoted = !quoted
    if (char === ';' && !quoted && parts.length < 2) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts
}

function readPattern(text: string): Pattern {
  let prefix = ''
  let suffix = ''
  let integers = ''
  let decimals = ''
  let multiplier = 1
  let state: 'prefix' | 'integers' | 'decimals' | 'suffix' = 'prefix'
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!
    if ((state === 'prefix' || state === 'integers') && /[#0,]/.test(char)) {
      state = 'integers'
      integers += char
      continue
    }
    if ((state === 'prefix' || state === 'integers') && char === '.') {
      state = 'decimals'
      continue
    }
    if (state === 'decimals' && /[#0]/.test(char)) {
      decimals += char
      continue
    }
    if (state !== 'prefix') state = 'suffix'
    let literal = char
    if (char === "'") {
      const end = text.indexOf("'", i + 1)
      literal = end === i + 1 ? "'" : text.slice(i + 1, end < 0 ? undefined : end)
      i = end < 0 ? text.length : end
    } else if (char === '%') multiplier = 100
    else if (char === '‰') multiplier = 1000
    if (state === 'prefix') prefix += literal
    else suffix += literal
  }
  const group = integers.includes(',') ? integers.length - 1 - integers.lastIndexOf(',') : 0
  const plain = integers.replaceAll(',', '')
  // As in Java, `#.##` means `0.##`, while `#.0` begins with the point: `.5`.
  const isOpen = state !== 'integers' && plain !== '' && !`${plain}${decimals}`.includes('0')
  return {
    prefix,
    suffix,
    minIntegers: isOpen ? 1 : plain.length - plain.replaceAll('0', '').length,
    minDecimals: decimals.length - decimals.replaceAll('0', '').length,
    maxDecimals: decimals.length,
    group,
    multiplier,
  }
}
