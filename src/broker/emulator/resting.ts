// Resting orders: limits, stops and trailing stops while they wait, which a replay shows as dashed lines.
//
// The waiting orders and their prices are noted before and after each bar's fills. The run calls the broker only while
// something waits, so an order that is gone at the next call went on the bar of the last one. Only changes are kept: an
// order that waits a thousand bars is one row. So is one that the script places again on every bar at the same price, since
// rows are told apart only by what can be seen of them.

import { Spares } from '../../lib/spares.ts'
import { tidy } from '../../lib/tidy.ts'
import type { Book } from './book.ts'
import { UNIT } from './numbers.ts'
import { HAS_LIMIT, HAS_STOP, isMarket, shorten, type Order, type Trail } from './orders.ts'

export const RESTING_TYPES = ['limit', 'stop', 'trail'] as const
const LIMIT = 0
const STOP = 1
const TRAIL = 2
export type RestingType = (typeof RESTING_TYPES)[number]

/** Visible at the close of bars `from` to `to` - 1; a `to` of -1 means to the end. */
export interface RestingOrder {
  readonly id: string
  readonly type: RestingType
  /** In contracts; negative = a sale. */
  readonly qty: number
  readonly price: number
  readonly from: number
  readonly to: number
}

/**
 * The order as it is noted. What is shown of it is computed on request, since that took a third of the time of a bar. One
 * that is over is used again.
 */
interface NotedOrder {
  label: number
  units: number
  ticks: number
  from: number
  /** The number of the note that last saw it. */
  seen: number
}

/**
 * Orders that are over, in blocks of words, each block four times as large as the one before. A row is mostly two words: as
 * rows of 24 bytes, the memory of a stop that moves on every bar was a fifth of the run.
 */
interface Over {
  count: number
  readonly blocks: Block[]
  /** Numbers of the ids. A label is three times that, and the place of its type among RESTING_TYPES. */
  readonly ids: Map<string, number>
  /** What rows give the index of, since many share it. */
  readonly units: number[]
  /** Of the last row. */
  to: number
}

interface Block {
  used: number
  readonly words: Int32Array
}

const WORDS_FIRST = 512
const WORDS_MAX = 16_384
const GROWTH = 4
/** Before a row of five numbers and a level as a double, which does not fit into two words. */
const WIDE = -1
const WIDE_WORDS = 7

const level = new Float64Array(1)
const levelWords = new Int32Array(level.buffer)

/** Blocks of runs that are over: 1 MB. */
const spares = new Spares<Block>(16)

function noneOver(): Over {
  return { count: 0, blocks: [], ids: new Map(), units: [], to: 0 }
}

/** A block with room for a row. */
function blockOf({ blocks }: Over): Block {
  const last = blocks[blocks.length - 1]
  if (last !== undefined && last.used + WIDE_WORDS <= last.words.length) return last
  const length = Math.min(WORDS_MAX, WORDS_FIRST * GROWTH ** blocks.length)
  const block = spares.take() ?? { used: 0, words: new Int32Array(length) }
  block.used = 0
  blocks.push(block)
  return block
}

/** A script that moves the stops of many trades on every bar would keep more than anybody looks at. */
const KEPT_MAX = 200_000

export class RestingNotes {
  private over = noneOver()
  private waiting: NotedOrder[] = []
  private readonly spare: NotedOrder[] = []
  private notes = 0
  private lastId: string | null = null
  private lastNumber = 0
  /** The bar of the last call of `after`. */
  private last = -1
  private readonly book: Book
  private readonly mintick: number

  constructor(book: Book, mintick: number) {
    this.book = book
    this.mintick = mintick
  }

  /** Nothing waited at the last note. */
  get isEmpty(): boolean {
    return this.waiting.length === 0
  }

  before(bar: number): void {
    this.note(bar - 1, this.last)
  }

  after(bar: number): void {
    this.note(bar, bar)
    this.last = bar
  }

  /** Like `after`, for a bar that changed nothing. */
  same(bar: number): void {
    this.last = bar
  }

  /** Instead of both, for an order that nothing rested beside, and that was refused before the bar ended. */
  refused(order: Order, bar: number): void {
    const isStop = awaitsStop(order)
    const label = 3 * this.numberOf(order.id) + (isStop ? STOP : LIMIT)
    this.end(label, order.direction * order.units, isStop ? order.stop : order.limit, bar - 1, bar)
    this.last = bar
  }

  /** All orders so far, sorted by the bar on which they came; the run is at `bar`. */
  orders(bar: number): readonly RestingOrder[] {
    this.note(bar, this.last)
    const ids = [...this.over.ids.keys()]
    const rows = Array.from(rowsOf(this.over), (one) => this.row(ids, one, one.to))
    for (const one of this.waiting) rows.push(this.row(ids, one, -1))
    return rows.sort((a, b) => a.from - b.from)
  }

  /** `orders` is not asked for any more. */
  release(): void {
    for (const block of this.over.blocks) spares.leave(block)
    this.over = noneOver()
    this.lastId = null
  }

  state() {
    const { over, waiting, notes, last } = this
    return { over, waiting, notes, last }
  }

  restore(state: ReturnType<RestingNotes['state']>): void {
    Object.assign(this, state)
    this.lastId = null
  }

