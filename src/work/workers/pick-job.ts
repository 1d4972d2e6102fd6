// Picks the parts of a report that an agent gets to see: its equity curve and a hundred thousand trades would fill any
// context.

import type { Answer } from '../../wire/operations.ts'
import type { Report, ReportTrade } from '../../wire/report.ts'
import type { PickJob } from './job.ts'
import type { Desk } from './desk.ts'

/** The part of an answer with a backtest that a preview has too. */
type Answered = Partial<Answer<'GET /api/platform/backtests/{id}'>> & { readonly ok?: true }
/** The answer without tracks, and its report without long lists. */
export interface ShownAnswer extends Omit<Answered, 'ok' | 'result'> {
  readonly report?: ReturnType<typeof figures>
}

export interface ShownTrades {
  readonly trades: readonly ReportTrade[]
  readonly tradeCount: number
}

/** Reads the bytes of an answer with a backtest's result, and answers the requested part as JSON text. */
export async function pickJob({ what }: PickJob, { host }: Desk): Promise<string> {
  const pieces: Uint8Array[] = []
  for (let piece = await host.piece(); piece !== null; piece = await host.piece()) pieces.push(piece)
  const {
    result,
    ok: _ok,
    ...answer
  } = JSON.parse(new TextDecoder().decode(Buffer.concat(pieces))) as Answered
  if (what !== 'figures') {
    const trades = (result?.report.trades ?? []).filter(({ exitTime }) => exitTime < what.before)
    const shown: ShownTrades = { trades: trades.slice(-what.trades), tradeCount: trades.length }
    return JSON.stringify(shown)
  }
  const picked: ShownAnswer = { ...answer, ...(result && { report: figures(result.report) }) }
  return JSON.stringify(picked)
}

/** A report that an earlier version stored may lack a list. */
const lengthOf = (list: readonly unknown[] | undefined): number => list?.length ?? 0

function figures({ trades, orders, logs, alerts, ...shown }: Report) {
  return {
    ...shown,
    tradeCount: lengthOf(trades),
    orderCount: lengthOf(orders),
    logCount: lengthOf(logs),
    alertCount: lengthOf(alerts),
  }
}
