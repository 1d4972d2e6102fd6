// Bars in another currency: prices at the rate of the bar's day, volume as it is.

import type { Bars } from '../../market/bars.ts'
import type { RateAt } from '../../market/exchange-rates.ts'

const PRICES = ['open', 'high', 'low', 'close'] as const

export class ConvertedBars implements Bars {
  open = new Float64Array(0)
  high = new Float64Array(0)
  low = new Float64Array(0)
  close = new Float64Array(0)
  readonly #source: Bars
  readonly #rateAt: RateAt
  #done = 0

  constructor(source: Bars, rateAt: RateAt) {
    this.#source = source
    this.#rateAt = rateAt
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
    if (this.open.length < length)
      for (const field of PRICES) {
        const grown = new Float64Array(Math.max(length, this.open.length * 2))
        grown.set(this[field])
        this[field] = grown
      }
    for (let i = Math.max(0, this.#done - 1); i < length; i++) {
      const rate = this.#rateAt(source.time[i]!)
      for (const field of PRICES) this[field][i] = source[field][i]! * rate
    }
    this.#done = length
  }

  rewind(bar: number): void {
    this.#done = Math.min(this.#done, bar)
  }
}
