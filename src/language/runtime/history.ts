// The past of a value in a local scope, by bar.
//
// A scope under a condition is not executed on every bar, so its values have no entry on some. TradingView documents what
// their past is (execution model, "Time series in scopes"): x[n] is the last value the scope left by the bar n bars back.
// Where it was last executed ten bars ago, x[1] to x[9] all are the value from then. Several executions on one bar leave
// one entry, the last.

const ROOM_FIRST = 16

// Fields are plain, not #private: `unpack` fills an object that no constructor has seen.
export class History<T> {
  private values: T[] | Float64Array
  /** The bar of each entry, ascending. */
  private bars: Int32Array = new Int32Array(ROOM_FIRST)
  private count = 0
  private na: T

  constructor(na: T) {
    this.na = na
    this.values = typeof na === 'number' ? new Float64Array(ROOM_FIRST) : []
  }

  /** The value on `bar` so far; again on the same bar replaces it. Returns it. */
  put(bar: number, value: T): T {
    if (this.count === 0 || this.bars[this.count - 1] !== bar) {
      if (this.count === this.bars.length) this.#grow()
      this.bars[this.count++] = bar
    }
    ;(this.values as T[])[this.count - 1] = value
    return value
  }

  /** The value as of `offset` bars before `bar`. */
  at(bar: number, offset: number): T {
    const last = this.count - 1
    if (last < 0) return this.na
    const bars = this.bars
    const wanted = bar - offset
    // Bars ascend by one at least, so the entry that far before the last is at the wanted bar or before it.
    const skipped = bars[last]! - wanted
    let low = last - Math.max(skipped, 0)
    if (low < 0) {
      if (bars[0]! > wanted) return this.na
      low = 0
    }
    let high = last
    if (bars[low] === wanted) high = low
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (bars[middle]! <= wanted) low = middle
      else high = middle - 1
    }
    return (this.values as T[])[low] as T
  }

  /** Only what is there, without the room to grow. */
  pack(): readonly unknown[] {
    const { na, count, bars, values } = this
    return [na, count, bars.subarray(0, count), isColumn(values) ? values.subarray(0, count) : values]
  }

  unpack([na, count, bars, values]: readonly unknown[]): void {
    this.na = na as T
    this.count = count as number
    this.bars = bars as Int32Array
    this.values = values as T[] | Float64Array
  }

  /** What was last put; the value for "none" before. */
  get last(): T {
    return this.count === 0 ? this.na : (this.values[this.count - 1] as T)
  }

  /** The bar of that; -1 before. */
  get lastBar(): number {
    return this.count === 0 ? -1 : this.bars[this.count - 1]!
  }

  /** Answers how to forget what is put from now on. */
  mark(): () => void {
    const count = this.count
    const { last } = this
    return () => {
      this.count = count
      if (count > 0) (this.values as T[])[count - 1] = last
    }
  }

  #grow(): void {
    const bars = new Int32Array(Math.max(ROOM_FIRST, this.bars.length * 2))
    bars.set(this.bars)
    this.bars = bars
    if (!isColumn(this.values)) return
    const values = new Float64Array(bars.length)
    values.set(this.values)
    this.values = values
  }
}

function isColumn(values: unknown): values is Float64Array {
  return values instanceof Float64Array
}
