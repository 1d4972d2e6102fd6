// The chart on screen. Panes, scales, crosshair and gestures are those of lightweight-charts; everything inside them is
// drawn here.
//
// Each pane has one invisible series that gives it a scale, and one painter (a series primitive) that draws bars, marks,
// drawings and trades straight from columns. So a new run, another chart type or a step of a replay changes what is
// drawn, and never the library's data: no 200,000 points are handed over again.

import {
  createChartEx,
  CrosshairMode,
  LineSeries,
  LineStyle,
  PriceScaleMode,
  type MouseEventParams,
  type TickMarkType,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import { lowerBound, type Bars } from '../../market/bars.ts'
import type { ReportTrade } from '../../wire/report.ts'
import { crosshairTime, tickTime, zonedBehavior } from './axis-text.ts'
import { showsClock } from './bars.ts'
import { faded, themeOf, type ChartTheme, type Paint } from './paint.ts'
import { PanePainter, type Chart } from './pane-painter.ts'
import { tradeNear } from './trades.ts'
import { EMPTY_STATE, type ChartState } from './view-state.ts'

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
  readonly onRange: () => void
  readonly onLayout: (boxes: readonly PaneBox[]) => void
}

export class ChartView {
  readonly #host: HTMLElement
  readonly #events: ViewEvents
  readonly #chart: Chart
  readonly #zoneNow: { zone: string }
  #panes: PanePainter[] = []
  #state: ChartState = EMPTY_STATE
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
    this.#theme = themeOf(host)
    this.#zoneNow = { zone: 'UTC' }
    const Behavior = zonedBehavior(this.#zoneNow)
    this.#chart = createChartEx<Time, InstanceType<typeof Behavior>>(host, new Behavior(), {
      autoSize: true,
      // The browser's own locale may be no language tag (`en-US@posix` where no locale is set), which ends every drawing.
      localization: { locale: 'en-US' },
      layout: { attributionLogo: false, fontSize: 11 },
      crosshair: { mode: CrosshairMode.Normal },
      rightPriceScale: { minimumWidth: 72 },
      timeScale: { rightOffset: RIGHT_OFFSET, barSpacing: BAR_SPACING, minBarSpacing: 0.005 },
      kineticScroll: { mouse: false, touch: true },
    })
    this.#addPane('price')
    this.#applyTheme()
    // A canvas neither loads a typeface by itself nor is drawn again once it has loaded.
    void document.fonts.load(`11px ${this.#theme.font}`).then(() => {
      this.#isTypefaceHere = true
      if (!this.#removed) this.refreshTheme()
    })
    this.#chart.subscribeCrosshairMove((event) => {
      // The library tells of a crosshair that was put there as if it were the pointer's.
      if (event.sourceEvent) this.#put = false
      else if (this.#put) return
      this.#setCrosshairPrice(true)
      events.onHover(this.#hoverOf(event))
    })
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange(() => events.onRange())
    this.#chart.subscribeClick((event) => {
      const hover = this.#hoverOf(event)
      if (hover) events.onClick(hover)
    })
  }

  get state(): ChartState {
    return this.#state
  }
  get visible(): { readonly from: number; readonly to: number } | null {
    return this.#removed ? null : this.#chart.timeScale().getVisibleLogicalRange()
  }

  /** Shows a new state; only the parts that differ from the last one are computed. */
  set(change: Partial<ChartState>): void {
    if (this.#removed) return
    const before = this.#state
    const now = { ...before, ...change }
    this.#state = now
    if (now.zone !== before.zone || now.interval !== before.interval || now.hideDates !== before.hideDates) {
      this.#zoneNow.zone = now.zone
      this.#chart.applyOptions({
        timeScale: { timeVisible: showsClock(now.interval) },
        localization: { timeFormatter: (time: Time) => (now.hideDates ? '' : crosshairTime(time, now)) },
      })
      // The type of the base chart lacks options that only time scales have.
      const tickMarkFormatter = (time: Time, kind: TickMarkType) =>
        now.hideDates ? '' : tickTime(time, kind, now)
      this.#chart.timeScale().applyOptions({ tickMarkFormatter } as object)
    }
    const ofPercent = (now.scale === 'percent') !== (before.scale === 'percent')
    if (now.bars !== before.bars || now.zone !== before.zone || ofPercent) this.#setTimes(before.bars)
    if (now.mintick !== before.mintick || now.bars !== before.bars) this.#setFormat()
    if (now.scene !== before.scene) this.#setPanes()
    if (now.scale !== before.scale) this.#setScale()
    for (const pane of this.#panes) pane.show(now, this.#theme)
    this.#layoutSoon()
  }

  refreshTheme(): void {
    this.#theme = themeOf(this.#host)
    this.#applyTheme()
    for (const pane of this.#panes) pane.show(this.#state, this.#theme)
  }

  /**
   * Shows the newest known bars, as many as fit. A range of bars would be spread over the width of this moment, which changes
   * when the prices on the axis turn out longer, and then the chart would stand differently each time.
   */
  toEnd(): void {
    if (this.#removed) return
    const scale = this.#chart.timeScale()
    // A chart that is hidden has no width yet.
    const barSpacing = Math.min(BAR_SPACING, scale.width() / BARS_LEAST || BAR_SPACING)
    scale.applyOptions({ barSpacing, rightOffset: RIGHT_OFFSET })
    scale.scrollToPosition(this.#last() + RIGHT_OFFSET - Math.max(0, this.#state.bars.length - 1), false)
    this.autoScale()
  }

  fit(): void {
    this.#chart.timeScale().setVisibleLogicalRange({ from: -0.5, to: this.#last() + 4 })
    this.autoScale()
  }

  /** Shows the bars since a time, to the newest. */
  showSince(time: number): void {
    const { bars } = this.#state
    const from = lowerBound(bars.time.subarray(0, bars.length), time)
    this.#chart.timeScale().setVisibleLogicalRange({ from: from - 0.5, to: this.#last() + 4 })
    this.autoScale()
  }

  autoScale(): void {
    for (const pane of this.#panes) pane.autoScale()
  }

  /** Brings a bar into view, at the same zoom; does nothing if it is well inside already. */
  lookAt(bar: number, { edge = 0.5 } = {}): void {
    const range = this.visible
    const span = range ? Math.min(range.to - range.from, 600) : 150
    if (
      range &&
      range.to - range.from <= 600 &&
      bar > range.from + span * 0.08 &&
      bar < range.to - span * 0.12
    )
      return
    this.#chart.timeScale().setVisibleLogicalRange({ from: bar - span * edge, to: bar + span * (1 - edge) })
  }

  /** Brings all bars from one to another into view. */
  lookAtRange(from: number, to: number): void {
    const range = this.visible
    if (range && from > range.from + 2 && to < range.to - 4) return
    const room = Math.max(12, (to - from) * 0.25)
    const span = Math.max(range ? Math.min(range.to - range.from, 300) : 150, to - from + 2 * room)
    const middle = (from + to) / 2
    this.#chart.timeScale().setVisibleLogicalRange({ from: middle - span / 2, to: middle + span / 2 })
  }

  scroll(bars: number): void {
    const range = this.visible
    if (range)
      this.#chart.timeScale().setVisibleLogicalRange({ from: range.from + bars, to: range.to + bars })
  }

  zoom(factor: number): void {
    const range = this.visible
    if (!range) return
    const width = Math.max(8, (range.to - range.from) * factor)
    this.#chart.timeScale().setVisibleLogicalRange({ from: range.to - width, to: range.to })
  }

  /** Shows bars from one place to another, which may lie between bars and beyond them. */
  showRange(from: number, to: number): void {
    if (to > from && !this.#removed) this.#chart.timeScale().setVisibleLogicalRange({ from, to })
  }

  /** Puts the crosshair on a bar; without a price it has no level line. */
  showCrosshair(bar: number, price: number | null): void {
    const time = this.#state.bars.time[bar]
    const pane = this.#panes[0]
    if (time === undefined || !pane) return
    this.#put = true
    this.#setCrosshairPrice(price !== null)
    const level = price ?? this.#state.bars.close[bar]!
    this.#chart.setCrosshairPosition(level, (time / 1000) as UTCTimestamp, pane.series)
  }

  hideCrosshair(): void {
    if (!this.#put) return
    this.#put = false
    this.#chart.clearCrosshairPosition()
  }

  #setCrosshairPrice(on: boolean): void {
    if (on === this.#withPrice) return
    this.#withPrice = on
    this.#chart.applyOptions({ crosshair: { horzLine: { visible: on, labelVisible: on } } })
  }

  resetScale(): void {
    this.toEnd()
  }

  /** The corner of the price pane's legend, CSS pixels. */
  legend: { readonly bottom: number; readonly right: number } = { bottom: 0, right: 0 }

  /** Leaves the top of a pane free, CSS pixels, so that nothing lies below its legend, which ends at `right`. */
  leaveFree(name: string, height: number, right: number): void {
    const index = this.#panes.findIndex((pane) => pane.name === name)
    if (index === 0) this.legend = { bottom: height, right }
    const pane = index < 0 ? undefined : this.#chart.panes()[index]
    if (!pane) return
    const { top, bottom } = marginsOf(index)
    const wanted = Math.min(LEGEND_MOST, height / Math.max(1, pane.getHeight()))
    this.#panes[index]!.series.priceScale().applyOptions({
      scaleMargins: { top: Math.max(top, wanted), bottom },
    })
  }

  /** Lets other code draw in front of the price pane, until the returned function is called. */
  addOverlay(draw: (paint: Paint) => void): () => void {
    const overlays = this.#panes[0]?.overlays
    overlays?.add(draw)
    return () => overlays?.delete(draw)
  }
  /** How the price pane was last drawn; null = not yet. */
  get paint(): Paint | null {
    return this.#panes[0]?.paint ?? null
  }
  redraw(): void {
    if (!this.#removed) this.#panes[0]?.redraw()
  }

  /**
   * A picture of the canvases. Titles and legends are HTML on the page, so the caller has to draw them. What was scrolled and
   * not drawn yet would make lightweight-charts 5.2.1 add up for ever, so the next frame is waited for.
   */
  async picture(): Promise<HTMLCanvasElement> {
    await new Promise(requestAnimationFrame)
    return this.#chart.takeScreenshot(true, false)
  }

  /** The price at a height of the price pane. */
  priceAt(y: number): number | null {
    return this.#panes[0]?.series.coordinateToPrice(y) ?? null
  }

  /** Others may hold on to it for a moment: what they ask of it then does nothing, since the library would draw once more. */
  destroy(): void {
    this.#removed = true
    this.#put = false
    this.#panes = []
    cancelAnimationFrame(this.#layoutTimer)
    this.#chart.remove()
  }

  #last(): number {
    return this.#state.cut ?? Math.max(0, this.#state.bars.length - 1)
  }

  #addPane(name: string): void {
    const index = this.#panes.length
    const series = this.#chart.addSeries(
      LineSeries,
      {
        lineVisible: false,
        pointMarkersVisible: false,
        crosshairMarkerVisible: false,
        lastValueVisible: false,
        priceLineVisible: false,
      },
      index,
    )
    const painter = new PanePainter(name, this.#chart, series, () => this.#layoutSoon())
    series.applyOptions({ autoscaleInfoProvider: () => painter.autoscale() })
    series.attachPrimitive(painter)
    series.priceScale().applyOptions({
      // The library gives a new pane the scale mode of the last one; an oscillator needs neither log nor per cent.
      mode: PriceScaleMode.Normal,
      scaleMargins: marginsOf(index),
    })
    this.#panes.push(painter)
    this.#chart.panes()[index]?.setStretchFactor(index === 0 ? 3 : 1)
  }

  #setPanes(): void {
    const names = (this.#state.scene?.panes ?? []).map((pane) => pane.name).filter((name) => name !== 'price')
    // Panes at the front of the list that do not change keep their height; the others are made again in their new order.
    let same = 0
    while (same < names.length && this.#panes[same + 1]?.name === names[same]) same++
    while (this.#panes.length > 1 + same) {
      const painter = this.#panes.pop()!
      this.#chart.removeSeries(painter.series)
      if (this.#chart.panes().length > this.#panes.length) this.#chart.removePane(this.#panes.length)
    }
    for (const name of names.slice(same)) {
      this.#addPane(name)
      this.#setAnchor(this.#panes.length - 1)
    }
    this.#setFormat()
  }

  /** Bars stay where they are by their distance to the newest: a range, set again, would change their spacing by a hair. */
  #setTimes(before: Bars): void {
    const { bars } = this.#state
    const range = this.visible
    const scale = this.#chart.timeScale()
    const position = scale.scrollPosition()
    const added = bars.length - before.length
    if (
      before.length > 0 &&
      added >= 0 &&
      added < 100 &&
      bars.time[before.length - 1] === before.time[before.length - 1] &&
      bars.time[0] === before.time[0] &&
      bars !== before
    ) {
      // Bars were added at the end: hand over only those, and scroll along only if the view was at the end.
      for (let i = before.length; i < bars.length; i++)
        this.#panes[0]!.series.update({ time: (bars.time[i]! / 1000) as UTCTimestamp, value: bars.close[i]! })
      const follows = range !== null && range.to >= before.length - 1
      if (range && added > 0) scale.scrollToPosition(follows ? position : position - added, false)
      return
    }
    // Older bars were added in front: keep the visible ones where they are.
    const inFront = bars.length - before.length
    const hasGrown =
      before.length > 0 &&
      before.time[before.length - 1] === bars.time[bars.length - 1] &&
      // Another type of chart may end with the same bar and have others before it.
      before.time[0] === bars.time[inFront]
    // lightweight-charts 5.2.1 mixes up its points where the only series with data is given the times that it has, and keeps the
    // days of the former zone where times stay the same. So it forgets all times first.
    for (const { series } of this.#panes) series.setData([])
    this.#panes[0]!.series.setData(this.#points())
    for (let i = 1; i < this.#panes.length; i++) this.#setAnchor(i)
    if (range && (hasGrown || before === bars)) scale.scrollToPosition(position, false)
    else this.toEnd()
  }

  /**
   * The axis' times. The library visits every visible value in each frame, even if it draws none: 4 ms with 200,000 of
   * them. A scale only needs one at either end, but percentages are relative to the first visible value, so they need all.
   */
  #points(): { time: UTCTimestamp; value?: number }[] {
    const { bars, scale } = this.#state
    const last = bars.length - 1
    return Array.from({ length: bars.length }, (_, i) => {
      const time = (bars.time[i]! / 1000) as UTCTimestamp
      return scale === 'percent' || i === 0 || i === last ? { time, value: bars.close[i]! } : { time }
    })
  }

  /**
   * A script's pane has no bars, and without a value at either end it would have no scale. With no bars at all it gets none: a
   * point without a time would be a tick that cannot be formatted.
   */
  #setAnchor(index: number): void {
    const { time, length } = this.#state.bars
    const at = length === 0 ? [] : [...new Set([0, length - 1])]
    this.#panes[index]!.series.setData(at.map((i) => ({ time: (time[i]! / 1000) as UTCTimestamp, value: 0 })))
  }

  #setFormat(): void {
    const { mintick } = this.#state
    for (const [i, pane] of this.#panes.entries())
      pane.series.applyOptions({
        priceFormat: {
          type: 'custom',
          minMove: i === 0 ? mintick : 0.0001,
          formatter: (value: number) => pane.text(value),
        },
      })
  }

  #setScale(): void {
    const { scale } = this.#state
    const mode = {
      linear: PriceScaleMode.Normal,
      log: PriceScaleMode.Logarithmic,
      percent: PriceScaleMode.Percentage,
    }[scale]
    this.#panes[0]?.series.priceScale().applyOptions({ mode, autoScale: true })
  }

  #applyTheme(): void {
    const { line, muted, lineStrong, surface, font } = this.#theme
    this.#chart.applyOptions({
      layout: {
        background: { color: surface },
        textColor: muted,
        // The library remembers how wide texts are until the family is another string: what it measured before the typeface had
        // come is too narrow for it.
        fontFamily: this.#isTypefaceHere ? font : `${font}, sans-serif`,
        panes: { separatorColor: line, separatorHoverColor: faded(this.#theme.accent, 0.3) },
      },
      grid: { vertLines: { color: faded(line, 0.45) }, horzLines: { color: faded(line, 0.45) } },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line },
      crosshair: {
        vertLine: {
          color: faded(muted, 0.8),
          width: 1,
          style: LineStyle.Dashed,
          labelBackgroundColor: lineStrong,
        },
        horzLine: {
          color: faded(muted, 0.8),
          width: 1,
          style: LineStyle.Dashed,
          labelBackgroundColor: lineStrong,
        },
      },
    })
  }

  #hoverOf(event: MouseEventParams): Hover | null {
    const { point, logical } = event
    if (!point || logical === undefined || this.#state.bars.length === 0) return null
    const pane = event.paneIndex ?? 0
    const painter = this.#panes[pane]
    if (!painter) return null
    const bar = Math.max(0, Math.min(this.#last(), Math.round(logical)))
    const { paint } = painter
    const { trades } = this.#state
    const trade =
      pane === 0 && paint && trades
        ? tradeNear(paint, trades, this.#state.cut ?? Infinity, point.x * paint.hr, point.y * paint.vr)
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
          name: this.#panes[i]?.name ?? '',
          top: box ? Math.round(box.top - top) : 0,
          height: Math.round(box?.height ?? 0),
          width,
        }
      })
      const key = JSON.stringify(boxes)
      if (key === this.#layoutKey) return
      this.#layoutKey = key
      this.#events.onLayout(boxes)
    })
  }
}

/** How a chart begins: CSS pixels from bar to bar, bars left free behind the newest one, and the least that are in view. */
const [BAR_SPACING, RIGHT_OFFSET, BARS_LEAST] = [7, 8, 20]
/** The part of a pane above the highest and below the lowest price. */
const marginsOf = (index: number): { readonly top: number; readonly bottom: number } =>
  index === 0 ? { top: 0.1, bottom: 0.1 } : { top: 0.12, bottom: 0.08 }
/** A legend never takes more of its pane than that from the candles; a longer one can be folded. */
const LEGEND_MOST = 0.4
