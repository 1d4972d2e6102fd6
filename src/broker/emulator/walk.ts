// The walk goes through a bar as a path of prices (path.ts), and finds what the price reaches first, and next.
//
// First everything trades that can trade at the open. Then, segment by segment, the next fill is always the one nearest to
// the present place on the path.

import { memoOf } from '../../lib/memo.ts'
import type { Bars } from '../../market/bars.ts'
import type { Account } from './account.ts'
import type { Book } from './book.ts'
import type { Floor } from './floor.ts'
import { tickOf } from './numbers.ts'
import {
  HAS_LIMIT,
  HAS_STOP,
  isMarket,
  removeAt,
  type Direction,
  type Leg,
  type Order,
  type PathPoint,
} from './orders.ts'
import { finerRanges, pathOf, pricesOf, type Path } from './path.ts'
import { LIMIT, STOP, passed, reach, reachLeg, reachLimit } from './reach.ts'
import { RISK_COMMENTS } from './risk.ts'
import { endTrailBar, leavesTrail, ratchet } from './trailing.ts'
import type { QuietRange, Watch } from './watch.ts'

/** Whether all bars open and close between their extremes, which then tell all that a bar reaches. */
const areOrdered = memoOf(({ open, high, low, close, length }: Bars): boolean => {
  for (let i = 0; i < length; i++)
    if (!(Math.max(open[i]!, close[i]!) <= high[i]! && Math.min(open[i]!, close[i]!) >= low[i]!)) return false
  return true
})

export class Walk {
  private readonly account: Account
  private readonly book: Book
  private readonly watch: Watch
  private readonly floor: Floor
  /** How many ticks the price must go past a limit (B10). */
  private readonly beyond: number
  private readonly finer: Bars | null
  private readonly finerStarts: Int32Array | null
  private readonly path: Path = [0, 0, 0, 0]
  private rerun: (() => void) | null = null
  /** The number of fills when calc_on_order_fills last ran the script. */
  private fillsSeen = 0

  constructor(account: Account, book: Book, watch: Watch, floor: Floor, finer: Bars | null) {
    this.account = account
    this.book = book
    this.watch = watch
    this.floor = floor
    this.beyond = account.settings.fillLimitsAssumption
    this.finer = finer
    this.finerStarts = finer && finerRanges(account.bars, finer)
  }

  /**
   * Whether all that the bar does is to refuse the only order that waits (C3), as when a script that holds a position asks on
   * every bar for more: to walk and to note each like any other took a quarter of such a run.
   */
  onlyRefuses(bar: number): boolean {
    const { watch } = this
    const { orders, legs } = this.book
    if (orders.length !== 1 || legs.length > 0 || watch.looksAlways || this.finer !== null) return false
    return !isMarket(orders[0]!) && this.floor.refuses(orders[0]!) && this.neverCalls(bar)
  }

  /** Answers whether it had to walk: false = the book is unchanged, and nothing traded. */
  onBar(bar: number, rerun: () => void): boolean {
    const { account, book, floor } = this
    const { bars, settings, position, mintick } = account
    this.rerun = settings.calcOnOrderFills ? rerun : null
    this.fillsSeen = position.fills.count
    const { looksAlways } = this.watch
    const calls = looksAlways && this.losingDaysReached(bar)
    const isQuiet = !calls && this.isQuietAtOpen()
    const refused = isQuiet && this.takeNew(0)
    if (isQuiet && this.staysAway(bar)) {
      account.walking = false
      account.point = 4
      const { halted } = this.watch
      if (looksAlways) floor.checkDrawdown(tickOf(bars.close[bar]!, mintick))
      const dropped = this.recheckResting()
      book.settle()
      this.rerun = null
      return refused || dropped || this.watch.halted !== halted
    }
    const open = tickOf(bars.open[bar]!, mintick)
    account.walking = true
    account.nowTicks = open
    if (calls) floor.stopTrading(account.nowTicks, RISK_COMMENTS.lossDays, 'forever')
    const from = this.finerStarts?.[bar] ?? 0
    const to = this.finerStarts?.[bar + 1] ?? 0
    if (this.finer && to > from) this.walkFiner(this.finer, from, to, open)
    else {
      this.openTick(open)
      if (this.isCalmAfterOpen(bar)) {
        account.walking = false
        book.settle()
        return true
      }
      this.walkSegments(pathOf(bars, bar, mintick, this.path))
    }
    this.endBar(tickOf(bars.close[bar]!, mintick))
    this.rerun = null
    return true
  }

