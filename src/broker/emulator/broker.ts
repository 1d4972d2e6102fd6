// The broker emulator turns orders into trades as TradingView's does.
//
// Its parts know each other in one direction only:
//
//     account   what is held and what it is worth: what a script reads
//     watch     judges margin calls and a strategy's risk rules, by the account
//     book      what waits
//     desk      takes a script's commands: from them into the book
//     floor     fills: from the book into the account, and what follows from a fill
//     walk      bar by bar along the path of prices, says whose turn it is on the floor
//
// The rules are named `A1` to `J8`, and `M` of portfolios (pot.ts). RULES.md lists them all, and the code cites each where it
// follows it, in these parts or in the file of its family: sizing.ts and commission.ts (F), exits.ts and trailing.ts (D, E),
// margin.ts (G), risk.ts (H). Levels are integer ticks, quantities integer units (numbers.ts).
//
// A bar on which nothing waits and the position cannot be called costs nothing, which makes a million bars cheap. Run-ups
// and drawdowns are computed from the columns on request (equity.ts).

import { GraphReader, GraphWriter } from '../../lib/graph-bytes.ts'
import type { Broker } from '../../language/broker.ts'
import { Account, type BrokerOptions } from './account.ts'
import { Book } from './book.ts'
import { Desk } from './desk.ts'
import { Floor } from './floor.ts'
import { leaveLedger } from './ledger.ts'
import type { Position } from './position.ts'
import { contracts } from './numbers.ts'
import { NO_LEVEL } from './orders.ts'
import { RestingNotes, type RestingOrder, type RestingType } from './resting.ts'
import type { BrokerSettings } from './settings.ts'
import { Walk } from './walk.ts'
import { Watch } from './watch.ts'

export interface WaitingOrder {
  readonly id: string
  readonly type: 'market' | RestingType
  readonly side: 'buy' | 'sell'
  /** Of an order of default size at the market, as it stands at the close. */
  readonly qty: number
  /** null: at the market. */
  readonly price: number | null
}

/** Roughly the memory of a fill, of a closed trade with its part of the report, and of a waiting order. */
const FILL_BYTES = 69
const TRADE_BYTES = 650
const ORDER_BYTES = 300
/** Bytes for each character of an order's id or comment, which report and tracks repeat. */
const TEXT_BYTES = 8

export class BrokerEmulator implements Broker {
  readonly account: Account
  readonly desk: Desk
  private readonly watch: Watch
  private readonly book: Book
  private readonly walk: Walk
  private readonly notes: RestingNotes | null
  private labelsSeen = 0
  private labelsCounted = 0

  constructor(options: BrokerOptions) {
    const { settings, finer = null } = options
    this.account = new Account(options)
    this.watch = new Watch(this.account, options.dayOf)
    this.book = new Book(this.watch, settings.processOrdersOnClose, () => this.notes?.same(this.account.bar))
    this.desk = new Desk(this.account, this.book, this.watch)
    const floor = new Floor(this.account, this.book, this.watch)
    this.walk = new Walk(this.account, this.book, this.watch, floor, settings.barMagnifier ? finer : null)
    this.notes = options.notesResting ? new RestingNotes(this.book, this.account.mintick) : null
  }

  get busy(): boolean {
    return this.book.quiet === null ? this.book.active || this.hasToNote : this.watch.looksAlways
  }

  /**
   * The resting orders were removed when the script last ran, and the position that it left can be called. Their
   * replacements then get rows of their own; with another position, an order placed again continues its row.
   */
  private get hasToNote(): boolean {
    return this.notes !== null && !this.notes.isEmpty && this.watch.mayCall
  }

  get callBelow(): number {
    return (this.book.quiet ?? this.watch).callBelow
  }

  get callAbove(): number {
    return (this.book.quiet ?? this.watch).callAbove
  }

  get dirty(): boolean {
    return this.book.dirty
  }

  get settings(): BrokerSettings {
    return this.account.settings
  }

  get position(): Position {
    return this.account.position
  }

  get marginCalls(): number {
    return this.watch.marginCalls
  }

  get bytes(): number {
    const { fills, closed } = this.account.position
    return (
      FILL_BYTES * fills.count +
      TRADE_BYTES * closed.count +
      ORDER_BYTES * this.book.waiting +
      this.labelBytes()
    )
  }

