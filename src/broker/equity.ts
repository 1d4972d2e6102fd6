// Equity at every bar, rebuilt from the state after each fill.
//
// The broker records its state only when something fills. Between two fills equity is a linear function of price, so
// nothing has to be stored for each bar. Max drawdown and run-up follow TradingView's definition: the peak (trough) is of
// CLOSED equity, which dips by an entry's commission, and is compared with closed equity plus the open result at the bar's
// worst (best) price.

import type { Bars } from '../market/bars.ts'
import type { Fills } from './emulator/ledger.ts'
import { memoOf } from '../lib/memo.ts'
import { Room } from '../lib/spares.ts'
import { contracts } from './emulator/numbers.ts'

/** The lowest and the highest price after each fill, up to the next one; neutral if both are on the same bar. */
export interface Stretches {
  readonly low: Float64Array
  readonly high: Float64Array
}

/** The lowest and the highest price of each bar and the `SPAN` - 1 behind it. */
export interface Extremes {
  readonly lows: Float64Array
  readonly highs: Float64Array
}
const SPAN = 16

/** Made once for the trials of a sweep: a run alone passes its bars in less time than this takes. */
export const extremesOf = memoOf(({ low, high }: Bars): Extremes => {
  const lows = low.slice()
  const highs = high.slice()
  for (let step = 1; step < SPAN; step *= 2)
    for (let i = 0; i + step < low.length; i++) {
      lows[i] = Math.min(lows[i]!, lows[i + step]!)
      highs[i] = Math.max(highs[i]!, highs[i + step]!)
    }
  return { lows, highs }
})

/** So that a product rounded up is not taken for more than the quotient it stands for. */
const NEARLY = 1 - 1e-9

export class EquityWalk {
  runupMax = 0
  drawdownMax = 0
  runupMaxFraction = 0
  drawdownMaxFraction = 0
  /** Number of bars in the market so far. */
  barsHeld = 0
  private next = 0
  private fill = 0
  private size = 0
  private value = 0
  private closed: number
  private peak: number
  private trough: number
  private readonly bars: Bars
  private readonly fills: Fills
  private readonly pointValue: number
  private readonly initial: number
  private readonly rates: Float64Array | null
  private readonly stretches: Stretches | null
  private readonly extremes: Extremes | null

  /** `stretches` are filled in on the way; `extremes` are those of the bars, if they are known. */
  constructor(
    bars: Bars,
    fills: Fills,
    pointValue: number,
    initial: number,
    rates: Float64Array | null,
    stretches: Stretches | null = null,
    extremes: Extremes | null = null,
  ) {
    this.stretches = stretches
    this.extremes = extremes
    this.bars = bars
    this.fills = fills
    this.pointValue = pointValue
    this.initial = initial
    this.rates = rates
    this.closed = initial
    this.peak = initial
    this.trough = initial
  }

  /** Continues until `bar` is done. */
  to(bar: number): this {
    const { count, bar: bars } = this.fills
    while (this.next <= bar) {
      while (this.fill < count && bars[this.fill]! <= this.next) this.step()
      const end = this.fill < count ? Math.min(bar + 1, bars[this.fill]!) : bar + 1
      if (this.size !== 0) this.hold(this.next, end)
      this.next = end
    }
    while (this.fill < count && bars[this.fill]! <= bar) this.step()
    return this
  }

  /** Its progress and findings, for a snapshot. */
  state() {
    const { runupMax, drawdownMax, runupMaxFraction, drawdownMaxFraction, barsHeld } = this
    const { next, fill, size, value, closed, peak, trough } = this
    const found = { runupMax, drawdownMax, runupMaxFraction, drawdownMaxFraction, barsHeld }
    return { ...found, next, fill, size, value, closed, peak, trough }
  }

  goOnFrom(state: ReturnType<EquityWalk['state']>): void {
    Object.assign(this, state)
  }

  private step(): void {
    const { fills } = this
    const k = this.fill++
    this.size = contracts(fills.held[k]!)
    this.value = fills.value[k]!
    this.closed = this.initial + fills.net[k]! - fills.fees[k]!
    this.mark(0, 0)
    if (this.closed > this.peak) this.peak = this.closed
    if (this.closed < this.trough) this.trough = this.closed
  }

  /**
   * Applies one position to some bars. Money grows with price, and so does its rounding, so the extremes of the prices give
   * the extremes of the money, unless the rate changes too (I4). A million bars take 2.1 ms instead of 6.4.
   */
  private hold(from: number, to: number): void {
    this.barsHeld += to - from
    const { extremes } = this
    const isWide = extremes !== null && to - from > SPAN
    const high = isWide ? extremes.highs : this.bars.high
    const low = isWide ? extremes.lows : this.bars.low
    const last = isWide ? to - SPAN : to - 1
    const step = isWide ? SPAN : 1
    // The last span may lie over the one before it.
    let lowest = low[last]!
    let highest = high[last]!
    for (let i = from; i < last; i += step) {
      if (low[i]! < lowest) lowest = low[i]!
      if (high[i]! > highest) highest = high[i]!
    }
    if (this.stretches) {
      this.stretches.low[this.fill - 1] = lowest
      this.stretches.high[this.fill - 1] = highest
    }
    const { rates, bars } = this
    if (rates) for (let i = from; i < to; i++) this.markPrices(bars.low[i]!, bars.high[i]!, rates[i]!)
    else this.markPrices(lowest, highest, 1)
  }

