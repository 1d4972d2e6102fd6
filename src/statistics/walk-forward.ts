// Walk-forward analysis: choose on one stretch of time, trade the next one with it, move on. What is left of the profit is
// the walk-forward efficiency, and five rules say whether it counts as robust.
//
//     WFE = (profit a bar out of sample) / (profit a bar in sample)
//
// Pardo: The Evaluation and Optimization of Trading Strategies (2008), and the rules of TradeStation's Walk-Forward Optimizer.

export interface WalkForwardRun {
  /** Profit of the chosen trial in sample and out of it. */
  readonly inProfit: number
  readonly inBars: number
  readonly outProfit: number
  readonly outBars: number
  /** Deepest fall of equity out of sample, of its peak. */
  readonly outDrawdownPct: number
}

type WalkForwardRule = 'profit' | 'efficiency' | 'runs' | 'spread' | 'drawdown'

export interface WalkForward {
  /** Null where nothing was earned in sample, so that there is nothing to keep. */
  readonly efficiency: number | null
  readonly profit: number
  readonly profitableRuns: number
  /** Those that hold, of the five. */
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
    // Of one run all the profit is its own, which says nothing against it.
    spread: profit > 0 && (runs.length === 1 || runs.every(({ outProfit }) => outProfit <= 0.5 * profit)),
    drawdown: runs.length > 0 && runs.every(({ outDrawdownPct }) => outDrawdownPct <= 0.4),
  }
  return { efficiency, profit, profitableRuns, passes, passed: Object.values(passes).every(Boolean) }
}
