// The shape of a file without names: known by the number of cells in a row and by what these look like.

import { zoneOf } from '../../zone.ts'
import { datePartsOf } from '../time-format.ts'
import { columnsOf, present, PRICES } from './columns.ts'
import { type Adjust, type Dialect, type Hints, type RowKind, type Shape, sideOfSign } from './dialect.ts'
import type { Line } from './lines.ts'
import { origin, type Origin } from './origins.ts'
import { badHint, notRead } from './refusals.ts'
import { isEpochText, isTimeText } from './times.ts'

/** The zones that clocks of these programs are documented to show. */
const EASTERN_STANDARD = 'UTC-5'

const NEW_YORK = 'America/New_York'

/** Rows without names, as far as one row says what they are. */
interface Headless {
  readonly lines: readonly Line[]
  readonly delimiter: string
  readonly count: number
  cell(index: number): string
  /** Whether the cells of all rows look so. */
  every(index: number, pattern: RegExp): boolean
}

/** The shape of rows without names, by their number of cells and what these look like. */
export function headless(lines: readonly Line[], delimiter: string, fileName: string, hints: Hints): Shape {
  const cells = lines[0]?.cells ?? []
  const every = (index: number, pattern: RegExp) =>
    lines.every((line) => pattern.test((line.cells[index] ?? '').trim()))
  const rows = {
    lines,
    delimiter,
    count: cells.length,
    cell: (index: number) => (cells[index] ?? '').trim(),
    every,
  }
  const refused = (what: string) => notRead(lines[0]?.row ?? 1, what)
  if (hints.columns !== undefined)
    return numbered(
      columnsOf(
        hints.columns,
        cells.map(() => ''),
      ),
    )
  const flagged = flaggedTrades(rows)
  if (flagged) return flagged
  if (!isTimeText(rows.cell(0))) throw refused('there are no names of columns, and the first cell is no time')
  const known = ofExchange(rows) ?? ofProgram(rows, fileName, hints)
  if (known) return known
  if (rows.count < 5) throw refused('expected time, open, high, low, close')
  const columns = barColumns(rows, 0)
  return isJesses(rows)
    ? shapeOf('bars', { ...columns, high: 3, low: 4, close: 2 }, origin('jesse'))
    : shapeOf('bars', columns, origin(null))
}

/** Rows whose columns the user told by their numbers. */
function numbered(columns: Dialect['columns']): Shape {
  const kind = columns.bid !== undefined ? 'quotes' : columns.price !== undefined ? 'trades' : 'bars'
  const needed = { bars: PRICES, trades: ['price', 'quantity'], quotes: ['bid'] } as const
  const missing = ['time' as const, ...needed[kind]].filter((role) => columns[role] === undefined)
  if (missing.length > 0)
    throw badHint('columns', `has no ${missing.join(', ')}; rows without names need all`)
  return shapeOf(kind, columns, origin(null))
}

/** jesse's arrays: time, open, close, high, low, volume, of which two rows or more are no bars in the usual order. */
function isJesses({ lines, count }: Headless): boolean {
  const isBar = ({ cells }: Line, [high, low, close]: readonly [number, number, number]) => {
    const [o, h, l, c] = [1, high, low, close].map((at) => Number(cells[at])) as [
      number,
      number,
      number,
      number,
    ]
    return l <= Math.min(o, c) && h >= Math.max(o, c)
  }
  const usual = lines.filter((line) => isBar(line, [2, 3, 4]))
  return count === 6 && lines.length - usual.length > 1 && lines.every((line) => isBar(line, [3, 4, 2]))
}

function shapeOf(
  kind: RowKind,
  columns: Dialect['columns'],
  { origin: name, zone, order }: Origin,
  adjust: Adjust | null = null,
): Shape {
  return { kind, columns, origin: name, zone, order, header: 0, names: [], adjust }
}

function barColumns({ count }: Headless, time: number, at = time + 1, clock = -1): Dialect['columns'] {
  const volume = count > at + 4 ? at + 4 : -1
  return present({ time, clock, open: at, high: at + 1, low: at + 2, close: at + 3, volume })
}

/** Binance: id, price, quantity, …, time, whether the buyer was the maker, whether it was the best match. */
function flaggedTrades({ count, cell }: Headless): Shape | null {
  const isFlag = (index: number) => /^(?:true|false|[01])$/i.test(cell(index))
  for (const [at, least] of [
    [4, 6],
    [5, 7],
  ] as const)
    if (
      count >= least &&
      count <= at + 3 &&
      /^\d{1,15}$/.test(cell(0)) &&
      isEpochText(cell(at)) &&
      isFlag(at + 1)
    )
      return shapeOf('trades', { time: at, price: 1, quantity: 2, side: at + 1 }, origin('Binance'))
  return null
}

/** Lean writes shares in ten-thousandths of a dollar, on the clock of New York. */
const LEAN = 1e4

function fromLean(values: Float64Array): void {
  for (let slot = 1; slot <= 4; slot++) values[slot]! /= LEAN
}

type Clock = Pick<Dialect, 'zone' | 'zoneBy'>

/**
 * A day of Lean's minutes or seconds: milliseconds since midnight, and the day in the name of the file. Shares have New York's
 * clock, coins UTC; of the exchange of others only the user knows.
 */
