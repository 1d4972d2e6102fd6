// TradingView's "List of trades" export: two rows for each trade, in the language of the account that exported it.
//
// Headings and types of rows are looked up in the words that exports were seen with (`words.ts`). What a heading or
// a row does not say in these words is named as a problem: nothing is guessed from the place of a column, or from the order
// of rows. How the file writes numbers and dates is read off all its cells, since one alone may be read in two ways.

import { csvRows, delimiterOf } from '../../lib/csv-rows.ts'
import { columnOf, isOpenSignal, rowTypeOf, type Column } from './words.ts'

export interface ExportedTrade {
  readonly n: number
  readonly side: 'long' | 'short'
  readonly entry: ExportedFill
  readonly exit: ExportedFill
  readonly qty: number | null
  /** The profit, and the number of digits shown. */
  readonly profit: { readonly value: number; readonly digits: number } | null
  /** The position was still open: the exit row shows the last price. */
  readonly open: boolean
}

interface ExportedFill {
  /** Wall-clock time to the minute, in ms as if it were UTC. */
  readonly wall: number
  /** The row has a date only (daily bars). */
  readonly dateOnly: boolean
  readonly price: number
  readonly digits: number
  readonly signal: string
}

export interface ExportedList {
  readonly trades: readonly ExportedTrade[]
  /** What was wrong with rows that are not trades, in their order; the first thousand. */
  readonly problems: readonly RowProblem[]
  /** How many rows could not be read, and how many trades are missing in `trades` for it. */
  readonly lost: { readonly rows: number; readonly trades: number }
  /** Headings that are not understood; the list is read without their columns. */
  readonly unknown: readonly string[]
}

export interface RowProblem {
  readonly row: number
  readonly message: string
}

/** The rows of a table from its heading on; each call begins anew. */
export type TableRows = () => Iterable<TableRow>

interface TableRow {
  readonly row: number
  readonly cells: readonly string[]
}

/** How the file writes what can be written in two ways. */
interface Writing {
  readonly decimal: Decimal
  readonly dayFirst: boolean
}
type Decimal = ',' | '.'

const PROBLEMS_MAX = 1000
/** So many rows say how numbers and dates are written. */
const SAMPLE_ROWS = 5000
const REMEDY = 'Set TradingView to English and export the list again.'

/** Never throws: what cannot be read is listed in `problems`. */
export function parseTradeList(csv: string): ExportedList {
  const text = csv.replace(/^\uFEFF/, '').trim()
  const delimiter = delimiterOf(text)
  return tradeListOf(() => csvRows(text, delimiter), delimiter === ',' ? '.' : ',')
}

/** The same of rows that are cells already. `decimal`: the mark, where no number in them tells. */
export function tradeListOf(rows: TableRows, decimal: Decimal): ExportedList {
  const header = first(rows())?.cells
  if (!header) return refused('The file has no rows.')
  if (OWN_COLUMNS.every((name) => header.includes(name))) return ownTrades(header, rows())
  const { columns, unknown } = columnsOf(header)
  const missing = NEEDED.filter((column) => !(column in columns))
  if (missing.length > 0) return refused(missingText(missing, unknown))
  const writing = writingOf(rows, columns, decimal)
  return typeof writing === 'string' ? refused(writing) : tradesOf(rows(), { columns, writing, unknown })
}

function first<T>(all: Iterable<T>): T | undefined {
  for (const one of all) return one
  return undefined
}

const refused = (message: string): ExportedList => ({
  trades: [],
  problems: [{ row: 1, message }],
  lost: { rows: 0, trades: 0 },
  unknown: [],
})

type Columns = { readonly [name in Column]?: number }

/** What a list of trades cannot do without. */
const NEEDED = ['number', 'type', 'date', 'price'] as const
const CALLED: Readonly<Record<(typeof NEEDED)[number], string>> = {
  number: 'the number of the trade',
  type: 'its type',
  date: 'date and time',
  price: 'the price',
}

function columnsOf(header: readonly string[]): {
  readonly columns: Columns
  readonly unknown: readonly string[]
} {
  const columns: Partial<Record<Column, number>> = {}
  const unknown: string[] = []
  for (const [at, heading] of header.entries()) {
    if (heading.trim() === '') continue
    const found = columnOf(heading)
    if (!found) unknown.push(heading.trim())
    else if (!found.isShare) columns[found.column] ??= at
  }
  return { columns, unknown }
}

