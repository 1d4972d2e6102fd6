// How much of a profit and its drawdown is chance: the same trades in another order, and other trades like them.
//
// "Order" shuffles the trades (Fisher and Yates), which changes the drawdown but not the profit. "Bootstrap" draws the same
// number with replacement (Efron, 1979), which changes both. The results are the 5, 50 and 95 % quantiles.

import { seededRandom } from '../../lib/seeded-random.ts'
import { quantile } from './moments.ts'

interface Spread {
  readonly low: number
  readonly middle: number
  readonly high: number
}

export interface MonteCarlo {
  readonly rounds: number
  readonly order: { readonly drawdown: Spread; readonly drawdownPct: Spread }
  readonly bootstrap: { readonly profit: Spread; readonly drawdown: Spread; readonly drawdownPct: Spread }
  /** The share of bootstrapped histories that lose money. */
  readonly loss: number
}

/** `profits` of the closed trades in account currency. Null for fewer than two. */
export function monteCarloOfTrades(
  profits: ArrayLike<number>,
  initialCapital: number,
  { seed, rounds = 1000 }: { readonly seed: number; readonly rounds?: number },
): MonteCarlo | null {
  const count = profits.length
  if (count < 2) return null
  const random = seededRandom(seed)
  const order = new Histories(rounds, initialCapital)
  const bootstrap = new Histories(rounds, initialCapital)
  const shuffled = Float64Array.from(profits)
  const drawn = new Float64Array(count)
  for (let round = 0; round < rounds; round++) {
    for (let i = count - 1; i > 0; i--) {
      const j = random.below(i + 1)
      const kept = shuffled[i]!
      shuffled[i] = shuffled[j]!
      shuffled[j] = kept
    }
    order.add(round, shuffled)
    for (let i = 0; i < count; i++) drawn[i] = profits[random.below(count)]!
    bootstrap.add(round, drawn)
  }
  return {
    rounds,
    order: { drawdown: spreadOf(order.drawdown), drawdownPct: spreadOf(order.drawdownPct) },
    bootstrap: {
      profit: spreadOf(bootstrap.profit),
      drawdown: spreadOf(bootstrap.drawdown),
      drawdownPct: spreadOf(bootstrap.drawdownPct),
    },
    loss: bootstrap.profit.filter((profit) => profit < 0).length / rounds,
  }
}

class Histories {
  readonly profit: Float64Array
  readonly drawdown: Float64Array
  readonly drawdownPct: Float64Array
  private readonly initial: number

  constructor(rounds: number, initial: number) {
    this.profit = new Float64Array(rounds)
    this.drawdown = new Float64Array(rounds)
    this.drawdownPct = new Float64Array(rounds)
    this.initial = initial
  }

  add(round: number, profits: Float64Array): void {
    let equity = this.initial
    let peak = equity
    let [deepest, deepestShare] = [0, 0]
    for (let i = 0; i < profits.length; i++) {
      equity += profits[i]!
      if (equity > peak) peak = equity
      const fall = peak - equity
      if (fall > deepest) deepest = fall
      if (peak > 0 && fall / peak > deepestShare) deepestShare = fall / peak
    }
    this.profit[round] = equity - this.initial
    this.drawdown[round] = deepest
    this.drawdownPct[round] = deepestShare
  }
}

function spreadOf(values: Float64Array): Spread {
  const sorted = values.toSorted()
  return { low: quantile(sorted, 0.05), middle: quantile(sorted, 0.5), high: quantile(sorted, 0.95) }
}
