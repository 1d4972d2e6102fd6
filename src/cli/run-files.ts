// What `backtest` writes for other programs: the list of trades and the plots as CSV, at full precision.

import type { ReportTrade } from '../backtest/report/report.ts'
import type { Track } from '../backtest/tracks.ts'
import { csvRow } from '../lib/csv-text.ts'
import { entrySignal, exitSignal } from './report-text.ts'

const TRADE_COLUMNS: Readonly<Record<string, (trade: ReportTrade) => string | number>> = {
  n: (trade) => trade.n,
  side: (trade) => trade.side,
  entry_time: (trade) => trade.entryTime,
  entry_price: (trade) => trade.entryPrice,
  entry_signal: entrySignal,
  exit_time: (trade) => trade.exitTime,
  exit_price: (trade) => trade.exitPrice,
  exit_signal: exitSignal,
  qty: (trade) => trade.qty,
  profit: (trade) => trade.profit,
  status: (trade) => trade.status,
}

/** Times in UTC ms; numbers as they are, not rounded. */
export function tradesCsv(trades: readonly ReportTrade[]): string {
  const rows = trades.map((trade) => csvRow(Object.values(TRADE_COLUMNS).map((column) => column(trade))))
  return [Object.keys(TRADE_COLUMNS).join(','), ...rows, ''].join('\n')
}

/** The time and a column a plot, named by its title; na is `na`. */
export function plotsCsv(tracks: readonly Track[]): string {
  const columns = tracks.flatMap((track) => {
    const data = track['data']
    return (track.kind === 'time' || PLOTTED.has(track.kind)) && Array.isArray(data)
      ? [{ id: track.id, data: data as readonly unknown[] }]
      : []
  })
  const [time] = columns
  const rows = (time?.data ?? []).map((_, bar) => columns.map(({ data }) => cell(data[bar])).join(','))
  return [csvRow(columns.map(({ id }) => id)), ...rows, ''].join('\n')
}

const PLOTTED = new Set(['plot', 'shape', 'char', 'arrow'])

function cell(value: unknown): string {
  if (typeof value === 'number') return Number.isNaN(value) ? 'na' : String(value)
  if (typeof value === 'boolean') return value ? '1' : '0'
  return 'na'
}