function missingText(missing: readonly (typeof NEEDED)[number][], unknown: readonly string[]): string {
  const lacks = missing.map((column) => CALLED[column]).join(', ')
  const named = unknown.slice(0, 20).map((heading) => `"${heading.slice(0, 60)}"`)
  const rest = named.length > 0 ? ` These headings are not understood: ${named.join(', ')}.` : ''
  return `No columns were found for ${lacks}.${rest} ${REMEDY}`
}

/** How numbers and dates are written; a sentence if the dates may be read in two ways. */
function writingOf(rows: TableRows, columns: Columns, otherwise: Decimal): Writing | string {
  let decimal: Decimal | null = null
  let hasCommas = false
  let dayFirst: boolean | null = null
  let unclear: string | null = null
  let count = 0
  for (const { cells } of rows()) {
    if (++count > SAMPLE_ROWS) break
    for (const column of ['price', 'quantity', 'profit'] as const) {
      const text = columns[column] === undefined ? '' : (cells[columns[column]] ?? '')
      decimal ??= decimalIn(text)
      hasCommas ||= text.includes(',')
    }
    const date = cells[columns.date ?? -1] ?? ''
    const [, one, two] = /(?:^|\D)(\d{1,2})\/(\d{1,2})\/\d{4}/.exec(date) ?? []
    if (one === undefined || two === undefined) continue
    if (Number(one) > 12) dayFirst ??= true
    else if (Number(two) > 12) dayFirst ??= false
    else if (one !== two) unclear ??= date
  }
  if (dayFirst === null && unclear !== null)
    return `Whether "${unclear}" begins with the day or with the month, no date in the file tells. ${REMEDY}`
  return { decimal: decimal ?? (hasCommas ? otherwise : '.'), dayFirst: dayFirst ?? true }
}

/** The decimal mark of a number that can be read in one way only. */
function decimalIn(text: string): Decimal | null {
  const [comma, point] = [text.lastIndexOf(','), text.lastIndexOf('.')]
  if (comma >= 0 && point >= 0) return comma > point ? ',' : '.'
  const mark = comma >= 0 ? ',' : '.'
  const isGrouped = /^\D*\d{1,3}([.,]\d{3})+\D*$/.test(text) && !/^\D*0[.,]/.test(text)
  return Math.max(comma, point) < 0 || isGrouped ? null : mark
}

/** Until version 0.3.0 Chartroom wrote one row for each trade, with instants. */
const OWN_COLUMNS = ['n', 'side', 'entry_time', 'entry_price', 'exit_time', 'exit_price', 'qty', 'profit']

function ownTrades(header: readonly string[], rows: Iterable<TableRow>): ExportedList {
  const trades: ExportedTrade[] = []
  const problems: RowProblem[] = []
  let lost = 0
  for (const { row, cells } of rows) {
    if (cells === header || cells.includes(OWN_COLUMNS[2]!)) continue
    const cell = (name: string) => cells[header.indexOf(name)] ?? ''
    const fill = (name: 'entry' | 'exit') => ({
      wall: Number(cell(`${name}_time`)),
      dateOnly: false,
      price: numberOf(cell(`${name}_price`)),
      digits: digitsOf(cell(`${name}_price`)),
      signal: cell(`${name}_signal`),
    })
    const isOpen = cell('status') === 'open'
    const entry = fill('entry')
    const [exit, profit, side] = [isOpen ? entry : fill('exit'), numberOf(cell('profit')), cell('side')]
    const numbers = [numberOf(cell('n')), numberOf(cell('qty')), profit, entry.price, exit.price]
    const isDated = [entry, exit].every(({ wall }) => Number.isInteger(wall) && wall > 0 && wall < 8.64e15)
    if ((side === 'long' || side === 'short') && isDated && numbers.every(Number.isFinite))
      trades.push({
        n: numbers[0]!,
        side,
        entry,
        exit,
        qty: numbers[1]!,
        profit: { value: profit, digits: digitsOf(cell('profit')) },
        open: isOpen,
      })
    else if (++lost <= PROBLEMS_MAX)
      problems.push({ row, message: 'A number, a time or the side is missing.' })
  }
  return { trades, problems, lost: { rows: lost, trades: lost }, unknown: [] }
}

interface ListShape {
  readonly columns: Columns
  readonly writing: Writing
  readonly unknown: readonly string[]
}

