// A step of a forward run: a strategy over the bars that have come so far, going on from the state before the newest one.
//
// It is the same run as a backtest of these bars, whose report it gives byte for byte, timings apart. State is kept from
// before the newest bar, since a script can tell that a bar is the last one (barstate.islast); when the next bar comes, it is
// run once more as one of the past. Where a bar to come may still change the past, an earlier state is kept, or none.

import type { ReportOrder, ReportSummary } from '../wire/report.ts'
import type { WaitingOrder } from './emulator/broker.ts'
import type { Backtest, BacktestRequest, BacktestResult, Snapshot } from './backtest.ts'
import { openBacktest } from './run.ts'

export interface ForwardState extends Snapshot {
  /** How many bars are in it. */
  readonly position: number
}

export interface Forwarded {
  /** Fills on bar `from` and later. */
  readonly fills: readonly ReportOrder[]
  /** What waits for the next bar. */
  readonly waiting: readonly WaitingOrder[]
  /** In contracts; negative = short. */
  readonly position: number
  readonly equity: number
  readonly initialCapital: number
  readonly currency: string
  readonly summary: ReportSummary
  /** null: keep the state that you have. */
  readonly kept: ForwardState | null
}

/** `keeps` is false for a run that reads other series: they may have changed since. */
export function forward(
  request: BacktestRequest,
  before: ForwardState | null,
  from: number,
  { keeps = true }: { readonly keeps?: boolean } = {},
): { readonly step: Forwarded; readonly result: BacktestResult } {
  const usable = keeps && before !== null && before.position < request.bars.length ? before : null
  const open = () => {
    const backtest = openBacktest(request)
    if (usable) backtest.restore(usable)
    return backtest
  }
  const backtest = open()
  const newest = backtest.bars.length - 1
  backtest.advance(newest)
  const settled = Math.min(newest, backtest.unsettledFrom)
  const isNews = keeps && settled > (usable?.position ?? 0)
  const kept = isNews ? stateAt(settled === newest ? backtest : open(), settled) : null
  backtest.advance(newest + 1)
  const result = backtest.result()
  const { report } = result
  const { initialCapital } = backtest.broker.settings
  const held = report.trades.filter(({ status }) => status === 'open')
  return {
    step: {
      fills: report.orders.filter(({ bar }) => bar >= from),
      waiting: backtest.broker.waitingOrders(),
      position: held.reduce((sum, { side, qty }) => sum + (side === 'long' ? qty : -qty), 0),
      equity: initialCapital + report.all.netProfit + report.all.openProfit,
      initialCapital,
      currency: report.currency,
      summary: report.summary,
      kept,
    },
    result,
  }
}

function stateAt(backtest: Backtest, position: number): ForwardState {
  backtest.advance(position)
  return { ...backtest.snapshot(), position }
}
