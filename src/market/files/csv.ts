// Rows of bars, trades or quotes from CSV, whoever wrote it.
//
// The text is read in pieces cut at line ends, so a file of any size needs no more memory than its bars do. The first
// lines tell the dialect (dialect.ts); from there on a row is read from its bytes (plain-rows.ts), and only one that is not
// plain becomes text and cells.

import { everyCsvRow } from '../../lib/csv-rows.ts'
import { turn } from '../../lib/turn.ts'
import { timeMistakeOf } from '../bar-stage.ts'
import type { Calendar } from '../calendar.ts'
import type { Problem } from '../../lib/problem.ts'
import { withoutSpaces } from './dialect/decimals.ts'
import { dialectOf } from './dialect/detect.ts'
import type { Dialect, Hints } from './dialect/dialect.ts'
import { notRead, otherTicker } from './dialect/refusals.ts'
import { timeText } from './dialect/times.ts'
import { PlainRows, slotsOf } from './plain-rows.ts'
import { sideOfText } from './sides.ts'
import { parseTimeText, TimeReader, type TimeMeaning } from './time-format.ts'

/** Takes rows as they are read, and says when it has seen enough. */
export interface RowSink {
  /** The numbers in the order of `slotsOf`; the array is used again for the next row. */
  add(row: number, values: Float64Array): void
  fail(row: number, message: string): void
  /** A row without any price, as some programs write for days without trading. */
  skip(row: number): void
  readonly full: boolean
}

export interface CsvOptions {
  /** Dates without a time of day mean this calendar's sessions; null = midnight UTC. */
  readonly calendar: Calendar | null
  readonly hints: Hints
  readonly fileName: string
  /** Called once the dialect is known; answers who takes the rows. */
  readonly begin: (dialect: Dialect) => RowSink
  /** Called between pieces. */
  readonly between: () => Promise<void>
}

/** How much is looked at to know the dialect. */
const HEAD_BYTES = 64 << 10
const LINE_MAX = 100_000
/** No number and no time is longer. What backtracks over white space would take minutes for a cell of a megabyte. */
const CELL_MAX = 100
/** How much is parsed before other requests get their turn: some 2 ms. */
const PIECE_BYTES = 256 << 10
const NEWLINE = 10
const RETURN = 13
const QUOTE = 34

/** Reads all rows, and answers their ticker. Stops early once the sink is full. `isPart`: the input may end in the middle of a row, which is left out. */
export async function readCsv(
  input: AsyncIterable<Uint8Array>,
  options: CsvOptions,
  { isPart = false } = {},
): Promise<string | null> {
  let reader: CsvReader | null = null
  let rest = new Uint8Array()
  for await (const chunk of input)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      rest = joined(rest, chunk.subarray(at, at + PIECE_BYTES))
      if (!reader && rest.length < HEAD_BYTES) continue
      const cut = rest.lastIndexOf(NEWLINE) + 1
      if (rest.length - cut > LINE_MAX) throw tooLong((reader?.row ?? 0) + linesIn(rest) + 1)
      if (cut === 0) continue
      reader ??= beginning(rest.subarray(0, cut), options)
      reader.read(rest.subarray(0, cut))
      rest = rest.slice(cut)
      if (reader.sink.full) return reader.ticker
      await options.between()
      await turn()
    }
  const last = isPart ? rest.subarray(0, rest.lastIndexOf(NEWLINE) + 1) : rest
  reader ??= beginning(last, options)
  reader.read(last)
  return reader.ticker
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++
  return lines
}

