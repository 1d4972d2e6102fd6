// The drawer of trades: sortable by every column, usable by keys, and saved as CSV. Only the rows on screen are in the
// page, since there may be tens of thousands.

import { useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Report, ReportTrade } from '../../wire/report.ts'
import { hoveredTrade, markedTrade, replayOnChart, shown, zone } from '../chart/chart-state.ts'
import { showsClock } from '../chart/bars.ts'
import { download } from '../chart/picture.ts'
import {
  counted,
  exitName,
  money,
  percent,
  price,
  quantity,
  time as timeText,
  tone,
  gain,
} from '../format.ts'
import { orderAfterClick, sorted, type Order, type Sortable } from '../ui/sorting.ts'
import { Button, cx, Empty } from '../ui/ui.tsx'
import { bottom, lookAt, run, running } from '../workspace.ts'
import s from './report.module.css'
import { tradeListCsv } from '../../wire/trade-list.ts'
import { offsetsOf } from '../chart/zone.ts'

/**
 * How a row is laid out, by the width that there is for it: one line, entry above exit, or what a phone has room for. Its
 * height in CSS pixels is the same in `report.module.css`.
 */
const LOOKS = { wide: 32, stacked: 48, phone: 68 } as const
type Look = keyof typeof LOOKS
const lookAtWidth = (width: number): Look => (width >= 1200 ? 'wide' : width >= 760 ? 'stacked' : 'phone')

interface TradeColumn extends Sortable<ReportTrade> {
  readonly text: string
  readonly left?: boolean
  readonly cell: (trade: ReportTrade, of: Shown) => ComponentChildren
  /** The classes of its cells, but for `left`. */
  readonly look?: string | ((trade: ReportTrade) => string)
  /** What may be too long for its cell. */
  readonly title?: (trade: ReportTrade) => string
  /** Without a head over it, as on a phone, its cells say what they are. */
  readonly named?: boolean
}

/** What the cells of all trades share. `clock`: its bars are shorter than a day. */
type Shown = Pick<Report, 'currency' | 'mintick'> & { readonly clock: boolean }

const entryName = (trade: ReportTrade) => trade.entryComment || trade.entryId
const isOpen = (trade: ReportTrade) => trade.status === 'open'
const lasted = ({ entryBar, exitBar }: ReportTrade) => exitBar - entryBar
/** How it stood before its end. */
const meantime = (of: string, text: string, figure: (trade: ReportTrade) => number): TradeColumn => ({
  of,
  text,
  look: 'num muted',
  sort: figure,
  cell: (trade) => percent(figure(trade)),
})
const ofProfit = (trade: ReportTrade) => cx('num', tone(trade.profit))
const moment = (time: number, name: string, { clock }: Shown) => (
  <>
    <span class="num">{timeText(time, zone.value, clock)}</span> <span class="muted">{name}</span>
  </>
)

/** Those of the CSV are TradingView's, and stand in `wire/trade-list.ts`. */
const COLUMNS: readonly TradeColumn[] = [
  { of: 'n', text: '#', look: 'num muted', cell: ({ n }) => n },
  { of: 'side', text: 'Side', left: true, cell: ({ side }) => (side === 'long' ? 'Long' : 'Short') },
  {
    of: 'entry',
    text: 'Entry',
    left: true,
    sort: ({ entryTime }) => entryTime,
    title: entryName,
    cell: (trade, of) => moment(trade.entryTime, entryName(trade), of),
  },
  { of: 'entryPrice', text: 'Price', look: 'num', cell: (trade, of) => price(trade.entryPrice, of.mintick) },
  {
    of: 'exit',
    text: 'Exit',
    left: true,
    sort: ({ exitTime }) => exitTime,
    title: (trade) => (isOpen(trade) ? '' : exitName(trade)),
    cell: (trade, of) =>
      isOpen(trade) ? <span class="muted">Open</span> : moment(trade.exitTime, exitName(trade), of),
  },
  {
    of: 'exitPrice',
    text: 'Price',
    look: (trade) => cx('num', isOpen(trade) && 'muted'),
    cell: ({ exitPrice }, { mintick }) => price(exitPrice, mintick),
  },
  { of: 'qty', text: 'Size', look: 'num', named: true, cell: ({ qty }) => quantity(qty) },
  {
    of: 'profit',
    text: 'Profit',
    look: ofProfit,
    cell: ({ profit }, { currency }) => money(profit, currency, { plus: true }),
  },
  { of: 'profitPct', text: '%', look: ofProfit, cell: ({ profitPct }) => gain(profitPct) },
  {
    of: 'cum',
    text: 'Total',
    look: 'num',
    named: true,
    sort: ({ cumProfit }) => cumProfit,
    cell: ({ cumProfit }, { currency }) => money(cumProfit, currency),
  },
  meantime('runup', 'Best', ({ runupPct }) => runupPct),
  meantime('drawdown', 'Worst', ({ drawdownPct }) => drawdownPct),
  { of: 'bars', text: 'Bars', look: 'num', named: true, sort: lasted, cell: lasted },
]

export function TradesDrawer() {
  const current = run.value
  if (!current || current.report.trades.length === 0)
    return (
      <Empty
        title={running.value ? 'The script is running…' : 'No trades'}
        action={!running.value && <Button onClick={() => (bottom.value = 'script')}>Open the script</Button>}
      >
        {current
          ? 'The last run filled no order.'
          : 'Run a strategy: each of its trades is listed here and drawn on the chart.'}
      </Empty>
    )
  return <TradeTable report={current.report} name={current.name} />
}

