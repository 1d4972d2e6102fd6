// What of a bar was bought and sold at which price: the rows of request.footprint().
//
// Nobody keeps each price's volume. It is worked out when a script asks, from the finest stored bars of the market that know
// their sides and add up to the bar. One that stands within a row goes to it as a whole, so bars of a second are all but exact;
// one that spans several is spread evenly over them. A footprint names its bar and how it was asked for, and no rows: it may be
// kept for thousands of bars, and its rows are the same whenever they are asked for.
//
// Which rows there are, and what is found among them: L8, L9.

import { lowerBound, type Bars } from '../../market/bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { sidedBetween } from '../../market/sided-bars.ts'
import { invalidArgument } from '../messages/failing.ts'
import { noSidedBars, sidedBarsDiffer, tooManyPriceRows } from '../messages/running.ts'
import type { RunWarning } from '../messages/message.ts'
import type { Budget } from './budget.ts'

export interface Footprint {
  readonly bought: number
  readonly volume: number
  /** When its bar opened and closed. */
  readonly from: number
  readonly to: number
  readonly asked: Asked
}

/** The same object for all bars. */
interface Asked {
  readonly exchange: string
  readonly symbol: string
  readonly interval: string
  /** When the first of its bars opened. */
  readonly since: number
  readonly mintick: number
  readonly priceScale: number
  readonly minMove: number
  readonly ticksPerRow: number
  readonly vaPercent: number
  readonly imbalancePercent: number
}

export interface VolumeRow {
  readonly downPrice: number
  readonly upPrice: number
  readonly bought: number
  readonly sold: number
  readonly buyImbalance: boolean
  readonly sellImbalance: boolean
}

/** TradingView's limit. */
const ROWS_MAX = 2000
/** Sums in another order differ by this much, as a fraction. */
const ROUNDING = 1e-9
/** K1. */
const EQUAL = 1e-10

/** What footprints need of the run: see `Runtime`. */
interface FootprintHost {
  readonly bars: Bars
  readonly bar: number
  readonly timeClose: Float64Array
  readonly symbol: SymbolInfo
  readonly interval: string
  readonly budget: Budget
  series(
    exchange: string,
    symbol: string,
    interval: string,
  ): { readonly bars: Bars; readonly interval: string } | null
  unsettle(): void
  warn(warning: RunWarning): void
}

/** The footprints that a run asks for, of its own bars or of those that request.* had a part of the script run on. */
export class Footprints {
  readonly #runtime: FootprintHost
  #asked: Asked | null = null
  /** The rows asked for last: a script asks for several of a bar's, one after the other. */
  #rows: { readonly of: Footprint; readonly found: PriceRows | null } | null = null

  constructor(runtime: FootprintHost) {
    this.#runtime = runtime
  }

  /** Of the bar at work. */
  of(
    bought: number,
    volume: number,
    ticksPerRow: number,
    vaPercent: number,
    imbalancePercent: number,
  ): Footprint {
    const { bars, bar, timeClose } = this.#runtime
    const asked = this.#askedWith(ticksPerRow, vaPercent, imbalancePercent)
    return { bought, volume, from: bars.time[bar]!, to: timeClose[bar]!, asked }
  }