  /** Notes what waits now. An order not seen before has waited since `bar`; one that is missing was gone by `gone`. */
  private note(bar: number, gone: number): void {
    const { waiting } = this
    const { orders, legs } = this.book
    if (waiting.length === 0 && legs.length === 0 && !someRest(orders)) return
    this.notes++
    for (const order of orders) {
      const { id, direction, units, levels } = order
      if (awaitsStop(order)) this.see(id, STOP, direction * units, order.stop, bar)
      else if ((levels & HAS_LIMIT) !== 0) this.see(id, LIMIT, direction * units, order.limit, bar)
    }
    for (const leg of legs) {
      if (leg.done) continue
      const units = -leg.entry.direction * (leg.reserved - leg.filled)
      if ((leg.levels & HAS_LIMIT) !== 0) this.see(leg.id, LIMIT, units, leg.limit, bar)
      if ((leg.levels & HAS_STOP) !== 0) this.see(leg.id, STOP, units, leg.stop, bar)
      if (leg.trail) this.see(leg.id, TRAIL, units, trailLevel(leg.trail, leg.entry.direction), bar)
    }
    let left = 0
    for (const one of waiting) {
      if (one.seen === this.notes) waiting[left++] = one
      // An order that came and went within one bar was not there at any close.
      else {
        if (one.from < gone) this.end(one.label, one.units, one.ticks, one.from, gone)
        this.spare.push(one)
      }
    }
    shorten(waiting, left)
  }

  private end(label: number, units: number, ticks: number, from: number, to: number): void {
    const { over } = this
    if (over.count >= KEPT_MAX) return
    const block = blockOf(over)
    const { words, used } = block
    const size = unitsRow(over, units)
    const waited = to - from
    const later = to - over.to
    over.count++
    over.to = to
    const isNarrow =
      (label & ~63) === 0 && (size & ~31) === 0 && (waited & ~511) === 0 && (later & ~2047) === 0
    if (isNarrow && isWord(ticks)) {
      words[used] = label | (size << 6) | (waited << 11) | (later << 20)
      words[used + 1] = ticks
      block.used = used + 2
      return
    }
    level[0] = ticks
    words.set([WIDE, label, size, waited, later, levelWords[0]!, levelWords[1]!], used)
    block.used = used + WIDE_WORDS
  }

  private see(id: string, type: number, units: number, ticks: number, bar: number): void {
    const { waiting, notes } = this
    const label = 3 * this.numberOf(id) + type
    for (const one of waiting)
      if (one.seen !== notes && one.ticks === ticks && one.units === units && one.label === label) {
        one.seen = notes
        return
      }
    const one = this.spare.pop()
    if (one === undefined) {
      waiting.push({ label, units, ticks, from: bar, seen: notes })
      return
    }
    one.label = label
    one.units = units
    one.ticks = ticks
    one.from = bar
    one.seen = notes
    waiting.push(one)
  }

  /** Mostly that of the one before. */
  private numberOf(id: string): number {
    if (id === this.lastId) return this.lastNumber
    const { ids } = this.over
    const known = ids.get(id) ?? ids.size
    if (known === ids.size) ids.set(id, known)
    this.lastId = id
    this.lastNumber = known
    return known
  }

  private row(
    ids: readonly string[],
    { label, units, ticks, from }: Omit<NotedOrder, 'seen'>,
    to: number,
  ): RestingOrder {
    const type = RESTING_TYPES[label % 3]!
    const price = tidy(ticks * this.mintick)
    return { id: ids[Math.floor(label / 3)]!, type, qty: units / UNIT, price, from, to }
  }
}

interface OverOrder extends Omit<NotedOrder, 'seen'> {
  readonly to: number
}

function* rowsOf({ blocks, units }: Over): Generator<OverOrder> {
  let to = 0
  for (const { words, used } of blocks)
    for (let at = 0; at < used;) {
      const word = words[at]!
      const isWide = word === WIDE
      const [label, size, waited, later] = isWide
        ? words.subarray(at + 1, at + 5)
        : [word & 63, (word >> 6) & 31, (word >> 11) & 511, word >> 20]
      if (isWide) levelWords.set(words.subarray(at + 5, at + WIDE_WORDS))
      const ticks = isWide ? level[0]! : words[at + 1]!
      to += later!
      yield { label: label!, units: units[size!]!, ticks, from: to - waited!, to }
      at += isWide ? WIDE_WORDS : 2
    }
}

function isWord(ticks: number): boolean {
  return (ticks | 0) === ticks
}

/** How many of the last sizes are searched: a script has a handful, or a new one for every order. */
const LOOKED_AT = 8

function unitsRow({ units }: Over, wanted: number): number {
  const oldest = Math.max(0, units.length - LOOKED_AT)
  for (let row = units.length - 1; row >= oldest; row--) if (units[row] === wanted) return row
  return units.push(wanted) - 1
}

/** A stop-limit order first waits for its stop. */
function awaitsStop({ levels, triggered }: Order): boolean {
  return (levels & HAS_STOP) !== 0 && !triggered
}

function someRest(orders: readonly Order[]): boolean {
  for (let i = 0; i < orders.length; i++) if (!isMarket(orders[i]!)) return true
  return false
}

/** Where the trail would trade now, or before it is armed, where it would arm. */
function trailLevel({ armed, activation, mark, offset }: Trail, side: 1 | -1): number {
  return armed ? mark - side * offset : activation
}
