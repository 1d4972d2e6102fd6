// Labels on a pane's axis: present values of plots, prices of resting orders, the last price.

import type { ISeriesPrimitiveAxisView } from 'lightweight-charts'
import type { Bars } from '../../market/bars.ts'
import { lastValue } from './draw-marks.ts'
import { lightness, type ChartTheme } from './paint.ts'
import { colorAt, DISPLAY, type Mark } from './scene.ts'
import type { ChartState } from './view-state.ts'

/** The height of a label whose value has no place on the axis. */
const OFF_SCREEN = -1000

interface LabelledPane {
  /** True for the pane that shows prices. */
  readonly price: boolean
  readonly state: ChartState
  readonly theme: ChartTheme
  readonly marks: readonly Mark[]
  readonly shown: Bars
  readonly coordinate: (value: number) => number | null
  readonly format: (value: number) => string
}

/** The labels of a pane: plots that ask for one, resting orders, the last price. */
export function axisLabels({
  price,
  state,
  theme,
  marks,
  shown,
  coordinate,
  format,
}: LabelledPane): ISeriesPrimitiveAxisView[] {
  const labels: ISeriesPrimitiveAxisView[] = []
  const { cut } = state
  const add = (value: number, color: string, words?: string) => {
    labels.push({
      coordinate: () => coordinate(value) ?? OFF_SCREEN,
      text: () => words ?? format(value),
      textColor: () => readable(color),
      backColor: () => color.slice(0, 7),
    })
  }
  for (const mark of marks) {
    if (mark.kind !== 'plot' || (mark.display & DISPLAY.priceScale) === 0) continue
    if ((mark.display & DISPLAY.pane) === 0 || /circles|cross/.test(mark.style)) continue
    const end = Math.min(mark.values.length - 1, (cut ?? Infinity) - mark.run)
    const i = lastValue(mark.values, end)
    const color = i < 0 ? null : colorAt(mark.colors, i)
    if (color !== null && end - i < 2) add(mark.values[i]!, color)
  }
  if (!price) return labels
  for (const level of [...state.levels, ...state.alerts]) {
    const color = level.tone === 'muted' ? theme.muted : theme[level.tone]
    add(level.price, color, format(level.price))
  }
  const last = cut ?? shown.length - 1
  const close = shown.close[last]
  if (close !== undefined) add(close, close >= shown.open[last]! ? theme.up : theme.down)
  return labels
}

/** Black or white, whichever is readable on the colour. */
function readable(color: string): string {
  return lightness(color) > 140 ? '#0b0f14' : '#ffffff'
}
