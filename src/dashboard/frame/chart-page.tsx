// The page of the chart and its two drawers. A drawer remembers its size; a double click on its edge opens it wide.

import { marketText } from '../format.ts'
import { useEffect } from 'preact/hooks'
import { addCommands, commandOf, type Command } from '../commands.ts'
import { firstPaint } from '../first-paint.ts'
import {
  BOTTOMS,
  bottom,
  bottomMaximised,
  market,
  SIDES,
  side,
  type Bottom,
  type Side,
} from '../workspace.ts'
import { isSameMarket } from '../charts.ts'
import { bottomHeight, drawingBar, sideWidth } from '../settings.ts'
import type { IconName } from '../ui/icon.tsx'
import { Tabs, IconButton } from '../ui/ui.tsx'
import s from './frame.module.css'
import { lazy } from './lazy.tsx'
import type { Signal } from '@preact/signals'
import type { ComponentType } from 'preact'

const Chart = lazy(async () => (await import('../chart/chart.tsx')).Chart)
const DrawingBar = lazy(async () => (await import('../drawings/drawing-bar.tsx')).DrawingBar)
// Loaded lazily, because the editor is larger than the whole chart.
const ScriptDrawer = lazy(async () => {
  await firstPaint
  return (await import('../editor/script-drawer.tsx')).ScriptDrawer
})
const ReportDrawer = lazy(async () => (await import('../report/report-drawer.tsx')).ReportDrawer)
const TradesDrawer = lazy(async () => (await import('../report/trades-drawer.tsx')).TradesDrawer)
const ReplayDrawer = lazy(async () => (await import('../replay/replay-drawer.tsx')).ReplayDrawer)
const DeliveriesDrawer = lazy(async () => (await import('../webhooks/deliveries.tsx')).DeliveriesDrawer)
const WatchlistDrawer = lazy(async () => (await import('../watchlists/watchlist-drawer.tsx')).WatchlistDrawer)
const AlertDrawer = lazy(async () => (await import('../alerts/alerts-list.tsx')).AlertDrawer)
const IdeaDrawer = lazy(async () => (await import('../ideas/ideas.tsx')).IdeaDrawer)

/** Each drawer with its name, its icon, and the section of the command that shows it. */
const BOTTOM: Readonly<Record<Bottom, readonly [string, IconName, Command['section'], ComponentType]>> = {
  script: ['Script', 'code', 'Script', ScriptDrawer],
  report: ['Report', 'report', 'Report', ReportDrawer],
  trades: ['Trades', 'list', 'Report', TradesDrawer],
  replay: ['Replay', 'replay', 'Replay', ReplayDrawer],
  deliveries: ['Deliveries', 'webhook', 'Alerts', DeliveriesDrawer],
}
const SIDE: Readonly<Record<Side, readonly [string, ComponentType]>> = {
  watchlists: ['Watchlist', WatchlistDrawer],
  alerts: ['Alerts', AlertDrawer],
  ideas: ['Ideas', IdeaDrawer],
}

/** Opens a drawer and focuses its tab, so that the next Tab key leads inside. */
function show(open: () => void, list: string): void {
  open()
  queueMicrotask(() =>
    document.querySelector<HTMLElement>(`[role=tablist][aria-label="${list}"] [aria-selected=true]`)?.focus(),
  )
}

export const COMMANDS: readonly Command[] = [
  ...BOTTOMS.map((id) =>
    commandOf(BOTTOM[id][2])(`show:${id}`, `Show ${BOTTOM[id][0].toLowerCase()}`, '', () =>
      show(() => (bottom.value = id), 'Drawer'),
    ),
  ),
  ...SIDES.map((id) =>
    commandOf('Chart')(`show:${id}`, `Show ${SIDE[id][0].toLowerCase()} beside the chart`, '', () =>
      show(() => (side.value = id), 'Side drawer'),
    ),
  ),
]