function beginning(head: Uint8Array, options: CsvOptions): CsvReader {
  const text = new TextDecoder().decode(head.subarray(0, HEAD_BYTES))
  // What is cut in the middle of a line is not looked at.
  const whole = head.length > HEAD_BYTES ? text.slice(0, text.lastIndexOf('\n') + 1) || text : text
  const dialect = dialectOf(whole, options.hints, options.fileName)
  return new CsvReader(dialect, options.begin(dialect), options)
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

class CsvReader {
  readonly sink: RowSink
  /** Number of lines read. */
  row = 0
  readonly #dialect: Dialect
  readonly #meaning: TimeMeaning
  readonly #plain: PlainRows
  readonly #values: Float64Array

  readonly #wanted: string | undefined

  constructor(dialect: Dialect, sink: RowSink, { calendar, hints }: CsvOptions) {
    this.#dialect = dialect
    this.#wanted = hints.ticker
    this.sink = sink
    const { unit, isUnitGiven, order, zone, times, sample } = dialect
    // Among times, a bare date is one at midnight.
    const sessions = times === 'date' ? calendar : null
    this.#meaning = { unit: isUnitGiven ? unit : null, order, zone, calendar: sessions }
    const reader = times === 'epoch' ? null : new TimeReader(sample, this.#meaning)
    this.#plain = new PlainRows(dialect, reader, hints.ticker)
    this.#values = this.#plain.values
  }

  get ticker(): string | null {
    return this.#plain.ticker
  }

  /** Reads whole lines; only the last of a file may lack its end. */
  read(bytes: Uint8Array): void {
    if (!isPlain(bytes)) return this.#parse(bytes)
    const { sink } = this
    const { header, adjust } = this.#dialect
    const plain = this.#plain
    const values = this.#values
    for (let at = 0; at < bytes.length;) {
      const newline = bytes.indexOf(NEWLINE, at)
      const next = newline < 0 ? bytes.length : newline + 1
      let end = newline < 0 ? next : newline
      if (end > at && bytes[end - 1] === RETURN) end--
      this.row++
      if (end - at > LINE_MAX) throw tooLong(this.row)
      if (this.row > header && end > at) {
        if (plain.read(bytes, at, end)) {
          adjust?.(values)
          sink.add(this.row, values)
        } else this.#cells(decoder.decode(bytes.subarray(at, end)).split(this.#dialect.delimiter))
        if (sink.full) return
      }
      at = next
    }
  }

  #parse(bytes: Uint8Array): void {
    for (const cells of everyCsvRow(withNewlines(decoder.decode(bytes)), this.#dialect.delimiter)) {
      this.row++
      if (this.row > this.#dialect.header) this.#cells(cells)
      if (this.sink.full) return
    }
  }

  #cells(cells: readonly string[]): void {
    const [only = ''] = cells
    // Blank lines, the link that some vendors put above rows without names, and what Barchart writes below them.
    if (cells.length === 1 && /^(?:\s*$|\uFEFF?https?:|Downloaded from )/i.test(only)) return
    const { columns, kind, sides, delimiter, decimal } = this.#dialect
    if (columns.ticker !== undefined && !this.#isSameTicker(cells[columns.ticker] ?? '')) return
    const values = this.#values
    const slots = slotsOf(kind)
    const texts = slots.map((role) =>
      columns[role] === undefined ? undefined : cellAt(cells, columns[role]),
    )
    if (texts.slice(1, PRICES_END[kind]).every(isNothing)) return this.sink.skip(this.row)
    const time = timeText(cells, columns).replace(/^\uFEFF/, '')
    values[0] = time.length > CELL_MAX ? Number.NaN : parseTimeText(time, this.#meaning)
    const missing = slots.find(
      (role, slot) =>
        slot > 0 && slot < PRICES_END[kind] && role !== 'quantity' && isNothing(texts[slot] ?? ''),
    )
    if (missing && timeMistakeOf(values[0]) === null) return this.sink.fail(this.row, `${missing} is missing`)
    for (let slot = 1; slot < slots.length; slot++) {
      const text = texts[slot]
      const role = slots[slot]
      if (role === 'side') {
        values[slot] = sides === null ? 0 : sideOfText(text, sides)
        continue
      }
      const isVolume = role === 'volume' || role === 'quantity'
      values[slot] = isVolume && isNothing(text ?? '') ? 0 : toNumber(text, decimal, delimiter, isVolume)
    }
    this.#dialect.adjust?.(values)
    this.sink.add(this.row, values)
  }

  #isSameTicker(text: string): boolean {
    if (this.#plain.isTicker(text)) return true
    if (this.#wanted === undefined) this.sink.fail(this.row, otherTicker(text))
    return false
  }
}

const decoder = new TextDecoder()

/** Whether the text has no quotes and no carriage return but at line ends, so that it needs no CSV parser. */
function isPlain(bytes: Uint8Array): boolean {
  if (bytes.includes(QUOTE)) return false
  for (let at = bytes.indexOf(RETURN); at >= 0; at = bytes.indexOf(RETURN, at + 1))
    if (at + 1 < bytes.length && bytes[at + 1] !== NEWLINE) return false
  return true
}

/** Text whose lines end with a carriage return alone, as on old Macs, with the line ends that everybody else has. */
function withNewlines(text: string): string {
  return text.includes('\n') ? text : text.replaceAll('\r', '\n')
}

function tooLong(row: number): Problem {
  return notRead(row, 'the line is too long for a bar')
}

function cellAt(cells: readonly string[], index: number): string | undefined {
  const cell = cells[index]
  return cell !== undefined && cell.length > CELL_MAX ? 'too long' : cell
}

/** Behind the slots of which one has to have something. */
const PRICES_END = { bars: 5, trades: 3, quotes: 2 } as const

/** What is not there: Yahoo writes `null`, others nothing or a dash. */
function isNothing(text: string | undefined): boolean {
  return text !== undefined && /^\s*(?:null|nan|n\/a|-)?\s*$/i.test(text)
}

const SUFFIXES: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, b: 1e9 }

function toNumber(
  cell: string | undefined,
  decimal: Dialect['decimal'],
  delimiter: string,
  isVolume: boolean,
): number {
  if (cell === undefined || cell.trim() === '') return Number.NaN
  const number = decimal === '.' ? Number(cell) : Number.NaN
  if (!Number.isNaN(number)) return number
  const text = withoutSpaces(cell.trim().replace(/^[$€£¥]\s*/, ''))
  const suffix = isVolume ? SUFFIXES[text.slice(-1).toLowerCase()] : undefined
  if (suffix !== undefined) return toNumber(text.slice(0, -1), decimal, delimiter, false) * suffix
  if (text === '') return Number.NaN
  if (decimal === ',') return Number(withPoint(text))
  // `1,234.50` in quotes, and `1234,50` where commas separate no columns.
  const plain = delimiter === ',' ? text.replace(/(\d),(?=\d{3}(?:\D|$))/g, '$1') : text.replace(',', '.')
  return Number(plain)
}

/** `1.234,50` as `1234.50`. */
function withPoint(text: string): string {
  const whole = /^-?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(text) ? text.replaceAll('.', '') : text
  return whole.replace(',', '.')
}
