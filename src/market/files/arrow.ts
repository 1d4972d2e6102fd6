// Arrow files and streams (IPC format of Apache Arrow 1.0 and later), a record batch at a time.
//
// A file is a stream between two magic words with a directory behind it, so both are read from front to back in bounded
// memory. Metadata are flatbuffers: tables whose fields are found by offsets. Only flat columns of numbers, times and
// texts are read, which is what bars are made of; others are passed over.

import { Problem } from '../../lib/problem.ts'
import { lz4Frame } from './lz4.ts'
import type { ColumnBatch, Table, TableColumn, TimeType } from './table.ts'

const FILE_MAGIC = 'ARROW1'
const CONTINUATION = 0xffffffff
/** A batch of a million rows of twenty columns has a third of this. What is packed may unpack to as much in all. */
const BATCH_MAX = 512 << 20
const ROWS_MAX = 1 << 24
const METADATA_MAX = 16 << 20
/** Offsets may all point to the same place, so a few bytes could stand for billions of columns, and long names of each. */
const COLUMNS_MAX = 4096
const NAME_BYTES_MAX = 4096
const SCHEMA = 1
const DICTIONARY = 2
const RECORD_BATCH = 3

/** Types of columns, by their numbers in the schema's union. */
const TYPE = {
  nothing: 1,
  int: 2,
  float: 3,
  binary: 4,
  text: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
  struct: 13,
  largeText: 20,
} as const

interface ArrowColumn extends TableColumn {
  readonly type: number
  readonly bits: number
  readonly isSigned: boolean
  /** Ticks a ms of a timestamp, as a power of ten: -3 for seconds, 6 for ns. */
  readonly power: number
  readonly isDictionary: boolean
}

export function isArrow(first: Uint8Array): boolean {
  const text = new TextDecoder('latin1').decode(first.subarray(0, 6))
  return text === FILE_MAGIC || (first[0] === 255 && first[1] === 255 && first[2] === 255 && first[3] === 255)
}

/** `isPart`: the file may break off. */
export async function arrowTable(
  bytes: AsyncIterable<Uint8Array>,
  { isPart = false }: { readonly isPart?: boolean } = {},
): Promise<Table> {
  const input = new Exactly(bytes)
  const magic = await input.peek(8)
  const isFile = new TextDecoder('latin1').decode(magic.subarray(0, 6)) === FILE_MAGIC
  if (isFile) await input.take(8)
  const first = await messageOf(input)
  if (first === null || first === 'end') throw brokenOff()
  if (first.kind !== SCHEMA) throw refused('tells its columns only at its end; write it as a stream')
  const columns = guarded(() => columnsIn(first.header))
  return {
    columns,
    async *batches(numbers) {
      const { zstdDecompressSync } = await import('node:zlib')
      const unzstd = (packed: Uint8Array, length: number) =>
        new Uint8Array(zstdDecompressSync(packed, { maxOutputLength: length }))
      for (;;) {
        const message = await messageOf(input, isPart)
        if (message === 'end' || message === null) {
          // Behind the batches of a file stands that there are no more.
          if (message === null && isFile && !isPart) throw brokenOff()
          return
        }
        if (message.kind === DICTIONARY) throw refused('has columns by dictionary; write it without')
        if (message.kind !== RECORD_BATCH) continue
        const { header, body } = message
        yield guarded(() => batchOf(header, body, columns, numbers, unzstd))
      }
    },
  }
}

interface Message {
  readonly kind: number
  readonly header: FlatTable
  readonly body: Uint8Array
}

