// The list of trades as CSV, in the columns of TradingView's own export since October 2026: two rows a trade, the exit first.
// What reads TradingView's list reads ours. Numbers are not rounded.

import { csvRow } from '../lib/csv-text.ts'
import type { Report, ReportTrade } from './report.ts'

type Cell = string | number

/** A column: its heading, `$` standing for the account's currency and `@` for the symbol's, and what stands in both rows of a trade. */
const AMOUNTS: readonly (readonly [heading: string, of: (trade: ReportTrade, pointvalue: number) => Cell])[] =
  [
    ['Size (qty)', ({ qty }) => qty],
    ['Size (value)', ({ qty, entryPrice }, pointvalue) => clean(qty * entryPrice * pointvalue)],
    ['Net PnL $', ({ profit }) => profit],
    ['Return %', ({ profitPct }) => perCent(profitPct)],
    ['Commission $', ({ commission }) => commission],
    ['Favorable excursion $', ({ runup }) => runup],
    ['Favorable excursion %', ({ runupPct }) => perCent(runupPct)],
    ['Adverse excursion $', ({ drawdown }) => drawdown],
    ['Adverse excursion %', ({ drawdownPct }) => perCent(drawdownPct)],
    ['Cumulative PnL $', ({ cumProfit }) => cumProfit],
    ['Cumulative PnL %', ({ cumProfitPct }) => perCent(cumProfitPct)],
    ['Duration (bars)', ({ bars }) => bars],
  ]
const HEADINGS = [
  'Trade number',
  'Type',
  'Date and time',
  'Signal',
  'Price @',
  ...AMOUNTS.map(([name]) => name),
]

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
    const amounts = AMOUNTS.map(([, of]) => of(trade, pointvalue))
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
  const heading = HEADINGS.map((name) => name.replace('$', currency).replace('@', prices).trim())
  return [heading, ...rows].map((cells) => `${csvRow(cells)}\n`).join('')
}

const perCent = (fraction: number) => clean(fraction * 100)
/** Without the noise of a multiplication. */
const clean = (value: number) => Number(value.toPrecision(12))
