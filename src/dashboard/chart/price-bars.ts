// Bars that go by price instead of time: Renko, line break, Kagi, point and figure, range bars. Pure, from a chart's bars.
//
// Each of them begins when the price has moved far enough, however long that takes. A bar here has the time of the real bar that
// made it or changed it last; several that come of one real bar follow each other by a millisecond, so that times still ascend.

import { emptyBars, type Bars } from '../../market/bars.ts'

export const PRICE_TYPES = ['renko', 'line-break', 'kagi', 'point-figure', 'range'] as const
export type PriceType = (typeof PRICE_TYPES)[number]

/** How large a move has to be. */
export interface Boxes {
  /** A box is as large as the average true range at the newest bar, or a number of price. */
  readonly by: 'atr' | 'price'
  readonly length: number
  readonly size: number
  /** Point and figure: how many boxes turn a column. */
  readonly reversal: number
  /** Line break: how many lines a turn has to reach beyond. */
  readonly lines: number
}
export const DEFAULT_BOXES: Boxes = { by: 'atr', length: 14, size: 1, reversal: 3, lines: 3 }

export interface PriceBars {
  readonly bars: Bars
  /** The real bar behind each. */
  readonly source: Int32Array
}

/** No chart needs more: a box far too small for its price would make bars without end. */
const BARS_MAX = 100_000

export function priceBars(type: PriceType, bars: Bars, boxes: Boxes): PriceBars {
  const made = new Made()
  const box = boxSize(bars, boxes)
  if (bars.length > 0 && box > 0) MAKERS[type](bars, box, made, boxes)
  return made.result(bars)
}

type Maker = (bars: Bars, box: number, made: Made, boxes: Boxes) => void
const MAKERS: Readonly<Record<PriceType, Maker>> = {
  renko,
  'line-break': lineBreak,
  kagi,
  'point-figure': pointAndFigure,
  range: rangeBars,
}

/** The size of a box in price; Wilder's average of the true range where it goes by that. */
export function boxSize({ high, low, close, length: count }: Bars, { by, length, size }: Boxes): number {
  if (by === 'price') return size
  let average = 0
  for (let i = 0; i < count; i++) {
    const before = close[i - 1] ?? close[i]!
    const range = Math.max(high[i]!, before) - Math.min(low[i]!, before)
    average += (range - average) / Math.min(i + 1, length)
  }
  return average
}

/** What has been made so far: open and close, with the real bar's index. The last may still be changed. */
class Made {
  readonly open: number[] = []
  readonly high: number[] = []
  readonly low: number[] = []
  readonly close: number[] = []
  readonly source: number[] = []

  get isFull(): boolean {
    return this.open.length >= BARS_MAX
  }

  add(open: number, close: number, source: number, high = open, low = open): void {
    this.open.push(open)
    this.high.push(Math.max(high, close))
    this.low.push(Math.min(low, close))
    this.close.push(close)
    this.source.push(source)
  }

  result(real: Bars): PriceBars {
    const bars = emptyBars(this.open.length)
    for (const field of ['open', 'high', 'low', 'close'] as const) bars[field].set(this[field])
    for (const [i, source] of this.source.entries())
      bars.time[i] = Math.max(real.time[source]!, (bars.time[i - 1] ?? -Infinity) + 1)
    return { bars, source: Int32Array.from(this.source) }
  }
}

/** Bricks of one size, by closes: one size on for another brick, two sizes back for one in the other direction. */
function renko({ close, length }: Bars, box: number, made: Made): void {
  let [low, high] = [close[0]!, close[0]!]
  for (let i = 1; i < length && !made.isFull; i++) {
    for (; close[i]! >= high + box && !made.isFull; low = high, high += box) made.add(high, high + box, i)
    for (; close[i]! <= low - box && !made.isFull; high = low, low -= box) made.add(low, low - box, i)
  }
}

