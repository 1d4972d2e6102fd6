// Answers as columns, for clients that ask with `Accept: application/vnd.chartroom.columns`: the content of the JSON
// answer, with its long lists as raw numbers behind it. A million bars take 50 MB instead of 104 MB of text that both sides
// spend a second on.
//
//     bytes 0 to 3    `CRC1`
//     bytes 4 to 7    length of the header, unsigned, little-endian as everything here
//     the header      JSON, spaces at its end: {"answer": …, "columns": [Column …], "tables": [Table …]}
//     the columns     those of `columns`, then the fields of each table; every one begins at a multiple of 8 bytes
//
// `answer` is the JSON answer with null where a column or table belongs; `at` is the path there. A column is a list of
// numbers and nulls. The value of an item x is x; with `from` the items are steps, and x is the sum of `from` and all steps
// up to it; with `scale` the value is x / scale; with `values` it is values[x]. NaN, and the least number of a whole type,
// is null. A table is a list of objects that have the same fields, each a column whose `at` is the path in the object.
//
// This file imports nothing: the server, the dashboard and the typed client all use it.

export const COLUMNS_TYPE = 'application/vnd.chartroom.columns'

export type Path = readonly (string | number)[]
type ColumnType = 'f64' | 'i32' | 'i16' | 'i8'

interface Column {
  readonly at: Path
  readonly type: ColumnType
  readonly length: number
  readonly scale?: number
  readonly from?: number
  readonly values?: readonly unknown[]
}

interface Table {
  readonly at: Path
  readonly length: number
  readonly fields: readonly Column[]
}

/** A value taken apart: its JSON text without the long lists, and those lists. */
export interface Packed {
  readonly text: string
  readonly columns: readonly Column[]
  readonly tables: readonly Table[]
  /** The bytes of each column, padded to a multiple of 8. */
  readonly bytes: readonly Uint8Array<ArrayBuffer>[]
}

type Numbers = Float64Array | readonly (number | null)[]

/** A list of objects that exists only as columns, one for each field, in the order of the fields. */
export class Rows {
  readonly length: number
  readonly fields: Readonly<Record<string, Float64Array | Picks>>

  constructor(length: number, fields: Rows['fields']) {
    this.length = length
    this.fields = fields
  }
}

/** For each item, the index of its value. */
export interface Picks {
  readonly values: readonly (string | number | boolean | null)[]
  readonly index: Float64Array
}

/** The objects of `rows`, each made on request. */
export function* rowsOf<Row extends object>({ length, fields }: Rows): Generator<Row> {
  const columns = Object.entries(fields)
  // A copy of an object that has every field is made sooner than one that gets them one by one.
  const first = Object.fromEntries(columns.map(([name]): [string, unknown] => [name, null]))
  for (let from = 0; from < length; from += SOME) {
    const rows = Array.from({ length: Math.min(SOME, length - from) }, () => ({ ...first }))
    // One field of some rows after the other: the engine looks a name up once for all of them, not for each field anew.
    for (const [name, column] of columns)
      for (let k = 0; k < rows.length; k++)
        rows[k]![name] =
          column instanceof Float64Array ? column[from + k] : column.values[column.index[from + k]!]
    yield* rows as Row[]
  }
}

/** Rows that are made at a time. */
const SOME = 64

/** Shorter lists stay in the header, since the description of a column is as long. */
const LONG = 16
const MAGIC = 0x31435243

/** Takes the long lists out of a JSON-like value. `at` is the value's own path in the answer. */
export function pack(value: unknown, at: Path): Packed {
  return packed(value, at, false)
}

/** Does the same to a value that nobody else reads, so that its arrays can be taken without a copy. */
export function packGiven(value: unknown, at: Path): Packed {
  return packed(value, at, true)
}

