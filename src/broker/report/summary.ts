// The seven figures in webhooks and lists of backtests. All are finite, since receivers may not expect null: no trades → 0; wins
// without losses → a profit factor of 1e6; an undefined Sharpe ratio → 0.

import type { ReportColumn, ReportEquity, ReportSummary } from '../../wire/report.ts'

/** The profit factor of wins without losses. */
export const NO_LOSSES = 1e6

export function reportSummary(
  all: Pick<
    ReportColumn,
    'trades' | 'netProfit' | 'netProfitPct' | 'winRate' | 'profitFactor' | 'grossProfit'
  >,
  equity: Pick<ReportEquity, 'maxDrawdownPct' | 'sharpe'>,
): ReportSummary {
  return {
    trades: all.trades,
    netProfit: finite(all.netProfit),
    netProfitPct: finite(all.netProfitPct),
    winRate: finite(all.winRate ?? 0),
    profitFactor: finite(all.profitFactor ?? (all.grossProfit > 0 ? NO_LOSSES : 0)),
    get maxDrawdownPct() {
      return finite(equity.maxDrawdownPct)
    },
    sharpe: finite(equity.sharpe ?? 0),
  }
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0
}
