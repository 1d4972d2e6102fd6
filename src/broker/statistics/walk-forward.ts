// Walk-forward analysis: choose on one stretch of time, trade the next one with that choice, move on. The walk-forward
// efficiency is how much of the profit remains, and five rules decide whether the result counts as robust.
//
//     WFE = (profit a bar out of sample) / (profit a bar in sample)
//
// Pardo: The Evaluation and Optimization of Trading Strategies (2008), and the rules of TradeStation's Walk-Forward Optimizer.

export interface WalkForwardRun {
  /** The profit of the chosen trial in sample and out of sample. */
  readonly inProfit: number
  readonly inBars: number
  readonly outProfit: number
  readonly outBars: number
  /** The deepest fall of out-of-sample equity, as a fraction of its peak. */
  readonly outDrawdownPct: number
}

type WalkForwardRule = 'profit' | 'efficiency' | 'runs' | 'spread' | 'drawdown'

export interface WalkForward {
  /** Null if nothing was earned in sample, so that nothing can remain. */
  readonly efficiency: number | null
  readonly profit: number
  readonly profitableRuns: number
  /** Which of the five rules hold. */
  readonly passes: Readonly<Record<WalkForwardRule, boolean>>
  readonly passed: boolean
}

export function walkForward(runs: readonly WalkForwardRun[]): WalkForward {
  const total = (of: (run: WalkForwardRun) => number) => runs.reduce((sum, run) => sum + of(run), 0)
  const profit = total(({ outProfit }) => outProfit)
  const inside = total(({ inProfit }) => inProfit) / total(({ inBars }) => inBars)
  const outside = profit / total(({ outBars }) => outBars)
  const efficiency = inside > 0 ? outside / inside : null
  const profitableRuns = runs.filter(({ outProfit }) => outProfit > 0).length
  const passes = {
    profit: profit > 0,
    efficiency: efficiency !== null && efficiency >= 0.5,
    runs: runs.length > 0 && profitableRuns >= runs.length / 2,
    // A single run has all of the profit, which proves nothing against it.
    spread: profit > 0 && (runs.length === 1 || runs.every(({ outProfit }) => outProfit <= 0.5 * profit)),
    drawdown: runs.length > 0 && runs.every(({ outDrawdownPct }) => outDrawdownPct <= 0.4),
  }
  return { efficiency, profit, profitableRuns, passes, passed: Object.values(passes).every(Boolean) }
}
