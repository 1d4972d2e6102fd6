// Numbers as text: Java's DecimalFormat patterns, which Pine took over, and TradingView's own formats.
//
// A pattern is `prefix digits suffix`, and after a `;` perhaps another one for negative numbers. In the digits, `0`
// is a digit that is always shown, `#` one that is shown when needed, `,` sets the grouping and `.` the decimals. A
// `%` in prefix or suffix multiplies by 100, `'` quotes. Ties round to the even digit, judged on the exact value of
// the double (2.675 is below the tie, 0.125 on it), as Java does.

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

export function formatNumber(value: number, pattern: string): string {
  if (Number.isNaN(value)) return 'NaN'
  const [positive, negative] = patternsOf(pattern)
  const chosen = value < 0 && negative !== null ? negative : positive
  const sign = value < 0 && negative === null ? '-' : ''
  const text = digits(Math.abs(value), positive)
  const shown = sign === '-' && /^[0.,]*$/.test(text) ? '' : sign
  return `${shown}${chosen.prefix}${text}${chosen.suffix}`
}

/** Nearest multiple of the tick, ties up, with as many decimals as the tick has. */
export function formatMintick(value: number, mintick: number): string {
  if (Number.isNaN(value)) return 'NaN'
  const ticks = Math.floor(value / mintick + 0.5 + 1e-9)
  return fixed(ticks * mintick, decimalsOf(mintick))
}

/** `1.234K`, `5.1M`, `2B`, `1.5T`: up to three decimals. */
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
  return `${formatNumber(value / unit, '0.###')}${letter}`
}

export function formatPercent(value: number): string {
  return Number.isNaN(value) ? 'NaN' : `${fixed(value, 2)}%`
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

/** Exactly `decimals` decimals, ties to even. */
export function fixed(value: number, decimals: number): string {
  const text = roundedDigits(Math.abs(value), decimals)
  return value < 0 && /[1-9]/.test(text) ? `-${text}` : text
}

function digits(value: number, pattern: Pattern): string {
  if (value === Infinity) return '∞'
  const [integers = '', decimals = ''] = roundedDigits(value * pattern.multiplier, pattern.maxDecimals).split(
    '.',
  )
  let whole = integers === '0' ? '' : integers
  if (whole.length < pattern.minIntegers) whole = whole.padStart(pattern.minIntegers, '0')
  let fraction = decimals
  while (fraction.length > pattern.minDecimals && fraction.endsWith('0')) fraction = fraction.slice(0, -1)
  if (whole === '' && fraction === '') whole = '0'
  // `#.##` of 0.5 is `.5` in Java; TradingView shows `0.5`.
  if (whole === '') whole = '0'
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

/** `toFixed` with exact ties to even and without its limit at 1e21. */
function roundedDigits(value: number, decimals: number): string {
  if (value >= 1e21) return decimals > 0 ? `${BigInt(value)}.${'0'.repeat(decimals)}` : `${BigInt(value)}`
  const places = Math.min(decimals, 100)
  const text = value.toFixed(places)
  if (!isExactTie(value, places) || Number(text.at(-1)) % 2 === 0) return text
  // toFixed has rounded up to an odd digit; the even one is just below.
  const down = BigInt(text.replace('.', '')) - 1n
  const padded = down.toString().padStart(places + 1, '0')
  return places === 0 ? padded : `${padded.slice(0, -places)}.${padded.slice(-places)}`
}

/** Halfway means value·10^places·2 is odd; a double times 2^(places+1) has lost nothing, and ·5^places keeps what is odd odd. */
function isExactTie(value: number, places: number): boolean {
  return (value * 2 ** (places + 1)) % 2 === 1
}

/** Patterns are few and used on every bar: read once. */
const PATTERNS = new Map<string, readonly [Pattern, Pattern | null]>()

function patternsOf(text: string): readonly [Pattern, Pattern | null] {
  let patterns = PATTERNS.get(text)
  if (patterns === undefined) {
    const [positive = '', negative] = splitUnquoted(text)
    patterns = [readPattern(positive), negative === undefined ? null : readPattern(negative)]
    if (PATTERNS.size > 1000) PATTERNS.clear()
    PATTERNS.set(text, patterns)
  }
  return patterns
}

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
  return {
    prefix,
    suffix,
    minIntegers: plain.length - plain.replaceAll('0', '').length,
    minDecimals: decimals.length - decimals.replaceAll('0', '').length,
    maxDecimals: decimals.length,
    group,
    multiplier,
  }
}
