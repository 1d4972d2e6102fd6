// The chart on screen. Panes, scales, crosshair and gestures are those of lightweight-charts; everything inside them is
// drawn by the painter. Here are the page's element, the pointer, and the crosshair that another chart puts here.

import {
  createChartEx,
  CrosshairMode,
  type MouseEventParams,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { ReportTrade } from '../../wire/report.ts'
import { zonedBehavior } from './axis-text.ts'
import { Camera, FIRST_VIEW } from './camera.ts'
import { themeOf, type ChartTheme, type Paint } from './paint.ts'
import { Painter } from './painter.ts'
import type { Chart, PanePainter } from './pane-painter.ts'
import { EMPTY_SCENE, type Scene } from './scene.ts'
import { tradeNear } from './trades.ts'

/** The bar and price that the pointer is on. */
export interface Hover {
  readonly bar: number
  readonly price: number | null
  readonly pane: number
  readonly x: number
  readonly y: number
  readonly trade: ReportTrade | null
}

/** A pane's place on the page, for elements laid over it. */
export interface PaneBox {
  readonly name: string
  readonly top: number
  readonly height: number
  readonly width: number
}

interface ViewEvents {
  readonly onHover: (hover: Hover | null) => void
  readonly onClick: (hover: Hover) => void
  /** Called when other bars have come into view. */
  readonly onRange: (left: number) => void
  readonly onLayout: (boxes: readonly PaneBox[]) => void
  /** Somebody has dragged the line between two panes. */
  readonly onHeights: (heights: Scene['heights']) => void
}

export class ChartView {
  readonly #host: HTMLElement
  readonly #events: ViewEvents
  readonly #chart: Chart
  readonly #painter: Painter
  #theme: ChartTheme
  #layoutKey = ''
  /** Whether the crosshair follows that of another chart instead of the pointer. */
  #put = false
  #withPrice = true
  #isTypefaceHere = false
  #removed = false

  constructor(host: HTMLElement, events: ViewEvents) {
    this.#host = host
    this.#events = events
    const zoneNow = { zone: 'UTC' }
    const Behavior = zonedBehavior(zoneNow)
    this.#chart = createChartEx<Time, InstanceType<typeof Behavior>>(host, new Behavior(), {
      autoSize: true,
      // The browser's own locale may be no language tag (`en-US@posix` where no locale is set), which ends every drawing.
      localization: { locale: 'en-US' },
      layout: { attributionLogo: false, fontSize: 11 },
      crosshair: { mode: CrosshairMode.Normal },
      rightPriceScale: { minimumWidth: 72 },
      timeScale: FIRST_VIEW,
      kineticScroll: { mouse: false, touch: true },
    })
    this.#painter = new Painter(this.#chart, zoneNow, () => this.#layoutSoon())
    this.#theme = this.#themeNow()
    this.paint(EMPTY_SCENE)
    // A canvas neither loads a typeface by itself nor is drawn again once it has loaded.
    void document.fonts.load(`11px ${this.#theme.font}`).then(() => {
      this.#isTypefaceHere = true
      this.#theme = this.#themeNow()
      this.paint(this.scene)
    })
    this.#chart.subscribeCrosshairMove((event) => {
      // The library tells of a crosshair that was put there as if it were the pointer's.
      if (event.sourceEvent) this.#put = false
      else if (this.#put) return
      this.#setCrosshairPrice(true)
      events.onHover(this.#hoverOf(event))
    })
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => events.onRange(range?.from ?? 0))
    this.#chart.subscribeClick((event) => {
      const hover = this.#hoverOf(event)
      if (hover) events.onClick(hover)
    })
  }

  get scene(): Scene {
    return this.#painter.scene
  }
  get camera(): Camera {
    return this.#painter.camera
  }
  /** From top to bottom; the first is the price's. */
  get panes(): readonly PanePainter[] {
    return this.#painter.panes
  }

  /** Answers whether other bars were shown before. */
  paint(scene: Scene): boolean {
    if (this.#removed) return false
    const before = this.scene
    if (scene.look !== before.look) this.#theme = this.#themeNow()
    this.#painter.paint(scene, this.#theme)
    this.#layoutSoon()
    return scene.bars !== before.bars
  }

  /**
   * The library remembers how wide texts are until the family is another string: what it measured before the typeface had come is
   * too narrow for it.
   */
  #themeNow(): ChartTheme {
    const theme = themeOf(this.#host)
    return this.#isTypefaceHere ? theme : { ...theme, font: `${theme.font}, sans-serif` }
  }

  /** Puts the crosshair on a bar; without a price it has no level line. */
  showCrosshair(bar: number, price: number | null): void {
    const { time, close } = this.scene.bars
    const at = time[bar]
    const pane = this.panes[0]
    if (at === undefined || !pane || this.#removed) return
    this.#put = true
    this.#setCrosshairPrice(price !== null)
    this.#chart.setCrosshairPosition(price ?? close[bar]!, (at / 1000) as UTCTimestamp, pane.series)
  }

  hideCrosshair(): void {
    if (this.#put) this.leave()
  }

  /** Takes off the crosshair, the pointer's too. */
  leave(): void {
    if (this.#removed) return
    this.#put = false
    this.#chart.clearCrosshairPosition()
  }

  #setCrosshairPrice(on: boolean): void {
    if (on === this.#withPrice) return
    this.#withPrice = on
    this.#chart.applyOptions({ crosshair: { horzLine: { visible: on, labelVisible: on } } })
  }

  /** Lets other code draw in front of the price pane, until the returned function is called. */
  addOverlay(draw: (paint: Paint) => void): () => void {
    const pane = this.panes[0]
    pane?.overlays.add(draw)
    pane?.redraw()
    return () => pane?.overlays.delete(draw)
  }
  /** How the price pane was last drawn; null = not yet. */
  get painted(): Paint | null {
    return this.panes[0]?.paint ?? null
  }

  /**
   * A picture of the canvases. Titles and legends are HTML on the page, so the caller has to draw them. What was scrolled and
   * not drawn yet would make lightweight-charts 5.2.1 add up for ever, so the next frame is waited for.
   */
  async picture(): Promise<HTMLCanvasElement> {
    await new Promise(requestAnimationFrame)
    return this.#chart.takeScreenshot(true, false)
  }

  priceAt(y: number): number | null {
    return this.panes[0]?.series.coordinateToPrice(y) ?? null
  }

  /** Others may hold on to it for a moment: what they ask of it then does nothing, since the library would draw once more. */
  destroy(): void {
    this.#removed = true
    this.#put = false
    this.camera.release()
    cancelAnimationFrame(this.#layoutTimer)
    this.#chart.remove()
  }

  #hoverOf(event: MouseEventParams): Hover | null {
    const { point, logical } = event
    const { bars, trades, cut } = this.scene
    if (!point || logical === undefined || bars.length === 0) return null
    const pane = event.paneIndex ?? 0
    const painter = this.panes[pane]
    if (!painter) return null
    const bar = Math.max(0, Math.min(cut ?? bars.length - 1, Math.round(logical)))
    const { paint } = painter
    const trade =
      pane === 0 && paint && trades
        ? tradeNear(paint, trades, cut ?? Infinity, point.x * paint.hr, point.y * paint.vr)
        : null
    return { bar, price: painter.series.coordinateToPrice(point.y), pane, x: point.x, y: point.y, trade }
  }

  #layoutTimer = 0
  #layoutSoon(): void {
    if (this.#layoutTimer) return
    this.#layoutTimer = requestAnimationFrame(() => {
      this.#layoutTimer = 0
      const top = this.#host.getBoundingClientRect().top
      const width = this.#chart.timeScale().width()
      const boxes = this.#chart.panes().map((pane, i): PaneBox => {
        const box = pane.getHTMLElement()?.getBoundingClientRect()
        return {
          name: this.panes[i]?.name ?? '',
          top: box ? Math.round(box.top - top) : 0,
          height: Math.round(box?.height ?? 0),
          width,
        }
      })
      const key = JSON.stringify(boxes)
      if (key === this.#layoutKey) return
      this.#layoutKey = key
      this.#events.onLayout(boxes)
      const dragged = this.#painter.draggedHeights()
      if (dragged) this.#events.onHeights(dragged)
    })
  }
}
