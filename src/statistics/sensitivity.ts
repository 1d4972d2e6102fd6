// What higher costs leave of a profit, without running anything again: a trade pays its commission and its slippage, so its
// profit at other costs is known as long as the same trades are made.

export interface CostedTrade {
  /** Net of commission and slippage as they were. */
  readonly profit: number
  readonly commission: number
  /** Contracts, unsigned. */
  readonly size: number
}

export interface CostedProfit {
  /** Commission in multiples of what it was, and ticks of slippage on top at each end of a trade. */
  readonly commission: number
  readonly ticks: number
  readonly profit: number
}

/** Profit at each pair of costs, and how many ticks a side would take all of it; null where there is no profit to take. */
export function costSensitivity(
  trades: readonly CostedTrade[],
  tickValue: number,
  commissions: readonly number[] = [1, 1.5, 2, 3],
  ticks: readonly number[] = [0, 1, 2, 5],
): { readonly table: readonly CostedProfit[]; readonly breakEvenTicks: number | null } {
  const profit = trades.reduce((sum, trade) => sum + trade.profit, 0)
  const paid = trades.reduce((sum, trade) => sum + trade.commission, 0)
  // Two fills a trade.
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
