// Stretches of time to choose on (in sample) and to judge on (out of sample).
//
// Hold-out: the end is kept back. Rolling: windows of one length, each shifted by its out-of-sample part. Anchored: every
// window begins at the first bar. Matrix: TradeStation's thirty pairs of out-of-sample share and number of runs.

import { invalidField } from '../../lib/problem.ts'
import type { SweepBody } from '../../wire/sweep.ts'

export type Windows = NonNullable<SweepBody['windows']>

/** Bar indices; `to` is the first one behind the span. */
export interface BarSpan {
  readonly from: number
  readonly to: number
}

export interface WindowCell {
  readonly share: number
  readonly runs: number
  readonly windows: readonly { readonly inside: BarSpan; readonly outside: BarSpan }[]
}

const SHARES = [0.1, 0.15, 0.2, 0.25, 0.3]
const RUNS = [5, 10, 15, 20, 25, 30]
export const CELLS_MAX = SHARES.length * RUNS.length
/** Fewer bars than this out of sample prove nothing. */
const LEAST_BARS = 10

/** The sweep's in-sample bars, and those that were held out. */
export function heldOut(
  { kind, share = 0.3 }: Windows,
  bars: number,
): { inside: BarSpan; outside: BarSpan | null } {
  if (kind !== 'holdout') return { inside: { from: 0, to: bars }, outside: null }
  const cut = Math.round(bars * (1 - share))
  return { inside: { from: 0, to: cut }, outside: { from: cut, to: bars } }
}

/** Throws Problem 422 if there are too few bars. */
export function cellsOf({ kind, share = 0.2, runs = 10 }: Windows, bars: number): readonly WindowCell[] {
  if (kind === 'none' || kind === 'holdout') return []
  const cells =
    kind === 'matrix'
      ? SHARES.flatMap((one) => RUNS.map((many) => cellOf(one, many, bars, false)))
      : [cellOf(share, runs, bars, kind === 'anchored')]
  const shortest = Math.min(
    ...cells.flatMap(({ windows }) => windows.map(({ outside }) => outside.to - outside.from)),
  )
  if (shortest < LEAST_BARS)
    throw invalidField(
      '/windows',
      'too_few_bars',
      `Some windows would have fewer than ${LEAST_BARS} bars out of sample. Take more bars, or fewer runs.`,
    )
  return cells
}

function cellOf(share: number, runs: number, bars: number, anchored: boolean): WindowCell {
  // All windows together are (1 - share) + runs · share times as long as one.
  const length = bars / (1 - share + runs * share)
  const step = length * share
  const windows = Array.from({ length: runs }, (_, run) => {
    const cut = Math.round(length * (1 - share) + run * step)
    const from = anchored ? 0 : Math.round(run * step)
    const to = run === runs - 1 ? bars : Math.round(length * (1 - share) + (run + 1) * step)
    return { inside: { from, to: cut }, outside: { from: cut, to } }
  })
  return { share, runs, windows }
}
