// Four questions, in this order: did it make money, how bumpy was it, can I trust it, where was it made.

import type { Report, ReportTrade } from '../../wire/report.ts'
import { hoveredTrade, zone } from '../chart/chart-state.ts'
import { count, counted, money, percent, time as timeText, tone, gain } from '../format.ts'
import { showsClock } from '../chart/bars.ts'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Badge, cx, Empty, Said } from '../ui/ui.tsx'
import { lookAt, type ShownRun } from '../workspace.ts'
import { curveFallOf, EquityChart } from './equity-chart.tsx'
import {
  byMonth,
  byWeekday,
  extremes,
  longestUnderWater,
  MONTHS,
  spanText,
  yearsOf,
  type Slice,
  type YearRow,
} from './figures.ts'
import {
  CURVE_FALL,
  CURVE_FALL_PCT,
  FIGURES,
  figureName,
  figureText,
  figureTone,
  type EquityFigure,
} from './figure-text.ts'
import type { WireField } from '../ui/wire-fields.ts'
import s from './report.module.css'

export function Overview({ run }: { readonly run: ShownRun }) {
  const { report } = run
  if (report.script.kind !== 'strategy')
    return (
      <Empty title="An indicator has no trades">
        It is drawn on the chart. Call it with strategy() and orders to see what they would have made.
      </Empty>
    )
  if (report.trades.length === 0)
    return (
      <Empty title="No trades">
        The script ran over {counted(report.range.bars, 'bar')} and never filled an order.{' '}
        {report.warnings.length > 0
          ? report.warnings.map(({ message }) => message).join(' ')
          : 'Look at its conditions, or give it more bars.'}
      </Empty>
    )
  return (
    <div class={s.overview}>
      <Money run={run} />
      <Bumpy report={report} />
      <Trust report={report} />
      <Where report={report} />
    </div>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly note?: string
  readonly tone?: string
  readonly big?: boolean
  readonly title?: string
}

const Figure = ({ name, value, note, tone: colour, big, title }: FigureProps) => (
  <div class={cx(s.figure, big && s.big)} title={title}>
    <dt>{name}</dt>
    <dd>
      <span class={cx('num', colour)}>{value}</span>
      {note && <span class="num muted">{note}</span>}
    </dd>
  </div>
)

/** The props of a figure that the report has as a field. */
function figuresOf(report: Report) {
  const shown = (key: string, field: WireField, value: number | null) => ({
    name: figureName(key, field),
    value: figureText(value, field, report, { plus: field.means === 'profit' }),
    tone: figureTone(value, field),
    ...(field.meaning !== undefined && { title: field.meaning }),
  })
  return {
    shown,
    all: (key: keyof Report['all']) => shown(key, FIGURES.column[key], report.all[key]),
    equity: (key: EquityFigure) => shown(key, FIGURES.equity[key], report.equity[key]),
  }
}

function Money({ run }: { readonly run: ShownRun }) {
  const { report } = run
  const { all, equity, shown } = figuresOf(report)
  const fall = curveFallOf(run)
  const { buyHoldPct } = report.equity
  const { winningTrades, trades, openTrades, netProfitPct } = report.all
  const ahead = buyHoldPct === null ? null : netProfitPct - buyHoldPct
  return (
    <section class={cx(s.question, s.wide)} aria-label="Did it make money?">
      <dl class={s.figures}>
        <Figure big {...all('netProfit')} note={all('netProfitPct').value} />
        <Figure
          {...equity('buyHoldPct')}
          name="Buy & hold from the first trade"
          note={ahead === null ? '' : `${gain(ahead)} against it`}
        />
        <Figure {...equity('maxDrawdownPct')} note={equity('maxDrawdown').value} />
        <Figure
          {...shown('', CURVE_FALL_PCT, fall.curveFallPct)}
          note={shown('', CURVE_FALL, fall.curveFall).value}
        />
        <Figure {...equity('cagr')} name="A year (CAGR)" />
        <Figure {...all('profitFactor')} note="won / lost" />
        <Figure {...all('winRate')} note={`${count(winningTrades)} of ${count(trades)}`} />
        {openTrades > 0 && <Figure {...all('openProfit')} name="Open" note={counted(openTrades, 'trade')} />}
      </dl>
      <EquityChart run={run} />
    </section>
  )
}

function Bumpy({ report }: { readonly report: Report }) {
  const { equity } = report
  const figures = figuresOf(report)
  const under = longestUnderWater(report)
  const years = yearsOf(equity.months)
  const most = Math.max(0.01, ...equity.months.map(({ profitPct }) => Math.abs(profitPct)))
  return (
    <section class={s.question} aria-label="How bumpy was it?">
      <h3>How bumpy</h3>
      <dl class={s.pairs}>
        <Figure
          name="Longest under water"
          value={under ? spanText(under.ms) : '—'}
          note={under ? counted(under.bars, 'bar') : ''}
        />
        <Figure {...figures.equity('returnOverDrawdown')} name="Return / drawdown" />
        <Figure {...figures.equity('sharpe')} />
        <Figure {...figures.equity('sortino')} />
      </dl>
      <p class="muted">By month, of the trades that closed in it.</p>
      <DataTable
        label="Returns by month"
        rows={years.toReversed()}
        fixed
        class={s.heat}
        columns={({ own }) => [
          { of: 'year', head: 'Year', look: 'head', sort: false },
          ...MONTHS.map((month, i) => monthColumn(month, i, most)),
          own('total', 'Year', '', ({ total }) => percentOf(total), {
            tone: ({ total }) => cx(s.total, tone(total)),
          }),
        ]}
      />
    </section>
  )
}

const percentOf = (fraction: number): string =>
  percent(fraction, { places: Math.abs(fraction) >= 0.995 ? 0 : 1 })

/** The column of a month. A return's background is the stronger, the closer it comes to the largest one. */
const monthColumn = (head: string, i: number, most: number): Column<YearRow> => ({
  of: head,
  head,
  cell: ({ months }) => (months[i] === undefined ? '' : months[i] === 0 ? '·' : percentOf(months[i])),
  tone: ({ months }) => (months[i] ? undefined : 'muted'),
  ground: ({ months }) => (months[i] ? heat(months[i], most) : undefined),
})

function heat(month: number, most: number): string {
  const share = Math.round(Math.min(1, Math.sqrt(Math.abs(month) / most)) * 46)
  return `color-mix(in srgb, ${month > 0 ? 'var(--up)' : 'var(--down)'} ${share}%, transparent)`
}

function Trust({ report }: { readonly report: Report }) {
  const { warnings } = report
  const { trades, commissionPaid } = report.all
  const { all, equity } = figuresOf(report)
  return (
    <section class={s.question} aria-label="Can I trust it?">
      <h3>Can I trust it</h3>
      <dl class={s.pairs}>
        <Figure
          {...all('trades')}
          name="Trades"
          note={trades < 30 ? 'few to judge by' : `${all('averageBars').value} bars each`}
        />
        <Figure {...all('averageTrade')} note={all('averageTradePct').value} />
        <Figure {...all('averageWinLossRatio')} />
        <Figure {...equity('timeInMarketPct')} />
        <Figure
          {...all('commissionPaid')}
          name="Commission"
          note={commissionPaid === 0 ? 'none was set' : ''}
        />
        <Figure {...all('maxLossesInRow')} name="Losses in a row" />
      </dl>
      {warnings.length > 0 && (
        <ul class={s.warnings}>
          {warnings.map((warning, i) => (
            <li key={i}>
              <Badge tone="warn">{warning.code.replaceAll('_', ' ')}</Badge> <Said text={warning.message} />
            </li>
          ))}
        </ul>
      )}
      <p class="muted">
        Fingerprint <code title={report.hash}>{report.hash.slice(0, 12)}</code>: script, inputs, bars and
        engine.
      </p>
    </section>
  )
}

function Where({ report }: { readonly report: Report }) {
  const { trades, long, short, currency } = report
  const { best, worst } = extremes(trades, 3)
  const sideOf = (label: string, of: Report['long']): Slice => ({
    label,
    profit: of.netProfit,
    trades: of.trades,
    wins: of.winningTrades,
  })
  const sides = [sideOf('Long', long), sideOf('Short', short)].filter((side) => side.trades > 0)
  return (
    <section class={cx(s.question, s.wide)} aria-label="Where was it made?">
      <h3>Where it was made</h3>
      <div class={s.where}>
        <Bars title="Side" slices={sides} currency={currency} />
        <Bars title="Weekday of entry" slices={byWeekday(trades, zone.value)} currency={currency} />
        <Bars title="Month of exit" slices={byMonth(trades, zone.value)} currency={currency} />
        <div class={s.extremes}>
          <TradeList title="Best" trades={best} report={report} />
          <TradeList title="Worst" trades={worst} report={report} />
        </div>
      </div>
    </section>
  )
}

function Bars({ title, slices, currency }: { title: string; slices: readonly Slice[]; currency: string }) {
  const most = Math.max(1e-9, ...slices.map((slice) => Math.abs(slice.profit)))
  return (
    <DataTable
      label={title}
      caption={title}
      rows={slices}
      fixed
      class={s.bars}
      columns={({ own }) => [
        { of: 'label', head: title, bare: true, look: 'head', sort: false, title: won },
        own('bar', 'Profit as a bar', '', ({ profit }) => barOf(profit, most), {
          bare: true,
          tone: () => s.barCell,
          title: won,
        }),
        own('profit', 'Profit', 'number', (slice) => profitOf(slice, currency), {
          bare: true,
          tone: ({ profit }) => tone(profit),
          title: won,
        }),
      ]}
    />
  )
}

const barOf = (profit: number, most: number) => (
  <span class={s.barTrack} aria-hidden="true">
    <span
      class={s.barFill}
      data-sign={profit < 0 ? 'down' : 'up'}
      style={{ width: `${(Math.abs(profit) / most) * 50}%` }}
    />
  </span>
)

const profitOf = ({ profit, trades }: Slice, currency: string) => (
  <>
    {trades === 0 ? '·' : money(Math.round(profit), '', { plus: true }).replace('.00', '')}
    <span class="visually-hidden"> {currency}</span>
  </>
)

const won = ({ trades, wins }: Slice): string =>
  `${counted(trades, 'trade')}, ${percent(trades === 0 ? null : wins / trades)} won`

interface TradeListProps {
  readonly title: string
  readonly trades: readonly ReportTrade[]
  readonly report: Report
}

function TradeList({ title, trades, report }: TradeListProps) {
  const clock = showsClock(report.interval)
  return (
    <div>
      <h4>{title}</h4>
      {trades.length === 0 && <p class="muted">None</p>}
      {trades.map((trade) => (
        <button
          key={trade.n}
          type="button"
          class={s.trade}
          onClick={() => (lookAt.value = { time: trade.entryTime, trade: trade.n })}
          onPointerEnter={() => (hoveredTrade.value = trade.n)}
          onPointerLeave={() => (hoveredTrade.value = null)}
        >
          <span class="muted num">#{trade.n}</span>
          <span class="num">{timeText(trade.entryTime, zone.value, clock)}</span>
          <span class={cx('num', tone(trade.profit))}>
            {money(trade.profit, report.currency, { plus: true })}
          </span>
        </button>
      ))}
    </div>
  )
}
