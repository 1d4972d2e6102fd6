// Which bars are in view: moved by keys, lists, the replay and linked charts, and kept where it is when other bars come.

import { lowerBound } from '../../market/bars.ts'
import { barAt } from './bars.ts'
import type { Chart } from './pane-painter.ts'
import type { Scene } from './scene.ts'

/** How a chart begins: CSS pixels from bar to bar, bars left free behind the newest one, and the least that are in view. */
const [BAR_SPACING, RIGHT_OFFSET, BARS_LEAST] = [7, 8, 20]
export const FIRST_VIEW = { rightOffset: RIGHT_OFFSET, barSpacing: BAR_SPACING, minBarSpacing: 0.005 }

export class Camera {
  /** null = the chart is gone, and what is asked of it does nothing. */
  #chart: Chart | null
  readonly #scene: () => Scene
  /** Fits prices to what is in view again. */
  readonly autoScale: () => void

  constructor(chart: Chart, scene: () => Scene, autoScale: () => void) {
    this.#chart = chart
    this.#scene = scene
    this.autoScale = autoScale
  }

  get visible(): { readonly from: number; readonly to: number } | null {
    return this.#chart?.timeScale().getVisibleLogicalRange() ?? null
  }

  /** Bars from the newest to the right edge; below 0 if the newest is not in view. */
  get position(): number {
    return this.#chart?.timeScale().scrollPosition() ?? 0
  }

  release(): void {
    this.#chart = null
  }

  /**
   * Other bars have come: those in view stay, and the newest one if it was in view. They stay by their distance to the newest: a
   * range, set again, would change their spacing by a hair.
   */
  keep(before: Scene, position: number): void {
    const { bars, of } = this.#scene()
    const newest = before.bars.time[before.bars.length - 1]
    if (before.of !== of || newest === undefined || bars.length === 0) return this.toEnd()
    const behind = position >= 0 ? 0 : bars.length - 1 - barAt(bars, newest)
    this.#chart?.timeScale().scrollToPosition(position - behind, false)
  }

  /**
   * Shows the newest known bars, as many as fit. A range of bars would be spread over the width of this moment, which changes
   * when the prices on the axis turn out longer, and then the chart would stand differently each time.
   */
  toEnd(): void {
    const scale = this.#chart?.timeScale()
    if (!scale) return
    // A chart that is hidden has no width yet.
    const barSpacing = Math.min(BAR_SPACING, scale.width() / BARS_LEAST || BAR_SPACING)
    scale.applyOptions({ barSpacing, rightOffset: RIGHT_OFFSET })
    const bars = this.#scene().bars.length
    scale.scrollToPosition(this.#last() + RIGHT_OFFSET - Math.max(0, bars - 1), false)
    this.autoScale()
  }

  fit(): void {
    this.showRange(-0.5, this.#last() + 4)
    this.autoScale()
  }

  showSince(time: number): void {
    const { bars } = this.#scene()
    this.showRange(lowerBound(bars.time.subarray(0, bars.length), time) - 0.5, this.#last() + 4)
    this.autoScale()
  }

  /** Brings a bar into view, at the same zoom; does nothing if it is well inside already. */
  lookAt(bar: number, { edge = 0.5 } = {}): void {
    const range = this.visible
    const width = range ? range.to - range.from : 150
    const span = Math.min(width, 600)
    if (range && width <= 600 && bar > range.from + span * 0.08 && bar < range.to - span * 0.12) return
    this.showRange(bar - span * edge, bar + span * (1 - edge))
  }

  lookAtRange(from: number, to: number): void {
    const range = this.visible
    if (range && from > range.from + 2 && to < range.to - 4) return
    const room = Math.max(12, (to - from) * 0.25)
    const span = Math.max(range ? Math.min(range.to - range.from, 300) : 150, to - from + 2 * room)
    const middle = (from + to) / 2
    this.showRange(middle - span / 2, middle + span / 2)
  }

  scroll(bars: number): void {
    const range = this.visible
    if (range) this.showRange(range.from + bars, range.to + bars)
  }

  zoom(factor: number): void {
    const range = this.visible
    if (range) this.showRange(range.to - Math.max(8, (range.to - range.from) * factor), range.to)
  }

  /** Shows bars from one place to another, which may lie between bars and beyond them. */
  showRange(from: number, to: number): void {
    if (to > from) this.#chart?.timeScale().setVisibleLogicalRange({ from, to })
  }

  #last(): number {
    const { cut, bars } = this.#scene()
    return cut ?? Math.max(0, bars.length - 1)
  }
}
