// The chart on screen: panes, scales, crosshair and gestures are lightweight-charts', everything in them is drawn here.
//
// Each pane has one invisible series that gives it a scale, and one painter (a series primitive) that draws bars, marks,
// drawings and trades straight from columns. So a new run, another chart type or a step of a replay changes what is
// drawn, and never the library's data: no 200,000 points are handed over again.

import {
  createChartEx,
  CrosshairMode,
  defaultHorzScaleBehavior,
  LineSeries,
  LineStyle,
  PriceScaleMode,
  TickMarkType,
  type AutoscaleInfo,
  type IChartApiBase,
  type IPrimitivePaneView,
  type ISeriesApi,
  type ISeriesPrimitive,
  type ISeriesPrimitiveAxisView,
  type Logical,
  type MouseEventParams,
  type SeriesAttachedParameter,
  type Time,
  type UTCTimestamp,
} from 'lightweight-charts'
import type { Bars } from '../../market/bars.ts'
import type { ReportTrade } from '../../wire/report.ts'
import { heikinAshi, showsClock } from './bars.ts'
import { drawBars, drawVolume, type ChartType } from './draw-bars.ts'
import { drawDrawings, itemsAt } from './draw-drawings.ts'
import { drawBehind, drawMarks, lastValue } from './draw-marks.ts'
import { faded, lightness, themeOf, type ChartTheme, type Paint } from './paint.ts'
import {
  colorAt,
  DISPLAY,
  groundAt,
  rangeOf,
  type DrawingsMark,
  type GroundMark,
  type Mark,
  type Scene,
} from './scene.ts'
import { drawTrades, tradeNear, type TradeMarks } from './trades.ts'
import { offsetsOf } from './zone.ts'
import { compact, price as priceText, ratio } from '../format.ts'

/** What the chart shows: one object, printed in tests. */
export interface ChartState {
  readonly bars: Bars
  readonly interval: string
  readonly mintick: number
  readonly zone: string
  readonly type: ChartType
  readonly scale: 'linear' | 'log' | 'percent'
  readonly volume: boolean
  readonly scene: Scene | null
  readonly trades: TradeMarks | null
  readonly hoveredTrade: number | null
  readonly markedTrade: number | null
  /** Last bar that is known, for a replay; null = all. */
  readonly cut: number | null
  /** Prices of orders that rest, for a replay. */
  readonly levels: readonly PriceLevel[]
  /** A bar that is lit from elsewhere (hovering equity). */
  readonly litBar: number | null
  readonly hideDates: boolean
}
export interface PriceLevel {
  readonly price: number
  readonly text: string
  readonly tone: 'up' | 'down' | 'muted'
}

/** Where the pointer is. */
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
  readonly onLayout: (boxes: readonly PaneBox[]) => void
}

type Chart = IChartApiBase
type Series = ISeriesApi<'Line'>

