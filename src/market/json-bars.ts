// Reads bars from JSON: a list of objects, a list of lists, or columns, in whatever envelope an exchange answers them.
//
// The list of bars is found by what is in it, and what a field is for by its name, as in other files. The text is read as it
// arrives, and rows go into the stage one by one. Columns are collected as numbers until all are complete; where there are
// rows as well they are ignored.

import { JsonError, JsonReader, type JsonListener } from '../lib/json-stream.ts'
import { turn } from '../lib/turn.ts'
import type { BarStage } from './bar-stage.ts'
import { parseTime } from './bar-time.ts'
import type { Calendar } from './calendar.ts'
import { rankOfName } from './files/dialect/columns.ts'
import { otherTicker } from './files/dialect/refusals.ts'
import type { Zone } from './zone.ts'

const FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume', 'bought'] as const
const VOLUME = 5
const BOUGHT = 6
/** The symbol that a bar says it is of, which is no field of its numbers. */
const TICKER = 7
/** Which field a name is of; of several names of one field that with the lowest rank counts. */
interface FieldName {
  readonly field: number
  readonly rank: number
}
const NAMES_MAX = 1000

/** Where each field stands in a list: as most write it, as Binance, Kraken with the average price, Coinbase and jesse do. */
const USUAL = [0, 1, 2, 3, 4, 5]
const BINANCE = [0, 1, 2, 3, 4, 5, 9]
const KRAKEN = [0, 1, 2, 3, 4, 6]
const COINBASE = [0, 3, 2, 1, 4, 5]
const JESSE = [0, 1, 3, 4, 2, 5]
/** Of an object fields stand where they belong. */
const NAMED = [0, 1, 2, 3, 4, 5, BOUGHT]
/** So many lists are looked at to know the order. */
const HELD_MAX = 200
/** A list that may be a bar has the time and four prices. */
const CELLS_MIN = 5

/** The deepest nesting: an object, its `bars`, a bar, and what exchanges put inside a bar. */
const DEPTH = 16

type Scalar = string | number | boolean | null
type JsonCell = Scalar | undefined

/** How much is parsed before others get their turn: some 2 ms of short numbers. */
const PIECE_LETTERS = 32 << 10

/** How JSON was read. */
export interface JsonReading {
  /** Rows without any price. */
  readonly skipped: number
  /** Some times have a clock and no zone. */
  readonly isLocal: boolean
}

/**
 * Reads rows into the stage; row 1 is the first bar. Stops early once there are enough mistakes. `zone` is that of clocks
 * without one; of several symbols the rows of `ticker` are taken.
 */
export async function stageJson(
  input: AsyncIterable<string>,
  stage: BarStage,
  calendar: Calendar | null,
  zone: Zone,
  ticker?: string,
): Promise<JsonReading> {
  const bars = new JsonBars(stage, calendar, zone, ticker)
  const reader = new JsonReader(bars, { depth: DEPTH })
  try {
    for await (const text of input)
      for (let at = 0; at < text.length; at += PIECE_LETTERS) {
        reader.write(text.slice(at, at + PIECE_LETTERS))
        if (stage.full) return bars
        await stage.spill()
        await turn()
      }
    reader.end()
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    stage.fail(bars.row + 1, error.message)
    return bars
  }
  await bars.end()
  return bars
}

/** Where the reader is. What a list holds is known by its first element, and an object in it may be a bar or an envelope. */
interface Place {
  readonly kind: 'start' | 'object' | 'list' | 'elsewhere'
  readonly name: string
  /** The list whose element this is; null outside of lists. */
  readonly list: Place | null
  /** The bar that a price of several fields belongs to; null of other places. */
  readonly of: Place | null
  /** Of an element of a list: its cells by their number, or by field with the rank of the name. */
  readonly cells: JsonCell[]
  readonly ranks: number[]
  /** Of a list of values. */
  isColumn: boolean
}

