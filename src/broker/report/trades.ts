// The list of trades: closed ones in the order they closed, then open ones.
//
// They are stored as columns, which the statistics read; the report's rows are made from them only on request. 39,000 rows
// of 24 fields take 8 MB and 3.4 ms of a run over a million bars that takes 42.

import type { Bars } from '../../market/bars.ts'
import {
  closedTradeAt,
  directionOf,
  openTradeAt,
  quantityOf,
  type ClosedTrades,
  type Fills,
  type Label,
} from '../emulator/ledger.ts'
import { UNIT } from '../emulator/numbers.ts'
import type { OpenTrade } from '../emulator/orders.ts'
import { excursionOf } from '../emulator/trade-view.ts'
import type { Stretches } from '../equity.ts'
import { Spares } from '../../lib/spares.ts'
import { Rows, type Picks } from '../../wire/columns.ts'
import type { ReportOrder, ReportTrade } from '../../wire/report.ts'

export interface TradeContext {
  readonly bars: Bars
  readonly pointValue: number
  readonly initialCapital: number
  readonly rates: Float64Array | null
  readonly fills: Fills
}

/** What is worked out of each trade and read by the statistics. Money is in account currency. */
const WORKED_OUT = {
  /** Numbers of the fills that opened and closed it; `exit` of an open trade is meaningless. */
  entry: Int32Array,
  exit: Int32Array,
  entryBar: Int32Array,
  /** For an open trade, the last bar (D20). */
  exitBar: Int32Array,
  exitPrice: Float64Array,
  /** In contracts, positive. */
  quantity: Float64Array,
  profit: Float64Array,
  commission: Float64Array,
  /** Favourable excursion, ≥ 0, net of the entry commission: by `fillExcursions`, as is the next. */
  runup: Float64Array,
  /** Adverse excursion, ≤ 0. */
  drawdown: Float64Array,
  /** Its value at the entry, which percentages refer to (J1). */
  value: Float64Array,
} as const
type WorkedOut = typeof WORKED_OUT

/** One row for each of `count` trades; the first `closed` of them are closed. */
export type TradeTable = { readonly [name in keyof WorkedOut]: InstanceType<WorkedOut[name]> } & {
  readonly count: number
  readonly closed: number
}

export function tradeTable(
  context: TradeContext,
  closed: ClosedTrades,
  open: readonly OpenTrade[],
): TradeTable {
  const { bars, pointValue, rates, fills } = context
  const last = bars.length - 1
  const count = closed.count + open.length
  const table = emptyTable(count, closed.count)
  for (let k = 0; k < count; k++) {
    const still = k < closed.count ? null : open[k - closed.count]!
    const entry = still ? still.fill : closed.entry[k]!
    const exit = still ? entry : closed.exit[k]!
    const units = still ? still.units : closed.units[k]!
    const entryFee = still ? still.entryFee : closed.entryFee[k]!
    const exitBar = still ? last : fills.bar[exit]!
    const exitPrice = still ? bars.close[last]! : fills.price[exit]!
    const entryPrice = fills.price[entry]!
    const rate = rates ? rates[exitBar]! : 1
    const quantity = units / UNIT
    const perPoint = directionOf(fills, entry) * quantity * pointValue * rate
    table.entry[k] = entry
    table.exit[k] = exit
    table.entryBar[k] = fills.bar[entry]!
    table.exitBar[k] = exitBar
    table.exitPrice[k] = exitPrice
    table.quantity[k] = quantity
    table.profit[k] = still ? perPoint * (exitPrice - entryPrice) - entryFee : closed.profit[k]!
    table.commission[k] = entryFee + (still ? 0 : closed.exitFee[k]!)
    // The amounts are in the symbol's currency.
    table.value[k] = Math.abs(entryPrice * quantity * pointValue * rate)
  }
  return table
}

/**
 * Works out `runup` and `drawdown`. `stretches`: the lowest and the highest price between each fill and the next. A trade entered
 * at an open lasted through whole stretches. So 39,000 trades of 26 bars take 1.0 ms instead of 3.9, and a position of a
 * thousand entries is not scanned a thousand times.
 */
