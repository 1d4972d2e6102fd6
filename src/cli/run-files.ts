// The files that `backtest` writes for other programs: the list of trades and the plots as CSV, at full precision.

import { csvRow } from '../lib/csv-text.ts'
import type { ReportTrade } from '../wire/report.ts'
import type { Track } from '../wire/track.ts'
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

/** Times are UTC ms; numbers are not rounded. */
export function tradesCsv(trades: readonly ReportTrade[]): string {
  const rows = trades.map((trade) => csvRow(Object.values(TRADE_COLUMNS).map((column) => column(trade))))
  return [csvRow(Object.keys(TRADE_COLUMNS)), ...rows, ''].join('\n')
}

/** The time and one column for each plot, named by its title; na is written `na`. */
export function plotsCsv(tracks: readonly Track[]): string {
  const columns = tracks.flatMap((track) => {
    switch (track.kind) {
      case 'time':
      case 'plot':
      case 'shape':
      case 'char':
      case 'arrow':
        return [{ id: track.id, data: track.data }]
      default:
        return []
    }
  })
  const [time] = columns
  const rows = (time?.data ?? []).map((_, bar) => csvRow(columns.map(({ data }) => cell(data[bar]))))
  return [csvRow(columns.map(({ id }) => id)), ...rows, ''].join('\n')
}

function cell(value: number | null | undefined): number | 'na' {
  return value === null || value === undefined || Number.isNaN(value) ? 'na' : value
}