  private markPrices(low: number, high: number, rate: number): void {
    const { size, value, pointValue } = this
    const worst = size > 0 ? low : high
    const best = size > 0 ? high : low
    this.mark((size * worst - value) * pointValue * rate, (size * best - value) * pointValue * rate)
  }

  private mark(worst: number, best: number): void {
    const { peak, trough } = this
    const down = peak - (this.closed + worst)
    if (down > this.drawdownMax) this.drawdownMax = down
    // Nearly all are far below the most so far, which a product tells without a division.
    if (down > NEARLY * this.drawdownMaxFraction * peak && peak > 0 && down / peak > this.drawdownMaxFraction)
      this.drawdownMaxFraction = down / peak
    const up = this.closed + best - trough
    if (up > this.runupMax) this.runupMax = up
    if (up > NEARLY * this.runupMaxFraction * trough && trough > 0 && up / trough > this.runupMaxFraction)
      this.runupMaxFraction = up / trough
  }
}

const lows = new Room((length) => new Float64Array(length))
const highs = new Room((length) => new Float64Array(length))

/** To be read before the next ones are asked for. */
export function emptyStretches({ count }: Fills): Stretches {
  return { low: lows.of(count).fill(Infinity), high: highs.of(count).fill(-Infinity) }
}

/** Equity at each bar's close, open profit included. It is read in order, from the first bar on, some bars at a time. */
export class EquityCurve {
  private fill = 0
  private readonly bars: Bars
  private readonly fills: Fills
  private readonly pointValue: number
  private readonly initial: number
  private readonly rates: Float64Array | null

  constructor(bars: Bars, fills: Fills, pointValue: number, initial: number, rates: Float64Array | null) {
    this.bars = bars
    this.fills = fills
    this.pointValue = pointValue
    this.initial = initial
    this.rates = rates
  }

  /** The equity of bars `from` to `to` - 1, beginning at `into[0]`. Each call continues where the last one ended. */
  read(from: number, to: number, into: Float64Array): void {
    const { fills, pointValue, initial, rates } = this
    const { close } = this.bars
    const { bar, count } = fills
    for (let i = from; i < to;) {
      while (this.fill < count && bar[this.fill]! <= i) this.fill++
      const end = this.fill < count ? Math.min(to, bar[this.fill]!) : to
      const k = this.fill - 1
      const size = k < 0 ? 0 : contracts(fills.held[k]!)
      const value = k < 0 ? 0 : fills.value[k]!
      const base = k < 0 ? initial : initial + fills.net[k]! - fills.fees[k]!
      if (size === 0) for (; i < end; i++) into[i - from] = base
      else if (rates)
        for (; i < end; i++) into[i - from] = base + (size * close[i]! - value) * pointValue * rates[i]!
      else for (; i < end; i++) into[i - from] = base + (size * close[i]! - value) * pointValue
    }
  }
}

export interface EquityColumns {
  /** At each bar's close, open profit included. */
  readonly equity: Float64Array
  /** Initial capital and closed profit. */
  readonly closed: Float64Array
  /** Signed contracts held at the close. */
  readonly position: Float64Array
}

/**
 * Made when the chart asks, since for a million bars each column is 8 MB of new memory, which costs more than computing its
 * numbers.
 */
export function equityColumns(
  bars: Bars,
  fills: Fills,
  pointValue: number,
  initial: number,
  rates: Float64Array | null,
): EquityColumns {
  const { length } = bars
  const held = (of: (fill: number) => number, before: number) => {
    const column = new Float64Array(length)
    stretches(fills, length, (from, to, k) => {
      const now = k < 0 ? before : of(k)
      // A loop, because calling `fill` costs more than the usual 26 bars between two fills.
      for (let i = from; i < to; i++) column[i] = now
    })
    return column
  }
  let equity: Float64Array | null = null
  let closed: Float64Array | null = null
  let position: Float64Array | null = null
  return {
    get equity() {
      if (equity === null) {
        equity = new Float64Array(length)
        new EquityCurve(bars, fills, pointValue, initial, rates).read(0, length, equity)
      }
      return equity
    },
    get closed() {
      return (closed ??= held((k) => initial + fills.net[k]!, initial))
    },
    get position() {
      return (position ??= held((k) => contracts(fills.held[k]!), 0))
    },
  }
}

/** Visits the bars after fill `k` (-1 = before the first), up to those of the next fill. */
function stretches(fills: Fills, length: number, visit: (from: number, to: number, k: number) => void): void {
  const { bar, count } = fills
  let from = 0
  for (let k = 0; k <= count; k++) {
    const to = k < count ? Math.min(bar[k]!, length) : length
    if (to <= from) continue
    visit(from, to, k - 1)
    from = to
  }
}