function TradeTable({ report, name }: { report: Report; name: string }) {
  const [sort, setSort] = useState<Order>({ by: 'n', down: true })
  const [top, setTop] = useState(0)
  const [tall, setTall] = useState(400)
  const [look, setLook] = useState<Look>(lookAtWidth(innerWidth))
  const height = LOOKS[look]
  const [focus, setFocus] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const until = knownUntil(report)
  const rows = useMemo(
    () => sorted(report.trades, COLUMNS, sort).filter((trade) => trade.exitTime <= until),
    [report, sort, until],
  )
  const of = { ...report, clock: showsClock(report.interval) }

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      setTall(entry!.contentRect.height)
      setLook(lookAtWidth(entry!.contentRect.width))
    })
    observer.observe(box.current!)
    return () => {
      observer.disconnect()
      hoveredTrade.value = null
    }
  }, [])
  // Scroll to a trade that was clicked on the chart.
  useSignalEffect(() => {
    const n = markedTrade.value
    const at = n === null ? -1 : rows.findIndex((trade) => trade.n === n)
    const element = box.current
    if (at < 0 || !element) return
    const y = at * height
    if (y < element.scrollTop || y > element.scrollTop + element.clientHeight - 2 * height)
      element.scrollTop = y - element.clientHeight / 2
  })

  const choose = (at: number) => {
    const trade = rows[at]
    if (!trade) return
    setFocus(at)
    lookAt.value = { time: trade.entryTime, trade: trade.n }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // The heads of the columns are buttons, which handle their keys themselves.
    if (event.target !== event.currentTarget) return
    const page = Math.max(1, Math.floor(tall / height) - 1)
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -1e9, End: 1e9 }[event.key]
    if (event.key === 'Enter') choose(focus)
    else if (step) {
      const next = Math.max(0, Math.min(rows.length - 1, focus + step))
      choose(next)
      const element = box.current!
      if (next * height < element.scrollTop) element.scrollTop = next * height
      else if ((next + 2) * height > element.scrollTop + element.clientHeight)
        element.scrollTop = (next + 2) * height - element.clientHeight
    } else return
    event.preventDefault()
  }
  const first = Math.max(0, Math.floor(top / height) - 6)
  const last = Math.min(rows.length, Math.ceil((top + tall) / height) + 6)
  return (
    <div class={s.trades} data-look={look}>
      <div
        ref={box}
        class={s.tradesBox}
        tabIndex={0}
        role="grid"
        aria-label={counted(rows.length, 'trade')}
        aria-rowcount={rows.length + 1}
        aria-colcount={COLUMNS.length}
        aria-activedescendant={focus >= first && focus < last ? `trade-${rows[focus]?.n}` : undefined}
        onScroll={(event) => setTop((event.target as HTMLElement).scrollTop)}
        onKeyDown={onKeyDown}
        onPointerLeave={() => (hoveredTrade.value = null)}
      >
        <div class={s.tradesHead} role="row" aria-rowindex={1}>
          {COLUMNS.map(({ of, text, left }) => (
            <div
              key={of}
              role="columnheader"
              class={cx(left && s.left)}
              data-column={of}
              aria-sort={sort.by === of ? (sort.down ? 'descending' : 'ascending') : 'none'}
            >
              <button type="button" class={s.sort} onClick={() => setSort(orderAfterClick(sort, { of }))}>
                {text}
                {sort.by === of && <span aria-hidden="true">{sort.down ? '↓' : '↑'}</span>}
              </button>
            </div>
          ))}
        </div>
        <div class={s.tradesBody} style={{ height: `${rows.length * height}px` }}>
          {rows.slice(first, last).map((trade, i) => (
            <Row
              key={trade.n}
              trade={trade}
              of={of}
              y={(first + i) * height}
              index={first + i + 2}
              onChoose={() => choose(first + i)}
            />
          ))}
        </div>
      </div>
      <div class={s.tradesFoot}>
        <span class="muted">
          {counted(rows.length, 'trade')} · times in {zone.value}
        </span>
        <Button size="small" icon="download" onClick={() => downloadCsv(report, name)}>
          Export CSV
        </Button>
      </div>
    </div>
  )
}

function downloadCsv(report: Report, script: string): void {
  const csv = tradeListCsv(report, { offsetAt: offsetsOf(zone.value) })
  const name = script.replaceAll(/[^\p{L}\p{M}\p{N}_-]+/gu, '-')
  const asOf = report.asOf === undefined ? '' : `-as-of-${report.asOf}`
  download(
    new Blob([csv], { type: 'text/csv' }),
    `${name}-${report.symbol}-${report.interval}${asOf}-trades.csv`,
  )
}

/** In a replay, the time after which trades are not listed. */
function knownUntil(report: Report): number {
  const replay = replayOnChart.value
  const bars = shown.value?.bars
  if (!replay || !bars || shown.value?.market.symbol !== report.symbol) return Infinity
  return bars.time[replay.cut] ?? Infinity
}

interface RowProps {
  readonly trade: ReportTrade
  readonly of: Shown
  readonly y: number
  readonly index: number
  readonly onChoose: () => void
}

const Row = ({ trade, of, y, index, onChoose }: RowProps) => (
  <div
    id={`trade-${trade.n}`}
    role="row"
    aria-rowindex={index}
    aria-selected={markedTrade.value === trade.n}
    class={cx(s.tradeRow, hoveredTrade.value === trade.n && s.lit)}
    style={{ transform: `translateY(${y}px)` }}
    onClick={onChoose}
    onPointerEnter={() => (hoveredTrade.value = trade.n)}
  >
    {COLUMNS.map(({ of: column, text, left, look, title, named, cell }) => (
      <div
        key={column}
        role="gridcell"
        data-column={column}
        data-head={named && text}
        class={cx(left && s.left, typeof look === 'function' ? look(trade) : look)}
        title={title?.(trade) || undefined}
      >
        {cell(trade, of)}
      </div>
    ))}
  </div>
)
