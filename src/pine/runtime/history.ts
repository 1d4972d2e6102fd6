// The past of a value in a local scope: one entry for each bar its scope was executed on.
//
// TradingView documents it so (execution model, "Time series in scopes"): `x[1]` inside a function or an `if` is the
// value of the last bar that came here, not of the previous bar. Several executions on one bar leave one entry, the last.

export class History<T> {
  #values: T[] | Float64Array
  #count = 0
  #bar = -1
  readonly #na: T

  constructor(na: T) {
    this.#na = na
    this.#values = typeof na === 'number' ? new Float64Array(16) : []
  }

  /** The value on `bar` so far; again on the same bar replaces it. Returns it. */
  put(bar: number, value: T): T {
    if (bar !== this.#bar) {
      this.#bar = bar
      this.#count++
      if (this.#values instanceof Float64Array && this.#count > this.#values.length) {
        const grown = new Float64Array(this.#values.length * 2)
        grown.set(this.#values)
        this.#values = grown
      }
    }
    ;(this.#values as T[])[this.#count - 1] = value
    return value
  }

  /** `offset` executed bars back; 0 = the current entry. */
  at(offset: number): T {
    const index = this.#count - 1 - offset
    return index >= 0 && index < this.#count ? ((this.#values as T[])[index] as T) : this.#na
  }

  /** For snapshots. Entries below the count never change once their bar is over, so both may share the buffer. */
  copy(): History<T> {
    const copy = new History<T>(this.#na)
    copy.#values = this.#values
    copy.#count = this.#count
    copy.#bar = this.#bar
    return copy
  }
}
