// The figures of a stretch of a run, as if a run had begun there with the equity it had, judged at closes.
//
// A walk-forward matrix needs more than a thousand stretches of every trial, so sums are kept up to each bar, and a stretch
// is the difference of two. A trade belongs to the stretch in which it closed. A trade that is open at the end counts with
// that bar's close.

import type { Fills, ClosedTrades } from './emulator/ledger.ts'
import { NO_LOSSES } from './report/summary.ts'
import { words } from '../lib/words.ts'

export const SPAN_FIGURES = words(
  'trades netProfit netProfitPct winRate profitFactor maxDrawdown maxDrawdownPct returnOverDrawdown',
  'sharpe',
)
export type SpanRecord = Readonly<Record<(typeof SPAN_FIGURES)[number], number>>

export class SpanFigures {
  readonly #equity: Float64Array
  readonly #initial: number
  // Sums over all bars before an index.
  readonly #returns: Float64Array
  readonly #squares: Float64Array
  readonly #trades: Float64Array
  readonly #wins: Float64Array
  readonly #gains: Float64Array
  readonly #losses: Float64Array

  constructor(
    { fills, closed }: { readonly fills: Fills; readonly closed: ClosedTrades },
    equity: Float64Array,
    returns: Float64Array,
    initial: number,
  ) {
    const bars = equity.length
    const column = () => new Float64Array(bars + 1)
    this.#equity = equity
    this.#initial = initial
    this.#returns = column()
    this.#squares = column()
    for (let i = 0; i < bars; i++) {
      const value = returns[i]!
      this.#returns[i + 1] = this.#returns[i]! + value
      this.#squares[i + 1] = this.#squares[i]! + value * value
    }
    this.#trades = column()
    this.#wins = column()
    this.#gains = column()
    this.#losses = column()
    for (let k = 0; k < closed.count; k++) {
      const at = fills.bar[closed.exit[k]!]! + 1
      const profit = closed.profit[k]!
      this.#trades[at]!++
      if (profit > 0) {
        this.#wins[at]!++
        this.#gains[at]! += profit
      } else this.#losses[at]! -= profit
    }
    for (const sums of [this.#trades, this.#wins, this.#gains, this.#losses])
      for (let i = 1; i <= bars; i++) sums[i]! += sums[i - 1]!
  }

  /** Drawdown is computed bar by bar; without `fell` it is 0. */
  of({ from, to }: { readonly from: number; readonly to: number }, fell = true): SpanRecord {
    const between = (sums: Float64Array) => sums[to]! - sums[from]!
    const bars = to - from
    const start = from === 0 ? this.#initial : this.#equity[from - 1]!
    const netProfit = (bars > 0 ? this.#equity[to - 1]! : start) - start
    const trades = between(this.#trades)
    const gains = between(this.#gains)
    const losses = between(this.#losses)
    const mean = bars > 0 ? between(this.#returns) / bars : 0
    const variance = bars > 1 ? (between(this.#squares) - bars * mean * mean) / (bars - 1) : 0
    const drawdown = fell ? this.#drawdown(start, from, to) : { maxDrawdown: 0, maxDrawdownPct: 0 }
    return {
      trades,
      netProfit,
      netProfitPct: start > 0 ? netProfit / start : 0,
      winRate: trades > 0 ? between(this.#wins) / trades : 0,
      profitFactor: losses > 0 ? gains / losses : gains > 0 ? NO_LOSSES : 0,
      ...drawdown,
      returnOverDrawdown: drawdown.maxDrawdown > 0 ? netProfit / drawdown.maxDrawdown : 0,
      sharpe: variance > 1e-18 ? mean / Math.sqrt(variance) : 0,
    }
  }

  #drawdown(start: number, from: number, to: number): { maxDrawdown: number; maxDrawdownPct: number } {
    let peak = start
    let [maxDrawdown, maxDrawdownPct] = [0, 0]
    for (let i = from; i < to; i++) {
      const equity = this.#equity[i]!
      if (equity > peak) peak = equity
      const fall = peak - equity
      if (fall <= maxDrawdown && peak <= 0) continue
      if (fall > maxDrawdown) maxDrawdown = fall
      if (peak > 0 && fall / peak > maxDrawdownPct) maxDrawdownPct = fall / peak
    }
    return { maxDrawdown, maxDrawdownPct }
  }
}