export function fillExcursions(
  { fills, bars, pointValue, rates }: TradeContext,
  table: TradeTable,
  closed: ClosedTrades,
  open: readonly OpenTrade[],
  stretches: Stretches,
): void {
  const { bar, count, point, price } = fills
  const { length } = bars
  // The first fill on or after the bar of the last exit: trades are in the order they closed.
  let next = 0
  for (let k = 0; k < table.count; k++) {
    const still = k < closed.count ? null : open[k - closed.count]!
    const entry = table.entry[k]!
    const exit = table.exit[k]!
    const isWhole = point[entry] === 0
    const end = still ? length : bar[exit]!
    while (next < count && bar[next]! < end) next++
    const entryPrice = price[entry]!
    let low = entryPrice
    let high = entryPrice
    if (isWhole)
      for (let i = next - 1; i >= 0 && bar[i]! >= bar[entry]!; i--) {
        low = Math.min(low, stretches.low[i]!)
        high = Math.max(high, stretches.high[i]!)
      }
    // Most trades begin and end at an open, so there are no parts of bars to look at.
    if (!still && isWhole && point[exit] === 0) {
      low = Math.min(low, price[exit]!)
      high = Math.max(high, price[exit]!)
    } else {
      const trade = still
        ? openTradeAt(fills, entry, still.units, still.entryFee)
        : closedTradeAt(fills, closed, k)
      ;({ low, high } = excursionOf(trade, bars, length - 1, low, high, isWhole ? end : 0))
    }
    const entryFee = still ? still.entryFee : closed.entryFee[k]!
    const direction = directionOf(fills, entry)
    const perPoint = direction * table.quantity[k]! * pointValue * (rates ? rates[table.exitBar[k]!]! : 1)
    const up = perPoint * ((direction === 1 ? high : low) - entryPrice)
    const down = perPoint * ((direction === 1 ? low : high) - entryPrice)
    table.runup[k] = Math.max(0, up - entryFee)
    table.drawdown[k] = Math.min(0, down - entryFee)
  }
}

/** One table that nobody reads any more, with room for as many rows as `count` says. */
const spares = new Spares<TradeTable>(1)
/** More rows than this are not kept: 5 MB. */
const SPARE_MAX = 65_536

function emptyTable(count: number, closed: number): TradeTable {
  const spare = spares.take()
  const columns = Object.entries(WORKED_OUT).map(([name, Column]) => {
    const room = spare?.[name as keyof WorkedOut].buffer
    const fits = room !== undefined && room.byteLength >= count * Column.BYTES_PER_ELEMENT
    return [name, fits ? new Column(room, 0, count) : new Column(count)] as const
  })
  return { count, closed, ...(Object.fromEntries(columns) as Omit<TradeTable, 'count' | 'closed'>) }
}

/** Nobody reads the table any more, so the next one may be written over it. */
export function leaveTable(table: TradeTable): void {
  if (table.count <= SPARE_MAX) spares.leave(table)
}

/** A fraction of the trade's value at its entry. */
export function shareOf(table: TradeTable, row: number, amount: number): number {
  const value = table.value[row]!
  return value > 0 ? amount / value : 0
}

/** J2: the entry bar counts. */
export function barsOf(table: TradeTable, row: number): number {
  return table.exitBar[row]! - table.entryBar[row]! + 1
}

// ——— the report's lists ———

interface Listed extends TradeContext {
  readonly table: TradeTable
  readonly each: (of: (row: number) => number) => Float64Array
  /** A text of the order that opened each trade, or that closed it; `open` for a trade that is open. */
  readonly entered: (of: (label: Label) => string | null) => Picks
  readonly exited: (of: (label: Label) => string | null, open: string | null) => Picks
}

/**
 * The columns of the list of trades, in the order of its rows: the one place that says what stands in a field of `ReportTrade`. Its
 * meaning, unit and heading in the CSV are said in `wire/report.ts`.
 */
