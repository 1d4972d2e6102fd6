// The report's shape, as the API hands it out. Times UTC ms, fractions as fractions (`…Pct` and `winRate` too),
// undefined = null; a 0 is a real zero. Money is in account currency, prices in the symbol's.

export interface Report {
  readonly version: 1
  readonly engine: { readonly name: string; readonly version: string }
  /** SHA-256 of everything the numbers depend on (hash.ts). */
  readonly hash: string
  readonly script: ReportScript
  /** By title. */
  readonly inputs: Readonly<Record<string, unknown>>
  readonly symbol: string
  readonly exchange: string
  readonly interval: string
  /** Account currency. */
  readonly currency: string
  readonly timezone: string
  readonly mintick: number
  readonly pointvalue: number
  readonly range: { readonly from: number | null; readonly to: number | null; readonly bars: number }
  readonly initialCapital: number
  readonly summary: ReportSummary
  readonly all: ReportColumn
  readonly long: ReportColumn
  readonly short: ReportColumn
  readonly equity: ReportEquity
  readonly trades: readonly ReportTrade[]
  /** Every execution, in order. */
  readonly orders: readonly ReportOrder[]
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  readonly logs: readonly ReportLog[]
  readonly alerts: readonly ReportAlert[]
  /** The only part that differs between two runs of the same thing. */
  readonly timings: { readonly compileMs: number; readonly runMs: number; readonly bars: number }
}

export interface ReportScript {
  readonly title: string
  readonly shorttitle: string
  readonly pineVersion: number
  readonly kind: 'strategy' | 'indicator' | 'library'
  readonly overlay: boolean
  readonly declaration: Readonly<Record<string, number | string | boolean | null>>
}

/** What a webhook carries: every number finite. */
export interface ReportSummary {
  readonly trades: number
  readonly netProfit: number
  readonly netProfitPct: number
  readonly winRate: number
  readonly profitFactor: number
  readonly maxDrawdownPct: number
  readonly sharpe: number
}

/** One column of the Strategy Tester: all, long or short trades. */
export interface ReportColumn {
  readonly netProfit: number
  readonly netProfitPct: number
  readonly grossProfit: number
  readonly grossProfitPct: number
  /** Positive. */
  readonly grossLoss: number
  readonly grossLossPct: number
  readonly openProfit: number
  readonly openProfitPct: number
  readonly commissionPaid: number
  readonly profitFactor: number | null
  readonly expectancy: number | null
  readonly trades: number
  readonly openTrades: number
  readonly winningTrades: number
  readonly losingTrades: number
  readonly evenTrades: number
  readonly winRate: number | null
  readonly averageTrade: number | null
  readonly averageTradePct: number | null
  readonly averageWin: number | null
  readonly averageWinPct: number | null
  /** Positive. */
  readonly averageLoss: number | null
  readonly averageLossPct: number | null
  readonly averageWinLossRatio: number | null
  readonly largestWin: number | null
  /** Its own maximum, maybe another trade's (J3). */
  readonly largestWinPct: number | null
  readonly largestWinShare: number | null
  readonly largestLoss: number | null
  readonly largestLossPct: number | null
  readonly largestLossShare: number | null
  readonly averageBars: number | null
  readonly averageBarsWin: number | null
  readonly averageBarsLoss: number | null
  readonly maxWinsInRow: number
  readonly maxLossesInRow: number
  readonly maxContractsHeld: number
  readonly marginCalls: number
  readonly averageRunup: number | null
  readonly averageDrawdown: number | null
}

export interface ReportEquity {
  readonly final: number
  readonly netProfit: number
  readonly openProfit: number
  /** With the path inside the bars. */
  readonly maxDrawdown: number
  readonly maxDrawdownPct: number
  readonly maxRunup: number
  readonly maxRunupPct: number
  /** From trade to trade. */
  readonly maxDrawdownClose: number
  readonly maxDrawdownClosePct: number
  readonly maxRunupClose: number
  readonly maxRunupClosePct: number
  readonly sharpe: number | null
  readonly sharpeAnnualized: number | null
  readonly sortino: number | null
  readonly cagr: number | null
  readonly buyHold: number | null
  readonly buyHoldPct: number | null
  readonly returnOverDrawdown: number | null
  readonly timeInMarketPct: number
  /** Returns of calendar months, UTC. */
  readonly months: readonly ReportMonth[]
  /** Deepest first, twenty at most. */
  readonly drawdowns: readonly ReportDrawdown[]
}

export interface ReportMonth {
  /** `2026-11`. */
  readonly month: string
  readonly profit: number
  readonly profitPct: number
  readonly trades: number
}

export interface ReportDrawdown {
  /** When the peak, the deepest point and the recovery were; `end` null = not recovered. */
  readonly start: number
  readonly trough: number
  readonly end: number | null
  readonly bars: number
  readonly depth: number
  readonly depthPct: number
}

export interface ReportTrade {
  readonly n: number
  readonly side: 'long' | 'short'
  readonly qty: number
  readonly entryId: string
  readonly entryTime: number
  readonly entryBar: number
  readonly entryPrice: number
  readonly entryComment: string | null
  /** Of an open trade: `Open`, with the last bar's time and close (D20). */
  readonly exitId: string
  readonly exitTime: number
  readonly exitBar: number
  readonly exitPrice: number
  readonly exitComment: string | null
  readonly profit: number
  readonly profitPct: number
  readonly commission: number
  /** Favourable excursion, ≥ 0, net of the entry commission. */
  readonly runup: number
  readonly runupPct: number
  /** Adverse excursion, ≤ 0. */
  readonly drawdown: number
  readonly drawdownPct: number
  readonly bars: number
  readonly cumProfit: number
  readonly cumProfitPct: number
  readonly status: 'closed' | 'open'
}

/** One execution. */
export interface ReportOrder {
  readonly bar: number
  readonly time: number
  readonly id: string
  readonly side: 'buy' | 'sell'
  readonly qty: number
  readonly price: number
  readonly comment: string | null
  readonly commission: number
  /** Signed contracts held after it. */
  readonly position: number
  readonly alertMessage: string | null
}

export interface ReportLog {
  readonly bar: number
  readonly time: number
  readonly level: 'info' | 'warning' | 'error'
  readonly message: string
}

export interface ReportAlert {
  readonly bar: number
  readonly time: number
  readonly title: string
  readonly message: string
}