  /** Whether the bar begins a day before which too many were lost. */
  private losingDaysReached(bar: number): boolean {
    const { account } = this
    account.walking = true
    account.nowTicks = tickOf(account.bars.open[bar]!, account.mintick)
    return this.watch.losingDaysReached(bar)
  }

  private endBar(close: number): void {
    const { account, book, floor } = this
    account.walking = false
    account.point = 4
    floor.callMargin(close)
    floor.checkDrawdown(close)
    for (const leg of book.legs) if (leg.trail) endTrailBar(leg.trail)
    this.recheckResting()
    book.settle()
  }

  // ——— every tick of the past ———

  /**
   * A10: the script runs at each point of the path except the last, where the run itself calls it on the closed bar. Orders
   * trade on the way from one point to the next: priced orders where the price reaches them, market orders at the point.
   */
  onEveryTick(bar: number, run: () => void): void {
    const { account, floor } = this
    const developing = account.developing!
    const { finished } = developing
    account.walking = true
    const from = this.finerStarts?.[bar] ?? 0
    const to = this.finerStarts?.[bar + 1] ?? 0
    // A17.
    const isFiner = this.finer !== null && to > from
    const bars = isFiner ? this.finer : finished
    const first = isFiner ? from : bar
    const last = isFiner ? to - 1 : bar
    account.nowTicks = tickOf(bars.open[first]!, account.mintick)
    if (this.watch.looksAlways && this.watch.losingDaysReached(bar))
      floor.stopTrading(account.nowTicks, RISK_COMMENTS.lossDays, 'forever')
    let traded = 0
    let at = 0
    for (let i = first; i <= last; i++) {
      const { path } = this
      pathOf(bars, i, account.mintick, path)
      const prices = pricesOf(bars, i)
      for (let point = 0; point < 4; point++) {
        if (i === first && point === 0) this.openTick(path[0])
        else this.comeTo(point, at)
        at = path[point]!
        if (i === last && point === 3) break
        developing.show(bar, prices[point]!, traded + (bars.volume[i]! * (point + 1)) / 4)
        this.runOnTick(run)
      }
      traded += bars.volume[i]!
    }
    developing.finish(bar)
    this.book.beginRun()
    this.endBar(at)
  }

  /** Fills what can be filled on the way from `before` to a point of the path. */
  private comeTo(point: number, before: number): void {
    const { account, path } = this
    const ticks = path[point]!
    const first = Math.sign(path[1] - path[2])
    // The open of a finer bar is on the way from the previous one.
    if (point > 0) account.point = point as PathPoint
    this.segment(before, ticks, Math.sign(ticks - before) || (point === 1 ? first : -first))
    this.takeNew(ticks)
  }

  /** B9: an immediate close executes on the tick on which it was requested. */
  private runOnTick(run: () => void): void {
    const { account, book, floor } = this
    book.beginRun()
    run()
    for (const order of book.immediates.splice(0)) floor.fillImmediate(order, account.nowTicks)
  }

  /** Whether nothing of a bar but its extremes matters until it reaches something: no order waits for its open. */
  private isQuietAtOpen(): boolean {
    if (this.finer !== null || this.watch.looksWithin) return false
    const { orders } = this.book
    for (let i = 0; i < orders.length; i++) if (isMarket(orders[i]!)) return false
    return true
  }

  /**
   * Whether no price of a bar that is quiet at its open reaches any waiting order or a margin call, as on most bars with a
   * stop that is placed again on each. The two extremes tell, for a third of the cost of walking the path.
   */
  private staysAway(bar: number): boolean {
    const { account, book, watch } = this
    const { bars, mintick } = account
    const { orders, legs } = book
    if (orders.length === 0 && legs.length === 0 && this.neverCalls(bar)) return true
    const high = tickOf(highestOf(bars, bar), mintick)
    const low = tickOf(lowestOf(bars, bar), mintick)
    if (!watch.isSafeBetween(low * mintick, high * mintick)) return false
    for (let i = 0; i < orders.length; i++) {
      const order = orders[i]!
      if (isWithin(order, order.direction, low, high)) return false
    }
    for (let i = 0; i < legs.length; i++) {
      const leg = legs[i]!
      if (leg.done) continue
      const side = leg.entry.direction
      if (isWithin(leg, side === 1 ? -1 : 1, low, high)) return false
      if (leg.trail !== null && !leavesTrail(leg.trail, low, high, side)) return false
    }
    return true
  }