function tradesOf(rows: Iterable<TableRow>, shape: ListShape): ExportedList {
  const { columns, unknown } = shape
  const problems: RowProblem[] = []
  let bad = 0
  const fail = (row: number, message: string) => {
    if (++bad <= PROBLEMS_MAX) problems.push({ row, message })
  }
  const byNumber = new Map<number, TradeRows>()
  let strays = 0
  let isHeader = true
  for (const one of rows) {
    if (isHeader) {
      isHeader = false
      continue
    }
    const n = numberOf(one.cells[columns.number ?? 0] ?? '')
    const word = one.cells[columns.type ?? 0] ?? ''
    const type = rowTypeOf(word)
    if (!Number.isInteger(n)) {
      strays++
      fail(one.row, 'The first column should be the number of a trade.')
      continue
    }
    const found = byNumber.get(n) ?? {}
    byNumber.set(n, found)
    // Some tools write each row twice.
    if (type !== null) found[type] ??= one
    else {
      found.refused = one
      fail(one.row, `The type "${word.slice(0, 60)}" is not understood. ${REMEDY}`)
    }
  }
  const trades: ExportedTrade[] = []
  const closed = lastClosed(byNumber, shape)
  let lost = 0
  for (const [n, found] of byNumber) {
    const trade = tradeOf(n, found, shape, n > closed)
    if ('n' in trade) {
      trades.push(trade)
      continue
    }
    lost++
    if (!entryOf(found) || !exitOf(found)) strays--
    for (const { row, message } of trade) fail(row, message)
  }
  // Rows without a number that no trade lacks are trades of two rows each.
  lost += Math.max(0, Math.ceil(strays / 2))
  return {
    trades: trades.sort((a, b) => a.n - b.n),
    problems: problems.sort((a, b) => a.row - b.row),
    lost: { rows: bad, trades: lost },
    unknown,
  }
}

type TradeRows = { [type in NonNullable<ReturnType<typeof rowTypeOf>> | 'refused']?: TableRow }

const entryOf = (rows: TradeRows) => rows.entryLong ?? rows.entryShort
const exitOf = (rows: TradeRows) => rows.exitLong ?? rows.exitShort

const isOpenRow = ({ cells }: TableRow, { columns }: ListShape): boolean =>
  (['signal', 'date'] as const).some((column) => isOpenSignal(cells[columns[column] ?? -1] ?? ''))

/** The last number of a trade that was closed. Trades that are open still stand behind it. */
function lastClosed(byNumber: ReadonlyMap<number, TradeRows>, shape: ListShape): number {
  let last = -Infinity
  for (const [n, rows] of byNumber) {
    const exit = exitOf(rows)
    if (n > last && exit && !isOpenRow(exit, shape)) last = n
  }
  return last
}

/** The trade, or what is wrong with its rows. `mayBeOpen`: without a row of its exit it is open still. */
function tradeOf(
  n: number,
  rows: TradeRows,
  shape: ListShape,
  mayBeOpen: boolean,
): ExportedTrade | readonly RowProblem[] {
  const [long, short] = [rows.entryLong ?? rows.exitLong, rows.entryShort ?? rows.exitShort]
  if (long && short) return [{ row: long.row, message: `Trade ${n} is both long and short.` }]
  const [entryRow, exitRow] = [entryOf(rows), exitOf(rows)]
  const isOpen = exitRow ? isOpenRow(exitRow, shape) : mayBeOpen && !rows.refused
  if (!entryRow || (!exitRow && !isOpen)) {
    const [row, name] = [entryRow ?? exitRow, entryRow ? 'exit' : 'entry']
    // That it lacks a row which was refused, is said already.
    return row && !rows.refused ? [{ row: row.row, message: `Trade ${n} has no row of its ${name}.` }] : []
  }
  const entry = fillOf(entryRow, shape)
  const exitFill = exitRow && fillOf(exitRow, shape)
  const exit = typeof exitFill === 'object' || !isOpen ? exitFill : entry
  if (typeof entry === 'string' || typeof exit !== 'object')
    return [
      ...(typeof entry === 'string' ? [{ row: entryRow.row, message: `Entry of trade ${n}: ${entry}` }] : []),
      ...(exitRow && typeof exitFill === 'string' && !isOpen
        ? [{ row: exitRow.row, message: `Exit of trade ${n}: ${exitFill}` }]
        : []),
    ]
  const { columns, writing } = shape
  const cell = (row: TableRow, column: Column) => row.cells[columns[column] ?? -1] ?? ''
  const qty = numberOf(cell(entryRow, 'quantity'), writing.decimal)
  const profitText = cell(exitRow ?? entryRow, 'profit')
  const profit = numberOf(profitText, writing.decimal)
  return {
    n,
    side: long ? 'long' : 'short',
    entry,
    exit,
    qty: Number.isNaN(qty) ? null : Math.abs(qty),
    profit: Number.isNaN(profit) ? null : { value: profit, digits: digitsOf(profitText) },
    open: isOpen,
  }
}

