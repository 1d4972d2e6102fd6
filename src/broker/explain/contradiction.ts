// Rows of an export that cannot be, whatever script and settings it was made with: their profit is another than their own prices
// and quantity come to, or a price lies outside the bar that it is stamped with. Somebody has altered the file.

import { tidy } from '../../lib/tidy.ts'
import type { Bars } from '../../market/bars.ts'
import type { Zone } from '../../market/zone.ts'
import type { Report, ReportTrade } from '../../wire/report.ts'
import { compareTrade, type Pair } from '../compare.ts'
import type { ExportedTrade } from '../exported/trade-list.ts'
import type { ExplainedChange } from './change.ts'
import { barOutside } from './notes.ts'

/** If more of the rows than this are odd, it is the bars or the money that are others, and no row was altered. */
const FEW = 1 / 3
const FIELDS = ['entryPrice', 'exitPrice', 'qty', 'profit'] as const

export function contradictionOf({
  pairs,
  report,
  bars,
  zone,
}: {
  readonly pairs: readonly Pair[]
  readonly report: Report
  readonly bars: Bars
  readonly zone: Zone
}): ExplainedChange | null {
  const { mintick } = report
  const rows = pairs.flatMap(([want, got]) => (want ? [{ want, got }] : []))
  const others = rows.filter(
    ({ want, got }) => !got || compareTrade(want, got, zone, mintick, FIELDS).length > 0,
  )
  const wrong = others.flatMap(({ want, got }) => {
    const sums = got ? sumsOf(want, got, mintick) : null
    return sums === null ? [] : [{ want, why: sums }]
  })
  const outside = others.flatMap(({ want }) => {
    const why = outsideOf(want, bars, zone, 1.5 * mintick)
    return why === null ? [] : [{ want, why }]
  })
  // Prices of another feed are others in many rows, and outside the bar in a few of them.
  const odd = [
    ...(wrong.length <= rows.length * FEW ? wrong : []),
    ...(others.length <= rows.length * FEW ? outside : []),
  ]
  const [first] = odd
  if (!first) return null
  const more = new Set(odd.map(({ want }) => want)).size - 1
  const said = odd.filter(({ want }) => want === first.want).map(({ why }) => why)
  return {
    kind: 'contradiction',
    message: `Trade ${first.want.n} of the export contradicts itself: ${said.join(', and ')}${more > 0 ? `; so it is with ${more} more of its trades` : ''}`,
  }
}

/** What the prices and the quantity of a row come to, where it is not the row's profit; fees are as the run paid them. */
function sumsOf(want: ExportedTrade, got: ReportTrade, mintick: number): string | null {
  const { entry, exit, qty, profit } = want
  if (qty === null || profit === null) return null
  const sign = want.side === 'long' ? 1 : -1
  const gained = sign * (got.exitPrice - got.entryPrice) * got.qty
  const worth = gained === 0 ? 1 : (got.profit + got.commission) / gained
  const gross = sign * (exit.price - entry.price) * qty * worth
  // A fee is by order, by contract or by what they are worth.
  const shares = [
    1,
    qty / got.qty,
    (qty * (entry.price + exit.price)) / (got.qty * (got.entryPrice + got.exitPrice)),
  ]
  const nets = shares.map((share) => gross - share * got.commission)
  const net = nets.reduce((a, b) => (Math.abs(b - profit.value) < Math.abs(a - profit.value) ? b : a))
  const slack = 0.51 * 10 ** -profit.digits + Math.abs(worth) * qty * mintick + 1e-6 * Math.abs(gross)
  if (Math.abs(net - profit.value) <= slack) return null
  return `from ${entry.price} to ${exit.price} with ${qty} is a profit of ${tidy(Number(net.toFixed(Math.max(2, profit.digits))))}, not of ${profit.value}`
}

function outsideOf(want: ExportedTrade, bars: Bars, zone: Zone, slack: number): string | null {
  for (const [name, fill] of [
    ['entry', want.entry],
    ['exit', want.exit],
  ] as const) {
    const bar = barOutside(bars, zone, fill, slack)
    if (bar >= 0)
      return `its ${name} at ${fill.price} lies outside the bar that it is stamped with, ${tidy(bars.low[bar]!)} to ${tidy(bars.high[bar]!)}`
  }
  return null
}
