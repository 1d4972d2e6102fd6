// Draws one pane (bars, marks, drawings, trades and levels) straight from columns, and reports the range that its scale
// needs.

import type {
  AutoscaleInfo,
  IChartApiBase,
  IPrimitivePaneView,
  ISeriesApi,
  ISeriesPrimitive,
  ISeriesPrimitiveAxisView,
  Logical,
  SeriesAttachedParameter,
} from 'lightweight-charts'
import type { Bars } from '../../market/bars.ts'
import { price as priceText } from '../format.ts'
import { axisLabels, sinceFirst } from './axis-labels.ts'
import { paneNumber } from './axis-text.ts'
import { barMsOf, heikinAshi } from './bars.ts'
import { drawCompared, rangeOfLine } from './compared.ts'
import { drawBars, drawVolume } from './draw-bars.ts'
import { drawDrawings, itemsAt } from './draw-drawings.ts'
import { drawBehind, drawMarks } from './draw-marks.ts'
import { extremesOf } from './extremes.ts'
import { faded, strokeAcross, type ChartTheme, type Paint } from './paint.ts'
import { groundAt, rangeOf, type DrawingsMark, type GroundMark, type Mark } from './marks.ts'
import { drawTrades } from './trades.ts'
import { EMPTY_SCENE, NO_BARS, type Scene, type PriceLevel } from './scene.ts'

export type Chart = IChartApiBase
export type Series = ISeriesApi<'Line'>

export class PanePainter implements ISeriesPrimitive {
  readonly name: string
  readonly series: Series
  /** The paint of the last frame, used to find the trade under the pointer. */
  paint: Paint | null = null
  /** What draws in front of everything else. */
  readonly overlays = new Set<(paint: Paint) => void>()
  /** The difference between the highest and lowest visible values. */
  span = 1
  readonly #chart: Chart
  readonly #onUpdate: () => void
  readonly #views: readonly IPrimitivePaneView[]
  #state: Scene = EMPTY_SCENE
  #theme: ChartTheme | null = null
  #shown: Bars = NO_BARS
  #marks: readonly Mark[] = []
  #barColors: readonly GroundMark[] = []
  #labels: readonly ISeriesPrimitiveAxisView[] = []
  #drawings: readonly (Record<'items' | 'lines', ReturnType<typeof itemsAt>> & { readonly base: number })[] =
    []
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

  /** A value as text on this pane's axis. */
  text(value: number): string {
    return this.name === 'price' ? priceText(value, this.#state.mintick) : paneNumber(value, this.span)
  }

  #labelText(value: number): string {
    const { scale, bars } = this.#state
    if (this.name !== 'price' || scale !== 'percent') return this.text(value)
    const first = this.#chart.timeScale().getVisibleLogicalRange()?.from ?? 0
    return sinceFirst(value, bars, first) ?? this.text(value)
  }

  autoScale(): void {
    this.series.priceScale().applyOptions({ autoScale: true })
  }

