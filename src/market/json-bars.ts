// Reads bars from JSON: a list of objects, a list of lists (as exchanges answer), or columns. Each may be the value of
// `bars`.
//
// The text is read as it arrives, and rows go into the stage one by one. Columns are collected as numbers until all are
// complete; in an object that also has `bars` they are ignored.

import { JsonError, JsonReader, type JsonListener } from '../lib/json-stream.ts'
import { turn } from '../lib/turn.ts'
import type { BarStage } from './bar-stage.ts'
import { parseTime } from './bar-time.ts'
import type { Calendar } from './calendar.ts'

const FIELDS = ['time', 'open', 'high', 'low', 'close', 'volume'] as const
const VOLUME = 5
/** The long and the short name of each field; if a bar has both, the long one counts. */
const NAMES: ReadonlyMap<string, FieldName> = new Map(
  FIELDS.flatMap((name, field): [string, FieldName][] => [
    [name, { field, isShort: false }],
    [name.slice(0, 1), { field, isShort: true }],
  ]),
)
interface FieldName {
  readonly field: number
  readonly isShort: boolean
}

/** The deepest nesting: an object, its `bars`, a bar, and what exchanges put inside a bar. */
const DEPTH = 16

type Scalar = string | number | boolean | null
type JsonCell = Scalar | undefined

/** How much is parsed before others get their turn: some 2 ms of short numbers. */
const PIECE_LETTERS = 32 << 10

/** Reads rows into the stage; row 1 is the first bar. Stops early once there are enough mistakes. */
export async function stageJson(
  input: AsyncIterable<string>,
  stage: BarStage,
  calendar: Calendar | null,
): Promise<void> {
  const bars = new JsonBars(stage, calendar)
  const reader = new JsonReader(bars, { depth: DEPTH })
  try {
    for await (const text of input)
      for (let at = 0; at < text.length; at += PIECE_LETTERS) {
        reader.write(text.slice(at, at + PIECE_LETTERS))
        if (stage.full) return
        await stage.spill()
        await turn()
      }
    reader.end()
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    return stage.fail(bars.row + 1, error.message)
  }
  await bars.end()
}

/** Where the reader is: outside everything, in the outer object, among rows, in a row, among columns, in a column. */
type ReaderPlace = 'start' | 'object' | 'rows' | 'row' | 'columns' | 'column' | 'elsewhere'

class JsonBars implements JsonListener {
  readonly stage: BarStage
  readonly calendar: Calendar | null
  /** Number of rows read. */
  row = 0
  readonly #places: ReaderPlace[] = ['start']
  #name = ''
  /** Cells of the current row by field; those with short names are kept apart. */
  #cells: JsonCell[] = []
  #short: JsonCell[] = []
  #index = 0
  #hasBars = false
  #hasRows = false
  #columns = new Columns()

  constructor(stage: BarStage, calendar: Calendar | null) {
    this.stage = stage
    this.calendar = calendar
  }

