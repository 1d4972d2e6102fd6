// The ledger: every fill and every closed trade, one row each, as columns.
//
// A crossover trades 40,000 times in a million bars. As objects, its fills and trades took 13 MB that the garbage collector
// had to walk; as columns they take 4 MB that it does not. A row becomes an object only when it is read: `closedTradeAt`
// for strategy.closedtrades, `report/trades.ts` for the report.
//
// It is plain data (no class, no closure), so a snapshot of the broker is simply its fields.

import { Spares } from '../../lib/spares.ts'
import { UNIT } from './numbers.ts'
import type { Direction, PathPoint } from './orders.ts'

/** Every execution, in order. Rows from `count` on are spare. */
export interface Fills {
  count: number
  bar: Int32Array
  point: Uint8Array
  /** Units bought; negative = sold. */
  units: Float64Array
  /** The price that the list shows. */
  price: Float64Array
  /** In account currency. */
  fee: Float64Array
  /**
   * From here on, columns hold the state after the fill: enough to rebuild equity at every bar (see `equity.ts`). Signed
   * units.
   */
  held: Float64Array
  /** The sum of contracts × entry price, signed. */
  value: Float64Array
  /** Closed profit in account currency. */
  net: Float64Array
  /** Entry commissions of the open trades in account currency. */
  fees: Float64Array
  /** Index into `labels`, which many fills share. */
  label: Int32Array
  labels: Label[]
}

/** The names that the script gave an order. */
export interface Label {
  readonly id: string
  readonly comment: string | null
  readonly alertMessage: string | null
}

/** Closed trades in the order in which they closed; each part of a trade that was closed in parts has a row of its own. */
export interface ClosedTrades {
  count: number
  /** Numbers of the fill that opened it and of the fill that closed it. */
  entry: Int32Array
  exit: Int32Array
  /** Always positive. */
  units: Float64Array
  /** In account currency, as booked on the entry's day (I1). */
  entryFee: Float64Array
  exitFee: Float64Array
  profit: Float64Array
}

/** All that a run has traded. */
export interface Ledger {
  readonly fills: Fills
  readonly closed: ClosedTrades
}

/** A row of the trade list. Exit fields are NaN or null while the trade is open. */
export interface Trade {
  readonly entryId: string
  readonly entryComment: string | null
  readonly entryBar: number
  readonly entryPoint: PathPoint
  readonly entryPrice: number
  readonly direction: Direction
  /** Always positive. */
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
/**
 * Allocating memory is the main cost of a fill, and spare memory that is never written costs next to nothing; so we grow
 * rarely and by much.
 */
const GROWTH = 4

/** More rows than this are not kept for the next run: 7 MB. */
const SPARE_MAX = 65_536

/**
 * What runs that are over leave to the next one of their thread. Most of a run's memory was that of columns which grow: 1.8 MB
 * for a thousand trades, cleared and copied on the way, where 0.1 is written.
 */
const spares = new Spares<Ledger>(1)
const spareCopies = new Spares<Fills>(1)

/** An empty ledger. */
export function takeLedger(): Ledger {
  return spares.take() ?? { fills: noFills(), closed: noTrades() }
}

/** Nobody reads the ledger any more, so the next run may write over it. */
export function leaveLedger({ fills, closed }: Ledger): void {
  if (fills.bar.length > SPARE_MAX) return
  fills.count = 0
  fills.labels = []
  closed.count = 0
  spares.leave({ fills, closed })
}

function noFills(rows = ROWS_FIRST): Fills {
  const column = () => new Float64Array(rows)
  return {
    count: 0,
    bar: new Int32Array(rows),
    point: new Uint8Array(rows),
    units: column(),
    price: column(),
    fee: column(),
    held: column(),
    value: column(),
    net: column(),
    fees: column(),
    label: new Int32Array(rows),
    labels: [],
  }
}

function noTrades(): ClosedTrades {
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

/** Makes sure that one more row fits. */
export function reserveFill(fills: Fills): void {
  if (fills.count >= fills.bar.length) growColumns(fills)
}

/** Makes sure that one more row fits. */
export function reserveTrade(trades: ClosedTrades): void {
  if (trades.count >= trades.entry.length) growColumns(trades)
}

function growColumns(part: Fills | ClosedTrades): void {
  for (const [name, column] of Object.entries<unknown>({ ...part }))
    if (ArrayBuffer.isView(column)) Object.assign(part, { [name]: grown(column as Float64Array) })
}

/** Fills or trades without their spare rows. */
export function rowsOf<Part extends { readonly count: number }>(part: Part): Part {
  const columns = Object.entries<unknown>(part).map(([name, column]) => [
    name,
    ArrayBuffer.isView(column) ? (column as Float64Array).subarray(0, part.count) : column,
  ])
  return Object.fromEntries(columns) as Part
}

/** The fills that there are now, which later ones do not change. `leaveCopy` gives their memory back. */
export function takeCopy(fills: Fills): Fills {
  const { count, labels } = fills
  const copy = spareCopies.take() ?? noFills(0)
  copy.count = count
  copy.labels = labels
  copy.bar = copied(fills.bar, count, copy.bar)
  copy.point = copied(fills.point, count, copy.point)
  copy.units = copied(fills.units, count, copy.units)
  copy.price = copied(fills.price, count, copy.price)
  copy.fee = copied(fills.fee, count, copy.fee)
  copy.held = copied(fills.held, count, copy.held)
  copy.value = copied(fills.value, count, copy.value)
  copy.net = copied(fills.net, count, copy.net)
  copy.fees = copied(fills.fees, count, copy.fees)
  copy.label = copied(fills.label, count, copy.label)
  return copy
}

export function leaveCopy(copy: Fills): void {
  if (copy.bar.length <= SPARE_MAX) spareCopies.leave(copy)
}

/** The first rows, in the memory of `into` if they fit in there. */
function copied<Column extends Float64Array | Int32Array | Uint8Array>(
  column: Column,
  count: number,
  into: Column,
): Column {
  const rows = column.subarray(0, count)
  if (into.length < count) return rows.slice() as Column
  into.set(rows)
  return into
}

/** A column with room for more rows. */
export function grown<Column extends Float64Array | Int32Array | Uint8Array>(column: Column): Column {
  const Kind = column.constructor as new (length: number) => Column
  const larger = new Kind(Math.max(ROWS_FIRST, column.length * GROWTH))
  larger.set(column)
  return larger
}

/** How many of the last labels are searched: a script has a handful, or a new one for every order. */
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
  const entry = trades.entry[row]!
  const exit = trades.exit[row]!
  const entered = labelOf(fills, entry)
  const { id, comment } = labelOf(fills, exit)
  // Field by field: by spreading an open trade it took five times as long.
  return {
    entryId: entered.id,
    entryComment: entered.comment,
    entryBar: fills.bar[entry]!,
    entryPoint: fills.point[entry]! as PathPoint,
    entryPrice: fills.price[entry]!,
    direction: directionOf(fills, entry),
    units: trades.units[row]!,
    entryFee: trades.entryFee[row]!,
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
