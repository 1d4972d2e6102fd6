// How much of a profit higher costs would leave, without running anything again: a trade pays commission and slippage, so
// its profit at other costs follows as long as the same trades are made.

export interface CostedTrade {
  /** With the original commission and slippage subtracted. */
  readonly profit: number
  readonly commission: number
  /** In contracts, unsigned. */
  readonly size: number
}

export interface CostedProfit {
  /** Commission as a multiple of the original, and extra ticks of slippage at each end of a trade. */
  readonly commission: number
  readonly ticks: number
  readonly profit: number
}

/** The profit at each pair of costs, and how many ticks a side would consume all of it; null if there is no profit. */
export function costSensitivity(
  trades: readonly CostedTrade[],
  tickValue: number,
  commissions: readonly number[] = [1, 1.5, 2, 3],
  ticks: readonly number[] = [0, 1, 2, 5],
): { readonly table: readonly CostedProfit[]; readonly breakEvenTicks: number | null } {
  const profit = trades.reduce((sum, trade) => sum + trade.profit, 0)
  const paid = trades.reduce((sum, trade) => sum + trade.commission, 0)
  // A trade has two fills.
  const tickCost = trades.reduce((sum, { size }) => sum + 2 * size * tickValue, 0)
  const table = commissions.flatMap((commission) =>
    ticks.map((slip) => ({
      commission,
      ticks: slip,
      profit: profit - (commission - 1) * paid - slip * tickCost,
    })),
  )
  return { table, breakEvenTicks: profit > 0 && tickCost > 0 ? profit / tickCost : null }
}