  /** null where no bars tell. */
  rows(of: Footprint): PriceRows | null {
    if (this.#rows?.of !== of) this.#rows = { of, found: this.#work(of) }
    return this.#rows.found
  }

  #askedWith(ticksPerRow: number, vaPercent: number, imbalancePercent: number): Asked {
    const known = this.#asked
    if (
      known?.ticksPerRow === ticksPerRow &&
      Object.is(known.vaPercent, vaPercent) &&
      Object.is(known.imbalancePercent, imbalancePercent)
    )
      return known
    const { bars, interval, symbol: info } = this.#runtime
    const { exchange, symbol, mintick, priceScale, minMove } = info
    return (this.#asked = {
      exchange,
      symbol,
      interval,
      since: bars.time[0]!,
      mintick,
      priceScale,
      minMove,
      ticksPerRow,
      vaPercent,
      imbalancePercent,
    })
  }

  #work(of: Footprint): PriceRows | null {
    const bars = this.#within(of)
    if (bars === null) return null
    const found = new PriceRows(of.asked, bars, this.#runtime.budget)
    if (found.count <= ROWS_MAX) return found
    this.#runtime.warn(tooManyPriceRows(ROWS_MAX))
    return null
  }

  /** The finest bars that add up to the footprint's, as indices. */
  #within({ bought, volume, from, to, asked }: Footprint): Within | null {
    const { exchange, symbol, interval, since } = asked
    for (let above: string | null = null; ;) {
      const series = this.#runtime.series(exchange, symbol, sidedBetween(above, interval, since))
      if (!series || series.bars.length === 0) {
        this.#runtime.warn(above === null ? noSidedBars() : sidedBarsDiffer())
        return null
      }
      const { bars } = series
      const within = { bars, first: lowerBound(bars.time, from), end: lowerBound(bars.time, to) }
      this.#runtime.budget.work(within.end - within.first)
      // The last one may be another by and by, and more may come behind it.
      if (within.end === bars.length) this.#runtime.unsettle()
      if (addUp(within, bought, volume)) return within
      above = series.interval
    }
  }
}

/** Bars from `first` up to `end`. */
interface Within {
  readonly bars: Bars
  readonly first: number
  readonly end: number
}

function addUp({ bars, first, end }: Within, bought: number, volume: number): boolean {
  let [bought_, volume_] = [0, 0]
  for (let i = first; i < end; i++) {
    // Of nothing it is known that nothing was bought.
    if (bars.volume[i] === 0) continue
    volume_ += bars.volume[i]!
    bought_ += bars.bought?.[i] ?? Number.NaN
  }
  const most = ROUNDING * volume
  return Math.abs(volume_ - volume) <= most && Math.abs(bought_ - bought) <= most
}

/** The rows of one bar, from its lowest price to its highest: those without any volume, too. */
export class PriceRows {
  readonly count: number
  readonly #asked: Asked
  /** The number of the lowest one, counted from a price of 0: all bars have the same grid. */
  readonly #first: number
  readonly #bought: Float64Array
  readonly #sold: Float64Array
  readonly #total: Float64Array
  #area: { readonly poc: number; readonly val: number; readonly vah: number } | null = null

