// Labels on a pane's axis: present values of plots, prices of resting orders, the last price.
//
// Of labels that would lie on each other the most important stays, and the legend has the values of the others. The library
// would move them apart, away from the values they name, and out of a low pane.

import type { ISeriesPrimitiveAxisView } from 'lightweight-charts'
import type { Bars } from '../../market/bars.ts'
import { ratio, gain } from '../format.ts'
import { lastValue } from './draw-marks.ts'
import { lightness, type ChartTheme } from './paint.ts'
import { colorAt, DISPLAY, type Mark } from './marks.ts'
import type { Scene } from './scene.ts'

/** The height of a label whose value has no place on the axis. */
const OFF_SCREEN = -1000
/** CSS pixels: as high as a label is. */
const ONE_BELOW = 17

interface LabelledPane {
  /** True for the pane that shows prices. */
  readonly price: boolean
  readonly state: Scene
  readonly theme: ChartTheme
  readonly marks: readonly Mark[]
  readonly shown: Bars
  readonly coordinate: (value: number) => number | null
  readonly format: (value: number) => string
}

/** The labels of a pane: plots that ask for one, resting orders, the last price. */
export function axisLabels(pane: LabelledPane): ISeriesPrimitiveAxisView[] {
  const { state, theme, shown, coordinate, format } = pane
  const { cut } = state
  const labels: AxisLabel[] = []
  const add = (value: number, color: string, importance = 0, text = () => format(value)) => {
    labels.push({ importance, color, y: () => coordinate(value), text })
  }
  for (const mark of pane.marks) {
    if (mark.kind !== 'plot' || (mark.display & DISPLAY.priceScale) === 0) continue
    if ((mark.display & DISPLAY.pane) === 0 || /circles|cross/.test(mark.style)) continue
    const end = Math.min(mark.values.length - 1, (cut ?? Infinity) - mark.run)
    const i = lastValue(mark.values, end)
    const color = i < 0 ? null : colorAt(mark.colors, i)
    if (color === null || end - i >= 2) continue
    const { precision } = mark
    add(mark.values[i]!, color, 0, precision === null ? undefined : () => ratio(mark.values[i], precision))
  }
  if (!pane.price) return merging(labels)
  for (const { price, tone } of [...state.levels, ...state.alerts]) add(price, theme[tone], 1)
  const last = cut ?? shown.length - 1
  const close = shown.close[last]
  if (close !== undefined) add(close, close >= shown.open[last]! ? theme.up : theme.down, 2)
  return merging(labels)
}

/**
 * A price on a scale in per cent, as the scale itself counts: from the first close in view. `first` is the left edge of the
 * view, which may lie between bars. Null = there is nothing to count from.
 */
export function sinceFirst(value: number, { close }: Bars, first: number): string | null {
  const base = close[Math.max(0, Math.floor(first))]
  return base ? gain((value - base) / Math.abs(base)) : null
}

export interface AxisLabel {
  /** Of two at one place, the one with more stays. */
  readonly importance: number
  readonly color: string
  /** null = its value has no place on the axis. */
  readonly y: () => number | null
  readonly text: () => string
}

/** They are asked in every frame, since a chart that is scrolled or scaled moves them. */
export function merging(labels: readonly AxisLabel[]): ISeriesPrimitiveAxisView[] {
  const byImportance = labels.toSorted((a, b) => b.importance - a.importance)
  const standing = () => {
    const kept = new Map<AxisLabel, number>()
    for (const label of byImportance) {
      const y = label.y()
      if (y !== null && ![...kept.values()].some((one) => Math.abs(one - y) < ONE_BELOW)) kept.set(label, y)
    }
    return kept
  }
  return labels.map((label) => ({
    coordinate: () => label.y() ?? OFF_SCREEN,
    visible: () => standing().has(label),
    text: label.text,
    textColor: () => readable(label.color),
    backColor: () => label.color.slice(0, 7),
  }))
}

/** Black or white, whichever is readable on the colour. */
function readable(color: string): string {
  return lightness(color) > 140 ? '#0b0f14' : '#ffffff'
}
