// The broker emulator: orders in, trades out, as TradingView's does it.
//
// A bar is walked as a path of prices (path.ts): first everything that trades at the open, then segment by segment,
// always filling what the price reaches first. The rules have letters, `A1` to `J8`: RULES.md has them all, and each is
// cited where the code follows it, here or in the file of its family: sizing.ts and commission.ts (F), exits.ts and trailing.ts (D, E),
// margin.ts (G), risk.ts (H). Levels are integer ticks, quantities integer units (numbers.ts).
//
// Nothing is done on a bar on which nothing waits and the position cannot be called: that is what makes a million
// bars cheap. Run-ups and drawdowns are worked out from the columns when somebody asks (equity.ts).

import { GraphReader, GraphWriter } from '../../lib/graph-bytes.ts'
import type { Bars } from '../../market/bars.ts'
import type { Broker } from '../../pine/broker.ts'
import type { BrokerOptions } from './account.ts'
import { commissionOf } from './commission.ts'
import { OrderDesk } from './desk.ts'
import { exitLevels, reservation } from './exits.ts'
import { MARGIN_CALL, NEVER_CALLED, callRange, exceeds, marginCallUnits } from './margin.ts'
import { rowsOf } from './ledger.ts'
import { contracts, tickOf } from './numbers.ts'
import {
  isMarket,
  removeAt,
  type Direction,
  type Entry,
  type ExitTemplate,
  type Leg,
  type Order,
  type PathPoint,
} from './orders.ts'
import { finerRanges, pathOf, type Path } from './path.ts'
import type { Execution } from './position.ts'
import { RISK_COMMENTS, drawdownReached, intradayLossReached, rollDay, watches } from './risk.ts'
import { unitsFor } from './sizing.ts'
import { endTrailBar, freshTrail, ratchet, trailAtOpen, trailOnSegment } from './trailing.ts'

/** How often calc_on_order_fills runs the script again on one bar (A7). */
const RERUNS_MAX = 3
/** About what a fill takes, a closed trade with what the report says of it, and an order that waits. */
const FILL_BYTES = 69
const TRADE_BYTES = 650
const ORDER_BYTES = 300
/** Bytes a character of an order's id or comment takes, since report and tracks repeat it. */
const TEXT_BYTES = 8
const RISK_ID = 'Risk management close'

/** Ranks of what is reached at one price (A16). */
const STOP = 0
const TRAIL = 1
const LIMIT = 2

export class BrokerEmulator extends OrderDesk implements Broker {
  marginCalls = 0
  private readonly finer: Bars | null
  private readonly finerStarts: Int32Array | null
  private readonly dayOf: (bar: number) => number
  private readonly path: Path = [0, 0, 0, 0]
  private point: PathPoint = 0
  private rerun: (() => void) | null = null
  private reruns = RERUNS_MAX
  /** Fills when calc_on_order_fills last ran the script. */
  private fillsSeen = 0
  private readonly execution: Execution = {
    direction: 1,
    closing: 0,
    opening: 0,
    price: NaN,
    money: NaN,
    fee: NaN,
    rate: NaN,
    bar: 0,
    point: 0,
    id: '',
    comment: null,
    alertMessage: null,
  }

  private labelsSeen = 0
  private labelsCounted = 0

  constructor(options: BrokerOptions) {
    super(options)
    const { bars, settings } = options
    this.finer = settings.barMagnifier ? (options.finer ?? null) : null
    this.finerStarts = this.finer && finerRanges(bars, this.finer)
    this.dayOf = options.dayOf ?? ((bar) => Math.floor((bars.time[bar] ?? 0) / 86_400_000))
  }

  get bytes(): number {
    const { fills, closed } = this.position
    const waiting = this.orders.length + this.legs.length + this.immediates.length
    return (
      FILL_BYTES * fills.bar.length + TRADE_BYTES * closed.count + ORDER_BYTES * waiting + this.labelBytes()
    )
  }

  /** Labels are only added, but for a step back, after which all are counted again. */
  private labelBytes(): number {
    const { labels } = this.position.fills
    if (labels.length < this.labelsSeen) this.labelsCounted = this.labelsSeen = 0
    for (; this.labelsSeen < labels.length; this.labelsSeen++) {
      const { id, comment, alertMessage } = labels[this.labelsSeen]!
      this.labelsCounted += ORDER_BYTES + TEXT_BYTES * (id.length + (comment?.length ?? 0))
      this.labelsCounted += 2 * (alertMessage?.length ?? 0)
    }
    return this.labelsCounted
  }

