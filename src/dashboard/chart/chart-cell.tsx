// One chart of the page: the view (canvas) with what is laid over it (legends, tables, tooltip), and the keys it answers to.

import { batch, effect, untracked } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { placed } from '../charts.ts'
import { barsDrawn, firstPaint } from '../first-paint.ts'
import { lazy } from '../frame/lazy.tsx'
import { Progress, toastError } from '../ui/ui.tsx'
import { bottom, bottomMaximised, lookAt, run, running, runProblem, runProgress } from '../workspace.ts'
import { barAt } from './bars.ts'
import type { Cell } from './cell.ts'
import { followMarket } from './cell-bars.ts'
import type { Place } from './cell-menu.tsx'
import { cutOf, sceneOf } from './cell-scene.ts'
import s from './chart.module.css'
import {
  activate,
  hasScript,
  hoveredTrade,
  isActive,
  markedTrade,
  entered,
  intervalEntry,
  replayOnChart,
  symbolSearch,
} from './chart-state.ts'
import { useCompared } from './compare-symbols.ts'
import { Cover, RunProblem, TradeTooltip } from './cover.tsx'
import { Legends } from './legend.tsx'
import { passHover, passRange, passTime, takeRange } from './links.ts'
import type { MarkedPane } from './marks.ts'
import { ChartView } from './view.ts'
import type { Camera } from './camera.ts'

const PlaceMenu = lazy(async () => (await import('./cell-menu.tsx')).PlaceMenu)
const loadLines = () => firstPaint.then(() => import('../alerts/alert-lines.tsx'))
const AlertLines = lazy(async () => (await loadLines()).AlertLines, { isAddition: true })
const Tables = lazy(async () => (await import('./tables.tsx')).Tables)

const hasTables = (panes: readonly MarkedPane[]): boolean =>
  panes.some(({ marks }) => marks.some((mark) => mark.kind === 'drawings' && mark.items[0]?.kind === 'table'))

interface ChartCellProps {
  readonly cell: Cell
  /** Its place in the grid. */
  readonly area: string
  /** Its number among several charts; 0 = there is only one. */
  readonly number: number
  /** Whether the active one is marked. */
  readonly marked: boolean
}

export function ChartCell({ cell, area, number, marked }: ChartCellProps) {
  const host = useRef<HTMLDivElement>(null)
  const view = useView(cell, host)
  const [menu, setMenu] = useState<Place | null>(null)
  useEffect(() => followMarket(cell), [])
  useKeysOfPage(cell, view)
  useCompared(cell)
  useDrawings(cell, view, host)
  const withScript = hasScript(cell)
  const { main, layers, panes } = sceneOf(cell).plotted.value
  const { symbol: name, interval } = cell.market.value
  const place = number > 0 ? `Chart ${number} of ${placed.value.length}: ` : 'Chart of '
  return (
    <div
      class={s.cell}
      style={{ gridArea: area }}
      data-active={marked && isActive(cell)}
      data-chart={cell.id}
      onPointerDownCapture={() => activate(cell.id)}
      onFocusIn={() => activate(cell.id)}
      onKeyDown={(event) => onChartKey(event, view?.camera)}
      onContextMenu={(event) => {
        event.preventDefault()
        setMenu(placeOf(cell, event.clientX, event.clientY, host.current!.getBoundingClientRect().top))
      }}
    >
      <div
        ref={host}
        class={s.host}
        tabIndex={0}
        role="application"
        aria-roledescription="price chart"
        aria-label={`${place}${name}, ${interval}. Arrow keys scroll and zoom, a letter searches symbols, comma and full stop change the interval.`}
        onPointerLeave={({ pointerType }) => {
          // The library misses that a mouse has left a pane that is gone. After a touch its crosshair stays by intent.
          if (pointerType === 'mouse') view?.leave()
          cell.hover.value = null
          passHover(cell, null)
        }}
      />
      {withScript && running.value && (
        <div class={s.running}>
          <Progress fraction={runProgress.value} label="The script is running" />
        </div>
      )}
      {hasTables(panes) && <Tables chart={cell} panes={panes} cut={cutOf(cell)} />}
      {view && cell.shown.value && <AlertLines cell={cell} view={view} host={host} />}
      <Legends cell={cell} withScript={withScript} main={main} layers={layers} cut={cutOf(cell)} />
      {withScript && cell.hover.value?.trade && <TradeTooltip cell={cell} />}
      {withScript && runProblem.value && !cell.problem.value && <RunProblem />}
      <Cover cell={cell} />
      {menu && <PlaceMenu cell={cell} place={menu} onClose={() => setMenu(null)} />}
    </div>
  )
}

