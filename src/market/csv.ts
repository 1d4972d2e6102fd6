// Bars from CSV as it comes: our own, TradingView's chart export, Binance's kline dumps, Yahoo's, MetaTrader's.
//
// The text is parsed in pieces cut at line ends, so a file of 512 MiB needs no more memory than its bars do. The
// first line decides: with column names they are looked up (others, such as exported plots, are ignored); a line of
// numbers is time, open, high, low, close, volume, which is how Binance's dumps begin as well.

import { delimiterOf, everyCsvRow } from '../lib/csv-rows.ts'
import { turn } from '../lib/turn.ts'
import type { BarStage } from './bar-stage.ts'
import { parseTime } from './bar-time.ts'
import type { Calendar } from './calendar.ts'
import { PlainRows } from './plain-rows.ts'

/** The names that a field's column may have, in order of preference; compared in lower case, without `<>` and spaces. */
const NAMES = {
  time: ['time', 'opentime', 'timestamp', 'unix', 'datetime', 'date', 'gmttime', 'localtime', 'day'],
  open: ['open', 'o'],
  high: ['high', 'h'],
  low: ['low', 'l'],
  close: ['close', 'c', 'closelast', 'last'],
  volume: ['volume', 'vol', 'v', 'tickvol', 'tickvolume', 'basevolume'],
} as const
type Field = keyof typeof NAMES
const REQUIRED = ['time', 'open', 'high', 'low', 'close'] as const

interface Layout {
  readonly columns: Readonly<Record<Field, number>>
  /** MetaTrader keeps the time of day in a column of its own. */
  readonly clock: number
  readonly decimalComma: boolean
  /** Reads rows of plain numbers; null if a time spans more than one column. */
  readonly plain: PlainRows | null
}

export interface CsvOptions {
  /** Dates without a time of day mean this calendar's sessions; null = midnight UTC. */
  readonly calendar: Calendar | null
  /** Called after each piece with the bytes read so far. */
  readonly progress?: (bytes: number) => void
}

/** Reads rows into the stage, which collects their mistakes. Stops early once there are enough of them. */
export async function stageCsv(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  stage: BarStage,
  { calendar, progress }: CsvOptions,
): Promise<void> {
  const reader = new CsvReader(stage, calendar)
  const decoder = new TextDecoder()
  let rest = ''
  let bytes = 0
  for await (const chunk of pieces(input)) {
    bytes += chunk.length
    const text = rest + decoder.decode(chunk, { stream: true })
    const cut = text.lastIndexOf('\n') + 1
    rest = text.slice(cut)
    reader.read(text.slice(0, cut))
    progress?.(bytes)
    if (reader.broken || stage.full) return
    if (rest.length > LINE_MAX) return stage.fail(reader.row + 1, 'the line is too long for a bar')
    await stage.spill()
    await turn()
  }
  reader.read(rest + decoder.decode())
  reader.end()
}

const LINE_MAX = 1_000_000
/** How much is parsed before other requests get their turn: some 3 ms. */
const PIECE_BYTES = 256 << 10

async function* pieces(input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  for await (const chunk of input)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES)
}

class CsvReader {
  readonly stage: BarStage
  readonly calendar: Calendar | null
  /** Number of lines read. */
  row = 0
  /** The first line could not be understood. */
  broken = false
  #delimiter = ''
  #layout: Layout | null = null

  constructor(stage: BarStage, calendar: Calendar | null) {
    this.stage = stage
    this.calendar = calendar
  }

  read(text: string): void {
    if (text === '') return
    // A byte order mark is not part of the first name.
    const source = this.row === 0 ? text.replace(/^\uFEFF/, '') : text
    this.#delimiter ||= delimiterOf(source)
    if (isPlain(source)) return this.#lines(source)
    for (const cells of everyCsvRow(withNewlines(source), this.#delimiter)) {
      this.row++
      this.#cells(cells)
      if (this.broken || this.stage.full) return
    }
  }

  /** Reads text without quotes, in which every line end ends a row and every delimiter a cell. */
  #lines(text: string): void {
    for (let at = 0; at < text.length;) {
      const newline = text.indexOf('\n', at)
      const next = newline < 0 ? text.length : newline + 1
      let end = newline < 0 ? next : newline
      if (end > at && text.charCodeAt(end - 1) === CARRIAGE_RETURN) end--
      this.row++
      const plain = this.#layout?.plain
      if (plain?.read(text, at, end)) {
        this.stage.addFrom(this.row, plain.values)
      } else this.#cells(text.slice(at, end).split(this.#delimiter))
      if (this.broken || this.stage.full) return
      at = next
    }
  }

