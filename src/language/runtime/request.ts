// request.security() and request.security_lower_tf(): an expression's value on bars of another symbol or interval.
//
// One Request a call site and one Feed a symbol and interval asked for there. A feed has the other bars and a run of the
// slice of the script (`3-plan/slice.ts`) over them, and knows which of its bars a bar of the chart sees:
//
//     lookahead_off   the last one that has closed when the chart's bar closes
//     lookahead_on    the one that contains the chart's bar, with its final values: of finer bars, the first within
//
// (L2, L3.) A coarser interval of the chart's own symbol is put together from the chart's bars (L4); all others come from
// the store.
// Everything is a function of bars, never of what was asked before, so a run may go back and forth.

import {
  barsMissing,
  handsOutTooMuch,
  noTicks,
  notALowerTimeframe,
  notATimeframe,
} from '../messages/failing.ts'
import { memoOf } from '../../lib/memo.ts'
import type { Bars } from '../../market/bars.ts'
import { calendarOf, periodFinder } from '../../market/calendar.ts'
import {
  canBuild,
  compareIntervals,
  formatInterval,
  parseInterval,
  type Interval,
} from '../../market/interval.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { Series } from '../environment.ts'
import { CoarserBars } from './coarser.ts'
import { PineArray, PineMap } from './collections.ts'
import type { RunContext } from './run-context.ts'
import { convertedBars } from './converted-bars.ts'
import { heikinAshi } from './heikin-ashi.ts'
import { PineMatrix } from './matrix.ts'
import { shallowCopy } from './operators.ts'
import { PriceBars } from './price-bars.ts'
import { boxOfLastBar, noBars, sessionInferred } from '../messages/running.ts'
import { decodeTicker, type ChartType } from './ticker.ts'

/** The run of a slice, as far as a request moves it. */
interface SliceRun {
  readonly position: number
  advance(end: number): void
  snapshot(): Uint8Array
  restore(snapshot: Uint8Array): void
}

/** A slice at work. `value` is one of the wanted values on one of its bars. */
export interface ChildRun<R = SliceRun> {
  readonly run: R
  value(item: number, bar: number): unknown
}

/** What the requests of a run have opened. */
interface Requested {
  /** In the order in which they were first requested. */
  readonly feeds: RequestFeed[]
  /** Call sites of request.*, by site and path. */
  readonly sites: Map<string, Request>
  /** Set by the run: a slice of the script at work on other bars. */
  spawn(site: number, path: string, series: Series): ChildRun
}

export const requestedBy = memoOf((_context: RunContext): Requested => ({
  feeds: [],
  sites: new Map(),
  spawn() {
    throw new Error('assertion failed: a context that runs can open others')
  },
}))

/** Elements that may be handed out in one run: 80 MB of numbers. TradingView has such a limit too, and tells no figure. */
const HANDED_OUT_LIMIT = 10_000_000

/** A collection as it is on this bar: what the script asks for must not change when the slice goes on with its own. */
export function handedOut(context: RunContext, value: object | null): object | null {
  let copy: object | null
  let size = 1
  if (value instanceof PineArray) {
    copy = value.copy()
    size = value.size
  } else if (value instanceof PineMatrix) {
    copy = value.copy()
    size = value.items.length
  } else if (value instanceof PineMap) {
    copy = new PineMap(new Map(value.entries), value.na, value.budget)
    size = value.entries.size
  } else copy = shallowCopy(value)
  context.handedOut += size
  if (context.handedOut > HANDED_OUT_LIMIT) throw handsOutTooMuch(HANDED_OUT_LIMIT)
  return copy
}

/** How a feed was requested, so that another run can make the same request. */
export interface Opened {
  /** Site and path of the call. */
  readonly of: string
  readonly symbol: string | null
  readonly timeframe: string | null
  readonly ignore: boolean
  readonly currency: string | null
  readonly merge: string
}

