// The painter: brings lightweight-charts from the last scene to the next, always in one order (texts, panes, times, scales,
// marks, view), so that what the library holds depends on the scene alone. Nothing else hands it data.
//
// Each pane has one invisible series that gives it a scale, and one painter (a series primitive) that draws bars, marks,
// drawings and trades straight from columns. So a new run, another chart type or a step of a replay changes what is
// drawn, and never the library's data: no 200,000 points are handed over again.

import {
  LineSeries,
  LineStyle,
  PriceScaleMode,
  type DeepPartial,
  type TickMarkType,
  type Time,
  type TimeScaleOptions,
  type UTCTimestamp,
} from 'lightweight-charts'
import { crosshairTime, tickTime } from './axis-text.ts'
import { showsClock } from './bars.ts'
import { Camera } from './camera.ts'
import { faded, type ChartTheme } from './paint.ts'
import { PanePainter, type Chart } from './pane-painter.ts'
import { EMPTY_SCENE, type Scene } from './scene.ts'

interface Point {
  readonly time: UTCTimestamp
  readonly value?: number
}

/** More bars than this at once are handed over with all others. */
const APPENDED_MAX = 100
/** A legend never takes more of its pane than that from the candles; a longer one can be folded. */
const LEGEND_MOST = 0.4
/** The part of a pane above the highest and below the lowest price. */
const marginsOf = (isPrice: boolean) => (isPrice ? { top: 0.1, bottom: 0.1 } : { top: 0.12, bottom: 0.08 })
const heightOf = ({ heights }: Scene, name: string): number => heights[name] ?? (name === 'price' ? 3 : 1)

export class Painter {
  readonly camera: Camera
  readonly #chart: Chart
  readonly #onUpdate: () => void
  /** The zone that the library's days are in. */
  readonly #zoneNow: { zone: string }
  #panes: readonly PanePainter[] = []
  #scene: Scene = EMPTY_SCENE
  #theme: ChartTheme | null = null

  constructor(chart: Chart, zoneNow: { zone: string }, onUpdate: () => void) {
    this.#chart = chart
    this.#zoneNow = zoneNow
    this.#onUpdate = onUpdate
    this.camera = new Camera(
      chart,
      () => this.#scene,
      () => this.autoScale(),
    )
  }

  get scene(): Scene {
    return this.#scene
  }
  /** From top to bottom; the first is the price's. */
  get panes(): readonly PanePainter[] {
    return this.#panes
  }

  autoScale(): void {
    for (const pane of this.#panes) pane.autoScale()
  }

  paint(scene: Scene, theme: ChartTheme): void {
    const before = this.#scene
    const { position } = this.camera
    if (theme !== this.#theme) this.#setLook(theme)
    this.#scene = scene
    this.#theme = theme
    this.#setTexts(before)
    const isNew = this.#setPanes(before)
    const areOther = this.#setTimes(before, isNew)
    this.#setScales(before, isNew.size > 0)
    for (const pane of this.#panes) pane.show(scene, theme)
    if (areOther) this.camera.keep(before, position)
  }

  #setTexts(before: Scene): void {
    const now = this.#scene
    if (now.zone === before.zone && now.interval === before.interval && now.hideDates === before.hideDates)
      return
    this.#zoneNow.zone = now.zone
    const timeScale: DeepPartial<TimeScaleOptions> = {
      timeVisible: showsClock(now.interval),
      tickMarkFormatter: (time: Time, kind: TickMarkType) => (now.hideDates ? '' : tickTime(time, kind, now)),
    }
    this.#chart.applyOptions({
      timeScale,
      localization: { timeFormatter: (time: Time) => (now.hideDates ? '' : crosshairTime(time, now)) },
    })
  }

