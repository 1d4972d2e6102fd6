// Reads rows of plain cells from bytes, as nearly all files have them, without making a text of any. Rows that are not
// plain are left to a parser of CSV.
//
// 1,000,000 rows of bars are read in some 0.2 s of one core; texts and cells made of each took four times that.

import type { Dialect, Role } from './dialect/dialect.ts'
import { sideOf, type SideWords } from './sides.ts'
import { epochIn, type TimeReader } from './time-format.ts'

/** The order in which a row's numbers are kept: of a bar, and of a trade or a quote. */
const SLOTS: Readonly<Record<Dialect['kind'], readonly Role[]>> = {
  bars: ['time', 'open', 'high', 'low', 'close', 'volume', 'bought', 'down'],
  trades: ['time', 'price', 'quantity', 'side'],
  quotes: ['time', 'bid'],
}
export const slotsOf = (kind: Dialect['kind']): readonly Role[] => SLOTS[kind]

/** A double holds this many digits exactly, so dividing them by a power of ten gives the number nearest to the decimal. */
const DIGITS_MAX = 15
const POWERS = Float64Array.from({ length: DIGITS_MAX + 2 }, (_, i) => 10 ** i)
/** Eight digits may be a date, so a plain time has more. Microseconds have sixteen, and stay below 2^53 until 2255. */
const TIME_DIGITS_MIN = 9
const TIME_DIGITS_MAX = 16
const NANO_DIGITS = 19
const MINUS = 45
const ZERO = 48
const TICKER = -2
const UNUSED = -1
const SIDE = -3
const SIDE_SLOT = 3
const BOUGHT_SLOT = 6

/** Room for the numbers of a row, in which nobody knows what was bought. */
export function rowValues(): Float64Array {
  const values = new Float64Array(8)
  values[BOUGHT_SLOT] = Number.NaN
  return values
}

export class PlainRows {
  /** The numbers of the row that was read last. */
  readonly values = rowValues()
  /** For each column, the index of its number in `values`; `TICKER` for one that has to stay the same, `SIDE` for one of words. */
  readonly #slots: Int8Array
  readonly #delimiter: number
  readonly #point: number
  readonly #times: TimeReader | null
  readonly #unit: Dialect['unit']
  readonly #volume: number
  readonly #sides: SideWords
  #ticker: Uint8Array | null = null
  /** A column has the values of several roles, as of closes alone, which only a parser of CSV gives each. */
  readonly #isShared: boolean

  /** `times` reads times that are written out; null if they are numbers. `ticker`: which rows to take; missing = that of the first. */
  constructor(
    { columns, kind, sides, delimiter, decimal, unit, isUnitGiven }: Dialect,
    times: TimeReader | null,
    ticker?: string,
  ) {
    if (ticker !== undefined) this.#ticker = new TextEncoder().encode(ticker)
    this.#delimiter = delimiter.charCodeAt(0)
    this.#point = decimal.charCodeAt(0)
    this.#times = times
    this.#unit = isUnitGiven ? unit : null
    const places = SLOTS[kind].map((role) => columns[role] ?? -1)
    this.#slots = new Int8Array(Math.max(...places, columns.ticker ?? -1) + 1).fill(UNUSED)
    for (const [slot, place] of places.entries()) if (place >= 0) this.#slots[place] = slot
    const told = places.filter((place) => place >= 0)
    this.#isShared = new Set(told).size < told.length
    if (columns.ticker !== undefined) this.#slots[columns.ticker] = TICKER
    if (kind === 'trades' && columns.side !== undefined) this.#slots[columns.side] = SIDE
    this.#sides = sides ?? 'taker'
    this.#volume = kind === 'bars' ? 5 : 2
  }

  /** Whether the line from `at` to `end` is plain. If so, `values` has its numbers. */
  read(bytes: Uint8Array, at: number, end: number): boolean {
    if (this.#isShared) return false
    const slots = this.#slots
    const delimiter = this.#delimiter
    const point = this.#point
    const times = this.#times
    const { values } = this
    let i = at
    for (let column = 0; column < slots.length; column++) {
      const slot = slots[column]!
      // The line has fewer cells than there are columns.
      if (column > 0 && i++ >= end) return false
      if (slot < 0) {
        const start = i
        while (i < end && bytes[i] !== delimiter) i++
        if (slot === SIDE) values[SIDE_SLOT] = sideOf(bytes, start, i, this.#sides)
        else if (slot === TICKER && !this.#isSameTicker(bytes, start, i)) return false
        continue
      }
      if (slot === 0 && times !== null) {
        const { length } = times
        if (length === 0 || i + length > end || (i + length < end && bytes[i + length] !== delimiter))
          return false
        const time = times.read(bytes, i)
        if (time !== time) return false
        values[0] = time
        // A date and a clock in two cells are read at once.
        for (const until = i + length; i < until; i++) if (bytes[i] === delimiter) column++
        continue
      }
      const isNegative = bytes[i] === MINUS
      if (isNegative) i++
      let digits = 0
      let decimals = -1
      let number = 0
      for (; i < end; i++) {
        const code = bytes[i]!
        if (code >= ZERO && code < ZERO + 10) {
          number = number * 10 + (code - ZERO)
          digits++
          if (decimals >= 0) decimals++
        } else if (code === point && decimals < 0) decimals = 0
        else break
      }
      if (i < end && bytes[i] !== delimiter) return false
      if (slot === 0) {
        if (digits === NANO_DIGITS && decimals < 0 && !isNegative && (this.#unit ?? 'ns') === 'ns') {
          // No double holds all of them: the microseconds are exact.
          number = 0
          for (let digit = i - digits; digit < i - 3; digit++) number = number * 10 + (bytes[digit]! - ZERO)
          values[0] = epochIn(number, 'us')
          continue
        }
        const whole = digits - Math.max(decimals, 0)
        if (isNegative || whole < TIME_DIGITS_MIN || digits > TIME_DIGITS_MAX) return false
        values[0] = epochIn(decimals > 0 ? number / POWERS[decimals]! : number, this.#unit)
      } else if (digits === 0) {
        // Nothing at all is no volume.
        if (slot !== this.#volume || isNegative || decimals >= 0) return false
        values[slot] = 0
      } else {
        if (digits > DIGITS_MAX) return false
        const value = decimals > 0 ? number / POWERS[decimals]! : number
        values[slot] = isNegative ? -value : value
      }
    }
    return true
  }

  /** The ticker of all rows; null if they have none. */
  get ticker(): string | null {
    return this.#ticker && new TextDecoder().decode(this.#ticker).trim()
  }

  /** Whether this is the ticker of the rows before; that of the first row always is. */
  isTicker(text: string): boolean {
    this.#ticker ??= new TextEncoder().encode(text)
    return new TextDecoder().decode(this.#ticker) === text
  }

  #isSameTicker(bytes: Uint8Array, from: number, to: number): boolean {
    const first = (this.#ticker ??= bytes.slice(from, to))
    if (to - from !== first.length) return false
    for (let i = 0; i < first.length; i++) if (bytes[from + i] !== first[i]) return false
    return true
  }
}