export class Request {
  /** Its feeds are kept with the run's (see `lib/graph-bytes.ts`). */
  readonly isKept = true
  readonly #context: RunContext
  readonly #site: number
  readonly #path: string
  readonly #na: readonly unknown[]
  readonly #lower: boolean
  readonly #feeds = new Map<string, RequestFeed | null>()
  readonly #values: unknown[]
  #symbol: string | null = null
  #timeframe: string | null = null
  #currency: string | null = null
  #feed: RequestFeed | null = null
  /** What `#values` are: those of a bar of a feed, as that stood. Most bars of a chart see the one that was seen last. */
  #shown: RequestFeed | null = null
  #shownAt = Number.NaN
  #shownTurn = -1
  /** request.security_lower_tf() was asked for a timeframe that is not lower. */
  #coarser = false

  constructor(context: RunContext, site: number, path: string, na: readonly unknown[], lower: boolean) {
    this.#context = context
    this.#site = site
    this.#path = path
    this.#na = na
    this.#lower = lower
    this.#values = [...na]
    requestedBy(context).sites.set(`${site}@${path}`, this)
  }

  /** The feed for the same request as another run's; null if there are no such bars. */
  feed({ symbol, timeframe, ignore, currency, merge }: Opened): RequestFeed | null {
    return this.#find(symbol, timeframe, ignore, currency, merge)
  }