  #cells(cells: readonly string[]): void {
    if (cells.length === 1 && (cells[0] ?? '').trim() === '') return
    if (this.#layout) this.#bar(cells, this.#layout)
    else this.#first(cells)
  }

  end(): void {
    if (!this.#layout && this.stage.errors.length === 0) this.stage.fail(1, 'there are no rows')
  }

  /** Takes the first row that is not empty: it has the names, or is already a bar. */
  #first(cells: readonly string[]): void {
    // Some vendors put a link above the names.
    if (cells.length === 1) {
      if (!/^https?:/i.test(cells[0] ?? '')) this.#fail('expected several columns, found one')
      return
    }
    if (
      Number.isFinite(parseTime(cells[0], null)) &&
      cells.slice(1, 5).every((cell) => isNumber(cell, this.#decimalComma))
    ) {
      const columns = { time: 0, open: 1, high: 2, low: 3, close: 4, volume: cells.length > 5 ? 5 : -1 }
      this.#layout = this.#layoutOf(columns, -1)
      return this.#bar(cells, this.#layout)
    }
    const names = cells.map((cell) => cell.toLowerCase().replace(/[<>\s_"/]/g, ''))
    const find = (field: Field) =>
      NAMES[field].map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1
    const volume = find('volume')
    const columns = {
      time: find('time'),
      open: find('open'),
      high: find('high'),
      low: find('low'),
      close: find('close'),
      volume: volume >= 0 ? volume : names.findIndex((name) => name.startsWith('volume')),
    }
    const missing = REQUIRED.filter((field) => columns[field] < 0)
    if (missing.length > 0) return this.#fail(`the header has no column ${missing.join(', ')}`)
    const date = names.indexOf('date')
    const clock = names.indexOf('time')
    this.#layout =
      date >= 0 && clock >= 0 && date < clock
        ? this.#layoutOf({ ...columns, time: date }, clock)
        : this.#layoutOf(columns, -1)
  }

  #layoutOf(columns: Layout['columns'], clock: number): Layout {
    return {
      columns,
      clock,
      decimalComma: this.#decimalComma,
      plain: clock < 0 ? new PlainRows(columns, this.#delimiter) : null,
    }
  }

  get #decimalComma(): boolean {
    return this.#delimiter === ';'
  }

  #bar(cells: readonly string[], { columns, clock, decimalComma }: Layout): void {
    const date = cells[columns.time] ?? ''
    const time = clock < 0 ? date : withClock(date, cells[clock] ?? '')
    const number = (field: Field) => toNumber(cells[columns[field]], decimalComma)
    const volume = columns.volume < 0 ? '' : (cells[columns.volume] ?? '').trim()
    this.stage.add(
      this.row,
      parseTime(time, this.calendar),
      number('open'),
      number('high'),
      number('low'),
      number('close'),
      volume === '' ? 0 : toNumber(volume, decimalComma),
    )
  }

  /** Ends the import: without a layout nobody knows what the rows below mean. */
  #fail(message: string): void {
    this.stage.fail(this.row, message)
    this.broken = true
  }
}

const CARRIAGE_RETURN = 13

/** Whether the text has no quotes and only one kind of line end, so that it needs no CSV parser. */
function isPlain(text: string): boolean {
  if (text.includes('"') || text.startsWith('\uFEFF')) return false
  return !text.includes('\r') || !/\r(?!\n)|(?<!\r)\n/.test(text)
}

/** Joins `2024.01.05` and `10:30` into one time. A time column beside an unrelated date column stays as it is. */
function withClock(date: string, clock: string): string {
  if (!/^\d{1,2}:\d{2}/.test(clock.trim())) return clock.trim() === '' ? date : clock
  return `${date.trim()}T${clock.trim().padStart(5, '0')}`
}

/** Text whose lines end with a carriage return alone, as on old Macs, with the line ends that everybody else has. */
function withNewlines(text: string): string {
  return text.includes('\n') ? text : text.replaceAll('\r', '\n')
}

function isNumber(cell: string, decimalComma: boolean): boolean {
  return Number.isFinite(toNumber(cell, decimalComma))
}

function toNumber(cell: string | undefined, decimalComma: boolean): number {
  if (cell === undefined) return Number.NaN
  const number = Number(cell)
  if (!Number.isNaN(number)) return cell.trim() === '' ? Number.NaN : number
  // `1,234.50` in quotes, and `1234,50` where columns are separated by semicolons.
  const plain = decimalComma ? cell.replace(',', '.') : cell.replace(/(\d),(?=\d{3}\b)/g, '$1')
  return plain.trim() === '' ? Number.NaN : Number(plain)
}