  open(kind: 'list' | 'object'): void {
    const place = this.#inside(kind)
    if (this.#here === 'row') this.#cell(undefined)
    else if (this.#here === 'column') this.#columns.add(Number.NaN)
    this.#places.push(place)
    if (place !== 'row') return
    this.#cells = []
    this.#short = []
    this.#index = kind === 'list' ? 0 : -1
  }

  close(): void {
    if (this.#places.pop() === 'row') this.#addRow()
  }

  name(name: string): void {
    this.#name = name
  }

  value(value: Scalar): void {
    switch (this.#here) {
      case 'row':
        return this.#cell(value)
      case 'column':
        return this.#columns.add(
          this.#columns.isTime
            ? parseTime(value, this.calendar)
            : this.#columns.isVolume && value === null
              ? 0
              : toNumber(value),
        )
      case 'rows':
        return this.stage.fail(++this.row, 'expected a bar as an object or a list')
      case 'object':
        if (this.#name === 'bars') this.#noBars()
        return undefined
      case 'start':
        return this.#noBars()
      default:
        return undefined
    }
  }

  /** Call it when the text has ended, which completes the columns. */
  async end(): Promise<void> {
    if (this.#hasRows) return
    const mistake = this.#columns.mistake()
    if (mistake !== null) return this.stage.fail(1, mistake)
    for (let row = 0; row < this.#columns.length && !this.stage.full; row++) {
      const at = (field: number) => this.#columns.at(field, row)
      this.stage.add(row + 1, at(0), at(1), at(2), at(3), at(4), at(VOLUME))
      if (row % 65_536 === 0) await this.stage.spill()
    }
  }

  get #here(): ReaderPlace {
    return this.#places.at(-1) ?? 'elsewhere'
  }

  /** What the list or object that begins here holds. */
  #inside(kind: 'list' | 'object'): ReaderPlace {
    switch (this.#here) {
      case 'start':
        return kind === 'list' ? this.#beginRows() : 'object'
      case 'object':
        if (this.#name === 'bars') return this.#beginBars(kind)
        return kind === 'list' && !this.#hasBars ? this.#columns.begin(this.#name) : 'elsewhere'
      case 'columns':
        return kind === 'list' ? this.#columns.begin(this.#name) : 'elsewhere'
      case 'rows':
        return 'row'
      default:
        return 'elsewhere'
    }
  }

  #beginBars(kind: 'list' | 'object'): ReaderPlace {
    if (this.#hasBars) throw new JsonError('has bars twice')
    this.#hasBars = true
    this.#columns = new Columns()
    return kind === 'list' ? this.#beginRows() : 'columns'
  }

  #beginRows(): ReaderPlace {
    this.#hasRows = true
    return 'rows'
  }

  #noBars(): void {
    this.#hasRows = true
    this.stage.fail(1, 'expected a list of bars, or an object of columns')
  }

  #cell(value: JsonCell): void {
    if (this.#index >= 0) {
      if (this.#index <= VOLUME) this.#cells[this.#index] = value
      this.#index++
      return
    }
    const known = NAMES.get(this.#name)
    if (known) (known.isShort ? this.#short : this.#cells)[known.field] = value
  }

  #addRow(): void {
    const at = (field: number) => this.#cells[field] ?? this.#short[field]
    const volume = at(VOLUME)
    this.stage.add(
      ++this.row,
      parseTime(at(0), this.calendar),
      toNumber(at(1)),
      toNumber(at(2)),
      toNumber(at(3)),
      toNumber(at(4)),
      volume === undefined || volume === null ? 0 : toNumber(volume),
    )
  }
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
  readonly #long: (Numbers | undefined)[] = []
  readonly #short: (Numbers | undefined)[] = []
  #field = 0
  #column = new Numbers()

  /** Begins the column of this name. */
  begin(name: string): ReaderPlace {
    const known = NAMES.get(name)
    if (!known) return 'elsewhere'
    this.#field = known.field
    this.#column = new Numbers()
    const columns = known.isShort ? this.#short : this.#long
    columns[known.field] = this.#column
    return 'column'
  }

  get isTime(): boolean {
    return this.#field === 0
  }

  get isVolume(): boolean {
    return this.#field === VOLUME
  }

  get length(): number {
    return this.#of(0)?.length ?? 0
  }

  add(value: number): void {
    this.#column.add(value)
  }

  at(field: number, row: number): number {
    const column = this.#of(field)
    return column ? column.at(row) : 0
  }

  /** Names the missing column; null if all are there. Volume may be missing. */
  mistake(): string | null {
    if (!this.#of(0)) return 'expected a column time'
    for (const [field, name] of FIELDS.entries()) {
      const column = this.#of(field)
      if (field === VOLUME && !column) continue
      if (column?.length !== this.length) return `expected a column ${name} as long as time`
    }
    return null
  }

  #of(field: number): Numbers | undefined {
    return this.#long[field] ?? this.#short[field]
  }
}

/** Converts a cell to a number, since exchanges write prices as text. */
function toNumber(value: JsonCell): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}
