// Everything that the chart shows, as one object that tests can print.

import type { Bars } from '../../market/bars.ts'
import type { ComparedLine } from './compared.ts'
import type { ChartType } from './draw-bars.ts'
import type { Scene } from './scene.ts'
import type { TradeMarks } from './trades.ts'

export interface ChartState {
  readonly bars: Bars
  readonly interval: string
  readonly mintick: number
  readonly zone: string
  readonly type: ChartType
  /** How high a box is, where the type has boxes. */
  readonly box: number
  readonly scale: 'linear' | 'log' | 'percent'
  readonly volume: boolean
  readonly scene: Scene | null
  readonly trades: TradeMarks | null
  readonly compared: readonly ComparedLine[]
  readonly hoveredTrade: number | null
  readonly markedTrade: number | null
  /** The last bar that a replay shows; null = all of them. */
  readonly cut: number | null
  /** Prices of the orders waiting at the replay's cursor. */
  readonly levels: readonly PriceLevel[]
  /** Prices that alerts wait for. */
  readonly alerts: readonly PriceLevel[]
  /** The bar to highlight because the pointer is on it elsewhere, as in the equity curve. */
  readonly litBar: number | null
  readonly hideDates: boolean
}
export interface PriceLevel {
  readonly price: number
  readonly text: string
  readonly tone: 'up' | 'down' | 'muted' | 'accent'
}

export const NO_BARS: Bars = {
  length: 0,
  time: new Float64Array(0),
  open: new Float64Array(0),
  high: new Float64Array(0),
  low: new Float64Array(0),
  close: new Float64Array(0),
  volume: new Float64Array(0),
}
export const EMPTY_STATE: ChartState = {
  bars: NO_BARS,
  interval: '1d',
  mintick: 0.01,
  zone: 'UTC',
  type: 'candles',
  box: 1,
  scale: 'linear',
  volume: true,
  scene: null,
  trades: null,
  compared: [],
  hoveredTrade: null,
  markedTrade: null,
  cut: null,
  levels: [],
  alerts: [],
  litBar: null,
  hideDates: false,
}