  show(state: Scene, theme: ChartTheme): void {
    const before = this.#state
    this.#state = state
    this.#theme = theme
    if (state.bars !== before.bars || state.type !== before.type)
      this.#shown = state.type === 'heikin-ashi' ? heikinAshi(state.bars) : state.bars
    if (state.panes !== before.panes) {
      this.#marks = state.panes.find((pane) => pane.name === this.name)?.marks ?? []
      this.#barColors = this.#marks.filter((mark): mark is GroundMark => mark.kind === 'barcolor')
    }
    if (state.panes !== before.panes || state.cut !== before.cut) this.#setDrawings()
    this.#labels = axisLabels({
      price: this.name === 'price',
      state,
      theme,
      marks: this.#marks,
      shown: this.#shown,
      coordinate: (value) => this.series.priceToCoordinate(value),
      format: (value) => this.#labelText(value),
    })
    this.#requestUpdate()
  }

  redraw(): void {
    this.#requestUpdate()
  }

  #setDrawings(): void {
    const { cut } = this.#state
    const marks = this.#marks.filter((mark): mark is DrawingsMark => mark.kind === 'drawings')
    this.#drawings = marks.map(({ items, lines, base }) => {
      const at = cut === null ? null : cut - base
      return { items: itemsAt(items, at), lines: itemsAt(lines, at), base }
    })
  }

  autoscale(): AutoscaleInfo | null {
    const range = this.#chart.timeScale().getVisibleLogicalRange()
    if (!range) return null
    const { cut, compared, bars } = this.#state
    const last = cut ?? Infinity
    const [from, to] = [Math.floor(range.from), Math.ceil(range.to)]
    let { low, high } = rangeOf(this.#marks, from, Math.min(to, last + 500), last)
    if (this.name === 'price') {
      const end = Math.min(this.#shown.length - 1, to, last)
      const lines = compared.map((line) => rangeOfLine(line, bars, from, Math.min(to, last)))
      const least = extremesOf(this.#shown.low, from, end).low
      const most = extremesOf(this.#shown.high, from, end).high
      low = Math.min(low, least, ...lines.map((line) => line.low))
      high = Math.max(high, most, ...lines.map((line) => line.high))
    }
    if (low > high) return null
    const room = low === high ? Math.abs(low) * 0.01 || 1 : 0
    this.span = high - low + 2 * room
    return { priceRange: { minValue: low - room, maxValue: high + room } }
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
        known: this.#state.cut ?? Infinity,
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
    const { bars, type, cut, interval, trades, hoveredTrade, markedTrade, levels, alerts } = this.#state
    if (this.name === 'price') {
      const own = (bar: number) => {
        for (let i = this.#barColors.length - 1; i >= 0; i--) {
          const color = groundAt(this.#barColors[i]!, bar)
          if (color) return color
        }
        return null
      }
      const colorOf = this.#barColors.length === 0 ? null : own
      drawBars(upTo(paint, cut), upToBars(this.#shown, cut), type, { colorOf, box: this.#state.box })
      for (const line of this.#state.compared) drawCompared(upTo(paint, cut), line, bars)
    }
    drawMarks(paint, this.#marks, upToBars(bars, cut))
    const barMs = barMsOf(interval)
    for (const { items, lines, base } of this.#drawings)
      drawDrawings(paint, items, lines, { bars, barMs, base })
    if (this.name !== 'price') return
    if (trades)
      drawTrades(paint, trades, bars, {
        hovered: hoveredTrade,
        marked: markedTrade,
        cut: cut ?? Infinity,
        legend: this.#state.legends['price'] ?? null,
      })
    for (const level of [...levels, ...alerts]) drawPriceLevel(paint, level)
    this.#drawLastPrice(paint)
    for (const draw of this.overlays) draw(paint)
  }

  #drawLastPrice(paint: Paint): void {
    const { cut } = this.#state
    const last = cut ?? this.#shown.length - 1
    const close = this.#shown.close[last]
    if (close === undefined) return
    const { ctx, theme, hr } = paint
    const color = close >= this.#shown.open[last]! ? theme.up : theme.down
    ctx.setLineDash([hr, 3 * hr])
    strokeAcross(paint, Math.round(paint.y(close)) + 0.5, faded(color, 0.7), 1)
    ctx.setLineDash([])
  }
}

const upTo = (paint: Paint, cut: number | null): Paint =>
  cut === null ? paint : { ...paint, to: Math.min(paint.to, cut) }

/** The columns cut off after the last known bar, so that a replay cannot draw what comes later. */
const upToBars = (bars: Bars, cut: number | null): Bars =>
  cut === null ? bars : { ...bars, length: Math.min(bars.length, cut + 1) }

function drawPriceLevel(paint: Paint, level: PriceLevel): void {
  const { ctx, hr, vr, theme } = paint
  const color = theme[level.tone]
  const y = Math.round(paint.y(level.price)) + 0.5
  ctx.setLineDash([6 * hr, 4 * hr])
  strokeAcross(paint, y, color, 1)
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