  // ——— a bar ———

  onBar(bar: number, rerun: () => void): void {
    this.bar = bar
    if (!this.active && this.bars.high[bar]! < this.callAbove && this.bars.low[bar]! > this.callBelow) return
    this.walkBar(bar, rerun)
  }

  private walkBar(bar: number, rerun: () => void): void {
    this.rerun = this.settings.calcOnOrderFills ? rerun : null
    this.reruns = 0
    this.fillsSeen = this.position.fills.count
    const { path } = this
    pathOf(this.bars, bar, this.mintick, path)
    this.walking = true
    this.nowTicks = path[0]
    if (watches(this.risk)) this.startRiskDay(bar)
    const from = this.finerStarts?.[bar] ?? 0
    const to = this.finerStarts?.[bar + 1] ?? 0
    if (this.finer && to > from) this.walkFiner(this.finer, from, to)
    else {
      this.openTick(path[0])
      if (this.isCalmAfterOpen(bar)) {
        this.walking = false
        this.settle()
        return
      }
      this.walkSegments(path)
    }
    this.walking = false
    this.point = 4
    this.callMargin(path[3])
    this.checkDrawdown(path[3])
    for (const leg of this.legs) if (leg.trail) endTrailBar(leg.trail)
    this.recheckResting()
    this.settle()
    this.rerun = null
  }

  /** Nothing is left to fill, call or watch: the rest of the path need not be walked. */
  private isCalmAfterOpen(bar: number): boolean {
    return (
      this.orders.length === 0 &&
      this.legs.length === 0 &&
      this.rerun === null &&
      this.bars.low[bar]! > this.callBelow &&
      this.bars.high[bar]! < this.callAbove &&
      !watches(this.risk)
    )
  }

  /** A5: market orders and gaps belong to the first finer bar; the rest is one long path. */
  private walkFiner(finer: Bars, from: number, to: number): void {
    const path: Path = [0, 0, 0, 0]
    for (let i = from; i < to; i++) {
      const before = path[3]
      pathOf(finer, i, this.mintick, path)
      if (i === from) this.openTick(path[0])
      else this.segment(before, path[0], Math.sign(path[0] - before))
      this.walkSegments(path)
    }
  }

  private walkSegments(path: Path): void {
    const first = Math.sign(path[1] - path[2])
    this.point = 1
    this.segment(path[0], path[1], first)
    this.point = 2
    this.segment(path[1], path[2], -first)
    this.point = 3
    // A close at the extreme is no step back from it.
    this.segment(path[2], path[3], Math.sign(path[3] - path[2]) || -first)
  }

  /** A11, A12: market orders in the order they were placed, then what the open has passed: entries, then exits. */
  private openTick(open: number): void {
    this.point = 0
    this.nowTicks = open
    this.fillMarket(open)
    this.dropOverCap()
    this.fillGaps(open)
    this.callMargin(open)
    this.checkIntradayLoss(open)
    // A8: the second fill of a bar is at the open too.
    if (this.runAgain()) {
      this.fillMarket(open)
      this.fillGaps(open)
      this.callMargin(open)
      this.checkIntradayLoss(open)
      this.runAgain()
    }
  }

  /**
   * C3: a priced add that pyramiding refuses is refused on its first bar, reached or not, and does not wait for the
   * position to go (parity list slippage_limit: 264 of 280 trades hang on it). One that was placed earlier waits on.
   */
  private dropOverCap(): void {
    if (this.orders.length > 0 && this.orders.some((order) => this.refused(order)))
      this.orders = this.orders.filter((order) => !this.refused(order))
  }

  /**
   * C3: pyramiding is looked at while an order is new. One that has rested longer is taken however many entries there
   * are by then (probe order-dual-stop-both-touch-priority-01: two resting stops fill on one bar, pyramiding 1).
   */
  private refused(order: Order): boolean {
    return order.bar >= this.bar - 1 && this.overCap(order)
  }

  private fillMarket(ticks: number): void {
    for (let i = 0; i < this.orders.length;) {
      const order = this.orders[i]!
      if (!isMarket(order)) {
        i++
        continue
      }
      removeAt(this.orders, i)
      this.fill(order, ticks, true)
      // A fill may have taken others off the list.
      i = 0
    }
  }

