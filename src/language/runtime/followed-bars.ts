// Bars of which each is made from the one in the same place of other bars: of the same times, with other prices.

import type { Bars } from '../../market/bars.ts'

export const PRICES = ['open', 'high', 'low', 'close'] as const

/** Makes the prices of bars `from` up to `to`; those before are there. */
export type MakePrices = (into: FollowedBars, source: Bars, from: number, to: number) => void

export class FollowedBars implements Bars {
  open = new Float64Array(0)
  high = new Float64Array(0)
  low = new Float64Array(0)
  close = new Float64Array(0)
  readonly #source: Bars
  readonly #make: MakePrices
  #done = 0

  constructor(source: Bars, make: MakePrices) {
    this.#source = source
    this.#make = make
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
  get bought(): Float64Array | undefined {
    return this.#source.bought
  }

  /** Computes the new bars, and the last one again, since it may have been forming. */
  extend(): void {
    const { length } = this.#source
    if (this.open.length < length) {
      const size = Math.max(length, this.open.length * 2)
      for (const field of PRICES) {
        const grown = new Float64Array(size)
        grown.set(this[field])
        this[field] = grown
      }
    }
    this.#make(this, this.#source, Math.max(0, this.#done - 1), length)
    this.#done = length
  }

  rewind(bar: number): void {
    this.#done = Math.min(this.#done, bar)
  }
}