/** What happened in a row, or why it cannot be read. */
function fillOf({ cells }: TableRow, { columns, writing }: ListShape): ExportedFill | string {
  const cell = (column: Column) => (cells[columns[column] ?? -1] ?? '').trim()
  const [when, text] = [cell('date'), cell('price')]
  const date = wallOf(when, writing.dayFirst)
  if (!date) return when === '' ? 'its date is missing.' : `"${when.slice(0, 60)}" is no date.`
  const price = numberOf(text, writing.decimal)
  if (Number.isNaN(price))
    return text === '' ? 'its price is missing.' : `its price "${text.slice(0, 60)}" is no number.`
  return { ...date, price, digits: digitsOf(text), signal: cell('signal') }
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** `2025-03-31 17:45`, `2025-03-31`, `31.03.2025 17:45`, `Mar 31, 2025, 17:45`, `2025/03/31 5:45 PM`, or an instant. */
export function wallOf(text: string, dayFirst = true): { wall: number; dateOnly: boolean } | null {
  const clock = /(\d{1,2}):(\d{2})(?::(\d{2}))?\s*([ap]\.?m\.?)?/i.exec(text)
  const date =
    /(\d{4})[-/.年년]\s*(\d{1,2})[-/.月월]\s*(\d{1,2})/.exec(text) ??
    swap(/(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4})/.exec(text), dayFirst) ??
    named(text)
  if (!date) return null
  const [year, month, day] = [Number(date[1]), Number(date[2]), Number(date[3])]
  if (month < 1 || month > 12 || day < 1 || day > 31) return null
  let hour = clock ? Number(clock[1]) : 0
  const half = clock?.[4]?.toLowerCase()
  if (half?.startsWith('p') && hour < 12) hour += 12
  if (half?.startsWith('a') && hour === 12) hour = 0
  const wall = Date.UTC(year, month - 1, day, hour, clock ? Number(clock[2]) : 0, Number(clock?.[3] ?? 0))
  return { wall, dateOnly: clock === null }
}

/** Only between slashes may the month come first. */
function swap(match: RegExpExecArray | null, dayFirst: boolean): string[] | null {
  if (!match) return null
  const [, one = '', mark, two = '', year = ''] = match
  const isMonthFirst = mark === '/' && (!dayFirst || Number(two) > 12)
  return isMonthFirst ? ['', year, one, two] : ['', year, two, one]
}

function named(text: string): string[] | null {
  const match = /([a-z]{3})[a-z]*\.?\s+(\d{1,2}),?\s+(\d{4})/i.exec(text)
  const month = match ? MONTHS.indexOf(match[1]!.toLowerCase()) + 1 : 0
  return match && month > 0 ? ['', match[3]!, String(month), match[2]!] : null
}

/** `1,234.5`, `1 234,5`, `−0.4`, `12.5 USD`; NaN if there is no number. Without `decimal` the number itself has to tell. */
export function numberOf(text: string, decimal?: Decimal): number {
  const plain = text.replace(/[−–]/g, '-').replace(/[\s\u00A0\u202F']/g, '')
  const digits = /[-+]?[\d.,]+(?:e[-+]?\d+)?/i.exec(plain)?.[0]
  if (digits === undefined) return NaN
  const mark = decimal ?? decimalIn(digits) ?? (/^\D*\d+,\d+$/.test(digits) ? ',' : '.')
  return Number(digits.replaceAll(mark === ',' ? '.' : ',', '').replace(',', '.'))
}

/** Digits behind the decimal mark as shown. */
export function digitsOf(text: string): number {
  const match = /[.,](\d+)\D*$/.exec(text.trim())
  return match ? match[1]!.length : 0
}
