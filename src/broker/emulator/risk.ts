// strategy.risk.*: the rules that watch a strategy and stop it (H1 to H5).
//
// The script sets the rules on every bar; `RiskState` holds what they remember from bar to bar.

export interface RiskState {
  allow: 'all' | 'long' | 'short'
  /** Contracts in units, Infinity = no limit. */
  positionMax: number
  filledOrdersMax: number
  drawdown: RiskLimit | null
  intradayLoss: RiskLimit | null
  lossDaysMax: number
  /** The trading day (any number that changes with it), and what happened on it. */
  day: number
  dayEquity: number
  filledToday: number
  /** Closed equity at the start of the day, for counting losing days. */
  dayClosedEquity: number
  lossDays: number
  /** H3: the peak of realised equity, and the number of closed trades when it was last checked. */
  peak: number
  closedSeen: number
  /** Whether orders are refused: no, until the day ends, or for good. */
  halted: 'no' | 'day' | 'forever'
}

export interface RiskLimit {
  readonly value: number
  readonly type: 'percent_of_equity' | 'cash'
  readonly alertMessage: string | null
}

export function calmRisk(initialCapital: number): RiskState {
  return {
    allow: 'all',
    positionMax: Infinity,
    filledOrdersMax: Infinity,
    drawdown: null,
    intradayLoss: null,
    lossDaysMax: Infinity,
    day: NaN,
    dayEquity: initialCapital,
    filledToday: 0,
    dayClosedEquity: initialCapital,
    lossDays: 0,
    peak: initialCapital,
    closedSeen: 0,
    halted: 'no',
  }
}

/** Whether a rule has to check every bar, with or without orders. */
export function watches(risk: RiskState): boolean {
  return (
    risk.drawdown !== null ||
    risk.intradayLoss !== null ||
    risk.lossDaysMax !== Infinity ||
    risk.filledOrdersMax !== Infinity
  )
}

/** H4, H5: begins a new trading day. Answers whether there have been too many losing days in a row. */
export function rollDay(risk: RiskState, day: number, equity: number, closedEquity: number): boolean {
  if (day === risk.day) return false
  if (!Number.isNaN(risk.day)) {
    const lost = closedEquity - risk.dayClosedEquity
    if (lost < 0) risk.lossDays++
    else if (lost > 0) risk.lossDays = 0
  }
  risk.day = day
  risk.dayEquity = equity
  risk.dayClosedEquity = closedEquity
  risk.filledToday = 0
  if (risk.halted === 'day') risk.halted = 'no'
  return risk.halted === 'no' && risk.lossDays >= risk.lossDaysMax
}

/** H2: unrealised loss counts too; percentages are of the day's first equity. */
export function intradayLossReached(risk: RiskState, equity: number): boolean {
  const limit = risk.intradayLoss
  if (!limit) return false
  const allowed = limit.type === 'cash' ? limit.value : (risk.dayEquity * limit.value) / 100
  return risk.dayEquity - equity >= allowed
}

/** H3: compares the peak of realised equity with equity marked to market, and only when a trade has closed. */
export function drawdownReached(
  risk: RiskState,
  equity: number,
  closedEquity: number,
  closedTrades: number,
): boolean {
  const limit = risk.drawdown
  if (!limit || closedTrades === risk.closedSeen) return false
  risk.closedSeen = closedTrades
  risk.peak = Math.max(risk.peak, closedEquity)
  const allowed = limit.type === 'cash' ? limit.value : (risk.peak * limit.value) / 100
  return risk.peak - equity >= allowed
}

export const RISK_COMMENTS = {
  filledOrders: 'Close Position (Max number of filled orders in one day)',
  intradayLoss: 'Close Position (Max intraday loss reached)',
  drawdown: 'Close Position (Max drawdown reached)',
  lossDays: 'Close Position (Max number of consecutive losing days)',
} as const
