// Bars that price moves make, not time: Renko bricks, line break lines, Kagi lines, point & figure columns.
//
// All four are one loop over ordinary bars with a few numbers of state. A brick or line is there once the price has made
// it, and belongs to the ordinary bar that completed it: `madeBy[j]` bars exist once ordinary bar j is over, so a request
// sees no brick before the bar that makes it has closed. TradingView documents neither where the first brick lies nor how
// far back it turns: we put bricks and boxes on multiples of the box, and a brick turns once the whole of the last one is
// passed. An ATR box is that of the last bar there is when the request is first evaluated, for all of history: so it is on
// TradingView, where such bricks change when the chart is loaded again.

import { boxNotAbove0, tooManyPriceBars, unknownBoxStyle } from '../messages/failing.ts'
import type { Bars } from '../../market/bars.ts'
import type { ChartType } from './ticker.ts'

/** Some symbols make a brick a bar; a thousand a bar mean that the box was meant for another symbol. */
const BAR_LIMIT = 2_000_000

const FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const

/** Half a billionth of a box: prices are decimal, boxes and their multiples are not. */
const SLACK = 1e-9

interface State {
  /** 1 up, -1 down, 0 before the first. */
  direction: number
  /** Where the last brick or the growing line begins and ends: boxes for Renko and point & figure, else prices. */
  from: number
  to: number
  /** When the growing line began. */
  began: number
  /** Since the last brick. */
  low: number
  high: number
  volume: number
}

const START: Readonly<State> = {
  direction: 0,
  from: Number.NaN,
  to: Number.NaN,
  began: Number.NaN,
  low: Infinity,
  high: -Infinity,
  volume: 0,
}

export class PriceBars implements Bars {
  length = 0
  time = new Float64Array(64)
  open = new Float64Array(64)
  high = new Float64Array(64)
  low = new Float64Array(64)
  close = new Float64Array(64)
  volume = new Float64Array(64)
  /** For each ordinary bar, how many bars exist when it is over. */
  madeBy = new Int32Array(0)
  readonly #source: Bars
  readonly #chart: ChartType
  readonly #mintick: number
  #size = Number.NaN
  #done = 0
  #state: State = { ...START }
  #beforeLast = { ...this.#state }

  constructor(source: Bars, chart: ChartType, mintick: number) {
    this.#source = source
    this.#chart = chart
    this.#mintick = mintick
  }