function placeOf(cell: Cell, x: number, y: number, top: number): Place {
  const isAtPrices = y - top <= (cell.paneBoxes.peek()[0]?.height ?? 0)
  const bar = cell.hover.peek()?.bar ?? null
  return {
    x,
    y,
    price: isAtPrices ? (cell.view.peek()?.priceAt(y - top) ?? null) : null,
    // The real bar behind one that is drawn.
    bar: bar === null ? null : (cell.drawn.peek()?.source?.[bar] ?? bar),
  }
}

/** Keys go to the active chart also where nothing has the focus, as when the page was just loaded. */
function useKeysOfPage(cell: Cell, view: ChartView | null): void {
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.target === document.body && isActive(cell)) onChartKey(event, view?.camera)
    }
    document.body.addEventListener('keydown', key)
    return () => document.body.removeEventListener('keydown', key)
  }, [view])
}

/** The view while the chart is on the page, to which every scene of the chart goes. */
function useView(cell: Cell, host: RefObject<HTMLDivElement | null>): ChartView | null {
  const [view, setView] = useState<ChartView | null>(null)
  useEffect(() => {
    const made = new ChartView(host.current!, {
      onHover: (now) => {
        batch(() => {
          cell.hover.value = now
          const trade = now?.trade?.n ?? null
          if (trade !== hoveredTrade.peek()) hoveredTrade.value = trade
        })
        passHover(cell, now)
      },
      onClick: (now) => {
        markedTrade.value = now.trade?.n ?? null
        // The list of trades shows the one that was clicked.
        if (now.trade) bottom.value = 'trades'
        passTime(cell, now.bar)
      },
      onRange: (left) => {
        cell.leftBar.value = left
        passRange(cell)
      },
      onLayout: (boxes) => (cell.paneBoxes.value = boxes),
      onHeights: (heights) => (cell.heights.value = heights),
    })
    cell.view.value = made
    setView(made)
    const { scene } = sceneOf(cell)
    const stop = effect(() => {
      const [now, asked] = [scene.value, lookAt.value]
      if (now || cell.problem.value) barsDrawn()
      untracked(() => {
        if (now && made.paint(now)) takeRange(cell)
        if (now && asked) answer(cell, made, asked)
      })
    })
    return () => {
      stop()
      cell.view.value = null
      made.destroy()
      cell.paneBoxes.value = []
      cell.hover.value = null
    }
  }, [])
  return view
}

/** Keys pressed on the chart until it has its drawing tools that nothing else used are sent again: one may belong to a tool. */
function useDrawings(cell: Cell, view: ChartView | null, host: RefObject<HTMLDivElement | null>): void {
  const kept = useRef<KeyboardEvent[] | null>([])
  // Before the browser paints: from then on the chart can have the focus, and on a busy machine effects come later.
  useLayoutEffect(() => {
    const keep = (event: KeyboardEvent) => {
      if (event.target === host.current && !cell.problem.peek()) kept.current?.push(event)
    }
    window.addEventListener('keydown', keep)
    return () => window.removeEventListener('keydown', keep)
  }, [])
  const pressAgain = () => {
    const untaken = (kept.current ?? []).filter((event) => !event.defaultPrevented)
    kept.current = null
    for (const event of untaken)
      if (document.activeElement === host.current)
        host.current?.dispatchEvent(new KeyboardEvent(event.type, event))
  }
  useDrawingTools(cell.shown.value !== null, view, async () => {
    const { attachDrawings } = await import('../drawings/attach.ts')
    return () => (view && host.current ? attachDrawings(host.current, view, cell, pressAgain) : undefined)
  })
}

