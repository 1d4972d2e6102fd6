// The Strategy Tester's table: all, long and short trades side by side.

import type { Report, ReportColumn } from '../../wire/report.ts'
import { count, money, percent, quantity, ratio, tone } from '../format.ts'
import { cx } from '../ui/ui.tsx'
import s from './report.module.css'

type Kind = 'money' | 'cost' | 'loss' | 'percent' | 'count' | 'ratio' | 'quantity'
type Key = keyof ReportColumn

/** Name, what it is, and the same as a fraction where there is one. */
const ROWS: readonly (readonly [name: string, key: Key, kind: Kind, fraction?: Key])[] = [
  ['Net profit', 'netProfit', 'money', 'netProfitPct'],
  ['Gross profit', 'grossProfit', 'money', 'grossProfitPct'],
  ['Gross loss', 'grossLoss', 'loss', 'grossLossPct'],
  ['Open profit', 'openProfit', 'money', 'openProfitPct'],
  ['Commission paid', 'commissionPaid', 'cost'],
  ['Profit factor', 'profitFactor', 'ratio'],
  ['Expectancy', 'expectancy', 'money'],
  ['Closed trades', 'trades', 'count'],
  ['Open trades', 'openTrades', 'count'],
  ['Winning trades', 'winningTrades', 'count'],
  ['Losing trades', 'losingTrades', 'count'],
  ['Even trades', 'evenTrades', 'count'],
  ['Profitable', 'winRate', 'percent'],
  ['Average trade', 'averageTrade', 'money', 'averageTradePct'],
  ['Average win', 'averageWin', 'money', 'averageWinPct'],
  ['Average loss', 'averageLoss', 'loss', 'averageLossPct'],
  ['Average win / loss', 'averageWinLossRatio', 'ratio'],
  ['Largest win', 'largestWin', 'money', 'largestWinPct'],
  ['Largest win of gross profit', 'largestWinShare', 'percent'],
  ['Largest loss', 'largestLoss', 'loss', 'largestLossPct'],
  ['Largest loss of gross loss', 'largestLossShare', 'percent'],
  ['Average bars', 'averageBars', 'ratio'],
  ['Average bars, won', 'averageBarsWin', 'ratio'],
  ['Average bars, lost', 'averageBarsLoss', 'ratio'],
  ['Wins in a row', 'maxWinsInRow', 'count'],
  ['Losses in a row', 'maxLossesInRow', 'count'],
  ['Most contracts held', 'maxContractsHeld', 'quantity'],
  ['Margin calls', 'marginCalls', 'count'],
  ['Average run-up', 'averageRunup', 'money'],
  ['Average drawdown', 'averageDrawdown', 'loss'],
]

export function Performance({ report }: { readonly report: Report }) {
  const { equity, currency } = report
  const columns = [report.all, report.long, report.short]
  const whole: readonly (readonly [string, string, string?])[] = [
    ['Max drawdown, within bars', money(-equity.maxDrawdown, currency), percent(-equity.maxDrawdownPct)],
    [
      'Max drawdown, trade to trade',
      money(-equity.maxDrawdownClose, currency),
      percent(-equity.maxDrawdownClosePct),
    ],
    ['Max run-up, within bars', money(equity.maxRunup, currency), percent(equity.maxRunupPct)],
    ['Max run-up, trade to trade', money(equity.maxRunupClose, currency), percent(equity.maxRunupClosePct)],
    [
      'Buy & hold',
      money(equity.buyHold, currency, { plus: true }),
      percent(equity.buyHoldPct, { plus: true }),
    ],
    ['Return a year', percent(equity.cagr, { plus: true })],
    ['Sharpe', ratio(equity.sharpe, 3), `${ratio(equity.sharpeAnnualized)} a year`],
    ['Sortino', ratio(equity.sortino, 3)],
    ['Net profit / max drawdown', ratio(equity.returnOverDrawdown)],
    ['Time in the market', percent(equity.timeInMarketPct)],
  ]
  return (
    <div class={s.performance}>
      <table class={s.columns}>
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Figure</span>
            </th>
            <th scope="col">All</th>
            <th scope="col">Long</th>
            <th scope="col">Short</th>
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([name, key, kind, fraction]) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              {columns.map((column, i) => (
                <td key={i} class="num">
                  <span class={toneOf(column[key], kind)}>{figure(column[key], kind, currency)}</span>
                  {fraction && (
                    <span class={cx('muted', s.under)}>
                      {percent(kind === 'loss' ? negative(column[fraction]) : column[fraction])}
                    </span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <table class={s.columns}>
        <thead>
          <tr>
            <th scope="col">Whole account</th>
            <th scope="col">
              <span class="visually-hidden">Value</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {whole.map(([name, value, under]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="num">
                {value}
                {under && <span class={cx('muted', s.under)}>{under}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const negative = (value: number | null): number | null => (value === null ? null : -value)

function figure(value: number | null, kind: Kind, currency: string): string {
  if (kind === 'money' || kind === 'cost') return money(value, currency)
  if (kind === 'loss') return money(negative(value), currency)
  if (kind === 'percent') return percent(value)
  if (kind === 'count') return count(value)
  if (kind === 'quantity') return quantity(value)
  return ratio(value, 3)
}

function toneOf(value: number | null, kind: Kind): string {
  if (kind === 'loss') return value ? 'down' : ''
  return kind === 'money' ? tone(value) : ''
}
