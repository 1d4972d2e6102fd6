// The list of trades as CSV: one row per trade, UTC times in ISO 8601, unrounded numbers.

import { csvRow } from '../../lib/csv-text.ts'
import type { Report } from '../../wire/report.ts'

const HEAD = [
  'Trade',
  'Side',
  'Entry time',
  'Entry price',
  'Entry signal',
  'Exit time',
  'Exit price',
  'Exit signal',
  'Size',
  'Profit',
  'Profit %',
  'Cumulative profit',
  'Run-up',
  'Drawdown',
  'Commission',
  'Bars',
  'Status',
]

export function spreadsheetOf({ trades }: Pick<Report, 'trades'>): string {
  const rows = trades.map((trade) => [
    trade.n,
    trade.side,
    new Date(trade.entryTime).toISOString(),
    trade.entryPrice,
    trade.entryComment || trade.entryId,
    new Date(trade.exitTime).toISOString(),
    trade.exitPrice,
    trade.exitComment || trade.exitId,
    trade.qty,
    trade.profit,
    trade.profitPct * 100,
    trade.cumProfit,
    trade.runup,
    trade.drawdown,
    trade.commission,
    trade.bars,
    trade.status,
  ])
  return [HEAD, ...rows].map(csvRow).join('\r\n')
}
