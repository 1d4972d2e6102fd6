// What linked charts do together: the crosshair of one stands on the same time of the others, and so does what is in view.
//
// One chart drives at a time: the one that is touched, or the active one. Only what the driver shows is passed on, so that two
// charts never answer each other.

import type { ChartLink } from '../../wire/layout.ts'
import { activeId, links, placed } from '../charts.ts'
import { barAt, placeOf, timeAt } from './bars.ts'
import type { Cell } from './cell.ts'
import { activeCell, cellOf } from './chart-state.ts'
import type { Hover } from './view.ts'

class Driver {
  #id: string | null = null

  get cell(): Cell {
    const id = this.#id
    return id !== null && placed.peek().includes(id) ? cellOf(id) : activeCell.peek()
  }

  /** Keeps track of which chart is touched; the returned function ends that. */
  follow(grid: HTMLElement): () => void {
    const touched = ({ target }: Event) => {
      const chart = target instanceof Element && grid.contains(target) ? target.closest('[data-chart]') : null
      this.#id = chart?.getAttribute('data-chart') ?? activeId.peek()
    }
    const kinds = ['pointerdown', 'wheel', 'keydown'] as const
    for (const kind of kinds) document.addEventListener(kind, touched, { capture: true, passive: true })
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, touched, { capture: true })
    }
  }
}

const driver = new Driver()
export const followDriver = (grid: HTMLElement): (() => void) => driver.follow(grid)

const isLinked = (link: ChartLink): boolean => links.peek().includes(link)

const others = (cell: Cell): readonly Cell[] =>
  placed
    .peek()
    .filter((id) => id !== cell.id)
    .map(cellOf)

/** Puts the crosshair of the driver on the other charts; null = takes it off. */
export function passHover(from: Cell, now: Hover | null): void {
  if (!isLinked('crosshair')) return
  const chart = from.drawn.peek()
  const time = now && chart?.bars.time[now.bar]
  for (const cell of others(from)) {
    const [view, shown] = [cell.view.peek(), cell.drawn.peek()]
    if (!view || !shown) continue
    // A time before the first bar or behind the last is on no bar of this chart.
    const place = time === undefined || time === null ? -1 : placeOf(shown.bars, time, shown.market.interval)
    if (now === null || time === undefined || time === null || place < 0 || place >= shown.bars.length) {
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
  if (from !== driver.cell || !isLinked('range')) return
  for (const cell of others(from)) copyRange(from, cell)
}

/** A chart whose bars have just come shows the driver's range. */
export function takeRange(cell: Cell): void {
  if (cell !== driver.cell && isLinked('range')) copyRange(driver.cell, cell)
}

function copyRange(from: Cell, to: Cell): void {
  const [chart, range] = [from.drawn.peek(), from.view.peek()?.camera.visible]
  const [shown, view] = [to.drawn.peek(), to.view.peek()]
  if (!chart || !range || !shown || !view || shown.bars.length === 0) return
  const place = (bar: number) =>
    placeOf(shown.bars, timeAt(chart.bars, bar, chart.market.interval), shown.market.interval)
  view.camera.showRange(place(range.from), place(range.to))
}