const EMPTY: Bars = {
  length: 0,
  time: new Float64Array(0),
  open: new Float64Array(0),
  high: new Float64Array(0),
  low: new Float64Array(0),
  close: new Float64Array(0),
  volume: new Float64Array(0),
}
export const EMPTY_STATE: ChartState = {
  bars: EMPTY,
  interval: '1d',
  mintick: 0.01,
  zone: 'UTC',
  type: 'candles',
  scale: 'linear',
  volume: true,
  scene: null,
  trades: null,
  hoveredTrade: null,
  markedTrade: null,
  cut: null,
  levels: [],
  litBar: null,
  hideDates: false,
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

  constructor(host: HTMLElement, events: ViewEvents) {
    this.#host = host
    this.#events = events
    this.#theme = themeOf(host)
    this.#zoneNow = { zone: 'UTC' }
    const Behavior = zonedBehavior(this.#zoneNow)
    this.#chart = createChartEx<Time, InstanceType<typeof Behavior>>(host, new Behavior(), {
      autoSize: true,
      layout: { attributionLogo: false, fontSize: 11 },
      crosshair: { mode: CrosshairMode.Normal },
      rightPriceScale: { minimumWidth: 64 },
      timeScale: { rightOffset: 8, barSpacing: 7, minBarSpacing: 0.005 },
      kineticScroll: { mouse: false, touch: true },
    })
    this.#addPane('price')
    this.#applyTheme()
    this.#chart.subscribeCrosshairMove((event) => {
      const hover = this.#hoverOf(event)
      events.onHover(hover)
    })
    this.#chart.subscribeClick((event) => {
      const hover = this.#hoverOf(event)
      if (hover) events.onClick(hover)
    })
  }

  get state(): ChartState {
    return this.#state
  }
  get visible(): { readonly from: number; readonly to: number } | null {
    return this.#chart.timeScale().getVisibleLogicalRange()
  }

  /** Shows the new state; only what differs is done again. */
  set(change: Partial<ChartState>): void {
    const before = this.#state
    const now = { ...before, ...change }
    this.#state = now
    if (now.zone !== before.zone || now.interval !== before.interval || now.hideDates !== before.hideDates) {
      this.#zoneNow.zone = now.zone
      this.#chart.applyOptions({
        timeScale: { timeVisible: showsClock(now.interval) },
        localization: { timeFormatter: this.#timeText },
      })
      // The base chart's types leave out what only a scale of times has.
      this.#chart.timeScale().applyOptions({ tickMarkFormatter: this.#tickText } as object)
    }
    if (now.bars !== before.bars || now.zone !== before.zone) this.#setTimes(before.bars)
    if (now.mintick !== before.mintick || now.bars !== before.bars) this.#setFormat()
    if (now.scale !== before.scale) this.#setScale()
    if (now.scene !== before.scene) this.#setPanes()
    for (const pane of this.#panes) pane.show(now, this.#theme)
    this.#layoutSoon()
  }

  refreshTheme(): void {
    this.#theme = themeOf(this.#host)
    this.#applyTheme()
    for (const pane of this.#panes) pane.show(this.#state, this.#theme)
  }

  /** Shows the newest known bars, as many as fit. */
  toEnd(): void {
    this.#chart.applyOptions({ timeScale: { barSpacing: 7 } })
    const last = this.#last()
    const count = Math.max(20, this.#chart.timeScale().width() / 7)
    this.#chart.timeScale().setVisibleLogicalRange({ from: last + 8 - count, to: last + 8 })
    for (const pane of this.#panes) pane.autoScale()
  }

  fit(): void {
    this.#chart.timeScale().setVisibleLogicalRange({ from: -0.5, to: this.#last() + 4 })
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

  resetScale(): void {
    for (const pane of this.#panes) pane.autoScale()
    this.toEnd()
  }

  /** A picture of the canvas; the caller adds the text that is HTML on the page. */
  picture(): HTMLCanvasElement {
    return this.#chart.takeScreenshot(true, false)
  }

  /** The price at a height of the price pane. */
  priceAt(y: number): number | null {
    return this.#panes[0]?.series.coordinateToPrice(y) ?? null
  }

  destroy(): void {
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
      scaleMargins: index === 0 ? { top: 0.1, bottom: 0.1 } : { top: 0.12, bottom: 0.08 },
    })
    this.#panes.push(painter)
    this.#chart.panes()[index]?.setStretchFactor(index === 0 ? 3 : 1)
  }

  #setPanes(): void {
    const names = (this.#state.scene?.panes ?? []).map((pane) => pane.name).filter((name) => name !== 'price')
    while (this.#panes.length > 1 + names.length) {
      const painter = this.#panes.pop()!
      this.#chart.removeSeries(painter.series)
      const left = this.#chart.panes().length - 1
      if (left >= 1 + names.length && left > 0) this.#chart.removePane(left)
    }
    for (const name of names.slice(this.#panes.length - 1)) {
      this.#addPane(name)
      this.#setAnchor(this.#panes.length - 1)
    }
    this.#setFormat()
  }

  #setTimes(before: Bars): void {
    const { bars } = this.#state
    const range = this.visible
    const added = bars.length - before.length
    if (
      before.length > 0 &&
      added >= 0 &&
      added < 100 &&
      bars.time[before.length - 1] === before.time[before.length - 1] &&
      bars.time[0] === before.time[0] &&
      bars !== before
    ) {
      // New bars at the end: only those are handed over, and the view follows only if it stood at the end.
      for (let i = before.length; i < bars.length; i++)
        this.#panes[0]!.series.update({ time: (bars.time[i]! / 1000) as UTCTimestamp, value: bars.close[i]! })
      const shift = range && range.to >= before.length - 1 ? added : 0
      if (range && added > 0)
        this.#chart.timeScale().setVisibleLogicalRange({ from: range.from + shift, to: range.to + shift })
      return
    }
    // Older bars came in front: the bars on screen stay where they are.
    const grown =
      range && before.length > 0 && before.time[before.length - 1] === bars.time[bars.length - 1]
        ? bars.length - before.length
        : null
    const data = Array.from({ length: bars.length }, (_, i) => ({
      time: (bars.time[i]! / 1000) as UTCTimestamp,
      value: bars.close[i]!,
    }))
    this.#panes[0]!.series.setData(data)
    for (let i = 1; i < this.#panes.length; i++) this.#setAnchor(i)
    if (range && (grown !== null || before === bars)) {
      const by = before === bars ? 0 : (grown ?? 0)
      this.#chart.timeScale().setVisibleLogicalRange({ from: range.from + by, to: range.to + by })
    } else this.toEnd()
  }

  /**
   * A pane of a script has no bars: it needs a value at either end, or it has no scale. Without bars it gets none; a
   * point without a time would be a tick on the axis that nobody can format.
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
          formatter:
            i === 0
              ? (value: number) => priceText(value, mintick)
              : (value: number) => paneNumber(value, pane.span),
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

  readonly #timeText = (time: Time): string => {
    if (this.#state.hideDates) return ''
    const at = new Date((time as number) * 1000 + offsetsOf(this.#state.zone)((time as number) * 1000))
    const part = (options: Intl.DateTimeFormatOptions) =>
      at.toLocaleDateString('en-US', { ...options, timeZone: 'UTC' })
    const month = part({ month: 'short' })
    const day = `${part({ weekday: 'short' })} ${at.getUTCDate()} ${month} ${at.getUTCFullYear()}`
    return showsClock(this.#state.interval) ? `${day}  ${at.toISOString().slice(11, 16)}` : day
  }

  readonly #tickText = (time: Time, kind: TickMarkType): string => {
    if (this.#state.hideDates) return ''
    const at = new Date((time as number) * 1000 + offsetsOf(this.#state.zone)((time as number) * 1000))
    if (kind === TickMarkType.Year) return String(at.getUTCFullYear())
    if (kind === TickMarkType.Month)
      return at.toLocaleDateString('en-US', { month: 'short', timeZone: 'UTC' })
    if (kind === TickMarkType.DayOfMonth) return String(at.getUTCDate())
    return at.toISOString().slice(11, kind === TickMarkType.Time ? 16 : 19)
  }

  #applyTheme(): void {
    const { line, muted, lineStrong, surface, font } = this.#theme
    this.#chart.applyOptions({
      layout: {
        background: { color: surface },
        textColor: muted,
        fontFamily: font,
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

/** Decimal places enough to tell two ticks of such a range apart. */
function paneNumber(value: number, span: number): string {
  if (Math.abs(value) >= 1e6) return compact(value)
  const places = Math.max(span >= 20_000 ? 0 : 2, Math.min(8, Math.ceil(-Math.log10(span)) + 3))
  return ratio(value, places)
}

/** Days, months and years on the axis begin where the zone's do. */
function zonedBehavior(now: { readonly zone: string }) {
  const Behavior = defaultHorzScaleBehavior()
  return class extends Behavior {
    override fillWeightsForPoints(
      points: Parameters<InstanceType<typeof Behavior>['fillWeightsForPoints']>[0],
      startIndex: number,
    ): void {
      const offsetAt = offsetsOf(now.zone)
      const shifted = points.map((point) => {
        const seconds = this.key(point.time) as unknown as number
        const local = seconds + offsetAt(seconds * 1000) / 1000
        return { ...point, time: this.convertHorzItemToInternal(local as UTCTimestamp) }
      })
      super.fillWeightsForPoints(shifted, startIndex)
      for (let i = startIndex; i < points.length; i++) points[i]!.timeWeight = shifted[i]!.timeWeight
    }
  }
}

class PanePainter implements ISeriesPrimitive {
  readonly name: string
  readonly series: Series
  /** Shapes as they were last drawn, for hit tests. */
  paint: Paint | null = null
  /** Highest less lowest value on screen. */
  span = 1
  readonly #chart: Chart
  readonly #onUpdate: () => void
  readonly #views: readonly IPrimitivePaneView[]
  #state: ChartState = EMPTY_STATE
  #theme: ChartTheme | null = null
  #shown: Bars = EMPTY
  #marks: readonly Mark[] = []
  #barColors: readonly GroundMark[] = []
  #labels: readonly ISeriesPrimitiveAxisView[] = []
  #drawings: ReturnType<typeof itemsAt>[] = []
  #lines: ReturnType<typeof itemsAt> = []
  #requestUpdate: () => void = () => undefined

  constructor(name: string, chart: Chart, series: Series, onUpdate: () => void) {
    this.name = name
    this.series = series
    this.#chart = chart
    this.#onUpdate = onUpdate
    this.#views = [
      view('bottom', (target) => this.#draw(target, (paint) => this.#drawBehind(paint))),
      view('normal', (target) => this.#draw(target, (paint) => this.#drawFront(paint))),
    ]
  }

  attached({ requestUpdate }: SeriesAttachedParameter): void {
    this.#requestUpdate = requestUpdate
  }
  updateAllViews(): void {
    this.#onUpdate()
  }
  paneViews(): readonly IPrimitivePaneView[] {
    return this.#views
  }
  priceAxisViews(): readonly ISeriesPrimitiveAxisView[] {
    return this.#labels
  }

  autoScale(): void {
    this.series.priceScale().applyOptions({ autoScale: true })
  }

  show(state: ChartState, theme: ChartTheme): void {
    const before = this.#state
    this.#state = state
    this.#theme = theme
    if (state.bars !== before.bars || state.type !== before.type)
      this.#shown = state.type === 'heikin-ashi' ? heikinAshi(state.bars) : state.bars
    if (state.scene !== before.scene) {
      this.#marks = state.scene?.panes.find((pane) => pane.name === this.name)?.marks ?? []
      this.#barColors = this.#marks.filter((mark): mark is GroundMark => mark.kind === 'barcolor')
    }
    if (state.scene !== before.scene || state.cut !== before.cut) this.#setDrawings()
    this.#labels = this.#makeLabels()
    this.#requestUpdate()
  }

  #known(): number {
    const { cut, scene } = this.#state
    return cut === null ? Infinity : cut - (scene?.base ?? 0)
  }

  #setDrawings(): void {
    const { cut, scene } = this.#state
    const at = cut === null ? null : cut - (scene?.base ?? 0)
    const marks = this.#marks.filter((mark): mark is DrawingsMark => mark.kind === 'drawings')
    this.#drawings = marks.map((mark) => itemsAt(mark, at))
    // Linefills name lines by number among all lines of the run, whichever pane those are in.
    const lines = scene?.panes
      .flatMap((pane) => pane.marks)
      .find((mark): mark is DrawingsMark => mark.kind === 'drawings' && mark.items[0]?.kind === 'line')
    this.#lines = lines ? itemsAt(lines, at) : []
  }

  autoscale(): AutoscaleInfo | null {
    const range = this.#chart.timeScale().getVisibleLogicalRange()
    if (!range) return null
    const { cut } = this.#state
    const last = cut ?? Infinity
    const [from, to] = [Math.floor(range.from), Math.ceil(range.to)]
    let found = rangeOf(this.#marks, from, Math.min(to, last + 500), this.#known())
    if (this.name === 'price') {
      const { high, low, length } = this.#shown
      let [least, most] = [Infinity, -Infinity]
      for (let i = Math.max(0, from); i <= Math.min(length - 1, to, last); i++) {
        if (low[i]! < least) least = low[i]!
        if (high[i]! > most) most = high[i]!
      }
      if (least <= most)
        found = {
          minValue: Math.min(least, found?.minValue ?? Infinity),
          maxValue: Math.max(most, found?.maxValue ?? -Infinity),
        }
    }
    if (!found) return null
    if (found.minValue === found.maxValue) {
      const room = Math.abs(found.minValue) * 0.01 || 1
      found = { minValue: found.minValue - room, maxValue: found.maxValue + room }
    }
    this.span = found.maxValue - found.minValue
    return { priceRange: found }
  }

  #draw(target: DrawTarget, use: (paint: Paint) => void): void {
    const theme = this.#theme
    if (!theme || this.#state.bars.length === 0) return
    target.useBitmapCoordinateSpace((scope) => {
      const { context: ctx, bitmapSize, mediaSize, horizontalPixelRatio: hr, verticalPixelRatio: vr } = scope
      const timeScale = this.#chart.timeScale()
      const range = timeScale.getVisibleLogicalRange()
      const zero = timeScale.logicalToCoordinate(0 as Logical)
      const one = timeScale.logicalToCoordinate(1 as Logical)
      const top = this.series.coordinateToPrice(0)
      const bottom = this.series.coordinateToPrice(mediaSize.height)
      if (!range || zero === null || one === null || top === null || bottom === null || top === bottom) return
      const step = (one - zero) * hr
      const slope = bitmapSize.height / (bottom - top)
      const log = this.name === 'price' && this.#state.scale === 'log'
      const paint: Paint = {
        ctx,
        from: Math.floor(range.from),
        to: Math.ceil(range.to),
        known: this.#known(),
        x: (bar) => zero * hr + bar * step,
        y: log
          ? (price) => (this.series.priceToCoordinate(price) ?? Number.NaN) * vr
          : (price) => (price - top) * slope,
        width: bitmapSize.width,
        height: bitmapSize.height,
        hr,
        vr,
        spacing: step,
        theme,
      }
      this.paint = paint
      ctx.save()
      use(paint)
      ctx.restore()
    })
  }

  #drawBehind(paint: Paint): void {
    drawBehind(paint, this.#marks)
    const { litBar, volume, cut } = this.#state
    if (litBar !== null) {
      paint.ctx.fillStyle = faded(paint.theme.accent, 0.16)
      const width = Math.max(3 * paint.hr, paint.spacing)
      paint.ctx.fillRect(paint.x(litBar) - width / 2, 0, width, paint.height)
    }
    if (this.name === 'price' && volume) drawVolume(upTo(paint, cut), this.#shown)
  }

  #drawFront(paint: Paint): void {
    const { bars, type, cut, scene, interval, trades, hoveredTrade, markedTrade, levels } = this.#state
    if (this.name === 'price') {
      const colorOf =
        this.#barColors.length === 0
          ? null
          : (bar: number) => {
              for (let i = this.#barColors.length - 1; i >= 0; i--) {
                const color = groundAt(this.#barColors[i]!, bar)
                if (color) return color
              }
              return null
            }
      drawBars(upTo(paint, cut), upToBars(this.#shown, cut), type, colorOf)
    }
    drawMarks(paint, this.#marks, upToBars(bars, cut))
    const space = { bars, interval, base: scene?.base ?? 0 }
    for (const items of this.#drawings) drawDrawings(paint, items, this.#lines, space)
    if (this.name !== 'price') return
    if (trades)
      drawTrades(paint, trades, bars, { hovered: hoveredTrade, marked: markedTrade, cut: cut ?? Infinity })
    for (const level of levels) drawPriceLevel(paint, level)
    this.#drawLastPrice(paint)
  }

  #drawLastPrice(paint: Paint): void {
    const { cut } = this.#state
    const last = cut ?? this.#shown.length - 1
    const close = this.#shown.close[last]
    if (close === undefined) return
    const { ctx, theme, hr } = paint
    ctx.strokeStyle = faded(close >= this.#shown.open[last]! ? theme.up : theme.down, 0.7)
    ctx.lineWidth = Math.max(1, Math.floor(hr))
    ctx.setLineDash([hr, 3 * hr])
    const y = Math.round(paint.y(close)) + 0.5
    ctx.beginPath()
    ctx.moveTo(0, y)
    ctx.lineTo(paint.width, y)
    ctx.stroke()
    ctx.setLineDash([])
  }

  #makeLabels(): ISeriesPrimitiveAxisView[] {
    const theme = this.#theme
    if (!theme) return []
    const labels: ISeriesPrimitiveAxisView[] = []
    const { cut, mintick } = this.#state
    const format =
      this.name === 'price'
        ? (value: number) => priceText(value, mintick)
        : (value: number) => paneNumber(value, this.span)
    const add = (value: number, color: string, words?: string) => {
      labels.push({
        coordinate: () => this.series.priceToCoordinate(value) ?? -1000,
        text: () => words ?? format(value),
        textColor: () => readable(color),
        backColor: () => color.slice(0, 7),
      })
    }
    for (const mark of this.#marks) {
      if (mark.kind !== 'plot' || (mark.display & DISPLAY.priceScale) === 0) continue
      if ((mark.display & DISPLAY.pane) === 0 || /circles|cross/.test(mark.style)) continue
      const end = Math.min(mark.values.length - 1, this.#known())
      const i = lastValue(mark.values, end)
      const color = i < 0 ? null : colorAt(mark.colors, i)
      if (color !== null && end - i < 2) add(mark.values[i]!, color)
    }
    if (this.name !== 'price') return labels
    for (const level of this.#state.levels) {
      const color = level.tone === 'muted' ? theme.muted : theme[level.tone]
      add(level.price, color, priceText(level.price, mintick))
    }
    const last = cut ?? this.#shown.length - 1
    const close = this.#shown.close[last]
    if (close !== undefined) add(close, close >= this.#shown.open[last]! ? theme.up : theme.down)
    return labels
  }
}

const upTo = (paint: Paint, cut: number | null): Paint =>
  cut === null ? paint : { ...paint, to: Math.min(paint.to, cut) }

/** The same columns with a shorter length: what is not known yet cannot be drawn. */
const upToBars = (bars: Bars, cut: number | null): Bars =>
  cut === null ? bars : { ...bars, length: Math.min(bars.length, cut + 1) }

function drawPriceLevel(paint: Paint, level: PriceLevel): void {
  const { ctx, hr, vr, theme } = paint
  const color = level.tone === 'muted' ? theme.muted : theme[level.tone]
  const y = Math.round(paint.y(level.price)) + 0.5
  ctx.strokeStyle = color
  ctx.lineWidth = Math.max(1, Math.floor(hr))
  ctx.setLineDash([6 * hr, 4 * hr])
  ctx.beginPath()
  ctx.moveTo(0, y)
  ctx.lineTo(paint.width, y)
  ctx.stroke()
  ctx.setLineDash([])
  ctx.font = `${11 * vr}px ${theme.font}`
  ctx.textAlign = 'right'
  ctx.textBaseline = 'bottom'
  ctx.fillStyle = color
  ctx.fillText(level.text, paint.width - 8 * hr, y - 3 * vr)
}

function view(zOrder: 'bottom' | 'normal', draw: (target: DrawTarget) => void): IPrimitivePaneView {
  const renderer = { draw }
  return { zOrder: () => zOrder, renderer: () => renderer }
}
type DrawTarget = Parameters<NonNullable<ReturnType<IPrimitivePaneView['renderer']>>['draw']>[0]

/** Black or white, whichever can be read on the colour. */
function readable(color: string): string {
  return lightness(color) > 140 ? '#0b0f14' : '#ffffff'
}
