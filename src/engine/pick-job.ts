// What an agent is shown of a report: its equity curve and a hundred thousand trades would fill any context.

import type { PickJob } from './job.ts'
import type { Desk } from './worker-loop.ts'

type Json = Readonly<Record<string, unknown>>

/** The newest; more would fill any context. */
const TRADES_MAX = 2000

/** Reads the bytes of an answer with a backtest's result, and answers JSON text of what is wanted of it. */
export async function pickJob({ what }: PickJob, { host }: Desk): Promise<string> {
  const pieces: Uint8Array[] = []
  for (let piece = await host.piece(); piece !== null; piece = await host.piece()) pieces.push(piece)
  const { result, ok: _ok, ...answer } = JSON.parse(new TextDecoder().decode(Buffer.concat(pieces))) as Json
  const report = (result as { readonly report: Json } | null | undefined)?.report
  if (what === 'trades') {
    const trades = (report?.['trades'] ?? []) as readonly unknown[]
    return JSON.stringify({ trades: trades.slice(-TRADES_MAX), tradeCount: trades.length })
  }
  return JSON.stringify({ ...answer, ...(report && { report: figures(report) }) })
}

/** A report without its long lists. */
function figures({ trades, orders, logs, alerts, ...shown }: Json): Json {
  const length = (list: unknown) => (Array.isArray(list) ? list.length : 0)
  return {
    ...shown,
    tradeCount: length(trades),
    orderCount: length(orders),
    logCount: length(logs),
    alertCount: length(alerts),
  }
}
