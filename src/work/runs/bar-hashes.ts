// Hashes of the bars that scripts ran on, which are part of every report. Those of earlier runs need not be computed again.
//
// Bars that were handed out never change (`market/bar-cache.ts`), so they are recognised by their memory.

import type { Bars } from '../../market/bars.ts'

/**
 * How many stretches of a series are remembered: a live one grows by a bar now and then, and the shorter ones are not
 * needed again.
 */
const STRETCHES = 16

export class BarHashes {
  readonly #known = new WeakMap<ArrayBufferLike, Map<string, string>>()

  of(bars: Bars): string | null {
    return this.#known.get(bars.time.buffer)?.get(stretchOf(bars)) ?? null
  }

  note(bars: Bars, hash: string): void {
    const { buffer } = bars.time
    const stretches = this.#known.get(buffer) ?? new Map<string, string>()
    this.#known.set(buffer, stretches.set(stretchOf(bars), hash))
    const [oldest] = stretches.keys()
    if (stretches.size > STRETCHES && oldest !== undefined) stretches.delete(oldest)
  }
}

const stretchOf = ({ time, length }: Bars) => `${time.byteOffset} ${length}`
