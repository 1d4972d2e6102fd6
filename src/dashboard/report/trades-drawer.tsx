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
}
const COLUMNS: readonly TradeColumn[] = [
  { of: 'n', text: '#' },
  { of: 'side', text: 'Side', left: true },
  { of: 'entry', text: 'Entry', sort: (trade) => trade.entryTime, left: true },
  { of: 'entryPrice', text: 'Price' },
  { of: 'exit', text: 'Exit', sort: (trade) => trade.exitTime, left: true },
  { of: 'exitPrice', text: 'Price' },
  { of: 'qty', text: 'Size' },
  { of: 'profit', text: 'Profit' },
  { of: 'profitPct', text: '%' },
  { of: 'cum', text: 'Total', sort: (trade) => trade.cumProfit },
  { of: 'runup', text: 'Best', sort: (trade) => trade.runupPct },
  { of: 'drawdown', text: 'Worst', sort: (trade) => trade.drawdownPct },
  { of: 'bars', text: 'Bars', sort: (trade) => trade.exitBar - trade.entryBar },
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
  const clock = showsClock(report.interval)

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
              report={report}
              clock={clock}
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
  readonly report: Report
  readonly clock: boolean
  readonly y: number
  readonly index: number
  readonly onChoose: () => void
}

/** What stands in the cells of a trade, by column: its text, its classes, and what a phone writes before it. */
function cellsOf(trade: ReportTrade, { currency, mintick }: Report, clock: boolean): readonly Cell[] {
  const isOpen = trade.status === 'open'
  const entryName = trade.entryComment || trade.entryId
  const moment = (time: number, name: string) => (
    <>
      <span class="num">{timeText(time, zone.value, clock)}</span> <span class="muted">{name}</span>
    </>
  )
  const ofProfit = cx('num', tone(trade.profit))
  return [
    ['n', trade.n, 'num muted'],
    ['side', trade.side === 'long' ? 'Long' : 'Short', s.left],
    ['entry', moment(trade.entryTime, entryName), s.left, { title: entryName }],
    ['entryPrice', price(trade.entryPrice, mintick), 'num'],
    isOpen
      ? ['exit', <span class="muted">Open</span>, s.left]
      : ['exit', moment(trade.exitTime, exitName(trade)), s.left, { title: exitName(trade) }],
    ['exitPrice', price(trade.exitPrice, mintick), cx('num', isOpen && 'muted')],
    ['qty', quantity(trade.qty), 'num', { 'data-head': 'Size' }],
    ['profit', money(trade.profit, currency, { plus: true }), ofProfit],
    ['profitPct', gain(trade.profitPct), ofProfit],
    ['cum', money(trade.cumProfit, currency), 'num', { 'data-head': 'Total' }],
    ['runup', percent(trade.runupPct), 'num muted'],
    ['drawdown', percent(trade.drawdownPct), 'num muted'],
    ['bars', trade.exitBar - trade.entryBar, 'num', { 'data-head': 'Bars' }],
  ]
}
type Cell = readonly [column: string, shown: ComponentChildren, look: string | undefined, more?: object]

const Row = ({ trade, report, clock, y, index, onChoose }: RowProps) => (
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
    {cellsOf(trade, report, clock).map(([column, shown, look, more]) => (
      <div key={column} role="gridcell" data-column={column} class={look} {...more}>
        {shown}
      </div>
    ))}
  </div>
)