function packed(value: unknown, at: Path, isGiven: boolean): Packed {
  const columns: Column[] = []
  const tables: Table[] = []
  const ofColumns: Uint8Array<ArrayBuffer>[] = []
  const ofTables: Uint8Array<ArrayBuffer>[] = []
  const skeleton = (part: unknown, place: Path): unknown => {
    if (part instanceof Float64Array || isNumbers(part)) {
      const { column, bytes } = numberColumn(place, part, { isGiven })
      columns.push(column)
      ofColumns.push(bytes)
      return null
    }
    const fields = part instanceof Rows ? columnsOfRows(part, isGiven) : columnsOfList(part)
    if (fields) {
      const { length } = part as Rows
      tables.push({ at: place, length, fields: fields.map(({ column }) => column) })
      for (const { bytes } of fields) ofTables.push(bytes)
      return null
    }
    if (Array.isArray(part)) return part.map((one, i) => skeleton(one, [...place, i]))
    if (part === null || typeof part !== 'object') return part
    return Object.fromEntries(
      Object.entries(part).map(([name, one]) => [name, skeleton(one, [...place, name])]),
    )
  }
  const text = JSON.stringify(skeleton(value, at)) ?? 'null'
  return { text, columns, tables, bytes: [...ofColumns, ...ofTables] }
}

/** The answer's bytes: the header, then every column. `answer` is its JSON text, which contains the packed text. */
export function columnPieces(answer: string, packed: readonly Packed[]): Uint8Array<ArrayBuffer>[] {
  const columns = JSON.stringify(packed.flatMap((one) => one.columns))
  const tables = JSON.stringify(packed.flatMap((one) => one.tables))
  const header = new TextEncoder().encode(`{"answer":${answer},"columns":${columns},"tables":${tables}}`)
  const head = new Uint8Array(8 + padded(header.length)).fill(0x20)
  const view = new DataView(head.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint32(4, padded(header.length), true)
  head.set(header, 8)
  const of = (count: (one: Packed) => readonly [number, number]) =>
    packed.flatMap((one) => one.bytes.slice(...count(one)))
  return [
    head,
    ...of(({ columns: own }) => [0, own.length]),
    ...of(({ columns: own, bytes }) => [own.length, bytes.length]),
  ]
}

/** Answers the value that JSON.parse would make of the JSON answer. Throws on bytes in another format. */
export function decodeColumns(buffer: ArrayBuffer): unknown {
  const view = new DataView(buffer)
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== MAGIC)
    throw new Error('expected an answer as columns')
  const length = view.getUint32(4, true)
  if (8 + length > buffer.byteLength) throw new Error('the answer as columns is cut short')
  const text = new TextDecoder().decode(new Uint8Array(buffer, 8, length))
  const header = JSON.parse(text) as {
    answer: unknown
    columns: readonly Column[]
    tables: readonly Table[]
  }
  const root = { answer: header.answer }
  let offset = 8 + length
  const next = (column: Column) => {
    const values = columnValues(buffer, offset, column)
    offset += padded(column.length * BYTES[column.type])
    return values
  }
  for (const column of header.columns) put(root, ['answer', ...column.at], next(column))
  for (const { at, length: rows, fields } of header.tables) {
    const objects = Array.from({ length: rows }, (): Record<string, unknown> => ({}))
    for (const field of fields) {
      const values = next(field)
      objects.forEach((object, i) => put(object, field.at, values[i]))
    }
    put(root, ['answer', ...at], objects)
  }
  return root.answer
}

const BYTES = { f64: 8, i32: 4, i16: 2, i8: 1 } as const
const LEAST = { i32: -(2 ** 31), i16: -(2 ** 15), i8: -(2 ** 7) } as const
const padded = (length: number) => Math.ceil(length / 8) * 8

// ——— from values to columns ———

function isNumbers(value: unknown): value is readonly (number | null)[] {
  return (
    Array.isArray(value) &&
    value.length >= LONG &&
    value.every((one) => typeof one === 'number' || one === null)
  )
}