  /** Answers those that are new. Panes above the first that changes stay; the others are made again in their new order. */
  #setPanes(before: Scene): ReadonlySet<PanePainter> {
    const { panes, heights } = this.#scene
    const made = new Set<PanePainter>()
    if (panes === before.panes && heights === before.heights && this.#panes.length > 0) return made
    const names = ['price', ...panes.map(({ name }) => name).filter((name) => name !== 'price')]
    const same = names.findIndex((name, i) => this.#panes[i]?.name !== name)
    const kept = this.#panes.slice(0, same < 0 ? names.length : same)
    for (let i = this.#panes.length - 1; i >= kept.length; i--) {
      this.#chart.removeSeries(this.#panes[i]!.series)
      // With its last series a pane may have gone by itself.
      if (this.#chart.panes().length > i) this.#chart.removePane(i)
    }
    for (const name of names.slice(kept.length)) made.add(this.#addPane(name, kept.length + made.size))
    this.#panes = [...kept, ...made]
    if (made.size > 0 || heights !== before.heights)
      for (const [i, name] of names.entries())
        this.#chart.panes()[i]?.setStretchFactor(heightOf(this.#scene, name))
    return made
  }

  /** How high panes are where that is no longer as the scene says; null = nobody has dragged them. */
  draggedHeights(): Scene['heights'] | null {
    const panes = this.#chart.panes()
    const now = this.#panes.map(({ name }, i) => [name, panes[i]?.getStretchFactor() ?? 1] as const)
    const isSame = now.every(([name, height]) => Math.abs(height - heightOf(this.#scene, name)) < 1e-6)
    return isSame ? null : { ...this.#scene.heights, ...Object.fromEntries(now) }
  }

  #addPane(name: string, index: number): PanePainter {
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
    const painter = new PanePainter(name, this.#chart, series, this.#onUpdate)
    series.applyOptions({ autoscaleInfoProvider: () => painter.autoscale() })
    series.attachPrimitive(painter)
    // The library gives a new pane the scale mode of the last one; an oscillator needs neither log nor per cent.
    series.priceScale().applyOptions({ mode: PriceScaleMode.Normal })
    return painter
  }

  /** Answers whether the library has other bars than before. */
  #setTimes(before: Scene, isNew: ReadonlySet<PanePainter>): boolean {
    const { bars, zone, scale } = this.#scene
    const isPercent = scale === 'percent'
    const areSameDays = zone === before.zone && isPercent === (before.scale === 'percent')
    const added = bars.length - before.bars.length
    const last = before.bars.length - 1
    const goesOn =
      areSameDays &&
      last >= 0 &&
      added >= 0 &&
      added < APPENDED_MAX &&
      bars.time[last] === before.bars.time[last] &&
      bars.time[0] === before.bars.time[0]
    if (goesOn) {
      if (added > 0 || isPercent)
        for (const pane of this.#panes) if (!isNew.has(pane)) this.#append(pane, last)
    } else {
      // lightweight-charts 5.2.1 mixes up its points where the only series with data is given the times that it has, and keeps
      // the days of the former zone where times stay the same. So it forgets all times first.
      for (const { series } of this.#panes) series.setData([])
    }
    for (const pane of this.#panes) if (!goesOn || isNew.has(pane)) pane.series.setData(this.#points(pane))
    return !goesOn || added > 0
  }

  /** Bars were added behind one, which may have changed itself: only those are handed over. */
  #append(pane: PanePainter, last: number): void {
    const { length } = this.#scene.bars
    // What had a value for being the last has none any more.
    if (last < length - 1) pane.series.update(this.#point(pane, last), true)
    for (let i = last === length - 1 ? last : last + 1; i < length; i++) {
      const point = this.#point(pane, i)
      if (pane.name === 'price' || point.value !== undefined) pane.series.update(point)
    }
  }

  /** The price's series has all times; those of other panes only the two that give them a scale. */
  #points(pane: PanePainter): Point[] {
    const { length } = this.#scene.bars
    // A point without a time would be a tick that cannot be formatted.
    if (length === 0) return []
    if (pane.name === 'price') return Array.from({ length }, (_, i) => this.#point(pane, i))
    return [...new Set([0, length - 1])].map((i) => this.#point(pane, i))
  }

  /**
   * The library visits every visible value in each frame, even if it draws none: 4 ms with 200,000 of them. A scale only needs
   * one at either end, but percentages are relative to the first visible value, so they need all.
   */
  #point({ name }: PanePainter, i: number): Point {
    const { bars, scale } = this.#scene
    const time = (bars.time[i]! / 1000) as UTCTimestamp
    if (name === 'price' && scale === 'percent') return { time, value: bars.close[i]! }
    return i === 0 || i === bars.length - 1 ? { time, value: 1 } : { time }
  }

  #setScales(before: Scene, areNew: boolean): void {
    const { mintick, bars, scale, legends } = this.#scene
    if (areNew || mintick !== before.mintick || bars !== before.bars)
      for (const pane of this.#panes)
        pane.series.applyOptions({
          priceFormat: {
            type: 'custom',
            minMove: pane.name === 'price' ? mintick : 0.0001,
            formatter: (value: number) => pane.text(value),
          },
        })
    if (scale !== before.scale) {
      const mode = {
        linear: PriceScaleMode.Normal,
        log: PriceScaleMode.Logarithmic,
        percent: PriceScaleMode.Percentage,
      }[scale]
      this.#panes[0]!.series.priceScale().applyOptions({ mode, autoScale: true })
    }
    if (areNew || legends !== before.legends)
      for (const { name, series } of this.#panes) {
        const { top, bottom } = marginsOf(name === 'price')
        const wanted = Math.min(LEGEND_MOST, legends[name]?.part ?? 0)
        series.priceScale().applyOptions({ scaleMargins: { top: Math.max(top, wanted), bottom } })
      }
  }

  #setLook({ accent, line, muted, lineStrong, surface, font }: ChartTheme): void {
    const crosshairLine = {
      color: faded(muted, 0.8),
      width: 1,
      style: LineStyle.Dashed,
      labelBackgroundColor: lineStrong,
    } as const
    this.#chart.applyOptions({
      layout: {
        background: { color: surface },
        textColor: muted,
        fontFamily: font,
        panes: { separatorColor: line, separatorHoverColor: faded(accent, 0.3) },
      },
      grid: { vertLines: { color: faded(line, 0.45) }, horzLines: { color: faded(line, 0.45) } },
      rightPriceScale: { borderColor: line },
      timeScale: { borderColor: line },
      crosshair: { vertLine: crosshairLine, horzLine: crosshairLine },
    })
  }
}