  /** The values on the chart's bar; the array is used again by the next call. */
  at(
    bar: number,
    symbol: string | null,
    timeframe: string | null,
    gaps: boolean | null,
    lookahead: boolean | null,
    ignore: boolean | null,
    currency: string | null,
    ignoreTimeframe: boolean | null,
  ): unknown[] {
    if (symbol !== this.#symbol || timeframe !== this.#timeframe || currency !== this.#currency) {
      this.#coarser = this.#lower && this.#isCoarser(timeframe)
      if (this.#coarser && ignoreTimeframe !== true) throw notALowerTimeframe(timeframe)
      this.#feed = this.#coarser
        ? null
        : this.#find(symbol, timeframe, ignore === true, currency, `${gaps} ${lookahead}`)
      this.#symbol = symbol
      this.#currency = currency
      this.#timeframe = timeframe
    }
    // L7: before a bar has closed, what was known when the last one had.
    if (!this.#context.isTick || lookahead === true) return this.#seen(bar, gaps, lookahead)
    return bar === 0 || gaps === true ? this.#none() : this.#seen(bar - 1, gaps, lookahead)
  }

  #none(): unknown[] {
    const { budget } = this.#context
    this.#shown = null
    for (const [item, na] of this.#na.entries())
      this.#values[item] = this.#lower ? new PineArray([], na, budget) : na
    return this.#values
  }

  /** The values as the chart's bar sees them once it has closed. */
  #seen(bar: number, gaps: boolean | null, lookahead: boolean | null): unknown[] {
    const feed = this.#feed
    const values = this.#values
    if (this.#lower) {
      if (this.#coarser) return values.fill(null)
      const [from, to] = feed?.within(bar) ?? [0, 0]
      for (const [item, na] of this.#na.entries()) {
        const items: unknown[] = []
        for (let j = from; j < to; j++) items.push(feed?.child.value(item, j))
        values[item] = new PineArray(items, na, this.#context.budget)
      }
      return values
    }
    const { env, bars } = this.#context
    const isLive = env.developing === true && bar === bars.length - 1
    const at = feed ? feed.barAt(bar, isLive || lookahead === true) : -1
    const silent = gaps === true && bar > 0 && feed?.barAt(bar - 1, lookahead === true) === at
    const isClosed = feed !== null && at < feed.closed && !silent
    if (isClosed && feed === this.#shown && at === this.#shownAt && feed.turn === this.#shownTurn)
      return values
    this.#shown = isClosed ? feed : null
    this.#shownAt = at
    this.#shownTurn = feed?.turn ?? -1
    for (let item = 0; item < values.length; item++)
      values[item] = at < 0 || silent ? this.#na[item] : feed?.child.value(item, at)
    return values
  }

  #isCoarser(timeframe: string | null): boolean {
    const wanted = timeframe === null || timeframe === '' ? null : parseInterval(timeframe)
    const chart = parseInterval(this.#context.interval)
    return wanted !== null && chart !== null && compareIntervals(wanted, chart) > 0
  }

  #find(
    symbol: string | null,
    timeframe: string | null,
    ignore: boolean,
    currency: string | null,
    merge: string,
  ): RequestFeed | null {
    const key = `${symbol ?? ''} ${timeframe ?? ''} ${currency ?? ''}`
    const known = this.#feeds.get(key)
    if (known !== undefined) return known
    const feed = this.#open(symbol, timeframe, ignore, currency, merge)
    this.#feeds.set(key, feed)
    return feed
  }

  #open(
    symbol: string | null,
    timeframe: string | null,
    ignore: boolean,
    currency: string | null,
    merge: string,
  ): RequestFeed | null {
    const context = this.#context
    const own = context.symbol
    const ticker = decodeTicker(symbol ?? '')
    const exchange = ticker.exchange === '' ? own.exchange : ticker.exchange
    const isOwn = ticker.symbol === '' || (exchange === own.exchange && ticker.symbol === own.symbol)
    const name = isOwn ? own.symbol : ticker.symbol
    const written = timeframe === null || timeframe === '' ? context.interval : timeframe
    const wanted = parseInterval(written)
    const chart = parseInterval(context.interval)
    if (TICKS.test(written)) {
      if (!ignore && !this.#lower) throw noTicks(written)
      context.warn(noBars('bars of ticks'))
      return null
    }
    if (!wanted || !chart) throw notATimeframe(written)
    const interval = formatInterval(wanted)
    const chartType = ticker.chart === null ? '' : JSON.stringify(ticker.chart)
    context.countRequest(
      this.#site,
      this.#path,
      `${this.#lower} ${exchange}:${name}${chartType} ${interval} ${currency ?? ''} ${merge}`,
    )
    let source: Source
    if (isOwn && compareIntervals(wanted, chart) === 0) source = new SameBars(context)
    else if (isOwn && !this.#lower && canBuild(wanted, chart)) source = new OwnCoarser(context, chart, wanted)
    else {
      const series = context.series(exchange, name, interval)
      if (series === null) {
        if (ignore || this.#lower) {
          context.warn(noBars(`${interval} bars of ${exchange}:${name}`))
          return null
        }
        throw barsMissing(interval, `${exchange}:${name}`)
      }
      source = new OtherBars(context, series, wanted)
    }
    source = ofKind(source, ticker.chart)
    if (ticker.chart && isBoxOfLast(ticker.chart))
      context.warn(boxOfLastBar(ticker.chart.kind, String(ticker.chart.parameters['style'])))
    if (currency !== null && currency !== '' && currency !== 'NONE' && currency !== source.symbol.currency) {
      const rate = context.rateBetween(source.symbol.currency, currency)
      if (rate)
        source = new MadeSource(source, convertedBars(source.bars, rate), { ...source.symbol, currency })
    }
    const { bars } = source
    const requested = requestedBy(context)
    const child = requested.spawn(this.#site, this.#path, { bars, symbol: source.symbol, interval })
    const of = `${this.#site}@${this.#path}`
    const feed = new RequestFeed(context, source, child, { of, symbol, timeframe, ignore, currency, merge })
    requested.feeds.push(feed)
    return feed
  }
}

/** Timeframes of bars that consist of a number of ticks. */
const TICKS = /^(?:1|10|100|1000)T$/

/** Bricks whose size depends on the last bar there is. */
function isBoxOfLast({ parameters: { style } }: ChartType): boolean {
  return style === 'ATR' || style === 'PercentageLTP'
}

function ofKind(source: Source, chart: ChartType | null): Source {
  if (chart === null) return source
  return chart.kind === 'heikinashi'
    ? new MadeSource(source, heikinAshi(source.bars))
    : new PriceSource(source, chart)
}

/** Bars that grow with the chart's, and which of them the chart's bars see. */
interface Source {
  /** Whether the chart's bar sees its bars up to `end` as they are, whatever comes behind the last one known. */
  isSettled(bar: number, lookahead: boolean, end: number): boolean
  readonly bars: Bars
  readonly symbol: SymbolInfo
  /** Adds the chart's bars so far. Answers how many of its own bars have closed by then. */
  update(): number
  barAt(bar: number, lookahead: boolean): number
  within(bar: number): readonly [from: number, to: number]
  /**
   * The chart's bars from `bar` on may have changed, so they are forgotten. Answers how many of its own bars are unchanged.
   */
  rewind(bar: number): number
}

/** What a snapshot keeps of a feed. `forming` is its run as it was before the bar that is forming. */
interface SavedFeed {
  readonly closed: number
  readonly child: unknown
  readonly forming: Uint8Array | null
}

export class RequestFeed<R extends SliceRun = SliceRun> {
  readonly child: ChildRun<R>
  readonly request: Opened
  readonly #context: RunContext
  readonly #source: Source
  #known = 0
  #closed = 0
  /** Changes whenever values of bars that have closed may be others: after more bars of the chart, or a step back. */
  turn = 0
  /** The child before its last bar, which is still forming. */
  #forming: Uint8Array | null = null
  /** The child before its first bar. */
  readonly #fresh: Uint8Array

  constructor(context: RunContext, source: Source, child: ChildRun<R>, request: Opened) {
    this.#context = context
    this.#source = source
    this.child = child
    this.request = request
    this.#fresh = child.run.snapshot()
  }

  /** How many of its bars have closed. */
  get closed(): number {
    return this.#closed
  }

  saved(child: () => unknown): SavedFeed {
    return { closed: Math.min(this.#closed, this.child.run.position), child: child(), forming: this.#forming }
  }

  /**
   * The chart's run is back at `bar`, and what was the forming bar may be another by now. What was kept serves unless the
   * child had already run over bars made of that one; then, or without it, it starts again.
   */
  put(saved: unknown, bar: number, put: (child: unknown) => void): void {
    // A feed that was just opened has not seen its bars yet.
    if (this.#known === 0) this.#source.update()
    const intact = this.#source.rewind(bar)
    const { closed, child, forming } = (saved ?? {
      closed: Infinity,
      child: null,
      forming: null,
    }) as SavedFeed
    if (child) put(child)
    if (closed > intact) this.child.run.restore(this.#fresh)
    else if (forming) this.child.run.restore(forming)
    this.#forming = null
    this.#known = -1
    this.turn++
  }

  barAt(bar: number, lookahead: boolean): number {
    this.#update()
    const at = this.#source.barAt(bar, lookahead)
    this.#runTo(at + 1, bar, lookahead)
    if (lookahead && at >= this.#closed) this.#runForming()
    return at
  }

  within(bar: number): readonly [number, number] {
    this.#update()
    const [from, to] = this.#source.within(bar)
    this.#runTo(to, bar, false)
    return [from, to]
  }

  #runTo(end: number, bar: number, lookahead: boolean): void {
    if (!this.#context.env.stepwise) return
    this.child.run.advance(Math.min(end, this.#closed))
    if (!this.#source.isSettled(bar, lookahead, end)) this.#context.unsettle()
  }

  #update(): void {
    const { length } = this.#context.bars
    if (length === this.#known) return
    this.#known = length
    this.turn++
    if (this.#forming !== null) {
      this.child.run.restore(this.#forming)
      this.#forming = null
    }
    this.#closed = this.#source.update()
    if (!this.#context.env.stepwise) this.child.run.advance(this.#closed)
  }

  #runForming(): void {
    const { length } = this.#source.bars
    if (this.#forming !== null || this.#closed >= length) return
    this.child.run.advance(this.#closed)
    this.#forming = this.child.run.snapshot()
    this.child.run.advance(length)
  }
}

/** The chart's own bars. */
class SameBars implements Source {
  readonly #context: RunContext
  constructor(context: RunContext) {
    this.#context = context
  }
  get bars(): Bars {
    return this.#context.closedBars
  }
  get symbol(): SymbolInfo {
    return this.#context.symbol
  }
  update(): number {
    return this.bars.length
  }
  barAt(bar: number): number {
    return bar
  }
  isSettled(): boolean {
    return true
  }
  within(bar: number): readonly [number, number] {
    return [bar, bar + 1]
  }
  rewind(bar: number): number {
    return bar
  }
}

/** A coarser interval of the chart's symbol. */
class OwnCoarser implements Source {
  readonly #context: RunContext
  readonly #coarser: CoarserBars
  constructor(context: RunContext, from: Interval, to: Interval) {
    this.#context = context
    const name = formatInterval(to)
    let coarser = context.coarser.get(name)
    if (coarser === undefined) {
      const { timezone, session } = context.symbol
      const shared = context.isOfWholeChart ? `${context.interval} ${name} ${timezone} ${session}` : null
      coarser = new CoarserBars(context.closedBars, from, to, calendarOf(context.symbol), shared)
      context.coarser.set(name, coarser)
    }
    this.#coarser = coarser
  }
  get bars(): Bars {
    return this.#coarser.bars
  }
  get symbol(): SymbolInfo {
    return this.#context.symbol
  }
  update(): number {
    const { length } = this.#context.bars
    this.#coarser.extend(length, this.#context.timeClose)
    return (this.#coarser.closed[length - 1] ?? -1) + 1
  }
  barAt(bar: number, lookahead: boolean): number {
    const { group, closed } = this.#coarser
    return (lookahead ? group[bar] : closed[bar]) ?? -1
  }
  isSettled(bar: number, lookahead: boolean): boolean {
    const { group, bars } = this.#coarser
    return !lookahead || (group[bar] ?? 0) < bars.length - 1
  }
  within(): readonly [number, number] {
    return [0, 0]
  }
  rewind(bar: number): number {
    return this.#coarser.rewind(bar)
  }
}

/** Bars from the store: another symbol, or a finer interval. They are there as a whole. */
class OtherBars implements Source {
  readonly bars: Bars
  readonly symbol: SymbolInfo
  readonly #context: RunContext
  readonly #close: Float64Array
  readonly #finer: boolean
  readonly #same: boolean
  readonly #opened = new Place()
  readonly #closed = new Place()
  readonly #first = new Place()
  readonly #last = new Place()

  constructor(context: RunContext, series: Series, interval: Interval) {
    this.bars = series.bars
    this.symbol = series.symbol
    this.#context = context
    const find = periodFinder(calendarOf(keepsHoursOf(context, series) ?? series.symbol), interval, interval)
    this.#close = Float64Array.from(
      series.bars.time.subarray(0, series.bars.length),
      (time) => find(time).end,
    )
    const chart = parseInterval(context.interval)
    this.#finer = chart !== null && compareIntervals(interval, chart) < 0
    this.#same = chart !== null && compareIntervals(interval, chart) === 0
  }
  update(): number {
    return this.bars.length
  }
  barAt(bar: number, lookahead: boolean): number {
    const opened = this.#context.bars.time[bar] ?? 0
    const closed = this.#context.timeClose[bar] ?? 0
    const { time, length } = this.bars
    const opening = this.#opened.after(time, length, opened) - 1
    // Of the same interval and opened at the same time, it is the same bar, whatever its exchange says of its close.
    if (this.#same && time[opening] === opened) return opening
    if (!lookahead) return this.#closed.after(this.#close, length, closed) - 1
    if (!this.#finer) return opening
    const first = this.#first.after(time, length, opened - 1)
    return first < length && (time[first] ?? 0) < closed ? first : first - 1
  }
  within(bar: number): readonly [number, number] {
    const { time, length } = this.bars
    const from = this.#first.after(time, length, (this.#context.bars.time[bar] ?? 0) - 1)
    return [from, this.#last.after(time, length, (this.#context.timeClose[bar] ?? 0) - 1)]
  }
  isSettled(_bar: number, _lookahead: boolean, end: number): boolean {
    return end < this.bars.length
  }
  rewind(): number {
    return this.bars.length
  }
}

/** How many bars it takes to tell the hours they keep. */
const HOURS_FROM = 5

/**
 * The chart's symbol where the other's hours are not known (24x7 is what is taken then) and each of its bars opens as one of
 * the chart's would: a stock of an exchange nobody named here.
 */
function keepsHoursOf(context: RunContext, { bars, symbol, interval }: Series): SymbolInfo | null {
  const own = context.symbol
  const written = parseInterval(interval)
  if (symbol.session !== '24x7' || own.session === '24x7' || written === null || bars.length < HOURS_FROM)
    return null
  const find = periodFinder(calendarOf(own), written, written)
  const calendar = calendarOf(own)
  for (let i = 0; i < bars.length; i++) {
    const time = bars.time[i] ?? Number.NaN
    if (find(time).start !== time || !calendar.isOpen(time)) return null
  }
  context.warn(sessionInferred(`${symbol.exchange}:${symbol.symbol}`, own.session, own.timezone))
  return own
}

/** Bars made from others. */
interface MadeBars extends Bars {
  extend(): void
  /** Forgets what the others from `bar` on have made. */
  rewind(bar: number): void
}

/** Other bars made of a source's, one for one. */
class MadeSource implements Source {
  readonly bars: MadeBars
  readonly symbol: SymbolInfo
  readonly #source: Source
  constructor(source: Source, bars: MadeBars, symbol = source.symbol) {
    this.#source = source
    this.bars = bars
    this.symbol = symbol
  }
  update(): number {
    const closed = this.#source.update()
    this.bars.extend()
    return closed
  }
  barAt(bar: number, lookahead: boolean): number {
    return this.#source.barAt(bar, lookahead)
  }
  isSettled(bar: number, lookahead: boolean, end: number): boolean {
    return this.#source.isSettled(bar, lookahead, end)
  }
  within(bar: number): readonly [number, number] {
    return this.#source.within(bar)
  }
  rewind(bar: number): number {
    const intact = this.#source.rewind(bar)
    this.bars.rewind(intact)
    return intact
  }
}

/** Bricks, lines and columns: those that are complete by the bar of the source that the chart's bar sees. */
class PriceSource implements Source {
  readonly bars: PriceBars
  readonly #source: Source
  readonly #boxOfLast: boolean
  constructor(source: Source, chart: ChartType) {
    this.#source = source
    this.bars = new PriceBars(source.bars, chart, source.symbol.mintick)
    this.#boxOfLast = isBoxOfLast(chart)
  }
  get symbol(): SymbolInfo {
    return this.#source.symbol
  }
  update(): number {
    const closed = this.#source.update()
    this.bars.extend()
    return this.#madeBefore(closed)
  }
  barAt(bar: number, lookahead: boolean): number {
    return this.#madeBefore(this.#source.barAt(bar, lookahead) + 1) - 1
  }
  isSettled(bar: number, lookahead: boolean): boolean {
    const end = this.#source.barAt(bar, lookahead) + 1
    return !this.#boxOfLast && this.#source.isSettled(bar, lookahead, end)
  }
  within(bar: number): readonly [number, number] {
    const [from, to] = this.#source.within(bar)
    return [this.#madeBefore(from), this.#madeBefore(to)]
  }
  rewind(bar: number): number {
    const intact = this.#source.rewind(bar)
    this.bars.rewind(intact)
    return this.#madeBefore(intact)
  }
  #madeBefore(end: number): number {
    return end <= 0 ? 0 : (this.bars.madeBy[end - 1] ?? 0)
  }
}

/** A place in a sorted column that is asked for bar after bar: the next one is near the last. */
class Place {
  #last = 0

  /** Index of the first entry greater than `value`: doubling steps from the last answer, then halves. */
  after(sorted: Float64Array, length: number, value: number): number {
    let low = 0
    let high = length
    const last = Math.min(this.#last, length)
    if (last > 0 && sorted[last - 1]! > value) high = last - 1
    else {
      low = last
      for (let step = 1; low + step <= length; step *= 2) {
        if (sorted[low + step - 1]! > value) {
          high = low + step - 1
          break
        }
        low += step
      }
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if (sorted[middle]! > value) high = middle
      else low = middle + 1
    }
    this.#last = low
    return low
  }
}
