// The stitched equity of a walk-forward: what was earned out of sample, window after window, each with the trial that was
// chosen on the bars before it.
//
// The amounts are those of the trials' runs over all bars, so the last point is the capital and the profits of all windows.
// Thirty cells of a matrix have more bars than are worth keeping, so a curve is thinned window by window; its drawdown is
// measured on every bar all the same: the peak of earlier windows and the trough of this one give the fall between them.

import { thinned } from '../lib/thinned.ts'
import { TrialColumns, variedAmong } from './trial-columns.ts'
import type { TrialInputs, TrialSpan } from './measured.ts'
import type { BacktestRequest } from './backtest.ts'
import { trialResults } from './trial.ts'

export interface StitchedWindow {
  readonly outside: TrialSpan
  /** null: no trial met the constraints, and nothing was traded. */
  readonly trial: number | null
  readonly outProfit: number
}

export interface Stitched {
  readonly capital: number
  readonly netProfit: number
  readonly netProfitPct: number
  readonly maxDrawdown: number
  readonly maxDrawdownPct: number
  /** Times of the bars, equity at their closes, and the number of the window. */
  readonly time: readonly number[]
  readonly equity: readonly number[]
  readonly window: readonly number[]
}

/** Of all windows of a cell together, at least the ends and one peak and trough a window. */
const POINTS_MAX = 1000
const POINTS_LEAST = 4

interface Stretch {
  readonly bars: readonly number[]
  /** What was earned since the window began. */
  readonly profits: readonly number[]
  readonly highest: number
  readonly lowest: number
  readonly fall: Fall
}

interface Fall {
  readonly amount: number
  readonly share: number
}

/** Runs every trial that was chosen once more, each once. Throws what a run throws. */
export function stitchedEquity(
  request: BacktestRequest,
  points: readonly TrialInputs[],
  cells: readonly (readonly StitchedWindow[])[],
): readonly Stitched[] {
  const chosen = new Map<number, { readonly cell: number; readonly window: number }[]>()
  for (const [cell, windows] of cells.entries())
    for (const [window, { trial }] of windows.entries())
      if (trial !== null) chosen.set(trial, [...(chosen.get(trial) ?? []), { cell, window }])
  const { bars } = request
  const found = cells.map((windows) => windows.map((): Stretch | null => null))
  const own = [...chosen.keys()].map((trial) => points[trial]!)
  const shared = new TrialColumns(bars.length, variedAmong(own))
  const equity = new Float64Array(bars.length)
  let capital = 0
  for (const [i, places] of [...chosen.values()].entries()) {
    capital = equityOf({ ...request, shared }, own[i]!, equity)
    shared.next()
    for (const { cell, window } of places) {
      const windows = cells[cell]!
      const before = windows.slice(0, window).reduce((sum, { outProfit }) => sum + outProfit, capital)
      const most = Math.max(POINTS_LEAST, Math.floor(POINTS_MAX / windows.length))
      found[cell]![window] = stretchOf(equity, windows[window]!.outside, { capital, before, most })
    }
  }
  shared.leave()
  return cells.map((windows, cell) => joined(request, windows, found[cell]!, capital))
}

/** Answers the initial capital. */
function equityOf(request: BacktestRequest, trial: TrialInputs, into: Float64Array): number {
  const results = trialResults(request, trial)
  results.readEquity(into)
  return results.figures.initialCapital
}

/** `before`: the stitched equity at the window's beginning. */
function stretchOf(
  equity: Float64Array,
  { from, to }: TrialSpan,
  { capital, before, most }: { readonly capital: number; readonly before: number; readonly most: number },
): Stretch {
  const start = from === 0 ? capital : equity[from - 1]!
  const profits = Array.from({ length: to - from }, (_, i) => equity[from + i]! - start)
  let [highest, lowest] = [0, 0]
  let fall: Fall = { amount: 0, share: 0 }
  for (const profit of profits) {
    highest = Math.max(highest, profit)
    lowest = Math.min(lowest, profit)
    fall = deeper(fall, before + highest, before + profit)
  }
  const kept = thinned(profits, most)
  return {
    bars: kept.map((i) => from + i),
    profits: kept.map((i) => profits[i]!),
    highest,
    lowest,
    fall,
  }
}

function deeper({ amount, share }: Fall, peak: number, value: number): Fall {
  const fallen = peak - value
  return { amount: Math.max(amount, fallen), share: peak > 0 ? Math.max(share, fallen / peak) : share }
}

const deepest = (one: Fall, other: Fall): Fall => ({
  amount: Math.max(one.amount, other.amount),
  share: Math.max(one.share, other.share),
})

function joined(
  { bars }: BacktestRequest,
  windows: readonly StitchedWindow[],
  stretches: readonly (Stretch | null)[],
  capital: number,
): Stitched {
  const points: { readonly bar: number; readonly equity: number; readonly window: number }[] = []
  let [now, peak] = [capital, capital]
  let fall: Fall = { amount: 0, share: 0 }
  for (const [window, { outside, outProfit }] of windows.entries()) {
    const stretch = stretches[window]
    if (stretch) {
      fall = deeper(deepest(fall, stretch.fall), peak, now + stretch.lowest)
      peak = Math.max(peak, now + stretch.highest)
      for (const [i, bar] of stretch.bars.entries())
        points.push({ bar, equity: now + stretch.profits[i]!, window })
    } else for (const bar of [outside.from, outside.to - 1]) points.push({ bar, equity: now, window })
    now += stretch ? outProfit : 0
  }
  return {
    capital,
    netProfit: now - capital,
    netProfitPct: capital > 0 ? (now - capital) / capital : 0,
    maxDrawdown: fall.amount,
    maxDrawdownPct: fall.share,
    time: points.map(({ bar }) => bars.time[bar]!),
    equity: points.map(({ equity }) => equity),
    window: points.map(({ window }) => window),
  }
}