  /**
   * After a bar that stayed away: the prices between which no bar does anything while what waits is as it is; null = that has to be
   * looked at bar by bar. An exit that waits for days is most of the time of a script that does nothing meanwhile.
   */
  quietRange(): QuietRange | null {
    const { account, book, watch } = this
    const { bars, mintick } = account
    if (account.pot !== null || !areOrdered(bars)) return null
    let { callBelow, callAbove } = watch
    for (const order of book.orders) {
      const ample = watch.ampleFor(restingUnits(order))
      callBelow = Math.max(callBelow, ample * 0.75, levelBelow(order, order.direction) * mintick)
      callAbove = Math.min(callAbove, ample * 1.25, levelAbove(order, order.direction) * mintick)
    }
    for (const leg of book.legs) {
      if (leg.done) continue
      if (leg.trail !== null) return null
      const direction = leg.entry.direction === 1 ? -1 : 1
      callBelow = Math.max(callBelow, levelBelow(leg, direction) * mintick)
      callAbove = Math.min(callAbove, levelAbove(leg, direction) * mintick)
    }
    // More than rounding to ticks can move a price.
    return { callBelow: callBelow + 2 * mintick, callAbove: callAbove - 2 * mintick }
  }

  /** Whether no price calls the position, not even a tick beyond the extremes, which is more than rounding can move them. */
  private neverCalls(bar: number): boolean {
    if (!this.watch.mayCall) return true
    const { bars, mintick } = this.account
    return this.watch.isSafeBetween(lowestOf(bars, bar) - mintick, highestOf(bars, bar) + mintick)
  }

  /** Nothing is left to fill, call or watch, so the rest of the path need not be walked. */
  private isCalmAfterOpen(bar: number): boolean {
    const { book, watch } = this
    return (
      book.orders.length === 0 &&
      book.legs.length === 0 &&
      this.rerun === null &&
      watch.isSafe(bar) &&
      !watch.looksAlways
    )
  }

  /** A5: market orders and gaps belong to the chart's open, from where all finer bars are one long path. */
  private walkFiner(finer: Bars, from: number, to: number, open: number): void {
    const path: Path = [0, 0, 0, open]
    this.openTick(open)
    this.account.point = 1
    for (let i = from; i < to; i++) {
      const before = path[3]
      pathOf(finer, i, this.account.mintick, path)
      if (i > from || path[0] !== open) {
        if (i > from) this.runAgain(before)
        this.segment(before, path[0], Math.sign(path[0] - before))
        this.runAgain(path[0])
      }
      this.walkSegments(path)
    }
  }

  private walkSegments(path: Path): void {
    const { account } = this
    const first = Math.sign(path[1] - path[2])
    account.point = 1
    this.segment(path[0], path[1], first)
    this.runAgain(path[1])
    account.point = 2
    this.segment(path[1], path[2], -first)
    this.runAgain(path[2])
    account.point = 3
    // A close at the extreme is not a step back from it.
    this.segment(path[2], path[3], Math.sign(path[3] - path[2]) || -first)
  }

  // ——— the open ———

  /** A11, A12: market orders in the order they were placed, then what the open has passed: entries first, then exits. */
  private openTick(open: number): void {
    const { account, floor } = this
    account.point = 0
    account.nowTicks = open
    this.takeNew(open)
    this.fillGaps(open)
    floor.callMargin(open)
    floor.checkIntradayLoss(open)
    if (this.runAgain(open)) {
      this.fillGaps(open)
      floor.callMargin(open)
      floor.checkIntradayLoss(open)
    }
  }

  /**
   * C3: a priced add that pyramiding refuses is refused on its first bar, whether reached or not, and does not wait for the
   * position to close (parity list slippage_limit: 264 of its 280 trades depend on it). One that was placed earlier waits
   * on. It is judged in its turn: a close that the script asked for before it has made room by then, and one that it asked
   * for after it has not (probe pyramid-deferred-flip-close-all-01). Answers whether any was refused.
   */
  private takeNew(ticks: number): boolean {
    const { book, floor } = this
    let refused = false
    for (let i = 0; i < book.orders.length;) {
      const order = book.orders[i]!
      if (isMarket(order)) i = this.fillAt(i, ticks)
      else if (floor.refuses(order)) {
        removeAt(book.orders, i)
        book.free(order)
        refused = true
      } else i++
    }
    return refused
  }