/** Paths of the fields, if all objects have the same ones in the same order and with plain values; null otherwise. */
function fieldsOf(list: readonly unknown[]): readonly string[] | null {
  const first = list[0]
  if (list.length < LONG || !isRow(first)) return null
  const names = Object.keys(first)
  const alike = list.every((one) => {
    if (!isRow(one)) return false
    let i = 0
    for (const name in one) {
      const value = one[name]
      if (name !== names[i++] || value === undefined || (typeof value === 'object' && value !== null))
        return false
    }
    return i === names.length
  })
  return alike && names.length > 0 && !names.includes('__proto__') ? names : null
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function columnsOfRows({ fields }: Rows, isGiven: boolean) {
  return Object.entries(fields).map(([name, field]) => {
    if (field instanceof Float64Array) return numberColumn([name], field, { isGiven })
    const { column, bytes } = numberColumn([name], field.index, { isWhole: true })
    return { column: { ...column, values: field.values }, bytes }
  })
}

/** null if it is not a list of objects that are alike. */
function columnsOfList(list: unknown) {
  const fields = Array.isArray(list) ? fieldsOf(list) : null
  return fields && fields.map((field) => fieldColumn(list as readonly Row[], field))
}

type Row = Readonly<Record<string, unknown>>

function fieldColumn(rows: readonly Row[], name: string) {
  const values = rows.map((row) => row[name])
  if (isNumbers(values)) return numberColumn([name], values)
  const known = new Map<unknown, number>()
  const indexes = values.map((value) => {
    let at = known.get(value)
    if (at === undefined) known.set(value, (at = known.size))
    return at
  })
  const { column, bytes } = numberColumn([name], indexes, { isWhole: true })
  return { column: { ...column, values: [...known.keys()] }, bytes }
}

/** A column of the smallest type that represents the values exactly. */
function numberColumn(at: Path, values: Numbers, { isWhole = false, isGiven = false } = {}) {
  const { length } = values
  const doubles = values instanceof Float64Array ? values : doublesOf(values)
  const scale = isWhole ? 1 : scaleOf(doubles)
  const found = scale === null ? null : rangesOf(doubles, scale)
  const bySteps = found !== null && !isWhole && BYTES[found.steps] < BYTES[found.direct]
  const type = found?.[bySteps ? 'steps' : 'direct'] ?? 'f64'
  if (scale === null || !found || type === 'f64') {
    const mayTake = isGiven || doubles !== values
    return { column: { at, type: 'f64' as const, length }, bytes: asJsonHas(doubles, mayTake) }
  }
  const { from } = found
  const items = bySteps ? stepsOf(doubles, scale) : wholesOf(doubles, scale, LEAST[type])
  const column = { at, type, length, ...(scale > 1 && { scale }), ...(bySteps && { from }) }
  return { column, bytes: narrowed(items, length, type) }
}

function doublesOf(values: readonly (number | null)[]): Float64Array<ArrayBuffer> {
  const doubles = new Float64Array(values.length)
  for (let i = 0; i < values.length; i++) doubles[i] = values[i] ?? Number.NaN
  return doubles
}

/** The values as JSON has them, without infinities and negative zeros. Reuses the given array if it may be taken. */
function asJsonHas(doubles: Float64Array, mayTake: boolean): Uint8Array<ArrayBuffer> {
  const { buffer } = doubles
  const own =
    mayTake && buffer instanceof ArrayBuffer ? (doubles as Float64Array<ArrayBuffer>) : doubles.slice()
  for (let i = 0; i < own.length; i++) {
    const value = own[i]!
    if (value - value !== 0) own[i] = Number.NaN
    else if (value === 0) own[i] = 0
  }
  return new Uint8Array(own.buffer, own.byteOffset, own.byteLength)
}

/** The power of ten that makes some of the values whole; null if there is none, as with quotients. */
function scaleOf(doubles: Float64Array): number | null {
  let scale = 1
  const step = Math.max(1, Math.floor(doubles.length / SAMPLES))
  for (let i = 0; i < doubles.length; i += step) {
    const value = doubles[i]!
    if (Number.isNaN(value)) continue
    while (Math.round(value * scale) / scale !== value) if ((scale *= 10) > 1e8) return null
  }
  return scale
}
const SAMPLES = 64

/** The ranges of the values times the scale, and of the steps between them; null if that is not exact. */
function rangesOf(doubles: Float64Array, scale: number) {
  let least = 0
  let most = 0
  let down = 0
  let up = 0
  let before = Number.NaN
  let hasNull = false
  for (let i = 0; i < doubles.length; i++) {
    const value = doubles[i]!
    if (value - value !== 0) {
      hasNull = true
      continue
    }
    const number = Math.round(value * scale)
    // Beyond 2^53 a sum of steps is not exact.
    if (number / scale !== value || number > 2 ** 53 || number < -(2 ** 53)) return null
    if (number < least) least = number
    if (number > most) most = number
    if (number - before < down) down = number - before
    if (number - before > up) up = number - before
    before = number
  }
  return {
    direct: typeFor(least, most),
    steps: hasNull ? ('f64' as const) : typeFor(down, up),
    /** Steps only if there is no null. */
    from: hasNull || doubles.length === 0 ? 0 : Math.round(doubles[0]! * scale) + 0,
  }
}

// One kind of array for all, which is narrowed afterwards: a loop over arrays of several kinds takes five times as long.

function wholesOf(doubles: Float64Array, scale: number, none: number): Int32Array<ArrayBuffer> {
  const items = roomFor(doubles.length)
  for (let i = 0; i < doubles.length; i++) {
    const value = doubles[i]!
    items[i] = value - value === 0 ? Math.round(value * scale) : none
  }
  return items
}

function stepsOf(doubles: Float64Array, scale: number): Int32Array<ArrayBuffer> {
  const items = roomFor(doubles.length)
  let before = Math.round((doubles[0] ?? 0) * scale)
  for (let i = 1; i < doubles.length; i++) {
    const number = Math.round(doubles[i]! * scale)
    items[i] = number - before
    before = number
  }
  return items
}

const roomFor = (length: number) => new Int32Array(padded(length * 4) / 4)

function narrowed(items: Int32Array<ArrayBuffer>, length: number, type: 'i32' | 'i16' | 'i8') {
  if (type === 'i32') return new Uint8Array(items.buffer)
  const bytes = new Uint8Array(padded(length * BYTES[type]))
  const values = items.subarray(0, length)
  if (type === 'i16') new Int16Array(bytes.buffer).set(values)
  else new Int8Array(bytes.buffer).set(values)
  return bytes
}

function typeFor(least: number, most: number): ColumnType {
  for (const type of ['i8', 'i16', 'i32'] as const)
    if (least > LEAST[type] && most < -LEAST[type]) return type
  return 'f64'
}

// ——— and back ———

function columnValues(
  buffer: ArrayBuffer,
  offset: number,
  { type, length, scale = 1, from, values }: Column,
): unknown[] {
  const items = viewOf(type, buffer, offset, length)
  const made = Array<unknown>(length)
  const none = type === 'f64' ? Number.NaN : LEAST[type]
  let sum = from ?? 0
  for (let i = 0; i < length; i++) {
    const item = items[i]!
    if (values) made[i] = values[item]
    else if (from !== undefined) made[i] = (sum += item) / scale
    else made[i] = item === none || item !== item ? null : item / scale
  }
  return made
}

const VIEWS = { f64: Float64Array, i32: Int32Array, i16: Int16Array, i8: Int8Array } as const

function viewOf(type: ColumnType, buffer: ArrayBuffer, offset: number, length: number) {
  const View = VIEWS[type]
  return new View(buffer, offset, length)
}

function put(root: object, path: Path, value: unknown): void {
  let object = root as Record<string | number, unknown>
  for (const name of path.slice(0, -1)) object = object[name] as Record<string | number, unknown>
  Object.defineProperty(object, path.at(-1)!, { value, enumerable: true, writable: true, configurable: true })
}
