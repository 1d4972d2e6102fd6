// A report as text for the terminal: the run, figures by side, the last trades, warnings.

import type { Report, ReportColumn, ReportTrade } from '../wire/report.ts'
import type { Ink } from './ink.ts'
import { formatNumber, formatPercent, formatTime, right, tableLines } from './table.ts'

const TRADES_SHOWN = 10

interface Shown {
  readonly ink: Ink
  /** Of all times, as IANA names it. */
  readonly zone: string
  /** Lines on how often the script was tried. */
  readonly tries: readonly string[]
}

export function reportLines(report: Report, shown: Shown): string[] {
  const { ink, zone, tries } = shown
  const { script, range, asOf } = report
  const name = script.title || 'Untitled'
  const bars = `${formatNumber(range.bars, 0)} bars`
  const span =
    range.from === null || range.to === null
      ? bars
      : `${bars}, ${formatTime(range.from, { date: true, zone })} to ${formatTime(range.to, { date: true, zone })}`
  const head = [
    `${ink.strong(name)} · ${script.kind} · Pine v${script.pineVersion}${asOf === undefined ? '' : ` · as of ${asOf}`}`,
    `${report.exchange === '' ? '' : `${report.exchange}:`}${report.symbol} ${report.interval} · ${span}`,
  ]
  const inputs = Object.entries(report.inputs)
  if (inputs.length > 0) head.push(inputs.map(([title, value]) => `${title} ${String(value)}`).join(' · '))
  const body =
    script.kind === 'strategy'
      ? ['', ...summaryLines(report, ink), '', ...equityLines(report, ink), '', ...tradeLines(report, shown)]
      : ['', 'An indicator: it plots, and trades nothing. --plots FILE writes its values.']
  const warnings = report.warnings.map(({ message }) => `${ink.warning('warning:')} ${message}`)
  const { compileMs, runMs } = report.timings
  const time = `Compiled in ${formatNumber(compileMs, 1)} ms, ran in ${formatNumber(runMs, 1)} ms.`
  return [...head, ...body, '', ...tries, ...warnings, time]
}

function summaryLines({ all, long, short, currency }: Report, ink: Ink): string[] {
  const sides = [all, long, short]
  const money = (pick: (column: ReportColumn) => number | null) =>
    sides.map((side) => formatNumber(pick(side)))
  const percent = (pick: (column: ReportColumn) => number | null) =>
    sides.map((side) => formatPercent(pick(side)))
  const count = (pick: (column: ReportColumn) => number | null) =>
    sides.map((side) => formatNumber(pick(side), 0))
  return tableLines(
    ['', right('All'), right('Long'), right('Short')],
    [
      [
        `Net profit, ${currency}`,
        ...sides.map((side) => gain(side.netProfit, formatNumber(side.netProfit), ink)),
      ],
      ['Net profit', ...sides.map((side) => gain(side.netProfit, formatPercent(side.netProfitPct), ink))],
      [`Gross profit, ${currency}`, ...money((side) => side.grossProfit)],
      [`Gross loss, ${currency}`, ...money((side) => side.grossLoss)],
      [`Commission paid, ${currency}`, ...money((side) => side.commissionPaid)],
      ['Profit factor', ...sides.map((side) => formatNumber(side.profitFactor, 3))],
      ['Closed trades', ...count((side) => side.trades)],
      ['Open trades', ...count((side) => side.openTrades)],
      ['Winning trades', ...percent((side) => side.winRate)],
      [`Average trade, ${currency}`, ...money((side) => side.averageTrade)],
      ['Average bars in a trade', ...count((side) => side.averageBars)],
    ],
    ink,
  )
}

function equityLines({ equity, initialCapital, currency }: Report, ink: Ink): string[] {
  const [deepest] = equity.drawdowns
  return tableLines(
    ['Equity', right(''), right('')],
    [
      [`Initial capital, ${currency}`, formatNumber(initialCapital)],
      [`Final equity, ${currency}`, formatNumber(equity.final)],
      ['Max drawdown (TradingView)', formatNumber(equity.maxDrawdown), formatPercent(equity.maxDrawdownPct)],
      ['Max drawdown (curve)', formatNumber(deepest?.depth ?? 0), formatPercent(deepest?.depthPct ?? 0)],
      ['Max run-up', formatNumber(equity.maxRunup), formatPercent(equity.maxRunupPct)],
      ['Buy and hold', formatNumber(equity.buyHold), formatPercent(equity.buyHoldPct)],
      ['Growth a year (CAGR)', '', formatPercent(equity.cagr)],
      ['Time in the market', '', formatPercent(equity.timeInMarketPct)],
      ['Sharpe ratio, monthly', formatNumber(equity.sharpe, 3)],
      ['Sortino ratio, monthly', formatNumber(equity.sortino, 3)],
    ],
    ink,
  )
}

function tradeLines({ trades, currency, mintick }: Report, { ink, zone }: Shown): string[] {
  const digits = tickDigits(mintick)
  if (trades.length === 0) return ['No trades.']
  const shown = trades.slice(-TRADES_SHOWN)
  const title =
    shown.length === trades.length
      ? `${trades.length} trades`
      : `The last ${shown.length} of ${formatNumber(trades.length, 0)} trades`
  const rows = shown.map((trade) => [
    String(trade.n),
    trade.side,
    entrySignal(trade),
    formatTime(trade.entryTime, { zone }),
    trade.entryPrice.toFixed(digits),
    trade.status === 'open' ? 'open' : exitSignal(trade),
    formatTime(trade.exitTime, { zone }),
    trade.exitPrice.toFixed(digits),
    String(trade.qty),
    gain(trade.profit, formatNumber(trade.profit), ink),
    gain(trade.profitPct, formatPercent(trade.profitPct), ink),
  ])
  return [
    title,
    ...tableLines(
      [
        right('#'),
        'Side',
        'Entry',
        `Time (${zone})`,
        right('Price'),
        'Exit',
        `Time (${zone})`,
        right('Price'),
        right('Quantity'),
        right(`Profit, ${currency}`),
        right(''),
      ],
      rows,
      ink,
    ),
  ]
}

const gain = (value: number | null, text: string, ink: Ink): string =>
  value === null || value === 0 ? text : value > 0 ? ink.good(text) : ink.bad(text)

/** Digits behind the point that a multiple of the tick needs. */
function tickDigits(mintick: number): number {
  for (let digits = 0; digits < 10; digits++)
    if (Math.abs(mintick * 10 ** digits - Math.round(mintick * 10 ** digits)) < 1e-6) return digits
  return 10
}

/** TradingView's "Signal" is an order's comment, or else its id. */
function entrySignal({ entryComment, entryId }: ReportTrade): string {
  return entryComment || entryId
}

function exitSignal({ exitComment, exitId }: ReportTrade): string {
  return exitComment || exitId
}
