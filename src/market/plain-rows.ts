// Reads rows of plain numbers, as nearly all files of bars have them, without making a text of each cell. That takes a
// third of the time of splitting and leaves the garbage collector nothing to do. Rows that are not plain are left to the
// CSV parser.

import { epochMs } from './bar-time.ts'

/** The order in which a row's numbers are kept. */
export const SLOTS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const
export type Slot = (typeof SLOTS)[number]

/** A double holds this many digits exactly, so dividing them by a power of ten gives the number nearest to the decimal. */
const DIGITS_MAX = 15
const POWERS = Float64Array.from({ length: DIGITS_MAX + 1 }, (_, i) => 10 ** i)
/** Eight digits may be a date, so a plain time has more. */
const TIME_DIGITS_MIN = 9
const MINUS = 45
const POINT = 46
const ZERO = 48

export class PlainRows {
  /** The numbers of the row that was read last. */
  readonly values = new Float64Array(SLOTS.length)
  /** For each column, the index of its number in `values`. */
  readonly #slots: Int8Array
  readonly #delimiter: number

  /** `columns` says in which column each number is; -1 if it is missing, and then reads as 0. */
  constructor(columns: Readonly<Record<Slot, number>>, delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
    this.#slots = new Int8Array(Math.max(...Object.values(columns)) + 1).fill(-1)
    for (const [slot, name] of SLOTS.entries()) if (columns[name] >= 0) this.#slots[columns[name]] = slot
  }

  /** Whether the line from `at` to `end` is plain. If so, `values` has its numbers. */
  read(text: string, at: number, end: number): boolean {
    const slots = this.#slots
    const delimiter = this.#delimiter
    const { values } = this
    let i = at
    for (let column = 0; column < slots.length; column++) {
      const slot = slots[column] ?? -1
      // The line has fewer cells than there are columns.
      if (column > 0 && i++ >= end) return false
      if (slot < 0) {
        while (i < end && text.charCodeAt(i) !== delimiter) i++
        continue
      }
      const isNegative = text.charCodeAt(i) === MINUS
      if (isNegative) i++
      let digits = 0
      let decimals = -1
      let number = 0
      for (; i < end; i++) {
        const code = text.charCodeAt(i)
        if (code >= ZERO && code < ZERO + 10) {
          number = number * 10 + (code - ZERO)
          digits++
          if (decimals >= 0) decimals++
        } else if (code === POINT && decimals < 0) decimals = 0
        else break
      }
      if (digits === 0 || digits > DIGITS_MAX || (i < end && text.charCodeAt(i) !== delimiter)) return false
      if (slot === 0) {
        if (isNegative || decimals >= 0 || digits < TIME_DIGITS_MIN) return false
        values[0] = epochMs(number)
      } else {
        const value = decimals > 0 ? number / (POWERS[decimals] ?? 1) : number
        values[slot] = isNegative ? -value : value
      }
    }
    return true
  }
}
