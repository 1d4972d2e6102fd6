// What linked charts do together: the crosshair of one stands on the same time of the others, and so does what is in view.
//
// One chart drives at a time: the one that is touched, or the active one. Only what the driver shows is passed on, so that two
// charts never answer each other.

import { signal } from '@preact/signals'
import type { ChartLink } from '../../wire/layout.ts'
import { activeId, links, placed } from '../charts.ts'
import { barAt, barMsOf, placeOf, timeAt } from './bars.ts'
import type { Cell } from './cell.ts'
import { activeCell, cellOf } from './chart-state.ts'
import type { Hover } from './view.ts'

const touchedId = signal('')
const driver = (): Cell =>
  placed.peek().includes(touchedId.peek()) ? cellOf(touchedId.peek()) : activeCell.peek()

/** Keeps track of which chart is touched; the returned function ends that. */
export function followDriver(grid: HTMLElement): () => void {
  const touched = ({ target }: Event) => {
    const chart = target instanceof Element && grid.contains(target) ? target.closest('[data-chart]') : null
    touchedId.value = chart?.getAttribute('data-chart') ?? activeId.peek()
  }
  const ended = new AbortController()
  for (const kind of ['pointerdown', 'wheel', 'keydown'])
    document.addEventListener(kind, touched, { capture: true, passive: true, signal: ended.signal })
  return () => ended.abort()
}

const isLinked = (link: ChartLink): boolean => links.peek().includes(link)

const others = (cell: Cell): readonly Cell[] =>
  placed
    .peek()
    .filter((id) => id !== cell.id)
    .map(cellOf)

/** Puts the crosshair of the driver on the other charts; null = takes it off. */
export function passHover(from: Cell, now: Hover | null): void {
  if (!isLinked('crosshair')) return
  const time = now ? from.drawn.peek()?.bars.time[now.bar] : undefined
  for (const cell of others(from)) {
    const [view, shown] = [cell.view.peek(), cell.drawn.peek()]
    if (!view || !shown) continue
    // A time before the first bar or behind the last is on no bar of this chart.
    const place = time === undefined ? -1 : placeOf(shown.bars, time, barMsOf(shown.market.interval))
    if (!now || time === undefined || place < 0 || place >= shown.bars.length) {
      view.hideCrosshair()
      cell.hover.value = null
      continue
    }
    const bar = barAt(shown.bars, time)
    const [mine, its] = [from.market.peek(), cell.market.peek()]
    const isSameSymbol = mine.exchange === its.exchange && mine.symbol === its.symbol
    view.showCrosshair(bar, isSameSymbol && now.pane === 0 ? now.price : null)
    cell.hover.value = { bar, price: null, pane: 0, x: 0, y: 0, trade: null }
  }
}

/** A click on a bar brings its time into view on the other charts. */
export function passTime(from: Cell, bar: number): void {
  if (!isLinked('time')) return
  const time = from.drawn.peek()?.bars.time[bar]
  if (time === undefined) return
  for (const cell of others(from)) {
    const bars = cell.drawn.peek()?.bars
    if (bars && bars.length > 0) cell.view.peek()?.camera.lookAt(barAt(bars, time))
  }
}

/** Passes the range of dates in view from the driver to the others. */
export function passRange(from: Cell): void {
  if (from !== driver() || !isLinked('range')) return
  for (const cell of others(from)) copyRange(from, cell)
}

/** A chart whose bars have just come shows the driver's range. */
export function takeRange(cell: Cell): void {
  if (cell !== driver() && isLinked('range')) copyRange(driver(), cell)
}

function copyRange(from: Cell, to: Cell): void {
  const [chart, range] = [from.drawn.peek(), from.view.peek()?.camera.visible]
  const [shown, view] = [to.drawn.peek(), to.view.peek()]
  if (!chart || !range || !shown || !view || shown.bars.length === 0) return
  const [mine, its] = [barMsOf(chart.market.interval), barMsOf(shown.market.interval)]
  const place = (bar: number) => placeOf(shown.bars, timeAt(chart.bars, bar, mine), its)
  view.camera.showRange(place(range.from), place(range.to))
}