  private fillGaps(open: number): void {
    for (;;) {
      const { orders, legs } = this
      if (orders.length === 0 && legs.length === 0) return
      const entries: Order[] = []
      const exits: Leg[] = []
      for (const order of orders) if (!isMarket(order) && this.passed(order, open)) entries.push(order)
      for (const leg of legs) if (!leg.done && this.legAt(leg, open, open, 0, true) !== null) exits.push(leg)
      if (entries.length === 0 && exits.length === 0) return
      entries.sort(gapOrder)
      const entriesBefore = this.position.entries.slice()
      let flipped = false
      for (const order of entries) {
        if (!this.take(order)) continue
        const limit = !Number.isNaN(order.limit) && (order.triggered || Number.isNaN(order.stop))
        const before = Math.sign(this.position.units)
        this.fill(order, open, !limit)
        if (before !== 0 && Math.sign(this.position.units) === -before && !limit) flipped = true
      }
      for (const leg of exits) {
        if (flipped && entriesBefore.includes(leg.entry) && !this.position.entries.includes(leg.entry))
          this.fillOrphan(leg, open)
        else if (!leg.done && this.legs.includes(leg)) {
          const kind = this.legAt(leg, open, open, 0, true)
          if (kind !== null) this.fillLeg(leg, open, kind.rank)
        }
      }
      this.settleLegs()
    }
  }

  /** D14: the exit of a position that a stop entry reversed through the same gap fills too, and opens under its own id. */
  private fillOrphan(leg: Leg, ticks: number): void {
    leg.done = true
    const units = leg.reserved - leg.filled
    if (units <= 0) return
    const direction: Direction = leg.entry.direction === 1 ? -1 : 1
    this.execute(direction, units, ticks, leg.id, leg.exit.comment, leg.exit.alertMessage, null, true, true)
  }

