// The list of trades as CSV, in the columns of TradingView's own export since October 2026: two rows a trade, the exit first.
// What reads TradingView's list reads ours. Prices and amounts are rounded to no tick; percentages have TradingView's two decimals.

import { csvRow } from '../lib/csv-text.ts'
import type { Report, ReportTrade } from './report.ts'
// A macro, so that the page does without the schemas.
import { tradeHeadings } from './report.ts' with { type: 'macro' }

type Amount = ReturnType<typeof tradeHeadings>[number]

/** Behind the size: what it was worth at the entry. The report has no such field. */
const SIZE_VALUE = 'Size (value)'

/** The rows' own columns, and those of both rows of a trade. */
const HEADINGS = ['Trade number', 'Type', 'Date and time', 'Signal', 'Price @']
const AMOUNTS = tradeHeadings()

/**
 * `offsetAt`: wall clock minus UTC, in ms, of the zone that times are written in. `prices`: the symbol's currency, which a report
 * does not say; without it the heading of prices has none.
 */
export function tradeListCsv(
  { trades, currency, pointvalue }: Pick<Report, 'trades' | 'currency' | 'pointvalue'>,
  { offsetAt, prices = '' }: { readonly offsetAt: (time: number) => number; readonly prices?: string },
): string {
  const wall = (time: number) => {
    const text = new Date(time + offsetAt(time)).toISOString().replace('T', ' ')
    return text.slice(0, text.slice(17, 19) === '00' ? 16 : 19)
  }
  const rows = trades.flatMap((trade) => {
    const { n, side, status } = trade
    const amounts = AMOUNTS.flatMap((column) => cellsOf(trade, column, pointvalue))
    const exit = status === 'open' ? 'Open' : trade.exitComment || trade.exitId
    return [
      [n, `Exit ${side}`, wall(trade.exitTime), exit, trade.exitPrice, ...amounts],
      [
        n,
        `Entry ${side}`,
        wall(trade.entryTime),
        trade.entryComment || trade.entryId,
        trade.entryPrice,
        ...amounts,
      ],
    ]
  })
  const headings = AMOUNTS.flatMap(([name, field]) => (field === 'qty' ? [name, SIZE_VALUE] : [name]))
  const heading = [...HEADINGS, ...headings].map((name) =>
    name.replace('$', currency).replace('@', prices).trim(),
  )
  return [heading, ...rows].map((cells) => `${csvRow(cells)}\n`).join('')
}

function cellsOf(trade: ReportTrade, [heading, field]: Amount, pointvalue: number): (string | number)[] {
  const value = trade[field] ?? ''
  if (field === 'qty') return [value, clean(trade.qty * trade.entryPrice * pointvalue)]
  if (heading.endsWith('%')) return [percentage(Number(value))]
  // The list counts bars from entry to exit; in the report the first counts, too (J2).
  if (field === 'bars') return [trade.exitBar - trade.entryBar]
  return [typeof value === 'number' ? clean(value) : value]
}

/** Two decimals always; what rounds to nothing has no sign. */
const percentage = (fraction: number) =>
  clean(fraction * 100)
    .toFixed(2)
    .replace(/^-(?=0\.00$)/, '')

/** Without the noise of sums and products: 2693.85 and 0.1, where doubles are 2693.849999999999 and 0.0999999999999091. */
const clean = (value: number) => Number(Number(value.toPrecision(12)).toFixed(12))
