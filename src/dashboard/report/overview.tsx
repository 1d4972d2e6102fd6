// Four questions, in this order: did it make money, how bumpy was it, can I trust it, where was it made.

import type { Report, ReportTrade } from '../../wire/report.ts'
import { hoveredTrade, zone } from '../chart/chart-state.ts'
import { count, money, percent, ratio, time as timeText, tone } from '../format.ts'
import { showsClock } from '../chart/bars.ts'
import { DataTable, type Column } from '../ui/data-table.tsx'
import { Badge, cx, Empty } from '../ui/ui.tsx'
import { lookAt, type Run } from '../workspace.ts'
import { EquityChart } from './equity-chart.tsx'
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
import s from './report.module.css'

export function Overview({ run }: { readonly run: Run }) {
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
        The script ran over {count(report.range.bars)} bars and never filled an order. Look at its conditions,
        or give it more bars.
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

function Figure({ name, value, note, tone: colour, big, title }: FigureProps) {
  return (
    <div class={cx(s.figure, big && s.big)} title={title}>
      <dt>{name}</dt>
      <dd>
        <span class={cx('num', colour)}>{value}</span>
        {note && <span class="num muted">{note}</span>}
      </dd>
    </div>
  )
}

function Money({ run }: { readonly run: Run }) {
  const { report } = run
  const { all, equity, currency } = report
  const ahead = equity.buyHoldPct === null ? null : all.netProfitPct - equity.buyHoldPct
  return (
    <section class={cx(s.question, s.wide)} aria-label="Did it make money?">
      <dl class={s.figures}>
        <Figure
          big
          name="Net profit"
          value={money(all.netProfit, currency, { plus: true })}
          note={percent(all.netProfitPct, { plus: true })}
          tone={tone(all.netProfit)}
        />
        <Figure
          name="Buy & hold"
          value={percent(equity.buyHoldPct, { plus: true })}
          note={ahead === null ? '' : `${percent(ahead, { plus: true })} against it`}
          tone={tone(equity.buyHoldPct)}
        />
        <Figure
          name="Max drawdown"
          value={percent(-equity.maxDrawdownPct)}
          note={money(-equity.maxDrawdown, currency)}
          tone={equity.maxDrawdown > 0 ? 'down' : ''}
        />
        <Figure
          name="A year"
          value={percent(equity.cagr, { plus: true })}
          note="compounded"
          tone={tone(equity.cagr)}
        />
        <Figure name="Profit factor" value={ratio(all.profitFactor, 3)} note="won / lost" />
        <Figure
          name="Profitable"
          value={percent(all.winRate)}
          note={`${count(all.winningTrades)} of ${count(all.trades)}`}
        />
        {all.openTrades > 0 && (
          <Figure
            name="Open"
            value={money(all.openProfit, currency, { plus: true })}
            note={`${all.openTrades} trade${all.openTrades === 1 ? '' : 's'}`}
            tone={tone(all.openProfit)}
          />
        )}
      </dl>
      <EquityChart run={run} />
    </section>
  )
}

function Bumpy({ report }: { readonly report: Report }) {
  const { equity } = report
  const under = longestUnderWater(report)
  const years = yearsOf(equity.months)
  let most = 0.01
  for (const { profitPct } of equity.months) most = Math.max(most, Math.abs(profitPct))
  return (
    <section class={cx(s.question, s.months)} aria-label="How bumpy was it?">
      <h3>How bumpy</h3>
      <dl class={s.pairs}>
        <Figure
          name="Longest under water"
          value={under ? spanText(under.ms) : '—'}
          note={under ? `${count(under.bars)} bars` : ''}
        />
        <Figure name="Return / drawdown" value={ratio(equity.returnOverDrawdown)} />
        <Figure
          name="Sharpe"
          value={ratio(equity.sharpe, 3)}
          title="Of monthly returns, as TradingView has it"
        />
        <Figure name="Sortino" value={ratio(equity.sortino, 3)} />
      </dl>
      <DataTable
        label="Returns by month"
        rows={years.toReversed()}
        keyOf={({ year }) => String(year)}
        fixed
        class={s.heat}
        columns={[
          { of: 'year', head: 'Year', look: 'head', sort: false },
          ...MONTHS.map((month, i) => monthColumn(month, i, most)),
          {
            of: 'total',
            head: 'Year',
            cell: ({ total }) => percentOf(total),
            tone: ({ total }) => cx(s.total, tone(total)),
          },
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
  const { all, equity, warnings } = report
  return (
    <section class={s.question} aria-label="Can I trust it?">
      <h3>Can I trust it</h3>
      <dl class={s.pairs}>
        <Figure
          name="Trades"
          value={count(all.trades)}
          note={all.trades < 30 ? 'few to judge by' : `${ratio(all.averageBars, 1)} bars each`}
        />
        <Figure
          name="Average trade"
          value={money(all.averageTrade, report.currency, { plus: true })}
          note={percent(all.averageTradePct, { plus: true })}
          tone={tone(all.averageTrade)}
        />
        <Figure name="Average win / loss" value={ratio(all.averageWinLossRatio)} />
        <Figure name="Time in the market" value={percent(equity.timeInMarketPct)} />
        <Figure
          name="Commission"
          value={money(all.commissionPaid, report.currency)}
          note={all.commissionPaid === 0 ? 'none was set' : ''}
        />
        <Figure name="Losses in a row" value={count(all.maxLossesInRow)} />
      </dl>
      {warnings.length > 0 && (
        <ul class={s.warnings}>
          {warnings.map((warning, i) => (
            <li key={i}>
              <Badge tone="warn">{warning.code.replaceAll('_', ' ')}</Badge> {warning.message}
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
  const { best, worst } = extremes(report.trades, 3)
  const sides = [
    ['Long', report.long],
    ['Short', report.short],
  ] as const
  const slices: Slice[] = sides
    .filter(([, column]) => column.trades > 0)
    .map(([label, column]) => ({
      label,
      profit: column.netProfit,
      trades: column.trades,
      wins: column.winningTrades,
    }))
  return (
    <section class={cx(s.question, s.wide)} aria-label="Where was it made?">
      <h3>Where it was made</h3>
      <div class={s.where}>
        <Bars title="Side" slices={slices} currency={report.currency} />
        <Bars
          title="Weekday of entry"
          slices={byWeekday(report.trades, zone.value)}
          currency={report.currency}
        />
        <Bars title="Month of exit" slices={byMonth(report.trades, zone.value)} currency={report.currency} />
        <div class={s.extremes}>
          <TradeList title="Best" trades={best} report={report} />
          <TradeList title="Worst" trades={worst} report={report} />
        </div>
      </div>
    </section>
  )
}

function Bars({
  title,
  slices,
  currency,
}: {
  readonly title: string
  readonly slices: readonly Slice[]
  readonly currency: string
}) {
  const most = Math.max(1e-9, ...slices.map((slice) => Math.abs(slice.profit)))
  return (
    <DataTable
      label={title}
      caption={title}
      rows={slices}
      keyOf={({ label }) => label}
      fixed
      class={s.bars}
      columns={[
        { of: 'label', head: title, bare: true, look: 'head', sort: false, title: won },
        {
          of: 'bar',
          head: 'Profit as a bar',
          bare: true,
          tone: () => s.barCell,
          title: won,
          cell: ({ profit }) => (
            <span class={s.barTrack} aria-hidden="true">
              <span
                class={s.barFill}
                data-sign={profit < 0 ? 'down' : 'up'}
                style={{ width: `${(Math.abs(profit) / most) * 50}%` }}
              />
            </span>
          ),
        },
        {
          of: 'profit',
          head: 'Profit',
          bare: true,
          look: 'number',
          tone: ({ profit }) => tone(profit),
          title: won,
          cell: ({ profit, trades }) => (
            <>
              {trades === 0 ? '·' : money(Math.round(profit), '', { plus: true }).replace('.00', '')}
              <span class="visually-hidden"> {currency}</span>
            </>
          ),
        },
      ]}
    />
  )
}

const won = ({ trades, wins }: Slice): string =>
  `${count(trades)} trades, ${percent(trades === 0 ? null : wins / trades)} won`

function TradeList({
  title,
  trades,
  report,
}: {
  readonly title: string
  readonly trades: readonly ReportTrade[]
  readonly report: Report
}) {
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