  private fillMarket(ticks: number): void {
    const { book } = this
    for (let i = 0; i < book.orders.length;) i = isMarket(book.orders[i]!) ? this.fillAt(i, ticks) : i + 1
  }

  /** Answers where to go on: a fill may have removed other orders from the list. */
  private fillAt(index: number, ticks: number): number {
    const { book, floor } = this
    const order = book.orders[index]!
    removeAt(book.orders, index)
    floor.fill(order, ticks, true)
    book.free(order)
    return 0
  }

  private fillGaps(open: number): void {
    const { book, floor, beyond } = this
    const { position } = this.account
    for (;;) {
      const { orders, legs } = book
      if (orders.length === 0 && legs.length === 0) return
      // Most opens pass nothing: then no list is made.
      let gapped: Order[] | null = null
      let touched: Leg[] | null = null
      for (const order of orders)
        if (!isMarket(order) && passed(order, open, beyond)) (gapped ??= []).push(order)
      for (const leg of legs)
        if (!leg.done && reachLeg(leg, open, open, null, beyond) !== null) (touched ??= []).push(leg)
      if (gapped === null && touched === null) return
      const entries = gapped ?? []
      const exits = touched ?? []
      entries.sort(gapOrder)
      const entriesBefore = position.entries.slice()
      let flipped = false
      for (const order of entries) {
        book.take(order)
        const limit = (order.levels & HAS_LIMIT) !== 0 && (order.triggered || (order.levels & HAS_STOP) === 0)
        const before = Math.sign(position.units)
        floor.fill(order, open, !limit)
        if (before !== 0 && Math.sign(position.units) === -before && !limit) flipped = true
      }
      for (const leg of exits) {
        if (flipped && entriesBefore.includes(leg.entry) && !position.entries.includes(leg.entry))
          floor.fillOrphan(leg, open)
        else if (!leg.done && book.legs.includes(leg)) {
          const hit = reachLeg(leg, open, open, null, beyond)
          if (hit !== null) floor.fillLeg(leg, open, hit.rank)
        }
      }
      book.dropOrphans()
    }
  }

  // ——— segments ———

  /** Walks from `from` to `to`: fills what the price reaches first, and continues from there (A13, A14). */
  private segment(from: number, to: number, direction: number): void {
    const { account, book, floor, beyond } = this
    let at = from
    while (book.orders.length > 0 || book.legs.length > 0) {
      let order: Order | null = null
      let leg: Leg | null = null
      let distance = Infinity
      let rank = 9
      let best = at
      let sequence = 0
      for (const one of book.orders) {
        if (isMarket(one)) continue
        const stopPending = (one.levels & HAS_STOP) !== 0 && !one.triggered
        if (!stopPending && (one.levels & HAS_LIMIT) === 0) continue
        const level = stopPending
          ? reach(one.stop, at, to, one.direction === 1)
          : reachLimit(one.limit, at, to, one.direction, beyond)
        if (Number.isNaN(level)) continue
        const far = Math.abs(level - at)
        const oneRank = stopPending ? STOP : LIMIT
        if (
          far > distance ||
          (far === distance && (oneRank > rank || (oneRank === rank && one.sequence > sequence)))
        )
          continue
        order = one
        leg = null
        distance = far
        rank = oneRank
        best = level
        sequence = one.sequence
      }
      for (const one of book.legs) {
        if (one.done) continue
        const hit = reachLeg(one, at, to, direction, beyond)
        if (hit === null) continue
        const far = Math.abs(hit.ticks - at)
        if (
          far > distance ||
          (far === distance && (hit.rank > rank || (hit.rank === rank && one.sequence > sequence)))
        )
          continue
        order = null
        leg = one
        distance = far
        rank = hit.rank
        best = hit.ticks
        sequence = one.sequence
      }
      if (order === null && leg === null) break
      at = best
      account.nowTicks = at
      if (order) {
        if (rank === STOP && (order.levels & HAS_LIMIT) !== 0) order.triggered = true
        else {
          book.take(order)
          floor.fill(order, at, rank === STOP)
        }
      } else if (leg) floor.fillLeg(leg, at, rank)
      book.dropOrphans()
    }
    this.endSegment(to, direction)
  }

  private endSegment(to: number, direction: number): void {
    const { account, book, floor } = this
    const { position } = account
    account.nowTicks = to
    const side = position.units > 0 ? 1 : -1
    if (direction * side > 0)
      for (const leg of book.legs) if (leg.trail && !leg.done) ratchet(leg.trail, to, side)
    // G3: the adverse extreme is checked when the path gets there.
    if (position.units !== 0 && direction * side < 0) floor.callMargin(to)
    if (position.units === 0 || direction * side < 0) floor.checkIntradayLoss(to)
  }

