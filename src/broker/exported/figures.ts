// The performance sheets of an export, held against a report cell by cell.
//
// A sheet has a row a figure, and columns for all, long and short trades, each as an amount and as a share of something.

import type { ExportFigure, FIGURE_SIDES } from '../../wire/export.ts'
import type { Report, ReportColumn, ReportEquity } from '../../wire/report.ts'
import { digitsOf } from './trade-list.ts'
import { amount } from './properties.ts'
import { figureOf, spelled } from './words.ts'
import type { Sheet } from './workbook.ts'

type Side = (typeof FIGURE_SIDES)[number]
interface Head {
  readonly at: number
  readonly side: Side
  readonly isShare: boolean
}
/** Where a figure stands in the report: as an amount, and as a fraction. */
interface Place {
  readonly amount: (report: Report, side: Side) => number | null
  readonly share: (report: Report, side: Side) => number | null
}

const SIDES: Readonly<Record<string, Side>> = {
  all: 'all',
  long: 'long',
  short: 'short',
  全部: 'all',
}
const none = () => null
const column = (key: keyof ReportColumn, share?: keyof ReportColumn): Place => ({
  amount: (report, side) => report[side][key],
  share: share ? (report, side) => report[side][share] : none,
})
const shareOnly = (key: keyof ReportColumn): Place => ({
  amount: none,
  share: (report, side) => report[side][key],
})
type Key = {
  [K in keyof ReportEquity]: ReportEquity[K] extends number | null ? K : never
}[keyof ReportEquity]
const equity = (key: Key, share?: Key): Place => ({
  amount: ({ equity: whole }, side) => (side === 'all' ? whole[key] : null),
  share: share ? ({ equity: whole }, side) => (side === 'all' ? whole[share] : null) : none,
})

const PLACES: Readonly<Record<string, Place>> = {
  initialCapital: { amount: ({ initialCapital }) => initialCapital, share: none },
  openProfit: column('openProfit', 'openProfitPct'),
  netProfit: column('netProfit', 'netProfitPct'),
  grossProfit: column('grossProfit', 'grossProfitPct'),
  grossLoss: column('grossLoss', 'grossLossPct'),
  profitFactor: column('profitFactor'),
  commissionPaid: column('commissionPaid'),
  expectancy: column('expectancy'),
  buyHold: equity('buyHold', 'buyHoldPct'),
  maxContractsHeld: column('maxContractsHeld'),
  cagr: { amount: none, share: ({ equity: { cagr } }, side) => (side === 'all' ? cagr : null) },
  maxRunupClose: equity('maxRunupClose', 'maxRunupClosePct'),
  maxRunup: equity('maxRunup', 'maxRunupPct'),
  maxDrawdownClose: equity('maxDrawdownClose', 'maxDrawdownClosePct'),
  maxDrawdown: equity('maxDrawdown', 'maxDrawdownPct'),
  trades: column('trades'),
  openTrades: column('openTrades'),
  winningTrades: column('winningTrades'),
  losingTrades: column('losingTrades'),
  winRate: shareOnly('winRate'),
  averageTrade: column('averageTrade', 'averageTradePct'),
  averageWin: column('averageWin', 'averageWinPct'),
  averageLoss: column('averageLoss', 'averageLossPct'),
  averageWinLossRatio: column('averageWinLossRatio'),
  largestWin: column('largestWin', 'largestWinPct'),
  largestWinPct: shareOnly('largestWinPct'),
  largestWinShare: shareOnly('largestWinShare'),
  largestLoss: column('largestLoss', 'largestLossPct'),
  largestLossPct: shareOnly('largestLossPct'),
  largestLossShare: shareOnly('largestLossShare'),
  averageBars: column('averageBars'),
  averageBarsWin: column('averageBarsWin'),
  averageBarsLoss: column('averageBarsLoss'),
  sharpe: equity('sharpe'),
  sortino: equity('sortino'),
  marginCalls: column('marginCalls'),
}
/** The report has them as positive amounts; sheets were seen with either sign. */
const UNSIGNED = /Loss|Drawdown/
/** Shown as whole numbers. */
const WHOLE = /Bars/