/** The next message; null at the end of the bytes, 'end' where they say that no more come. */
async function messageOf(input: Exactly, isPart = false): Promise<Message | 'end' | null> {
  const start = await input.peek(8)
  if (start.length < 4) return null
  const isContinued = viewOf(start).getUint32(0, true) === CONTINUATION
  await input.take(isContinued ? 4 : 0)
  const size = viewOf(await input.take(4)).getUint32(0, true)
  if (size === 0) return 'end'
  if (size > METADATA_MAX) throw refused('is damaged; copy or download it again')
  const metadata = await input.take(size)
  const { kind, header, length } = guarded(() => {
    const message = FlatTable.root(metadata)
    const found = message.table(2)
    if (!found) throw new RangeError('a message has no header')
    return { kind: message.byte(1), header: found, length: message.long(3) }
  })
  if (length < 0) throw refused('is damaged; copy or download it again')
  if (length > BATCH_MAX) throw refused('has batches of more than 512 MiB; write it again with smaller ones')
  if (isPart && (await input.peek(length)).length < length) return null
  return { kind, header, body: await input.take(length) }
}

function columnsIn(schema: FlatTable): ArrowColumn[] {
  if (schema.short(0) !== 0) throw new RangeError('the most significant byte comes first')
  return schema.tables(1).map((field) => {
    const kind = field.byte(2)
    const type = field.table(3)
    const isDictionary = field.table(4) !== null
    const base = { name: field.text(0), type: kind, isDictionary, power: 0, isSigned: true, bits: 0 }
    if (field.count(5) > 0) return { ...base, type: TYPE.struct, time: 'text' }
    if (kind === TYPE.int)
      return { ...base, bits: type?.int(0) ?? 0, isSigned: type?.byte(1) === 1, time: 'number' }
    if (kind === TYPE.float) return { ...base, bits: [16, 32, 64][type?.short(0) ?? 0] ?? 0, time: 'number' }
    if (kind === TYPE.date) return { ...base, bits: (type?.short(0, 1) ?? 1) === 0 ? 32 : 64, time: 'day' }
    if (kind === TYPE.timestamp) {
      const time: TimeType = type?.hasField(1) ? 'instant' : 'clock'
      return { ...base, bits: 64, power: ((type?.short(0) ?? 0) - 1) * 3, time }
    }
    return { ...base, time: 'text' }
  })
}

type Inflate = (input: Uint8Array, length: number) => Uint8Array

function batchOf(
  header: FlatTable,
  body: Uint8Array,
  columns: readonly ArrowColumn[],
  numbers: readonly number[],
  unzstd: Inflate,
): ColumnBatch {
  const length = header.long(0)
  if (length < 0 || length > ROWS_MAX) throw new RangeError('a batch is too long')
  const nodes = header.structs(1, 16)
  const buffers = header.structs(2, 16)
  const compression = header.table(3)
  const unpack = compression === null ? null : compression.byte(0) === 0 ? lz4Frame : unzstd
  let unpacked = 0
  const inflate =
    unpack &&
    ((packed: Uint8Array, size: number) => {
      unpacked += size
      if (unpacked > BATCH_MAX) throw new RangeError('a batch is too long')
      return unpack(packed, size)
    })
  let buffer = 0
  const found = new Map<number, ArrayLike<unknown>>()
  const bufferAt = (index: number) => {
    const [from, size] = buffers[index] ?? [0, 0]
    if (from < 0 || size < 0 || from + size > body.length)
      throw new RangeError('a buffer lies outside of its batch')
    return content(body.subarray(from, from + size), inflate)
  }
  for (const [number, column] of columns.entries()) {
    if (column.type === TYPE.struct) throw refused('has columns inside of columns; write it flat')
    const isText = [TYPE.text, TYPE.largeText, TYPE.binary].some((type) => type === column.type)
    // A column of nothing but nulls has no buffers.
    if (column.type === TYPE.nothing) {
      found.set(
        number,
        Array.from({ length }, () => null),
      )
      continue
    }
    if (numbers.includes(number)) {
      if (column.isDictionary) throw refused('has columns by dictionary; write it without')
      const nulls = nodes[number]?.[1] ?? 0
      const valid = nulls > 0 ? bufferAt(buffer) : null
      const values = isText
        ? textsOf(bufferAt(buffer + 1), bufferAt(buffer + 2), length, column.type === TYPE.largeText)
        : numbersOf(bufferAt(buffer + 1), column, length)
      found.set(number, valid ? withNulls(values, valid, length) : values)
    }
    buffer += isText ? 3 : 2
  }
  return { length, columns: numbers.map((number) => found.get(number) ?? []) }
}