export function ChartPage({ market: named, interval }: { market?: string; interval?: string }) {
  useEffect(() => {
    // A spread's symbol is a formula with further colons.
    const [exchange = '', ...rest] = (named ?? '').split(':')
    const symbol = rest.join(':')
    const next = { exchange, symbol, interval: interval ?? '' }
    if (exchange && symbol && interval && !isSameMarket(market.peek(), next)) market.value = next
  }, [named, interval])
  useEffect(() => addCommands(COMMANDS), [])
  const isWhole = bottomMaximised.value && bottom.value !== ''
  return (
    <>
      <main id="main" class={s.stage} tabIndex={-1}>
        <h1 class="visually-hidden">{marketText(market.value)}</h1>
        <div class={s.chart} hidden={isWhole}>
          {drawingBar.value && (
            <div class={s.drawingBar}>
              <DrawingBar />
            </div>
          )}
          <div class={s.chartBody}>
            <Chart />
          </div>
        </div>
        {bottom.value !== '' && !isWhole && (
          <Splitter
            label="Height of the drawer"
            axis="y"
            size={bottomHeight}
            min={120}
            max={() => innerHeight - 220}
            onDoubleClick={() => (bottomMaximised.value = true)}
          />
        )}
        <BottomDrawer />
      </main>
      <SideDrawer />
    </>
  )
}

function BottomDrawer() {
  const [name, , , Body] = bottom.value === '' ? [] : BOTTOM[bottom.value]
  const size = bottomMaximised.value ? { flex: 1 } : { height: `${bottomHeight.value}px` }
  return (
    <section class={s.bottom} style={Body ? size : undefined} aria-label="Drawer">
      <Tabs
        label="Drawer"
        tabs={BOTTOMS.map((id) => [id, BOTTOM[id][0], BOTTOM[id][1]] as const)}
        active={bottom.value}
        onSelect={(id) => (bottom.value = id)}
      >
        <span class={s.grow} />
        {Body && (
          <>
            <IconButton
              icon="expand"
              label={bottomMaximised.value ? 'Show the chart' : 'Whole height'}
              onClick={() => (bottomMaximised.value = !bottomMaximised.value)}
            />
            <IconButton
              icon="chevron"
              label="Close drawer"
              onClick={() => {
                bottom.value = ''
                bottomMaximised.value = false
              }}
            />
          </>
        )}
      </Tabs>
      {Body && (
        <div class={s.bottomBody} id="drawer" tabIndex={-1} role="tabpanel" aria-label={name}>
          <Body />
        </div>
      )}
    </section>
  )
}

function SideDrawer() {
  if (side.value === '') return null
  const [name, Body] = SIDE[side.value]
  return (
    <aside class={s.side} style={{ width: `${sideWidth.value}px` }} aria-label="Side drawer">
      <Splitter
        label="Width of the drawer"
        axis="x"
        size={sideWidth}
        min={260}
        max={() => Math.max(260, Math.min(520, innerWidth / 3))}
      />
      <Tabs
        label="Side drawer"
        tabs={SIDES.map((id) => [id, SIDE[id][0]] as const)}
        active={side.value}
        onSelect={(id) => (side.value = id)}
      >
        <span class={s.grow} />
        <IconButton icon="close" label="Close drawer" onClick={() => (side.value = '')} />
      </Tabs>
      <div class={s.sideBody} role="tabpanel" aria-label={name}>
        <Body />
      </div>
    </aside>
  )
}

interface SplitterProps {
  readonly label: string
  readonly axis: 'x' | 'y'
  /** Size in px of the pane behind the line (right of it, or below it). */
  readonly size: Signal<number>
  readonly min: number
  readonly max: () => number
  readonly onDoubleClick?: () => void
}

function Splitter({ label, axis, size, min, max, onDoubleClick }: SplitterProps) {
  const set = (value: number) => (size.value = Math.round(Math.max(min, Math.min(max(), value))))
  const onPointerDown = (event: PointerEvent) => {
    event.preventDefault()
    const line = event.currentTarget as HTMLElement
    const start = axis === 'x' ? event.clientX : event.clientY
    const before = size.value
    line.setPointerCapture(event.pointerId)
    const dragging = new AbortController()
    const { signal } = dragging
    const move = (now: PointerEvent) => set(before + start - (axis === 'x' ? now.clientX : now.clientY))
    line.addEventListener('pointermove', move, { signal })
    for (const end of ['pointerup', 'pointercancel'])
      line.addEventListener(end, () => dragging.abort(), { signal })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const grow = axis === 'x' ? 'ArrowLeft' : 'ArrowUp'
    const shrink = axis === 'x' ? 'ArrowRight' : 'ArrowDown'
    if (event.key !== grow && event.key !== shrink) return
    event.preventDefault()
    set(size.value + (event.key === grow ? 16 : -16))
  }
  return (
    <div
      class={s.splitter}
      data-axis={axis}
      role="separator"
      aria-label={label}
      aria-orientation={axis === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={size.value}
      aria-valuemin={min}
      aria-valuemax={max()}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      onDblClick={onDoubleClick}
    />
  )
}