/** Loads the drawing tools once there are bars, which need not wait for them, and attaches them, again when `to` changes. */
export function useDrawingTools(
  areBars: boolean,
  to: unknown,
  load: () => Promise<() => (() => void) | undefined>,
): void {
  const once = useRef(false)
  once.current ||= areBars
  useEffect(() => {
    if (!once.current) return undefined
    let detach: (() => void) | undefined
    let gone = false
    load().then((attach) => {
      if (!gone) detach = attach()
    }, toastError)
    return () => {
      gone = true
      detach?.()
    }
  }, [to, once.current])
}

/** Shows the time or the trade that somebody asked for. */
function answer(cell: Cell, { camera }: ChartView, asked: NonNullable<typeof lookAt.value>): void {
  const bars = cell.drawn.value?.bars
  if (!bars || (asked.trade === undefined ? !isActive(cell) : !hasScript(cell))) return
  // Answer only once, or every new bar would pull the chart back there. If the time is older than the bars loaded so far,
  // keep the question until the others have arrived.
  if (asked.time >= (bars.time[0] ?? Infinity)) lookAt.value = null
  // What hides it is opened.
  bottomMaximised.value = false
  if (asked.trade !== undefined) {
    markedTrade.value = asked.trade
    cell.showScript.value = true
    if (!cell.trades.value) cell.trades.value = true
  }
  const trade = run.peek()?.report.trades.find(({ n }) => n === asked.trade)
  if (trade) camera.lookAtRange(barAt(bars, trade.entryTime), barAt(bars, trade.exitTime))
  else camera.lookAt(barAt(bars, asked.time))
  passTime(cell, barAt(bars, asked.time))
}

/** Keys on a chart: letters search a symbol, digits an interval, arrows scroll and zoom. */
function onChartKey(event: KeyboardEvent, camera: Camera | undefined): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  // Keys typed in a dialog over the chart belong to the dialog.
  if ((event.target as Element).closest('[role="dialog"], input, textarea, select')) return
  if (!typeAhead(event.key) && !opens(event.key) && !moves(event, camera)) return
  event.preventDefault()
  event.stopPropagation()
}

/** Answers whether the key opens a dialog. */
function opens(key: string): boolean {
  const isReplayKey = replayOnChart.peek() !== null && /^[npb]$/i.test(key)
  // Of any alphabet: a Cyrillic keyboard opens the search, too.
  if (/^\p{L}$/u.test(key) && !isReplayKey) symbolSearch.value = key.toUpperCase()
  else if (/^[0-9]$/.test(key)) intervalEntry.value = key
  else return false
  return true
}

function moves({ key, shiftKey }: KeyboardEvent, camera: Camera | undefined): boolean {
  const isReplay = replayOnChart.peek() !== null
  const step = shiftKey ? 30 : 5
  if (key === 'ArrowLeft' && !isReplay) camera?.scroll(-step)
  else if (key === 'ArrowRight' && !isReplay) camera?.scroll(step)
  else if (key === 'ArrowUp' || key === '+' || key === '=') camera?.zoom(0.8)
  else if (key === 'ArrowDown' || key === '-') camera?.zoom(1.25)
  else if (key === 'End') camera?.toEnd()
  else if (key === 'Home') camera?.fit()
  else return false
  return true
}

/**
 * What follows the first letter or digit may be typed before its dialog is there to receive it: digits, operators and Enter
 * too. False = no dialog is about to open, or the key means nothing to one.
 */
function typeAhead(key: string): boolean {
  const open = [symbolSearch, intervalEntry].find((entry) => entry.peek() !== null)
  const text = open?.peek() ?? ''
  if (!open) return false
  if (key === 'Escape') open.value = null
  else if (key === 'Enter') entered.value = true
  else if (key === 'Backspace') open.value = text.slice(0, -1)
  else if (key.length === 1) open.value = text + (open === symbolSearch ? key.toUpperCase() : key)
  else return false
  if (key !== 'Enter') entered.value = false
  return true
}