  constructor(asked: Asked, { bars, first, end }: Within, budget: Budget) {
    this.#asked = asked
    let [low, high] = [Infinity, -Infinity]
    for (let i = first; i < end; i++) {
      if (bars.volume[i] === 0) continue
      low = Math.min(low, bars.low[i]!)
      high = Math.max(high, bars.high[i]!)
    }
    this.#first = rowAt(asked, low)
    this.count = low > high ? 0 : rowAt(asked, high) - this.#first + 1
    // NaN, if the symbol has no tick.
    const room = this.count <= ROWS_MAX ? this.count : 0
    this.#bought = new Float64Array(room)
    this.#sold = new Float64Array(room)
    this.#total = new Float64Array(room)
    if (room > 0) for (let i = first; i < end; i++) if (bars.volume[i] !== 0) budget.work(this.#add(bars, i))
    for (let row = 0; row < room; row++) this.#total[row] = this.#bought[row]! + this.#sold[row]!
  }

  /** Answers to how many rows. */
  #add({ low, high, volume, bought }: Bars, i: number): number {
    const from = rowAt(this.#asked, low[i]!) - this.#first
    const to = rowAt(this.#asked, high[i]!) - this.#first
    const count = to - from + 1
    const buy = bought![i]! / count
    const sell = (volume[i]! - bought![i]!) / count
    for (let row = from; row <= to; row++) {
      this.#bought[row] = this.#bought[row]! + buy
      this.#sold[row] = this.#sold[row]! + sell
    }
    return count
  }

  get all(): VolumeRow[] {
    return Array.from({ length: this.count }, (_, row) => this.#row(row))
  }
  get poc(): VolumeRow | null {
    return this.#orNull(this.#valueArea().poc)
  }
  get val(): VolumeRow | null {
    return this.#orNull(this.#valueArea().val)
  }
  get vah(): VolumeRow | null {
    return this.#orNull(this.#valueArea().vah)
  }
  /** A row has its lower price, and not its upper one. */
  at(price: number): VolumeRow | null {
    return this.#orNull(rowAt(this.#asked, price) - this.#first)
  }

  #orNull(row: number): VolumeRow | null {
    return row >= 0 && row < this.count ? this.#row(row) : null
  }

  #row(row: number): VolumeRow {
    const { ticksPerRow, minMove, priceScale, imbalancePercent } = this.#asked
    const priceOf = (edge: number) => (edge * ticksPerRow * minMove) / priceScale
    const times = Math.max(1, imbalancePercent / 100)
    const outweighs = (mine = 0, other = Number.NaN) => mine > 0 && mine > times * other - EQUAL
    const bought = this.#bought[row]!
    const sold = this.#sold[row]!
    return {
      downPrice: priceOf(this.#first + row),
      upPrice: priceOf(this.#first + row + 1),
      bought,
      sold,
      buyImbalance: outweighs(bought, this.#sold[row - 1]),
      sellImbalance: outweighs(sold, this.#bought[row + 1]),
    }
  }

  #valueArea() {
    return (this.#area ??= this.#grown(this.#busiest()))
  }

  /** Of rows alike the one nearest to the middle, of two of these the lower. */
  #busiest(): number {
    const total = this.#total
    const most = total.reduce((a, b) => Math.max(a, b), 0) - EQUAL
    const middle = (this.count - 1) / 2
    let best = -1
    for (let row = 0; row < this.count; row++)
      if (total[row]! > most && (best < 0 || Math.abs(row - middle) < Math.abs(best - middle))) best = row
    return best
  }

  /**
   * Takes in the busier of the rows above and below, of two alike the one nearer to the point of control or else the upper,
   * until one would be too much.
   */
  #grown(poc: number): { poc: number; val: number; vah: number } {
    const total = this.#total
    let all = 0
    for (const one of total) all += one
    const most = (all * Math.min(100, this.#asked.vaPercent)) / 100 + ROUNDING * all
    let [val, vah, sum] = [poc, poc, total[poc] ?? 0]
    while (val > 0 || vah < this.count - 1) {
      const above = total[vah + 1] ?? -1
      const below = total[val - 1] ?? -1
      const isTie = Math.abs(above - below) < EQUAL
      const isUp = isTie ? vah - poc <= poc - val : above > below
      const next = isUp ? above : below
      if (!(sum + next <= most)) break
      sum += next
      if (isUp) vah++
      else val--
    }
    return { poc, val, vah }
  }
}

/** A price that is a hair from a tick is on it. */
function rowAt({ mintick, ticksPerRow }: Asked, price: number): number {
  const ticks = price / mintick
  const nearest = Math.round(ticks)
  return Math.floor((Math.abs(ticks - nearest) < 1e-6 ? nearest : ticks) / ticksPerRow)
}

/** Throws on what makes no rows. A percentage may be na: then the value area is one row, and no row is out of balance. */
export function checkFootprintArguments(ticksPerRow: number, vaPercent: number, imbalance: number): void {
  if (!(ticksPerRow >= 1))
    throw invalidArgument('ticks_per_row', ticksPerRow, 'request.footprint', '1 or more')
  if (vaPercent < 0) throw invalidArgument('va_percent', vaPercent, 'request.footprint', '0 or more')
  if (imbalance < 0) throw invalidArgument('imbalance_percent', imbalance, 'request.footprint', '0 or more')
}