  /** Adds the new ordinary bars, and the last one again, since it may have been forming. */
  extend(): void {
    const { length } = this.#source
    if (length === 0) return
    if (Number.isNaN(this.#size)) this.#size = this.#boxSize()
    if (this.madeBy.length < length) {
      const grown = new Int32Array(Math.max(length, this.madeBy.length * 2))
      grown.set(this.madeBy)
      this.madeBy = grown
    }
    if (this.#done > 0) {
      this.#done--
      this.#state = { ...this.#beforeLast }
      this.length = this.#done === 0 ? 0 : this.madeBy[this.#done - 1]!
    }
    for (; this.#done < length; this.#done++) {
      if (this.#done === length - 1) this.#beforeLast = { ...this.#state }
      this.#take(this.#done)
      this.madeBy[this.#done] = this.length
    }
  }

  /** Going back beyond the last bar means starting again, since only the state before that one is kept. */
  rewind(bar: number): void {
    if (bar >= this.#done - 1) return
    this.#done = 0
    this.#state = { ...START }
    this.length = 0
  }

  #take(bar: number): void {
    const state = this.#state
    const high = this.#source.high[bar]!
    const low = this.#source.low[bar]!
    const close = this.#source.close[bar]!
    state.high = Math.max(state.high, high)
    state.low = Math.min(state.low, low)
    state.volume += this.#source.volume[bar]!
    switch (this.#chart.kind) {
      case 'renko':
        if (this.#chart.parameters['source'] !== 'OHLC') return this.#renko(bar, close)
        for (const price of assumedPath(this.#source.open[bar]!, high, low, close)) this.#renko(bar, price)
        return
      case 'linebreak':
        return this.#lineBreak(bar, close)
      case 'kagi':
        return this.#kagi(bar, close)
      case 'pointfigure': {
        const extremes = this.#chart.parameters['source'] === 'hl'
        return this.#pointFigure(bar, extremes ? high : close, extremes ? low : close)
      }
      case 'heikinashi':
        throw new Error('assertion failed: Heikin-Ashi bars are made by time')
    }
  }

  /** `from` and `to` are the lower and the upper edge of the last brick. */
  #renko(bar: number, price: number): void {
    const state = this.#state
    const size = this.#size
    if (Number.isNaN(state.from)) state.from = state.to = Math.round(price / size)
    const above = Math.floor(price / size + SLACK)
    const below = Math.ceil(price / size - SLACK)
    const wicks = this.#chart.parameters['request_wicks'] === true
    while (above > state.to) {
      const open = state.to * size
      const close = (state.to + 1) * size
      this.#add(this.#source.time[bar]!, open, close, wicks ? Math.min(open, state.low) : open, close)
      state.from = state.to++
    }
    while (below < state.from) {
      const open = state.from * size
      const close = (state.from - 1) * size
      this.#add(this.#source.time[bar]!, open, close, close, wicks ? Math.max(open, state.high) : open)
      state.to = state.from--
    }
  }

  /** A line goes on beyond the last one, or turns beyond the extreme of the last n. */
  #lineBreak(bar: number, close: number): void {
    const state = this.#state
    const time = this.#source.time[bar]!
    const last = this.length - 1
    if (last < 0) {
      if (Number.isNaN(state.from)) state.from = this.#source.open[bar]!
      if (close !== state.from) this.#line(time, state.from, close)
      return
    }
    const up = this.close[last]! > this.open[last]!
    const first = Math.max(0, this.length - this.#size)
    let extreme = this.close[last]!
    for (let i = first; i <= last; i++)
      extreme = up ? Math.min(extreme, this.low[i]!) : Math.max(extreme, this.high[i]!)
    if (up ? close > this.close[last]! : close < this.close[last]!) this.#line(time, this.close[last]!, close)
    else if (up ? close < extreme : close > extreme) this.#line(time, this.open[last]!, close)
  }

  /** A line grows with the closes and is complete when they have come back by the reversal amount. */
  #kagi(bar: number, close: number): void {
    const state = this.#state
    const time = this.#source.time[bar]!
    if (Number.isNaN(state.from)) {
      state.from = state.to = close
      state.began = time
      return
    }
    const move = close - state.to
    if (state.direction === 0) {
      if (Math.abs(move) < this.#size * (1 - SLACK)) return
      state.direction = Math.sign(move)
      state.to = close
    } else if (move * state.direction > 0) state.to = close
    else if (Math.abs(move) >= this.#size * (1 - SLACK)) {
      this.#line(state.began, state.from, state.to)
      state.direction = -state.direction
      state.from = state.to
      state.to = close
      state.began = time
    }
  }

  /** A column of boxes is complete when the price has come back by `reversal` of them. */
  #pointFigure(bar: number, high: number, low: number): void {
    const state = this.#state
    const size = this.#size
    const time = this.#source.time[bar]!
    const top = Math.floor(high / size + SLACK)
    const bottom = Math.ceil(low / size - SLACK)
    const reversal = Math.max(1, Math.trunc(Number(this.#chart.parameters['reversal'])))
    if (Number.isNaN(state.from)) {
      state.from = state.to = Math.round(this.#source.open[bar]! / size)
      state.began = time
    }
    if (state.direction === 0) {
      state.direction = top > state.to ? 1 : bottom < state.to ? -1 : 0
      state.to = state.direction > 0 ? top : state.direction < 0 ? bottom : state.to
    } else if (state.direction > 0 ? top > state.to : bottom < state.to)
      state.to = state.direction > 0 ? top : bottom
    else if (state.direction > 0 ? bottom <= state.to - reversal : top >= state.to + reversal) {
      this.#line(state.began, state.from * size, state.to * size)
      // A new column starts a box beside the end of the last.
      state.from = state.to - state.direction
      state.direction = -state.direction
      state.to = state.direction > 0 ? top : bottom
      state.began = time
    }
  }

  #line(time: number, open: number, close: number): void {
    this.#add(time, open, close, Math.min(open, close), Math.max(open, close))
  }

  #add(time: number, open: number, close: number, low: number, high: number): void {
    const state = this.#state
    const at = this.length++
    if (at >= BAR_LIMIT) throw tooManyPriceBars(this.#chart.kind, BAR_LIMIT, this.#size)
    if (at === this.time.length)
      for (const field of FIELDS) {
        const grown = new Float64Array(at * 2)
        grown.set(this[field])
        this[field] = grown
      }
    this.time[at] = time
    this.open[at] = open
    this.high[at] = high
    this.low[at] = low
    this.close[at] = close
    this.volume[at] = state.volume
    state.volume = 0
    state.low = Infinity
    state.high = -Infinity
  }

  /** What a price has to move: of line breaks, the number of lines. */
  #boxSize(): number {
    const { kind, parameters } = this.#chart
    const name =
      kind === 'linebreak'
        ? 'number_of_lines'
        : 'reversal' in parameters && kind === 'kagi'
          ? 'reversal'
          : 'param'
    const value = Number(parameters[name])
    if (!(value > 0)) throw boxNotAbove0(kind, name, String(parameters[name] ?? 'na'))
    if (kind === 'linebreak') return Math.max(1, Math.trunc(value))
    const style = name === 'reversal' ? 'Traditional' : parameters['style']
    if (style === 'Traditional') return value
    const { close, length } = this.#source
    if (style === 'ATR')
      return this.#onTicks(lastAverageTrueRange(this.#source, Math.max(1, Math.trunc(value))))
    if (style === 'PercentageLTP') return this.#onTicks((close[length - 1]! * value) / 100)
    throw unknownBoxStyle(kind, String(style))
  }

  #onTicks(price: number): number {
    return Math.max(1, Math.round(price / this.#mintick)) * this.#mintick
  }
}

/** Open, the nearer extreme, the other one, close (rule A4). */
function assumedPath(open: number, high: number, low: number, close: number): readonly number[] {
  return high - open < open - low ? [open, high, low, close] : [open, low, high, close]
}

/** Wilder's, as of the last bar; the plain average where there are fewer bars than its length. */
function lastAverageTrueRange(bars: Bars, length: number): number {
  let average = 0
  for (let i = 0; i < bars.length; i++) {
    const before = i === 0 ? bars.open[i]! : bars.close[i - 1]!
    const range = Math.max(
      bars.high[i]! - bars.low[i]!,
      i === 0 ? 0 : Math.abs(bars.high[i]! - before),
      i === 0 ? 0 : Math.abs(bars.low[i]! - before),
    )
    const n = Math.min(i + 1, length)
    average = (average * (n - 1) + range) / n
  }
  return average
}