  /** From `from` to `to`: fills what the price reaches first, and again from there (A13, A14). */
  private segment(from: number, to: number, direction: number): void {
    let at = from
    while (this.orders.length > 0 || this.legs.length > 0) {
      let order: Order | null = null
      let leg: Leg | null = null
      let distance = Infinity
      let rank = 9
      let best = at
      let sequence = 0
      for (const one of this.orders) {
        if (isMarket(one)) continue
        const stopPending = !Number.isNaN(one.stop) && !one.triggered
        const level = stopPending
          ? reach(one.stop, at, to, one.direction === 1)
          : this.reachLimit(one.limit, at, to, one.direction)
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
      for (const one of this.legs) {
        if (one.done) continue
        const hit = this.legAt(one, at, to, direction, false)
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
      this.nowTicks = at
      if (order) {
        if (rank === STOP && !Number.isNaN(order.limit)) order.triggered = true
        else if (this.take(order)) this.fill(order, at, rank === STOP)
      } else if (leg) this.fillLeg(leg, at, rank)
      this.settleLegs()
      this.runAgain()
    }
    this.nowTicks = to
    const side = this.position.units > 0 ? 1 : -1
    if (direction * side > 0)
      for (const leg of this.legs) if (leg.trail && !leg.done) ratchet(leg.trail, to, side)
    // G3: the adverse extreme is looked at when the path gets there.
    if (this.position.units !== 0 && direction * side < 0) this.callMargin(to)
    if (this.position.units === 0 || direction * side < 0) this.checkIntradayLoss(to)
    if (this.rerun && this.reruns > 0) {
      this.fillMarket(to)
      this.runAgain()
    }
  }

  /** The open is at or past the order's level. A stop-limit order is only triggered by that, unless its limit holds too. */
  private passed(order: Order, open: number): boolean {
    if (!Number.isNaN(order.stop) && !order.triggered) {
      if (order.direction === 1 ? order.stop > open : order.stop < open) return false
      if (Number.isNaN(order.limit)) return true
      order.triggered = true
    }
    return !Number.isNaN(this.reachLimit(order.limit, open, open, order.direction))
  }

  /** B10: a limit counts as filled once the price went `fillLimitsAssumption` ticks beyond it. */
  private reachLimit(limit: number, at: number, to: number, direction: Direction): number {
    const beyond = this.settings.fillLimitsAssumption
    if (beyond === 0) return reach(limit, at, to, direction === -1)
    const level = reach(limit - direction * beyond, at, to, direction === -1)
    if (Number.isNaN(level)) return NaN
    return direction === 1 ? Math.min(limit, at) : Math.max(limit, at)
  }

  /** Where a leg fills between two prices and as what; on the open trails look at where it opened. */
  private legAt(
    leg: Leg,
    at: number,
    to: number,
    direction: number,
    atOpen: boolean,
  ): { ticks: number; rank: number } | null {
    const side = leg.entry.direction
    let ticks = NaN
    let rank = STOP
    if (!Number.isNaN(leg.stop)) ticks = reach(leg.stop, at, to, side === -1)
    if (leg.trail) {
      const trail = atOpen
        ? trailAtOpen(leg.trail, at, side)
        : trailOnSegment(leg.trail, at, to, direction * side > 0, side)
      if (!Number.isNaN(trail) && !(Math.abs(ticks - at) <= Math.abs(trail - at))) {
        ticks = trail
        rank = TRAIL
      }
    }
    if (!Number.isNaN(leg.limit)) {
      const limit = this.reachLimit(leg.limit, at, to, side === 1 ? -1 : 1)
      if (!Number.isNaN(limit) && !(Math.abs(ticks - at) <= Math.abs(limit - at))) {
        ticks = limit
        rank = LIMIT
      }
    }
    return Number.isNaN(ticks) ? null : { ticks, rank }
  }

  // ——— fills ———

  /** Removes an order from those that wait; false when something else removed it before. */
  private take(order: Order): boolean {
    const index = this.orders.indexOf(order)
    if (index < 0) return false
    removeAt(this.orders, index)
    return true
  }

  private fill(order: Order, ticks: number, slips: boolean): void {
    if (this.risk.halted !== 'no' && order.kind !== 'close') return
    const at = slips ? ticks + order.direction * this.settings.slippage : ticks
    const { position } = this
    if (order.kind === 'close') {
      if (position.units * order.direction >= 0) return
      const targets = order.target === null ? null : position.entries.filter((one) => one.id === order.target)
      const units = Math.min(order.units, position.boundTo(order.target))
      if (units > 0)
        this.execute(order.direction, units, at, order.id, order.comment, order.alertMessage, targets, false)
      return
    }
    const units = this.unitsAtFill(order, at)
    if (units <= 0) return
    if (order.kind === 'entry' && !order.reduceOnly && !this.accepts(order, units, at)) return
    if (order.kind === 'order' && !this.affordable(order, units, at)) return
    const opened = this.execute(
      order.direction,
      units,
      at,
      order.id,
      order.comment,
      order.alertMessage,
      null,
      !order.reduceOnly,
    )
    if (opened) this.bindTemplates(opened)
    if (order.ocaName !== null && order.ocaType !== 'none') this.settleOca(order, units, ticks)
  }

  /** F2, C1, C9: what the order asks for at this price, its flip part included. */
  private unitsAtFill(order: Order, ticks: number): number {
    const { units: held } = this.position
    const wanted = Number.isNaN(order.budget)
      ? order.units
      : unitsFor(this.settings, order.budget, ticks * this.mintick, this.pointValue, this.rate(), this.lot)
    if (order.kind === 'order') return wanted
    const raw = Math.min(wanted, this.roomFor(order.direction))
    if (order.reduceOnly) return held * order.direction < 0 ? Math.min(order.flip, Math.abs(held)) : 0
    // C9: a priced order that meets no position against it any more still brings what it was to close.
    return held * order.direction < 0 || !isMarket(order) ? raw + order.flip : raw
  }

  /** C3, C5, G2: pyramiding and margin, judged when the order is processed. */
  private accepts(order: Order, units: number, ticks: number): boolean {
    const { position } = this
    if (position.units * order.direction > 0) {
      return !this.refused(order)
    }
    return this.affordable(order, units, ticks)
  }

  private affordable(order: Order, units: number, ticks: number): boolean {
    const { position } = this
    const held = position.units
    // C8, D13: these fill, and the margin call trims them.
    if (order.afterClose || held * order.direction > 0) return true
    const opening = units - Math.abs(held)
    if (opening <= 0) return true
    const price = ticks * this.mintick
    const value = price * this.pointValue * this.rate()
    let required = contracts(opening) * value * this.margin(order.direction)
    // C5: what it flips was opened a moment ago and still needs its own margin; an older position frees it first (C6).
    if (order.paired) required += contracts(Math.abs(held)) * value * this.margin(held > 0 ? 1 : -1)
    return !exceeds(required, this.equityAt(price))
  }

  private fillLeg(leg: Leg, ticks: number, rank: number): void {
    const direction: Direction = leg.entry.direction === 1 ? -1 : 1
    const units = Math.min(leg.reserved - leg.filled, leg.entry.bound)
    leg.done = true
    if (units <= 0) return
    leg.filled += units
    const { exit } = leg
    const own =
      rank === LIMIT
        ? [exit.commentProfit, exit.alertProfit]
        : rank === TRAIL
          ? [exit.commentTrailing, exit.alertTrailing]
          : [exit.commentLoss, exit.alertLoss]
    const at = rank === LIMIT ? ticks : ticks + direction * this.settings.slippage
    this.execute(
      direction,
      units,
      at,
      leg.id,
      own[0] ?? exit.comment,
      own[1] ?? exit.alertMessage,
      [leg.entry],
      false,
    )
    // D16: other exits under the same OCA name shrink by what this one closed.
    if (exit.ocaName !== null && exit.ocaName !== '')
      for (const other of this.legs)
        if (other !== leg && !other.done && other.exit.ocaName === exit.ocaName && other.entry === leg.entry)
          other.reserved = Math.max(other.filled, other.reserved - units)
  }

  /** Books a fill at a tick (B1) and settles what follows from it. `opens`: what is left after closing opens a position. */
  private execute(
    direction: Direction,
    units: number,
    ticks: number,
    id: string,
    comment: string | null,
    alertMessage: string | null,
    targets: readonly Entry[] | null,
    opens: boolean,
    first = false,
    shown = NaN,
  ): Entry | null {
    const { position } = this
    const held = position.units
    const closing = held * direction < 0 ? Math.min(units, Math.abs(held)) : 0
    const opening = opens ? units - closing : 0
    if (closing + opening <= 0) return null
    const price = ticks * this.mintick
    const rate = this.rate()
    const { execution } = this
    execution.direction = direction
    execution.closing = closing
    execution.opening = opening
    execution.price = Number.isNaN(shown) ? price : shown
    execution.money = price
    execution.fee = commissionOf(this.settings, closing + opening, price, this.pointValue, rate)
    execution.rate = rate
    execution.bar = this.bar
    execution.point = this.point
    execution.id = id
    execution.comment = comment
    execution.alertMessage = alertMessage
    const entry = position.execute(execution, targets, first)
    if (closing > 0) {
      this.dropOrphans()
      if (position.units * held <= 0 && this.standing.length > 0) this.standing = []
    }
    this.setCallRange()
    this.countFilled(ticks, entry !== null)
    return entry
  }

  /** Legs of entries that are gone go with them. */
  private dropOrphans(): void {
    if (this.legs.length === 0) return
    this.legs = this.legs.filter((leg) => leg.entry.bound > 0)
  }

  private settleLegs(): void {
    if (this.legs.some((leg) => leg.entry.bound <= 0)) this.dropOrphans()
  }

  /** D16. What executes on the same tick can be neither cancelled nor reduced (TradingView's reference, strategy.oca). */
  private settleOca(filled: Order, units: number, ticks: number): void {
    for (const other of this.orders.filter((one) => one.ocaName === filled.ocaName)) {
      if (isMarket(other) || this.passed(other, ticks)) continue
      if (filled.ocaType === 'cancel') this.take(other)
      else {
        other.units -= units
        if (other.units <= 0) this.take(other)
      }
    }
  }

  /** D1, D3: exits that waited for this entry are bound to it now, and may fill at the same open (D18). */
  private bindTemplates(entry: Entry): void {
    if (this.templates.length === 0 && this.standing.length === 0) return
    for (const template of this.templates)
      if (template.entryId === entry.id) this.bindTemplate(template, entry)
    for (const template of this.standing)
      if (!entry.legs?.some((leg) => leg.id === template.id)) this.bindTemplate(template, entry)
    this.templates = this.templates.filter((one) => one.entryId !== entry.id)
  }

  private bindTemplate({ exit, id, bar, sequence }: ExitTemplate, entry: Entry): void {
    const reserved = reservation(exit, entry, id, this.lot)
    if (reserved <= 0) return
    const { limit, stop, activation, offset } = exitLevels(
      exit,
      entry,
      this.mintick,
      this.settings.nearerLevelWins,
    )
    const fill = Math.round(entry.price / this.mintick)
    this.addLeg({
      id,
      entry,
      exit,
      reserved,
      filled: 0,
      limit,
      stop,
      trail: Number.isNaN(activation) ? null : freshTrail(activation, offset, fill, entry.direction),
      bar,
      sequence,
      done: false,
    })
  }

  // ——— calc_on_order_fills ———

  /** A7: after fills the script runs again, three times a bar at most. Answers whether it did. */
  private runAgain(): boolean {
    if (!this.rerun || this.position.fills.count === this.fillsSeen || this.reruns >= RERUNS_MAX) return false
    this.fillsSeen = this.position.fills.count
    this.reruns++
    this.rerun()
    return true
  }

  // ——— after the script ———

  /** A2, B9. */
  afterScript(bar: number): void {
    this.dirty = false
    this.bar = bar
    this.point = 4
    const close = tickOf(this.bars.close[bar]!, this.mintick)
    for (const order of this.immediates.splice(0)) this.fillImmediate(order, close)
    if (this.settings.processOrdersOnClose) {
      this.fillMarket(close)
      for (const order of this.orders.slice()) {
        const isStop = !Number.isNaN(order.stop)
        const oneLevel = isStop !== !Number.isNaN(order.limit)
        if (oneLevel && order.bar === bar && this.passed(order, close) && this.take(order))
          this.fill(order, close, isStop)
      }
      for (const leg of this.legs.filter((one) => one.bar === bar && one.entry.bar < bar && !one.done)) {
        const limit = this.reachLimit(leg.limit, close, close, leg.entry.direction === 1 ? -1 : 1)
        if (!Number.isNaN(limit) && this.legs.includes(leg)) this.fillLeg(leg, limit, LIMIT)
      }
      this.callMargin(close)
    }
    this.settle()
  }

  /** B9: the list shows the raw close, the money has slippage in it. */
  private fillImmediate(order: Order, close: number): void {
    const { position } = this
    const direction: Direction = position.units > 0 ? -1 : 1
    const units = Math.min(order.units, position.boundTo(order.target))
    if (position.units === 0 || units <= 0) return
    const targets = order.target === null ? null : position.entries.filter((one) => one.id === order.target)
    this.execute(
      direction,
      units,
      close + direction * this.settings.slippage,
      order.id,
      order.comment,
      order.alertMessage,
      targets,
      false,
      false,
      close * this.mintick,
    )
  }

  // ——— margin ———

  /** G3. */
  private callMargin(ticks: number): void {
    const { position } = this
    const held = position.units
    if (held === 0) return
    const direction: Direction = held > 0 ? 1 : -1
    const margin = this.margin(direction)
    if (margin === 0) return
    const price = ticks * this.mintick
    if (price > this.callBelow && price < this.callAbove) return
    const units = marginCallUnits(
      Math.abs(held),
      this.equityAt(price),
      price * this.pointValue * this.rate(),
      margin,
      this.lot,
    )
    if (units <= 0) return
    this.marginCalls++
    const at = ticks - direction * this.settings.slippage
    this.execute(direction === 1 ? -1 : 1, units, at, MARGIN_CALL, MARGIN_CALL, null, null, false)
  }

  private setCallRange(): void {
    const { position } = this
    const held = position.units
    const range =
      held === 0
        ? NEVER_CALLED
        : this.rates
          ? { below: Infinity, above: -Infinity }
          : callRange(
              this.settings.initialCapital +
                position.netProfit -
                position.fees -
                position.value * this.pointValue,
              contracts(held) * this.pointValue,
              this.margin(held > 0 ? 1 : -1),
            )
    this.callBelow = range.below
    this.callAbove = range.above
  }

  /** G1: resting entries that have become too dear at the current price are cancelled. */
  private recheckResting(): void {
    const { orders } = this
    const price = this.bars.close[this.bar]!
    for (let i = 0; i < orders.length;) {
      const order = orders[i]!
      const rests = order.kind !== 'close' && !isMarket(order)
      if (rests && !this.withinMargin(order.direction, this.restingUnits(order), price)) removeAt(orders, i)
      else i++
    }
  }

  private restingUnits(order: Order): number {
    return Number.isNaN(order.budget) ? order.units : Math.max(order.units, 0)
  }

  // ——— risk ———

  private startRiskDay(bar: number): void {
    const price = this.nowPrice()
    const { initialCapital } = this.settings
    const closed = initialCapital + this.position.netProfit
    if (rollDay(this.risk, this.dayOf(bar), this.equityAt(price), closed))
      this.stopTrading(this.nowTicks, RISK_COMMENTS.lossDays, 'forever')
  }

  /**
   * H1: every filled order counts, a reversal once. What is still open when the day's last order filled is closed at
   * that order's price, or at the bar's extreme where an entry fired inside the bar beyond its open
   * (probe composite-bracket-cap-range-pending-stop-01: 178 of 178).
   */
  private countFilled(ticks: number, opened: boolean): void {
    const { risk } = this
    if (risk.filledOrdersMax === Infinity || risk.halted !== 'no') return
    risk.filledToday++
    if (risk.filledToday < risk.filledOrdersMax) return
    let at = ticks
    if (opened && this.point > 0 && this.point < 4) {
      const open = tickOf(this.bars.open[this.bar]!, this.mintick)
      if (ticks > open) at = tickOf(this.bars.high[this.bar]!, this.mintick)
      else if (ticks < open) at = tickOf(this.bars.low[this.bar]!, this.mintick)
    }
    this.stopTrading(at, RISK_COMMENTS.filledOrders, 'day')
  }

  /** H2: at the open, which may have gapped, at each adverse extreme, and when losses have been taken. */
  private checkIntradayLoss(ticks: number): void {
    if (this.risk.intradayLoss === null || this.risk.halted !== 'no') return
    if (intradayLossReached(this.risk, this.equityAt(ticks * this.mintick)))
      this.stopTrading(ticks, RISK_COMMENTS.intradayLoss, 'day')
  }

  /** H3. */
  private checkDrawdown(ticks: number): void {
    const { risk, position } = this
    if (risk.drawdown === null || risk.halted !== 'no') return
    const equity = this.equityAt(ticks * this.mintick)
    const closed = this.settings.initialCapital + position.netProfit
    if (drawdownReached(risk, equity, closed, position.closed.count))
      this.stopTrading(ticks, RISK_COMMENTS.drawdown, 'forever')
  }

  private stopTrading(ticks: number, comment: string, until: 'day' | 'forever'): void {
    this.risk.halted = until
    this.orders = []
    this.templates = []
    this.standing = []
    this.legs = []
    const held = this.position.units
    if (held !== 0)
      this.execute(held > 0 ? -1 : 1, Math.abs(held), ticks, RISK_ID, comment, null, null, false)
    this.settle()
  }

  // ——— snapshots ———

  /** The broker's whole state; `restore` of it, in this or another emulator over the same bars, brings it back. */
  snapshot(): Uint8Array {
    const writer = new GraphWriter()
    writer.write(this.state())
    return writer.bytes()
  }

  restore(snapshot: Uint8Array): void {
    const { position, walk, ...rest } = new GraphReader(snapshot).read() as ReturnType<
      BrokerEmulator['state']
    >
    Object.assign(this.position, position)
    Object.assign(this, rest)
    this.walk = this.newWalk()
    this.walk.goOnFrom(walk)
  }

  protected state() {
    const { units, entries, open, closed, fills, value, fees, grossProfit, grossLoss } = this.position
    const { wins, losses, evens, heldAll, heldLong, heldShort } = this.position
    const sums = { value, fees, grossProfit, grossLoss, wins, losses, evens, heldAll, heldLong, heldShort }
    const { bar, busy, dirty, orders, templates, standing, legs, immediates, risk, sequence, marginCalls } =
      this
    const { active, callBelow, callAbove } = this
    return {
      position: { units, entries, open, closed: rowsOf(closed), fills: rowsOf(fills), ...sums },
      walk: this.walk.state(),
      bar,
      busy,
      dirty,
      orders,
      templates,
      standing,
      legs,
      immediates,
      risk,
      sequence,
      marginCalls,
      active,
      callBelow,
      callAbove,
    }
  }
}

/** A15: at one open buy stops go before sell stops, and limits come last. */
function gapOrder(a: Order, b: Order): number {
  return gapRank(a) - gapRank(b) || a.sequence - b.sequence
}

function gapRank(order: Order): number {
  if (Number.isNaN(order.stop)) return 2
  return order.direction === 1 ? 0 : 1
}

/** Where the way from `at` to `to` meets a level that is triggered from below (`up`) or from above; NaN = nowhere. */
function reach(level: number, at: number, to: number, up: boolean): number {
  if (up) return level <= at ? at : level <= to ? level : NaN
  return level >= at ? at : level >= to ? level : NaN
}
