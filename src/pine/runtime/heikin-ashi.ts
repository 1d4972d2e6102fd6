// Heikin-Ashi bars made from any bars: averages that smooth. They are not rounded to ticks (L5).

import type { Bars } from '../../market/bars.ts'

export class HeikinAshiBars implements Bars {
  open = new Float64Array(0)
  high = new Float64Array(0)
  low = new Float64Array(0)
  close = new Float64Array(0)
  readonly #source: Bars
  #done = 0

  constructor(source: Bars) {
    this.#source = source
    this.extend()
  }

  get length(): number {
    return this.#source.length
  }
  get time(): Float64Array {
    return this.#source.time
  }
  get volume(): Float64Array {
    return this.#source.volume
  }

  /** Computes the new bars, and the last one again, since it may have been forming. */
  extend(): void {
    const source = this.#source
    const { length } = source
    if (this.open.length < length) {
      const size = Math.max(length, this.open.length * 2)
      for (const field of ['open', 'high', 'low', 'close'] as const) {
        const grown = new Float64Array(size)
        grown.set(this[field])
        this[field] = grown
      }
    }
    for (let i = Math.max(0, this.#done - 1); i < length; i++) {
      const [o, h, l, c] = [
        source.open[i] ?? 0,
        source.high[i] ?? 0,
        source.low[i] ?? 0,
        source.close[i] ?? 0,
      ]
      const close = (o + h + l + c) / 4
      const open = i === 0 ? (o + c) / 2 : ((this.open[i - 1] ?? 0) + (this.close[i - 1] ?? 0)) / 2
      this.open[i] = open
      this.close[i] = close
      this.high[i] = Math.max(h, open, close)
      this.low[i] = Math.min(l, open, close)
    }
    this.#done = length
  }

  rewind(bar: number): void {
    this.#done = Math.min(this.#done, bar)
  }
}