  /** G1: cancels resting entries that have become too expensive at the current price. Answers whether there were any. */
  private recheckResting(): boolean {
    const { book } = this
    const { orders } = book
    const before = orders.length
    const { bar, bars } = this.account
    const price = bars.close[bar]!
    for (let i = 0; i < orders.length;) {
      const order = orders[i]!
      const rests = order.kind !== 'close' && !isMarket(order)
      if (rests && !this.watch.affords(order.direction, restingUnits(order), price)) {
        removeAt(orders, i)
        book.free(order)
      } else i++
    }
    return orders.length < before
  }

  /**
   * A7, A8: after fills the script runs again at the next point of the path, which the fills of that run leave behind them:
   * three times a bar at most, as the run on the close is its own. Answers whether it did.
   */
  private runAgain(ticks: number): boolean {
    const { count } = this.account.position.fills
    if (!this.rerun || count === this.fillsSeen) return false
    this.fillsSeen = count
    this.rerun()
    this.fillMarket(ticks)
    return true
  }

  // ——— after the script ———

  /** A2, B9. */
  afterScript(bar: number): void {
    const { account, book, floor } = this
    const { bars, settings, mintick } = account
    book.dirty = false
    account.bar = bar
    account.point = 4
    const close = tickOf(bars.close[bar]!, mintick)
    if (book.immediates.length > 0)
      for (const order of book.immediates.splice(0)) floor.fillImmediate(order, close)
    if (settings.processOrdersOnClose) this.processOnClose(bar, close)
    book.settle()
  }

  private processOnClose(bar: number, close: number): void {
    const { book, floor, beyond } = this
    this.fillMarket(close)
    for (const order of book.orders.slice()) {
      const isStop = order.levels === HAS_STOP
      const oneLevel = isStop || order.levels === HAS_LIMIT
      if (!oneLevel || order.bar !== bar || !passed(order, close, beyond)) continue
      book.take(order)
      floor.fill(order, close, isStop)
    }
    for (const leg of book.legs.filter((one) => one.bar === bar && one.entry.bar < bar && !one.done)) {
      if ((leg.levels & HAS_LIMIT) === 0) continue
      const limit = reachLimit(leg.limit, close, close, leg.entry.direction === 1 ? -1 : 1, beyond)
      if (!Number.isNaN(limit) && book.legs.includes(leg)) floor.fillLeg(leg, limit, LIMIT)
    }
    floor.callMargin(close)
  }
}

/**
 * A15: at the same open, buy stops fill before sell stops, and limits come last, those that buy before those that sell; of
 * those that buy the lowest limit first.
 */
function gapOrder(a: Order, b: Order): number {
  const rank = gapRank(a)
  return rank - gapRank(b) || (rank === 2 && a.limit - b.limit) || a.sequence - b.sequence
}

function gapRank(order: Order): number {
  const rank = order.direction === 1 ? 0 : 1
  return (order.levels & HAS_STOP) === 0 ? 2 + rank : rank
}

function highestOf({ open, high, close }: Bars, bar: number): number {
  return Math.max(high[bar]!, open[bar]!, close[bar]!)
}

function lowestOf({ open, low, close }: Bars, bar: number): number {
  return Math.min(low[bar]!, open[bar]!, close[bar]!)
}

/** Whether an order of this direction could trigger or fill at a price between the two, or beyond them. */
function isWithin(one: Order | Leg, direction: Direction, low: number, high: number): boolean {
  return levelBelow(one, direction) >= low || levelAbove(one, direction) <= high
}

/** The level that it waits for the price to fall to; -Infinity = none. */
function levelBelow({ levels, stop, limit }: Order | Leg, direction: Direction): number {
  const has = direction === 1 ? HAS_LIMIT : HAS_STOP
  return (levels & has) === 0 ? -Infinity : direction === 1 ? limit : stop
}

/** … and to rise to; Infinity = none. */
function levelAbove({ levels, stop, limit }: Order | Leg, direction: Direction): number {
  const has = direction === 1 ? HAS_STOP : HAS_LIMIT
  return (levels & has) === 0 ? Infinity : direction === 1 ? stop : limit
}

function restingUnits(order: Order): number {
  return order.budget === 0 ? order.units : Math.max(order.units, 0)
}
