// The broker's records: waiting orders, filled entries and what they still own, the exits bound to them, and open trades,
// which will be rows of TradingView's list. Finished trades are in ledger.ts.
//
// All of it is plain data (no class, no closure), so a snapshot of the broker is simply its fields.
//
// An *entry* and its *trades* are two ledgers of one position. Trades are the physical rows: with the FIFO rule an
// exit consumes the oldest, whatever entry it was bound to (D8). Entries keep what each id still has to close (C3,
// D9). Invariant: both add up to the position's size.

import type { ExitRequest, OcaType } from '../../language/broker.ts'
import type { BrokerSettings } from './settings.ts'

export type Direction = 1 | -1

/**
 * Which levels an order or a leg has. What is missing is NaN, but nobody asks the number for that: machine code that has only
 * seen numbers is left whenever it reads a NaN, which took a stop that is placed again on every bar a quarter of its time.
 */
export const NO_LEVEL = 0
export const HAS_LIMIT = 1
export const HAS_STOP = 2
export const HAS_TRAIL = 4
export const HAS_OFFSET = 8

export function levelsOf(limit: number, stop: number): number {
  return (limit === limit ? HAS_LIMIT : NO_LEVEL) | (stop === stop ? HAS_STOP : NO_LEVEL)
}

/** An `entry` flips a position and respects pyramiding, an `order` nets, a `close` only reduces. */
type OrderKind = 'entry' | 'order' | 'close'

/** One that the script places again under its id is the same object with other values (C2). */
export interface Order {
  kind: OrderKind
  id: string
  direction: Direction
  /** Units to trade; for a priced order of default size, an estimate until the fill (F2). */
  units: number
  /** Units that close the opposite position that it was placed against (C1, C9). */
  flip: number
  /** Money to spend at the fill price; 0 if `units` is final (F2). */
  budget: number
  /** Which of the two below it has. */
  levels: number
  /** In ticks. */
  limit: number
  stop: number
  /** The stop of this stop-limit order was reached, so it waits as a limit order. */
  triggered: boolean
  ocaName: string | null
  ocaType: OcaType
  comment: string | null
  alertMessage: string | null
  /** The bar on which the script placed or last changed it. */
  bar: number
  sequence: number
  /** D13: it follows a close of the same script run, so its fill is not checked for margin. */
  afterClose: boolean
  /** C5: it flips what another market entry of the same script run will have opened, so both margins count. */
  paired: boolean
  /** Whose entries a `close` closes, by id; null = all. */
  target: string | null
  /** C12: it only closes the opposite position. */
  reduceOnly: boolean
  site: number
}

/** To be filled in. All orders are made here, with the same fields in the same order: machine code knows one layout of them. */
export function blankOrder(): Order {
  return {
    kind: 'close',
    id: '',
    direction: 1,
    units: 0,
    flip: 0,
    budget: 0,
    levels: NO_LEVEL,
    limit: 0,
    stop: 0,
    triggered: false,
    ocaName: null,
    ocaType: 'none',
    comment: null,
    alertMessage: null,
    bar: 0,
    sequence: 0,
    afterClose: false,
    paired: false,
    target: null,
    reduceOnly: true,
    site: 0,
  }
}

/** B7: a level that is na counts as missing. */
export function isMarket(order: Order): boolean {
  return order.levels === NO_LEVEL
}

/** C3: whether pyramiding would refuse this entry if it filled with the position as it is. */
export function overCap(
  order: Order,
  { units, entries }: { readonly units: number; readonly entries: readonly Entry[] },
  { pyramiding }: BrokerSettings,
): boolean {
  return (
    order.kind === 'entry' &&
    units * order.direction > 0 &&
    // An order placed against a position reverses, whatever has become of that position since (probe
    // order-opposite-entry-close-same-pass-01: the second of two shorts fills, with twice its quantity).
    order.flip === 0 &&
    entries.length >= Math.max(1, pyramiding)
  )
}

/** One fill that opened (part of) a position. */
export interface Entry {
  readonly id: string
  readonly direction: Direction
  /** Units that it filled with; reservations are parts of this (D4). */
  readonly units: number
  /** Units that no fill has taken from it yet. */
  bound: number
  readonly price: number
  readonly bar: number
  /**
   * Its exits; null = none yet. With a thousand open entries, searching the exits of all on every call would take a million
   * steps for each bar.
   */
  legs: Leg[] | null
}

/** A strategy.exit call, waiting for an entry that has not filled (D1). */
export interface ExitTemplate {
  readonly id: string
  /** Id of the entry that it waits for. */
  readonly entryId: string
  readonly exit: ExitRequest
  readonly bar: number
  readonly sequence: number
}

/** What of a strategy.exit call is asked for when it fills. */
export interface ExitTexts {
  ocaName: string | null
  comment: string | null
  commentProfit: string | null
  commentLoss: string | null
  commentTrailing: string | null
  alertMessage: string | null
  alertProfit: string | null
  alertLoss: string | null
  alertTrailing: string | null
}

/**
 * A strategy.exit call bound to one filled entry (D3): limit, stop and trail side by side, of which the first touched wins
 * (D16).
 */
export interface Leg {
  readonly id: string
  readonly entry: Entry
  /** Of the last strategy.exit call. */
  readonly exit: ExitTexts
  /** Units of the entry that it has reserved, and how many of them it has closed. */
  reserved: number
  filled: number
  /** Which of the two below it has. */
  levels: number
  /** In ticks. */
  limit: number
  stop: number
  trail: Trail | null
  /** The bar of the last strategy.exit call. */
  bar: number
  readonly sequence: number
  /** It has closed its part or was cancelled. It stays listed while the entry lives, because it must not come back (D3). */
  done: boolean
}

/** The state of a trailing stop; prices in ticks. */
export interface Trail {
  activation: number
  /** 0 if it was not given, which is not the same as one of 0 (E5, E6). */
  offset: number
  hasOffset: boolean
  armed: boolean
  /** The best price since the trail was armed. */
  mark: number
}

/** The place on a bar where something happened: 0 open, 1 to 3 the segment of the path, 4 close. */
export type PathPoint = 0 | 1 | 2 | 3 | 4

/** A row of the trade list while it is open. */
export interface OpenTrade {
  readonly entry: Entry
  /** The number of its fill (see ledger.ts). */
  readonly fill: number
  /** Positive; shrinks as parts of it are closed, each of which becomes a row of its own. */
  units: number
  /** In account currency, as booked on the entry's day (I1). */
  entryFee: number
}

/** Lists up to this length are moved up item by item. */
const FEW = 32

/** Setting the length leaves machine code. */
export function shorten(list: unknown[], length: number): void {
  while (list.length > length) list.pop()
}

/** `splice` allocates a list of what it removes. Most lists here have a few items, for which `pop` costs a twentieth. */
export function removeAt(list: unknown[], index: number): void {
  const last = list.length - 1
  if (last > FEW) {
    list.splice(index, 1)
    return
  }
  for (let i = index; i < last; i++) list[i] = list[i + 1]
  list.pop()
}