const TRADE: { readonly [field in keyof ReportTrade]: (listed: Listed) => Float64Array | Picks } = {
  n: ({ each }) => each((k) => k + 1),
  side: ({ each, fills, table }) => ({
    values: ['long', 'short'],
    index: each((k) => (directionOf(fills, table.entry[k]!) === 1 ? 0 : 1)),
  }),
  qty: ({ each, table }) => each((k) => table.quantity[k]!),
  entryId: ({ entered }) => entered(({ id }) => id),
  entryTime: ({ each, bars, table }) => each((k) => bars.time[table.entryBar[k]!]!),
  entryBar: ({ each, table }) => each((k) => table.entryBar[k]!),
  entryPrice: ({ each, fills, table }) => each((k) => fills.price[table.entry[k]!]!),
  entryComment: ({ entered }) => entered(({ comment }) => comment),
  exitId: ({ exited }) => exited(({ id }) => id, 'Open'),
  exitTime: ({ each, bars, table }) => each((k) => bars.time[table.exitBar[k]!]!),
  exitBar: ({ each, table }) => each((k) => table.exitBar[k]!),
  exitPrice: ({ each, table }) => each((k) => table.exitPrice[k]!),
  exitComment: ({ exited }) => exited(({ comment }) => comment, null),
  profit: ({ each, table }) => each((k) => table.profit[k]!),
  profitPct: ({ each, table }) => each((k) => shareOf(table, k, table.profit[k]!)),
  commission: ({ each, table }) => each((k) => table.commission[k]!),
  runup: ({ each, table }) => each((k) => table.runup[k]!),
  runupPct: ({ each, table }) => each((k) => shareOf(table, k, table.runup[k]!)),
  drawdown: ({ each, table }) => each((k) => table.drawdown[k]!),
  drawdownPct: ({ each, table }) => each((k) => shareOf(table, k, table.drawdown[k]!)),
  bars: ({ each, table }) => each((k) => barsOf(table, k)),
  cumProfit: ({ each, table }) => each(sumOf(table.profit)),
  cumProfitPct: ({ each, table, initialCapital }) => {
    const sum = sumOf(table.profit)
    return each((k) => sum(k) / initialCapital)
  },
  status: ({ each, table }) => ({
    values: ['closed', 'open'],
    index: each((k) => (k < table.closed ? 0 : 1)),
  }),
}

/** The list as columns, from which its rows are made on request. */
export function tradeColumns(context: TradeContext, table: TradeTable): Rows {
  const { count, closed } = table
  const { fills } = context
  const each = (of: (row: number) => number) => filled(count, of)
  const texts = (of: (label: Label) => string | null) => fills.labels.map(of)
  const entered = each((k) => fills.label[table.entry[k]!]!)
  // The label of open trades comes after all others.
  const exited = each((k) => (k < closed ? fills.label[table.exit[k]!]! : fills.labels.length))
  const listed: Listed = {
    ...context,
    table,
    each,
    entered: (of) => picks(texts(of), entered),
    exited: (of, open) => picks([...texts(of), open], exited),
  }
  return new Rows(
    count,
    Object.fromEntries(Object.entries(TRADE).map(([field, column]) => [field, column(listed)])),
  )
}

/** The sum of all values up to a row, where rows are asked for in order. */
function sumOf(values: Float64Array): (row: number) => number {
  let sum = 0
  return (row) => (sum += values[row]!)
}

/** Every fill, as columns. */
export function orderColumns(fills: Fills, bars: Bars): Rows {
  const { count } = fills
  const each = (of: (row: number) => number) => filled(count, of)
  const label = each((k) => fills.label[k]!)
  const texts = (of: (label: Label) => string | null) => picks(fills.labels.map(of), label)
  const columns: { readonly [field in keyof ReportOrder]: Float64Array | Picks } = {
    bar: each((k) => fills.bar[k]!),
    time: each((k) => bars.time[fills.bar[k]!]!),
    id: texts(({ id }) => id),
    side: { values: ['buy', 'sell'], index: each((k) => (directionOf(fills, k) === 1 ? 0 : 1)) },
    qty: each((k) => quantityOf(fills, k)),
    price: each((k) => fills.price[k]!),
    comment: texts(({ comment }) => comment),
    commission: each((k) => fills.fee[k]!),
    position: each((k) => fills.held[k]! / UNIT),
    alertMessage: texts(({ alertMessage }) => alertMessage),
  }
  return new Rows(count, columns)
}

function filled(count: number, of: (row: number) => number): Float64Array {
  const column = new Float64Array(count)
  for (let k = 0; k < count; k++) column[k] = of(k)
  return column
}

/** Indexes into `values` without duplicates. */
function picks(values: readonly (string | null)[], index: Float64Array): Picks {
  const places = new Map<string | null, number>()
  const place = values.map((value) => {
    const at = places.get(value) ?? places.size
    places.set(value, at)
    return at
  })
  return { values: [...places.keys()], index: filled(index.length, (k) => place[index[k]!]!) }
}