export function leanOfDay(
  lines: readonly Line[],
  fileName: string,
  { timesIn }: Hints,
): (Shape & { readonly clock: Clock }) | null {
  const [, year, month, day, kind] =
    /(?:^|[/\\])(\d{4})(\d\d)(\d\d)_[^/\\]+_(?:minute|second)_(\w+)\.csv$/i.exec(fileName) ?? []
  const isCounted = lines.every(({ cells }) => /^\d{1,8}$/.test(cells[0] ?? ''))
  if (kind === undefined || !isCounted) return null
  if (kind.toLowerCase() !== 'trade')
    throw notRead(1, 'of Lean’s days only those of trades are read; of quotes import the days and hours')
  const areShares = lines.every(({ cells }) => cells.slice(1, 5).every((cell) => /^\d+$/.test(cell)))
  const zone = zoneOf(timesIn ?? (areShares ? NEW_YORK : 'UTC'))
  if (!zone) throw badHint('timesIn', 'must be a time zone such as America/New_York or UTC-5')
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day))
  const rows = { count: lines[0]!.cells.length } as Headless
  const shape = shapeOf('bars', barColumns(rows, 0), origin('Lean'), (values) => {
    if (areShares) fromLean(values)
    values[0] = zone.toUtc(midnight + values[0]!)
  })
  const zoneBy = timesIn !== undefined ? 'user' : areShares ? 'format' : 'assumed'
  return { ...shape, clock: { zone, zoneBy } }
}

/** Rows that begin with seconds since 1970 or parts of them. */
function ofExchange(rows: Headless): Shape | null {
  const { count, cell, every } = rows
  if (!isEpochText(cell(0))) return null
  if (count === 12 && isEpochText(cell(6)))
    return shapeOf('bars', { ...barColumns(rows, 0), bought: 9 }, origin('Binance'))
  if (count === 3) return shapeOf('trades', { time: 0, price: 1, quantity: 2 }, origin('Kraken'))
  if (count === 7) return shapeOf('bars', barColumns(rows, 0), origin('Kraken'))
  // Gate.io: the id of each trade behind its microsecond. Of contracts the quantity is negative where they were sold.
  if (!every(0, /^\d{10}\.\d{6}$/) || !every(1, /^\d+$/)) return null
  if (count === 5 && every(4, /^[12]$/))
    return shapeOf('trades', { time: 0, price: 2, quantity: 3, side: 4 }, origin('Gate.io'))
  return count === 4 && every(3, /^-?\d+$/)
    ? shapeOf('trades', { time: 0, price: 2, quantity: 3 }, origin('Gate.io'), sideOfSign)
    : null
}

/** Rows that begin with a date, by how it is written. */
function ofProgram(rows: Headless, fileName: string, { dates }: Hints): Shape | null {
  const { lines, delimiter, count, cell } = rows
  const historical = origin('HistData', EASTERN_STANDARD)
  const isHistorical = /(?:^|\/)DAT_[A-Z]+_/i.test(fileName)
  if (/^\d{8} \d{6}(?: \d{7})?$/.test(cell(0)) && delimiter === ';') {
    // HistData writes NinjaTrader's rows, but knows no volume. The names are those that NinjaTrader gives to exported files.
    const volume = count === 3 ? 2 : count - 1
    const isEmpty = lines.every((line) => Number(line.cells[volume]) === 0)
    const isNinjas = /\.(?:last|bid|ask)\.\w+$/i.test(fileName)
    const ninja = origin('NinjaTrader', isNinjas ? 'UTC' : null)
    const by = isHistorical || (isEmpty && !isNinjas) ? historical : ninja
    if (count === 3 && by === historical) return shapeOf('quotes', { time: 0, bid: 1 }, by)
    // Of ticks the last price is followed by bid and ask, or by nothing but the volume.
    if (count === 3 || (count === 5 && cell(0).length > 15))
      return shapeOf('trades', { time: 0, price: 1, quantity: volume }, by)
    return shapeOf('bars', barColumns(rows, 0), by)
  }
  if (/^\d{8} \d{9}$/.test(cell(0)) && count >= 3)
    return shapeOf('quotes', { time: 0, bid: 1, ask: 2 }, historical)
  const areWhole = [1, 2, 3, 4].every((index) => rows.every(index, /^\d+$/))
  if (/^\d{8} \d{2}:\d{2}$/.test(cell(0)) && delimiter === ',' && count === 6 && areWhole)
    return shapeOf('bars', barColumns(rows, 0), origin('Lean', NEW_YORK), fromLean)
  if (!/^\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/.test(cell(1))) return null
  // Only Kibot begins with the month. Seconds are of its ticks: price, bid, ask and size.
  const isKibot =
    cell(0).includes('/') &&
    delimiter === ',' &&
    dates !== 'dmy' &&
    lines.every((line) => (datePartsOf(line.cells[0] ?? '')?.[0] ?? 13) <= 12)
  const kibot = origin('Kibot', NEW_YORK)
  if (isKibot && count === 6 && cell(1).length > 5)
    return shapeOf('trades', { time: 0, clock: 1, price: 2, quantity: 5 }, kibot)
  const metaTrader = /^\d{4}\./.test(cell(0)) ? origin('MetaTrader 4') : origin(null)
  return shapeOf('bars', barColumns(rows, 0, 2, 1), isHistorical ? historical : isKibot ? kibot : metaTrader)
}