/** A compressed buffer begins with its length; -1 says that it is not compressed. */
function content(bytes: Uint8Array, inflate: Inflate | null): Uint8Array {
  if (!inflate || bytes.length === 0) return bytes
  const length = Number(viewOf(bytes).getBigInt64(0, true))
  if (length === -1) return bytes.subarray(8)
  if (length < 0 || length > BATCH_MAX) throw new RangeError('a buffer is too long')
  return inflate(bytes.subarray(8), length)
}

function numbersOf(bytes: Uint8Array, column: ArrowColumn, length: number): Float64Array {
  const { type, bits, isSigned, power } = column
  if (bits === 0 || bytes.length < (length * bits) / 8) throw new RangeError('a column is too short')
  const view = viewOf(bytes)
  const values = new Float64Array(length)
  const read = readerOf(view, type, bits, isSigned, power)
  for (let i = 0; i < length; i++) values[i] = read(i)
  return values
}

function readerOf(
  view: DataView,
  type: number,
  bits: number,
  isSigned: boolean,
  power: number,
): (index: number) => number {
  if (type === TYPE.float) {
    if (bits === 64) return (i) => view.getFloat64(i * 8, true)
    return bits === 32 ? (i) => view.getFloat32(i * 4, true) : (i) => view.getFloat16(i * 2, true)
  }
  if (type === TYPE.timestamp) {
    if (power <= 0) return (i) => Number(view.getBigInt64(i * 8, true)) * 10 ** -power
    const ticks = 10n ** BigInt(power)
    return (i) => Number(view.getBigInt64(i * 8, true) / ticks)
  }
  // Days as milliseconds are days all the same.
  if (type === TYPE.date && bits === 64) return (i) => Number(view.getBigInt64(i * 8, true)) / 86_400_000
  switch (bits) {
    case 8:
      return isSigned ? (i) => view.getInt8(i) : (i) => view.getUint8(i)
    case 16:
      return isSigned ? (i) => view.getInt16(i * 2, true) : (i) => view.getUint16(i * 2, true)
    case 32:
      return isSigned ? (i) => view.getInt32(i * 4, true) : (i) => view.getUint32(i * 4, true)
    default:
      return isSigned
        ? (i) => Number(view.getBigInt64(i * 8, true))
        : (i) => Number(view.getBigUint64(i * 8, true))
  }
}

function textsOf(offsets: Uint8Array, bytes: Uint8Array, length: number, isLarge: boolean): string[] {
  const view = viewOf(offsets)
  const at = (i: number) => (isLarge ? Number(view.getBigInt64(i * 8, true)) : view.getInt32(i * 4, true))
  const decoder = new TextDecoder()
  return Array.from({ length }, (_, i) => {
    const [from, to] = [at(i), at(i + 1)]
    if (from < 0 || to < from || to > bytes.length) throw new RangeError('a text lies outside of its buffer')
    return decoder.decode(bytes.subarray(from, to))
  })
}

function withNulls(values: ArrayLike<unknown>, valid: Uint8Array, length: number): unknown[] {
  return Array.from({ length }, (_, i) => (((valid[i >> 3] ?? 0) >> (i & 7)) & 1 ? values[i] : null))
}

/** A flatbuffer's table. Everything is checked by DataView: what points outside throws. */
class FlatTable {
  readonly #view: DataView
  readonly #at: number

  constructor(view: DataView, at: number) {
    this.#view = view
    this.#at = at
  }

  static root(bytes: Uint8Array): FlatTable {
    const view = viewOf(bytes)
    return new FlatTable(view, view.getUint32(0, true))
  }

  hasField(field: number): boolean {
    return this.#place(field) !== 0
  }

