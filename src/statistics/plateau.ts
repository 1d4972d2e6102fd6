// Is the best a peak or a plateau? The objective of its neighbours, one step to either side in each input, over its own:
// near 1 it stands on a plateau, and a small change of the market costs little; near 0, or below, it is a needle.

import { median } from './moments.ts'

export interface Plateau {
  readonly neighbours: number
  /** Median of the neighbours and the peak itself, over the peak. */
  readonly median: number
  /** The worst of them, over the peak. */
  readonly least: number
}

/** `neighbours` without the peak. Null without any, or where the peak is not above zero. */
export function plateau(peak: number, neighbours: readonly number[]): Plateau | null {
  if (neighbours.length === 0 || !(peak > 0)) return null
  const all = [peak, ...neighbours]
  return { neighbours: neighbours.length, median: median(all) / peak, least: Math.min(...all) / peak }
}