/** A new line where a close goes beyond the last one; in the other direction, only beyond all of the last `lines`. */
function lineBreak({ close, length }: Bars, _box: number, made: Made, { lines }: Boxes): void {
  for (let i = 1; i < length && !made.isFull; i++) {
    const price = close[i]!
    const count = made.open.length
    if (count === 0) {
      if (price !== close[0]!) made.add(close[0]!, price, i)
      continue
    }
    const from = Math.max(0, count - lines)
    const highest = Math.max(...made.high.slice(from))
    const lowest = Math.min(...made.low.slice(from))
    const [open, last] = [made.open[count - 1]!, made.close[count - 1]!]
    const isRising = last > open
    if (price > (isRising ? last : highest)) made.add(isRising ? last : open, price, i)
    else if (price < (isRising ? lowest : last)) made.add(isRising ? open : last, price, i)
  }
}

/** One line for as long as the closes go one way; another when they come back by the size. */
function kagi({ close, length }: Bars, size: number, made: Made): void {
  let [start, end, source] = [close[0]!, close[0]!, 0]
  for (let i = 1; i < length && !made.isFull; i++) {
    const price = close[i]!
    const isRising = end > start
    const goesOn = end === start ? Math.abs(price - start) >= size : isRising ? price > end : price < end
    if (goesOn) {
      end = price
      source = i
    } else if (end !== start && Math.abs(price - end) >= size) {
      made.add(start, end, source)
      start = end
      end = price
      source = i
    }
  }
  if (end !== start) made.add(start, end, source)
}

/** Columns of boxes on a grid of prices: rising ones of X, falling ones of O. By closes. */
function pointAndFigure({ close, length }: Bars, box: number, made: Made, { reversal }: Boxes): void {
  // Box numbers instead of prices: sums of fractions drift.
  const boxOf = (price: number, isRising: boolean) =>
    isRising ? Math.floor(price / box + 1e-9) : Math.ceil(price / box - 1e-9)
  let [from, to, source, way] = [boxOf(close[0]!, true), boxOf(close[0]!, true), 0, 0]
  const finish = () => {
    if (way !== 0) made.add(from * box, to * box, source)
  }
  for (let i = 1; i < length && !made.isFull; i++) {
    const [up, down] = [boxOf(close[i]!, true), boxOf(close[i]!, false)]
    if (way >= 0 && up > to) [to, source, way] = [up, i, 1]
    else if (way <= 0 && down < to) [to, source, way] = [down, i, -1]
    else if (way > 0 && down <= to - reversal) {
      finish()
      ;[from, to, source, way] = [to - 1, down, i, -1]
    } else if (way < 0 && up >= to + reversal) {
      finish()
      ;[from, to, source, way] = [to + 1, up, i, 1]
    }
  }
  finish()
}

/** Bars that are all as high as the size, along the path that a bar is assumed to take: the nearer extreme first. */
function rangeBars({ open, high, low, close, length }: Bars, size: number, made: Made): void {
  let bar = { open: open[0]!, high: open[0]!, low: open[0]!, close: open[0]! }
  const reach = (price: number, i: number) => {
    while (!made.isFull) {
      const end = price > bar.low + size ? bar.low + size : price < bar.high - size ? bar.high - size : null
      if (end === null) break
      made.add(bar.open, end, i, bar.high, bar.low)
      bar = { open: end, high: end, low: end, close: end }
    }
    bar = { open: bar.open, high: Math.max(bar.high, price), low: Math.min(bar.low, price), close: price }
  }
  for (let i = 0; i < length && !made.isFull; i++) {
    const isLowFirst = open[i]! - low[i]! <= high[i]! - open[i]!
    const extremes = isLowFirst ? [low[i]!, high[i]!] : [high[i]!, low[i]!]
    for (const price of [open[i]!, ...extremes, close[i]!]) reach(price, i)
  }
  if (bar.high > bar.low && !made.isFull) made.add(bar.open, bar.close, length - 1, bar.high, bar.low)
}
