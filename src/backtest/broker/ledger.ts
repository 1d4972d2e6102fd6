// What happened, as columns: every fill, and every trade that was closed, a row each.
//
// A crossover trades 40,000 times in a million bars. As objects its fills and trades were 13 MB that were made, kept
// and walked by the garbage collector; as columns they are 4 MB that nobody walks. An object is made of a row when
// somebody looks at it: `closedTradeAt` for strategy.closedtrades, `report/trades.ts` for the report.
//
// Plain data (no class, no closure): a snapshot of the broker is its fields as they are.

import { UNIT } from './numbers.ts'
import type { Direction, PathPoint } from './orders.ts'

/** Every execution, in order. Rows from `count` on are room to grow. */
export interface Fills {
  count: number
  bar: Int32Array
  point: Uint8Array
  /** Bought; negative: sold. */
  units: Float64Array
  /** As the list shows it. */
  price: Float64Array
  /** Account currency. */
  fee: Float64Array
  /** From here on the state after it, enough to rebuild equity at every bar (see `equity.ts`). Signed units. */
  held: Float64Array
  /** Signed sum of contracts × entry price. */
  value: Float64Array
  /** Closed profit, account currency. */
  net: Float64Array
  /** Entry commissions of what is open, account currency. */
  fees: Float64Array
  /** Row of `labels`, which most fills share. */
  label: Int32Array
  readonly labels: Label[]
}

/** What the script called an order. */
export interface Label {
  readonly id: string
  readonly comment: string | null
  readonly alertMessage: string | null
}

/** Closed trades in the order they closed, a part of one that was closed in parts being a row of its own. */
export interface ClosedTrades {
  count: number
  /** The fill it came of, by number, and the fill that closed it. */
  entry: Int32Array
  exit: Int32Array
  /** Positive. */
  units: Float64Array
  /** Account currency, as booked on the entry's day (I1). */
  entryFee: Float64Array
  exitFee: Float64Array
  profit: Float64Array
}

/** A row of the trade list. Exit fields are NaN and null while it is open. */
export interface Trade {
  readonly entryId: string
  readonly entryComment: string | null
  readonly entryBar: number
  readonly entryPoint: PathPoint
  readonly entryPrice: number
  readonly direction: Direction
  /** Positive. */
  readonly units: number
  readonly entryFee: number
  readonly exitId: string | null
  readonly exitComment: string | null
  readonly exitBar: number
  readonly exitPoint: PathPoint
  readonly exitPrice: number
  readonly exitFee: number
  readonly profit: number
}

const ROWS_FIRST = 256
/** New memory is what a fill costs most, and room that is never written to costs next to nothing; so we copy rarely. */
const GROWTH = 4

export function noFills(): Fills {
  const column = () => new Float64Array(ROWS_FIRST)
  return {
    count: 0,
    bar: new Int32Array(ROWS_FIRST),
    point: new Uint8Array(ROWS_FIRST),
    units: column(),
    price: column(),
    fee: column(),
    held: column(),
    value: column(),
    net: column(),
    fees: column(),
    label: new Int32Array(ROWS_FIRST),
    labels: [],
  }
}

export function noTrades(): ClosedTrades {
  const column = () => new Float64Array(ROWS_FIRST)
  return {
    count: 0,
    entry: new Int32Array(ROWS_FIRST),
    exit: new Int32Array(ROWS_FIRST),
    units: column(),
    entryFee: column(),
    exitFee: column(),
    profit: column(),
  }
}

/** Room for one row more. */
export function reserveFill(fills: Fills): void {
  if (fills.count < fills.bar.length) return
  fills.bar = grown(fills.bar)
  fills.point = grown(fills.point)
  fills.units = grown(fills.units)
  fills.price = grown(fills.price)
  fills.fee = grown(fills.fee)
  fills.held = grown(fills.held)
  fills.value = grown(fills.value)
  fills.net = grown(fills.net)
  fills.fees = grown(fills.fees)
  fills.label = grown(fills.label)
}

/** Room for one row more. */
export function reserveTrade(trades: ClosedTrades): void {
  if (trades.count < trades.entry.length) return
  trades.entry = grown(trades.entry)
  trades.exit = grown(trades.exit)
  trades.units = grown(trades.units)
  trades.entryFee = grown(trades.entryFee)
  trades.exitFee = grown(trades.exitFee)
  trades.profit = grown(trades.profit)
}

/** A ledger without its room to grow. */
export function rowsOf<Ledger extends Fills | ClosedTrades>(ledger: Ledger): Ledger {
  const rows = Object.entries(ledger).map(([name, column]) => [
    name,
    ArrayBuffer.isView(column) ? (column as Float64Array).subarray(0, ledger.count) : column,
  ])
  return Object.fromEntries(rows) as Ledger
}

function grown<Column extends Float64Array | Int32Array | Uint8Array>(column: Column): Column {
  const Kind = column.constructor as new (length: number) => Column
  const larger = new Kind(Math.max(ROWS_FIRST, column.length * GROWTH))
  larger.set(column)
  return larger
}

/** How many of the last labels are looked through: a script has a handful, or makes one of its own for every order. */
const LABELS_LOOKED_AT = 8

export function labelRow(
  { labels }: Fills,
  id: string,
  comment: string | null,
  alertMessage: string | null,
): number {
  const oldest = Math.max(0, labels.length - LABELS_LOOKED_AT)
  for (let row = labels.length - 1; row >= oldest; row--) {
    const label = labels[row]!
    if (label.id === id && label.comment === comment && label.alertMessage === alertMessage) return row
  }
  return labels.push({ id, comment, alertMessage }) - 1
}

export function labelOf(fills: Fills, fill: number): Label {
  return fills.labels[fills.label[fill]!]!
}

export function directionOf(fills: Fills, fill: number): Direction {
  return fills.units[fill]! > 0 ? 1 : -1
}

/** Contracts a fill traded. */
export function quantityOf(fills: Fills, fill: number): number {
  return Math.abs(fills.units[fill]!) / UNIT
}

export function closedTradeAt(fills: Fills, trades: ClosedTrades, row: number): Trade {
  const exit = trades.exit[row]!
  const { id, comment } = labelOf(fills, exit)
  return {
    ...openTradeAt(fills, trades.entry[row]!, trades.units[row]!, trades.entryFee[row]!),
    exitId: id,
    exitComment: comment,
    exitBar: fills.bar[exit]!,
    exitPoint: fills.point[exit]! as PathPoint,
    exitPrice: fills.price[exit]!,
    exitFee: trades.exitFee[row]!,
    profit: trades.profit[row]!,
  }
}

export function openTradeAt(fills: Fills, entry: number, units: number, entryFee: number): Trade {
  const { id, comment } = labelOf(fills, entry)
  return {
    entryId: id,
    entryComment: comment,
    entryBar: fills.bar[entry]!,
    entryPoint: fills.point[entry]! as PathPoint,
    entryPrice: fills.price[entry]!,
    direction: directionOf(fills, entry),
    units,
    entryFee,
    exitId: null,
    exitComment: null,
    exitBar: NaN,
    exitPoint: 4,
    exitPrice: NaN,
    exitFee: NaN,
    profit: NaN,
  }
}