  byte(field: number): number {
    const at = this.#place(field)
    return at === 0 ? 0 : this.#view.getUint8(at)
  }

  short(field: number, usual = 0): number {
    const at = this.#place(field)
    return at === 0 ? usual : this.#view.getInt16(at, true)
  }

  int(field: number): number {
    const at = this.#place(field)
    return at === 0 ? 0 : this.#view.getInt32(at, true)
  }

  long(field: number): number {
    const at = this.#place(field)
    return at === 0 ? 0 : Number(this.#view.getBigInt64(at, true))
  }

  table(field: number): FlatTable | null {
    const at = this.#place(field)
    return at === 0 ? null : new FlatTable(this.#view, at + this.#view.getUint32(at, true))
  }

  text(field: number): string {
    const at = this.#place(field)
    if (at === 0) return ''
    const start = at + this.#view.getUint32(at, true)
    const length = this.#view.getUint32(start, true)
    if (length > NAME_BYTES_MAX) throw new RangeError('a name is too long')
    return new TextDecoder().decode(
      new Uint8Array(this.#view.buffer, this.#view.byteOffset + start + 4, length),
    )
  }

  /** How many there are in a vector. */
  count(field: number): number {
    const at = this.#place(field)
    return at === 0 ? 0 : this.#view.getUint32(at + this.#view.getUint32(at, true), true)
  }

  tables(field: number): FlatTable[] {
    return this.#vector(field, 4).map((at) => new FlatTable(this.#view, at + this.#view.getUint32(at, true)))
  }

  /** Structs of two whole numbers of 64 bits. */
  structs(field: number, size: number): (readonly [number, number])[] {
    const long = (at: number) => Number(this.#view.getBigInt64(at, true))
    return this.#vector(field, size).map((at) => [long(at), long(at + 8)] as const)
  }

  #vector(field: number, size: number): number[] {
    const at = this.#place(field)
    if (at === 0) return []
    const start = at + this.#view.getUint32(at, true)
    const length = this.#view.getUint32(start, true)
    if (length > 3 * COLUMNS_MAX || start + 4 + length * size > this.#view.byteLength)
      throw new RangeError('a vector is too long')
    return Array.from({ length }, (_, i) => start + 4 + i * size)
  }

  /** Where a field's value stands; 0 if it is not there. */
  #place(field: number): number {
    const table = this.#at - this.#view.getInt32(this.#at, true)
    if (4 + field * 2 >= this.#view.getUint16(table, true)) return 0
    const offset = this.#view.getUint16(table + 4 + field * 2, true)
    return offset === 0 ? 0 : this.#at + offset
  }
}

/** Bytes of a stream, exactly as many as are needed. */
class Exactly {
  readonly #source: AsyncIterator<Uint8Array>
  #chunks: Uint8Array[] = []
  #size = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** The next bytes, which stay; fewer at the end. */
  async peek(length: number): Promise<Uint8Array> {
    while (this.#size < length) {
      const { done, value } = await this.#source.next()
      if (done) break
      this.#chunks.push(value)
      this.#size += value.length
    }
    const [only] = this.#chunks
    const all = this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks)
    this.#chunks = [all]
    return all.subarray(0, length)
  }

  async take(length: number): Promise<Uint8Array> {
    const taken = await this.peek(length)
    if (taken.length < length) throw brokenOff()
    const [all = new Uint8Array()] = this.#chunks
    this.#chunks = [all.subarray(length)]
    this.#size -= length
    return taken
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** What points outside of the file, or has a length that it has not, is damage. */
function guarded<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Problem) throw error
    throw refused('is damaged or of a kind nobody here reads; write it again, or as CSV')
  }
}

const brokenOff = () => refused('breaks off before its end; copy or download it again')

function refused(message: string): Problem {
  return new Problem(422, 'validation_failed', `Nothing was imported: the Arrow file ${message}.`, {
    fields: [{ in: 'body', path: '/rows/1', code: 'invalid_bar', message: `the Arrow file ${message}` }],
  })
}
