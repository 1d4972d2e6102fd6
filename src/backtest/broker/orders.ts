// What the broker works with: orders that wait, entries that filled and what they still own, exits bound to them,
// and open trades, rows of TradingView's list to be. What is over is kept in ledger.ts.
//
// All of it is plain data (no class, no closure): a snapshot of the broker is its fields as they are.
//
// An *entry* and its *trades* are two ledgers of one position. Trades are the physical rows: with the FIFO rule an
// exit consumes the oldest, whatever entry it was bound to (D8). Entries keep what each id still has to close (C3,
// D9). Invariant: both add up to the position's size.

import type { ExitRequest, OcaType } from '../../pine/broker.ts'
import type { BrokerSettings } from './settings.ts'

export type Direction = 1 | -1

/** `entry` flips a position and minds pyramiding, `order` nets, `close` only reduces. */
type OrderKind = 'entry' | 'order' | 'close'

export interface Order {
  readonly kind: OrderKind
  readonly id: string
  readonly direction: Direction
  /** Units asked for; for a default-sized priced order an estimate until the fill (F2). */
  units: number
  /** Units that undo the opposite position it was placed against (C1, C9). */
  flip: number
  /** Money to spend at the fill price, NaN where `units` is final (F2). */
  readonly budget: number
  /** Ticks, NaN = none. */
  readonly limit: number
  readonly stop: number
  /** A stop-limit order whose stop was reached: it waits as a limit order. */
  triggered: boolean
  readonly ocaName: string | null
  readonly ocaType: OcaType
  readonly comment: string | null
  readonly alertMessage: string | null
  /** Bar of the script run that placed or last changed it. */
  readonly bar: number
  readonly sequence: number
  /** D13: follows a close of the same script run, so its fill is not judged for margin. */
  readonly afterClose: boolean
  /** C5: flips what another market entry of the same script run will have opened, so both margins count. */
  readonly paired: boolean
  /** `close` of one id's entries; null = of everything. */
  readonly target: string | null
  /** C12: only takes the opposite position away. */
  readonly reduceOnly: boolean
  readonly site: number
}

/** B7: a level that is na was not given. */
export function isMarket(order: Order): boolean {
  return Number.isNaN(order.limit) && Number.isNaN(order.stop)
}

/** C3: an entry that pyramiding refuses if it fills with the position as it is. */
export function overCap(
  order: Order,
  { units, entries }: { readonly units: number; readonly entries: readonly Entry[] },
  { pyramiding }: BrokerSettings,
): boolean {
  return (
    order.kind === 'entry' &&
    units * order.direction > 0 &&
    // An order placed against a position reverses, whatever became of that position since
    // (probe order-opposite-entry-close-same-pass-01: the second short of two fills, and twice its quantity).
    order.flip === 0 &&
    entries.length >= Math.max(1, pyramiding)
  )
}

/** One fill that opened (part of) a position. */
export interface Entry {
  readonly id: string
  readonly direction: Direction
  /** Units it filled with; reservations are slices of this (D4). */
  readonly units: number
  /** Units it has not lost to a fill yet. */
  bound: number
  readonly price: number
  readonly bar: number
  /**
   * Its exits, null = none yet: with a thousand entries open, looking through all of theirs on every call would be a
   * million steps a bar.
   */
  legs: Leg[] | null
}

/** A strategy.exit call, waiting for an entry that has not filled (D1). */
export interface ExitTemplate {
  readonly id: string
  /** The entry's id it waits for. */
  readonly entryId: string
  readonly exit: ExitRequest
  readonly bar: number
  readonly sequence: number
}

/** A strategy.exit call bound to one filled entry (D3): limit, stop and trail side by side, first touched wins (D16). */
export interface Leg {
  readonly id: string
  readonly entry: Entry
  exit: ExitRequest
  /** Units reserved of the entry, and what of them it has closed. */
  reserved: number
  filled: number
  /** Ticks, NaN = none. */
  limit: number
  stop: number
  trail: Trail | null
  /** Bar of the last strategy.exit call. */
  bar: number
  readonly sequence: number
  /** Closed its slice or was cancelled: stays listed while the entry lives, for it must not come back (D3). */
  done: boolean
}

/** A trailing stop's state; prices in ticks. */
export interface Trail {
  activation: number
  /** NaN = omitted (E5, E6). */
  offset: number
  armed: boolean
  /** Water mark: the best price since it was armed. */
  mark: number
}

/** Where on a bar something happened: 0 open, 1 to 3 the segment of the path, 4 close. */
export type PathPoint = 0 | 1 | 2 | 3 | 4

/** A row of the trade list while it is open. */
export interface OpenTrade {
  readonly entry: Entry
  /** Its fill, by number (see ledger.ts). */
  readonly fill: number
  /** Positive; shrinks while parts of it are closed, each part a row of its own. */
  units: number
  /** Account currency, as booked on the entry's day (I1). */
  entryFee: number
}

/** `splice` makes a list of what it takes out; most lists here hold one, and `pop` costs a twentieth of it. */
export function removeAt(list: unknown[], index: number): void {
  if (index === list.length - 1) list.pop()
  else list.splice(index, 1)
}
