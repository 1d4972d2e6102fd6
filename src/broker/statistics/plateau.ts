// Tells whether the best is a peak or on a plateau: the objective of its neighbours, one step to either side in each input,
// divided by its own. Near 1 it is on a plateau, where a small change of the market costs little; near 0, or below, it is a
// needle.

import { median } from './moments.ts'

export interface Plateau {
  readonly neighbours: number
  /** The median of the peak and its neighbours, divided by the peak. */
  readonly median: number
  /** The worst of the neighbours, divided by the peak. */
  readonly least: number
}

/** `neighbours` do not include the peak. Null if there are none, or if the peak is not above zero. */
export function plateau(peak: number, neighbours: readonly number[]): Plateau | null {
  if (neighbours.length === 0 || !(peak > 0)) return null
  const all = [peak, ...neighbours]
  return { neighbours: neighbours.length, median: median(all) / peak, least: Math.min(...all) / peak }
}