  /** Labels are only added, except after a step back, when all of them are counted again. */
  private labelBytes(): number {
    const { labels } = this.account.position.fills
    if (labels.length < this.labelsSeen) this.labelsCounted = this.labelsSeen = 0
    for (; this.labelsSeen < labels.length; this.labelsSeen++) {
      const { id, comment, alertMessage } = labels[this.labelsSeen]!
      this.labelsCounted += ORDER_BYTES + TEXT_BYTES * (id.length + (comment?.length ?? 0))
      this.labelsCounted += 2 * (alertMessage?.length ?? 0)
    }
    return this.labelsCounted
  }

  /** To be called before bars are run while others trade with the same pot: what they have decides who is called for margin. */
  beginTurn(): void {
    if (this.account.position.units !== 0) this.watch.setCallRange()
  }

  /** … and after them: now the others see what this account has. */
  endTurn(): void {
    this.account.pot?.show(this.account)
  }

  onBar(bar: number, rerun: () => void): void {
    if (this.account.developing !== null) {
      this.notes?.before(bar)
      this.walk.onEveryTick(bar, rerun)
      this.notes?.after(bar)
      return
    }
    if (this.book.quiet !== null) this.book.endQuiet()
    const calm = !this.book.active && this.watch.isSafe(bar)
    // Nothing waits and nothing did. That is true of most bars of most runs, where noting cost 4 ns of 17.
    if (calm && (this.notes === null || this.notes.isEmpty)) return
    if ((this.notes === null || this.notes.isEmpty) && this.walk.onlyRefuses(bar)) {
      const order = this.book.dropOnly()
      this.notes?.refused(order, bar)
      return
    }
    const { changed } = this.book
    // What the script left as it was has been noted already.
    if (changed) this.notes?.before(bar)
    this.book.changed = false
    if (calm || this.walk.onBar(bar, rerun)) {
      this.notes?.after(bar)
      this.book.changed = false
    } else {
      this.notes?.same(bar)
      if (!changed && !this.watch.looksAlways) this.book.quiet = this.walk.quietRange()
    }
  }

  afterScript(bar: number): void {
    this.book.change()
    this.walk.afterScript(bar)
  }

  /** Orders that rested, sorted by the bar on which they came; empty without `notesResting`. */
  restingOrders(): readonly RestingOrder[] {
    if (this.book.quiet !== null) this.book.endQuiet()
    return this.notes?.orders(this.account.bar) ?? []
  }

  /** What waits for the next bar: orders at the market, and what rests at a price. */
  waitingOrders(): readonly WaitingOrder[] {
    const atMarket = this.book.orders
      .filter(({ levels }) => levels === NO_LEVEL)
      .map(({ id, direction, units, flip }) => ({
        id,
        type: 'market' as const,
        side: sideOf(direction),
        qty: contracts(units + flip),
        price: null,
      }))
    const resting = this.restingOrders()
      .filter(({ to }) => to === -1)
      .map(({ id, type, qty, price }) => ({ id, type, side: sideOf(qty), qty: Math.abs(qty), price }))
    return [...atMarket, ...resting]
  }

  /** The run is over: what it has traded is read no more, and its memory serves the next run. */
  release(): void {
    leaveLedger(this.account.position)
  }

  /** … nor what rested. */
  releaseResting(): void {
    this.notes?.release()
  }

  // ——— snapshots ———

  /** The broker's whole state; `restore` of it, in this or another emulator over the same bars, brings it back. */
  snapshot(): Uint8Array {
    const writer = new GraphWriter()
    writer.write(this.state())
    return writer.bytes()
  }

  /** What was traded and what waits. If it is equal, two runs trade alike; values that a script only read are not in it. */
  dealings(): Uint8Array {
    const { position } = this.account.state()
    const { risk, marginCalls } = this.watch
    const writer = new GraphWriter()
    writer.write({ position, risk, marginCalls, book: this.book.state() })
    return writer.bytes()
  }

  restore(snapshot: Uint8Array): void {
    const { account, watch, book, notes } = new GraphReader(snapshot).read() as ReturnType<
      BrokerEmulator['state']
    >
    this.book.quiet = null
    this.account.restore(account)
    this.watch.restore(watch)
    this.book.restore(book)
    if (notes) this.notes?.restore(notes)
  }

  /** A single value, because the account's entries and the book's legs refer to each other. */
  private state() {
    if (this.book.quiet !== null) this.book.endQuiet()
    const { account, watch, book, notes } = this
    return {
      account: account.state(),
      watch: watch.state(),
      book: book.state(),
      notes: notes?.state() ?? null,
    }
  }
}

const sideOf = (signed: number): WaitingOrder['side'] => (signed < 0 ? 'sell' : 'buy')