export interface HeldFigures {
  readonly figures: readonly ExportFigure[]
  /** What of the sheets is not understood. */
  readonly unknown: readonly string[]
}

/** `sheets`: those with figures, in the order of the file. */
export function figuresIn(sheets: readonly Sheet[], report: Report): HeldFigures {
  const figures: ExportFigure[] = []
  const unknown: string[] = []
  const perCent = perCentOf(sheets)
  if (perCent === null && sheets.length > 0)
    unknown.push('Whether shares stand in per cent or as fractions, no sheet tells: they are not compared.')
  for (const { name: sheet, rows } of sheets) {
    const heads = headsOf(rows[0] ?? [])
    if (heads.length === 0) {
      unknown.push(`The sheet "${sheet.slice(0, 60)}" has no columns for all, long and short trades.`)
      continue
    }
    for (const [name = '', ...rest] of rows.slice(1)) {
      const key = figureOf(name)
      const cells = [name, ...rest]
      if (key !== null)
        for (const head of heads) {
          const figure = figureAt({ sheet, name, key, head, text: cells[head.at] ?? '', perCent }, report)
          if (figure) figures.push(figure)
        }
      else if (rest.some((cell) => cell !== ''))
        unknown.push(`The figure "${name.slice(0, 80)}" of the sheet "${sheet.slice(0, 60)}" is not known.`)
    }
  }
  return { figures, unknown }
}

function headsOf(header: readonly string[]): Head[] {
  return header.flatMap((text, at) => {
    const [word = '', unit = ''] = spelled(text).split(' ')
    const side = SIDES[word]
    return at > 0 && side ? [{ at, side, isShare: unit === '%' }] : []
  })
}

/** 100 if shares are in per cent and 1 if they are fractions, by the net profit and the capital of the file itself. */
function perCentOf(sheets: readonly Sheet[]): 1 | 100 | null {
  let capital = NaN
  let profit: readonly string[] = []
  let heads: readonly Head[] = []
  for (const { rows } of sheets)
    for (const row of rows) {
      const key = figureOf(row[0] ?? '')
      if (key === 'initialCapital') capital = amount(row[1] ?? '')
      else if (key === 'netProfit') [profit, heads] = [row, headsOf(rows[0] ?? [])]
    }
  const cell = (isShare: boolean) =>
    amount(profit[heads.find((head) => head.side === 'all' && head.isShare === isShare)?.at ?? -1] ?? '')
  const [share, expected] = [cell(true), cell(false) / capital]
  if (!Number.isFinite(share) || !Number.isFinite(expected) || expected === 0) return null
  return Math.abs(share - expected) < Math.abs(share - 100 * expected) ? 1 : 100
}

interface CellOf {
  readonly sheet: string
  readonly name: string
  readonly key: string
  readonly head: Head
  readonly text: string
  readonly perCent: 1 | 100 | null
}

function figureAt({ sheet, name, key, head, text, perCent }: CellOf, report: Report): ExportFigure | null {
  const cell = amount(text)
  const place = PLACES[key]
  if (Number.isNaN(cell) || !place) return null
  // A share may stand in the column of amounts, where the row has no amount.
  const isShare = head.isShare || place.amount === none
  if (isShare && perCent === null) return null
  const at = (isShare ? place.share : place.amount)(report, head.side)
  if (at === null && (isShare ? place.share : place.amount) === none) return null
  const scale = isShare ? 100 / (perCent ?? 100) : 1
  const sign = UNSIGNED.test(key) ? Math.abs : (value: number) => value
  const expected = sign(cell * scale)
  const found = at === null ? null : sign(isShare ? at * 100 : at)
  const shown = digitsOf(text) - Math.log10(scale)
  const digits = WHOLE.test(key) ? Math.max(0, shown) : Math.max(2, shown)
  const slack = 0.51 * 10 ** -digits + 1e-9 * Math.abs(expected)
  const agrees = found === null ? expected === 0 : Math.abs(expected - found) <= slack
  return { sheet, name, of: head.side, isShare, expected, found, agrees }
}