function placeOf(kind: Place['kind'], name = '', list: Place | null = null, of: Place | null = null): Place {
  return { kind, name, list, of, cells: [], ranks: [], isColumn: false }
}

/** A price of T-Bank's API has whole units and billionths of one. */
const PRICE_PARTS = ['units', 'nano']

class JsonBars implements JsonListener, JsonReading {
  readonly stage: BarStage
  readonly #calendar: Calendar | null
  readonly #zone: Zone
  /** Number of rows read. */
  row = 0
  skipped = 0
  isLocal = false
  readonly #places: Place[] = [placeOf('start')]
  readonly #known = new Map<string, FieldName | null>()
  #name = ''
  /** There is a list that has to be of bars, though it may be empty. */
  #hasList = false
  /** The list that has the bars. */
  #rows: Place | null = null
  #order: readonly number[] | null = null
  #held: JsonCell[][] = []
  #columns = new Columns()

  /** Whose rows are to be taken, and of whom the first is. */
  readonly #ticker: string | undefined
  #first: string | null = null

  constructor(stage: BarStage, calendar: Calendar | null, zone: Zone, ticker: string | undefined) {
    this.stage = stage
    this.#ticker = ticker
    this.#calendar = calendar
    this.#zone = zone
  }

  open(kind: 'list' | 'object'): void {
    const here = this.#here
    const isInList = here.kind === 'list'
    if (here.kind === 'elsewhere' || here.isColumn || (isInList && here.list !== null)) {
      // A list within a bar, or among numbers.
      if (here.isColumn) this.#columns.add(Number.POSITIVE_INFINITY)
      else here.cells.push(undefined)
      this.#places.push(placeOf('elsewhere'))
      return
    }
    const of = kind === 'object' && here.list !== null ? here : null
    const place = placeOf(kind, isInList ? '' : this.#name, isInList ? here : null, of)
    this.#places.push(place)
    if (kind === 'list' && !isInList && this.#isStrict(place)) this.#hasList = true
  }

  close(): void {
    const place = this.#places.pop()
    if (place === this.#rows) this.#flush(this.#here)
    if (place?.of && place.cells[0] !== undefined)
      this.#cellOf(
        place.of,
        place.name,
        (toNumber(place.cells[0]) * 1e9 + (toNumber(place.cells[1]) || 0)) / 1e9,
      )
    if (!place?.list || place.kind === 'elsewhere') return
    const { kind, list, cells } = place
    const isBar =
      kind === 'list'
        ? cells.length >= CELLS_MIN && cells[1] !== undefined
        : cells.slice(1, VOLUME).some((cell) => cell !== undefined)
    const isEnvelope = this.#rows !== list && (this.#rows !== null || this.#columns.length > 0)
    if (isBar || (this.#isStrict(list) && !isEnvelope)) this.#addRow(place, list)
  }

  name(name: string): void {
    this.#name = name
  }

  value(value: Scalar): void {
    const place = this.#here
    if (place.of && PRICE_PARTS.includes(this.#name)) place.cells[PRICE_PARTS.indexOf(this.#name)] = value
    if (place.kind === 'object' && place.list) this.#cellOf(place, this.#name, value)
    if (place.kind !== 'list') return
    if (place.list) {
      place.cells.push(value)
      return
    }
    const field = place.isColumn || this.#rows === place ? null : this.#fieldOf(place.name)
    if (field) {
      this.#columns.begin(field)
      place.isColumn = true
    }
    if (place.isColumn) this.#columns.add(this.#columns.isTime ? this.#timeOf(value) : columnNumber(value))
    else if (this.#isStrict(place)) this.stage.fail(++this.row, 'expected a bar as an object or a list')
  }

  /** Call it when the text has ended, which completes the columns. */
  async end(): Promise<void> {
    if (this.row > 0 || (this.#hasList && this.#columns.length === 0)) return
    if (this.#ticker !== undefined && this.#columns.length === 0) return
    const mistake = this.#columns.mistake()
    if (mistake !== null) return this.stage.fail(1, mistake)
    for (let row = 0; row < this.#columns.length && !this.stage.full; row++) {
      const at = (field: number) => this.#columns.at(field, row)
      if ([1, 2, 3, 4].every((field) => Number.isNaN(at(field)))) this.skipped++
      else this.#stageBar(row + 1, (field) => (field === VOLUME ? at(field) || 0 : at(field)))
      if (row % 65_536 === 0) await this.stage.spill()
    }
  }

  get #here(): Place {
    return this.#places.at(-1)!
  }

  /** What is in this list has to be bars: it is all there is, is called so, or has others. */
  #isStrict(list: Place): boolean {
    return list === this.#rows || list === this.#places[1] || list.name === 'bars'
  }

  #fieldOf(name: string): FieldName | null {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const ranks = [...FIELDS, 'ticker' as const].map((role) => rankOfName(name, role))
    const field = ranks.findIndex((rank) => rank >= 0)
    const found = field < 0 ? null : { field, rank: ranks[field] ?? 0 }
    if (this.#known.size < NAMES_MAX) this.#known.set(name, found)
    return found
  }

  #cellOf({ cells, ranks }: Place, name: string, value: Scalar): void {
    const found = this.#fieldOf(name)
    if (!found || found.rank >= (ranks[found.field] ?? Number.POSITIVE_INFINITY)) return
    cells[found.field] = value
    ranks[found.field] = found.rank
  }

  #addRow(place: Place, list: Place): void {
    const told = place.kind === 'object' ? place.cells[TICKER] : undefined
    const ticker = String(told ?? list.name)
    if (this.#ticker !== undefined && ticker !== this.#ticker) return
    if (this.#rows !== list && this.#rows !== null)
      throw new JsonError(
        `has two lists of bars, ${(this.#rows.name || '?').slice(0, 40)} and ${(list.name || '?').slice(0, 40)}; say which, such as ticker=${ticker.slice(0, 40)} (--ticker), or keep one of them`,
      )
    this.#rows = list
    if (told !== undefined && ticker !== (this.#first ??= ticker)) {
      this.stage.fail(++this.row, otherTicker(ticker))
      return
    }
    const { kind, cells } = place
    if (kind === 'object') return this.#add(cells, NAMED)
    if (this.#order) return this.#add(cells, this.#order)
    this.#held.push(cells)
    if (this.#held.length === HELD_MAX) this.#flush(this.#places.at(-2)!)
  }

  /** Adds the rows that were held back until their order was known; their list is in this place. */
  #flush({ name }: Place): void {
    if (this.#held.length > 0 && this.#held.every(isTradeOfFreqtrade))
      throw new JsonError(
        'is a trade, and JSON is read of bars alone: freqtrade convert-trade-data writes them as feather, which is read',
      )
    const isKrakens = name === 'result' && this.#held.every(({ length }) => length === 8)
    const isBinances = this.#held.every(
      (cells) => cells.length === 12 && toNumber(cells[6]) > toNumber(cells[0]),
    )
    const other = () => [COINBASE, JESSE].find((order) => isIn(order, this.#held)) ?? USUAL
    this.#order ??= isKrakens ? KRAKEN : isBinances ? BINANCE : other()
    for (const cells of this.#held.splice(0)) this.#add(cells, this.#order)
  }

  #add(cells: readonly JsonCell[], order: readonly number[]): void {
    this.row++
    const at = (field: number) => cells[order[field] ?? -1]
    if ([1, 2, 3, 4].every((field) => at(field) === null)) {
      this.skipped++
      return
    }
    this.#stageBar(this.row, (field) =>
      field === 0 ? this.#timeOf(at(0)) : toNumber(at(field) ?? (field === VOLUME ? 0 : undefined)),
    )
  }

  #stageBar(row: number, at: (field: number) => number): void {
    const values = this.#values
    for (let field = 0; field <= BOUGHT; field++) values[field] = at(field)
    if (values[BOUGHT]! >= 0) this.stage.expectSides()
    this.stage.addFrom(row, values)
  }
  readonly #values = new Float64Array(BOUGHT + 1)

  #timeOf(value: JsonCell): number {
    const time = parseTime(value, this.#calendar)
    if (typeof value !== 'string' || !/^\d{4}\D.*:[\d.]+\s*$/.test(value) || /[+-]\d\d:?\d\d\s*$/.test(value))
      return time
    this.isLocal = true
    return this.#zone.toUtc(time)
  }
}

/** Time, id, type, side, price, amount, cost. */
function isTradeOfFreqtrade(cells: readonly JsonCell[]): boolean {
  return cells.length === 7 && (cells[3] === 'buy' || cells[3] === 'sell')
}

/** Whether all of these are bars in that order, and two of them or more are none in the usual one. */
function isIn(other: readonly number[], rows: readonly (readonly JsonCell[])[]): boolean {
  const isBar = (cells: readonly JsonCell[], order: readonly number[]) => {
    const [open = 0, high = 0, low = 0, close = 0] = order.slice(1, VOLUME).map((at) => toNumber(cells[at]))
    return low <= Math.min(open, close) && high >= Math.max(open, close)
  }
  return (
    rows.filter((cells) => !isBar(cells, USUAL)).length > 1 &&
    rows.every((cells) => cells.length === other.length && isBar(cells, other))
  )
}

/** Numbers in blocks, which are never copied to grow. */
class Numbers {
  readonly #blocks: Float64Array[] = []
  length = 0

  add(value: number): void {
    if (this.length === COLUMN_MAX)
      throw new JsonError('has too many bars as columns; send them as rows, or as CSV')
    const at = this.length % BLOCK
    if (at === 0) this.#blocks.push(new Float64Array(BLOCK))
    this.#blocks.at(-1)![at] = value
    this.length++
  }

  at(index: number): number {
    return this.#blocks[Math.floor(index / BLOCK)]?.[index % BLOCK] ?? Number.NaN
  }
}
const BLOCK = 65_536
/** All of a column is in memory until the last one is complete. */
const COLUMN_MAX = 4_000_000

class Columns {
  readonly #columns: ((FieldName & { readonly numbers: Numbers }) | undefined)[] = []
  #column = new Numbers()

  /** Begins a column. */
  begin({ field, rank }: FieldName): void {
    const other = this.#columns[field]
    if (other?.rank === rank) throw new JsonError(`has the column ${FIELDS[field]} twice`)
    this.#column = new Numbers()
    this.#field = field
    if (!other || rank < other.rank) this.#columns[field] = { field, rank, numbers: this.#column }
  }
  #field = 0

  get isTime(): boolean {
    return this.#field === 0
  }

  get length(): number {
    return this.#columns[0]?.numbers.length ?? 0
  }

  add(value: number): void {
    this.#column.add(value)
  }

  at(field: number, row: number): number {
    const column = this.#columns[field]
    return column ? column.numbers.at(row) : field === BOUGHT ? Number.NaN : 0
  }

  /** Names the missing column; null if all are there. Volume, and what of it was bought, may be missing. */
  mistake(): string | null {
    if (this.#columns.length === 0) return 'expected a list of bars, or an object of columns'
    if (!this.#columns[0]) return 'expected a column time'
    for (const [field, name] of FIELDS.entries()) {
      const column = this.#columns[field]
      if (field >= VOLUME && !column) continue
      if (column?.numbers.length !== this.length) return `expected a column ${name} as long as time`
    }
    return null
  }
}

/** Yahoo writes null where nothing was traded, which is NaN here; what is no number is no bar either. */
function columnNumber(value: Scalar): number {
  const number = toNumber(value)
  return Number.isNaN(number) && value !== null ? Number.POSITIVE_INFINITY : number
}

/** Converts a cell to a number, since exchanges write prices as text. */
function toNumber(value: JsonCell): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}
