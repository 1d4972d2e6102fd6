// The scene: everything that one chart shows, as one value that tests can print.
//
// One function makes it of what has arrived, whatever came first, and the painter brings the library from the last scene to
// the next. So each order of arrival ends in the same picture.

import { emptyBars, type Bars } from '../../market/bars.ts'
import { withForming } from '../../market/forming.ts'
import type { FormingBar } from '../../wire/bars.ts'
import type { Drawing } from '../../wire/drawing.ts'
import type { Market, OneChart } from '../charts.ts'
import type { ComparedLine } from './compared.ts'
import { isPriceType, type ChartType } from './draw-bars.ts'
import type { MarkedPane } from './marks.ts'
import type { LegendRoom } from './paint.ts'
import { boxSize, DEFAULT_BOXES, priceBars } from './price-bars.ts'
import type { TradeMarks } from './trades.ts'

export interface Scene {
  /** What the bars are of. More bars of the same leave the view where it is; others are shown from their newest on. */
  readonly of: string
  readonly bars: Bars
  readonly interval: string
  readonly mintick: number
  readonly zone: string
  readonly type: ChartType
  /** How high a box is, where the type has boxes. */
  readonly box: number
  readonly scale: OneChart['scale']
  readonly volume: boolean
  /** What scripts draw, from top to bottom; `price` is first of all, wherever it is named. */
  readonly panes: readonly MarkedPane[]
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
  readonly sketch: Sketch
  /** The bar to highlight because the pointer is on it elsewhere, as in the equity curve. */
  readonly litBar: number | null
  readonly hideDates: boolean
  readonly legends: Readonly<Record<string, LegendRoom>>
  /** How high panes are in proportion to each other, as somebody dragged them; others as they come. */
  readonly heights: Readonly<Record<string, number>>
  /** Names theme and palette, whose colours are the page's. */
  readonly look: string
}
export interface PriceLevel {
  readonly price: number
  readonly text: string
  readonly tone: 'up' | 'down' | 'muted' | 'accent'
}
/** What a person drew, and is drawing. */
export interface Sketch {
  readonly drawings: readonly Drawing[]
  /** Ids of those that show their points. */
  readonly marked: readonly string[]
  readonly draft: Drawing | null
}

export const NO_BARS = emptyBars(0)
export const NO_SKETCH: Sketch = { drawings: [], marked: [], draft: null }
export const EMPTY_SCENE: Scene = {
  of: '',
  bars: NO_BARS,
  interval: '1d',
  mintick: 0.01,
  zone: 'UTC',
  type: 'candles',
  box: 1,
  scale: 'linear',
  volume: true,
  panes: [],
  trades: null,
  compared: [],
  hoveredTrade: null,
  markedTrade: null,
  cut: null,
  levels: [],
  alerts: [],
  sketch: NO_SKETCH,
  litBar: null,
  hideDates: false,
  legends: {},
  heights: {},
  look: '',
}

/** Bars, and the market they belong to. */
export interface ShownBars {
  readonly market: Market
  readonly bars: Bars
  /** Whether older bars are not still on their way, which move the numbers of these. */
  readonly isAll: boolean
}

/**
 * What a chart draws: the real bars, or those that its type makes of them. Null until bars of its market are there. A replay
 * goes by the real bars that it began with.
 */
export function drawnOf(
  { market, type, boxes = DEFAULT_BOXES }: Pick<OneChart, 'market' | 'type' | 'boxes'>,
  shown: ShownBars | null,
  forming: { readonly market: Market; readonly bar: FormingBar } | null,
  isReplay: boolean,
) {
  const of = nameOf(market)
  if (!shown || nameOf(shown.market) !== of) return null
  const isOfIt = !isReplay && forming !== null && nameOf(forming.market) === of
  const bars = isOfIt ? withForming(shown.bars, forming.bar) : shown.bars
  // `source`: the real bar behind each; null = they are the real bars.
  const real = { market: shown.market, of, type, bars, source: null, box: 1 }
  if (!isPriceType(type)) return real
  if (isReplay) return { ...real, type: 'candles' as const }
  const made = { ...priceBars(type, bars, boxes), box: boxSize(bars, boxes) }
  return { ...real, of: `${of} ${type} ${JSON.stringify(boxes)}`, ...made }
}

const nameOf = ({ exchange, symbol, interval }: Market): string => `${exchange}:${symbol} ${interval}`
