// Writes bars as Parquet, a group of rows at a time, so that a series of any length needs the memory of one group.
//
// The simplest file that every reader takes (parquet-format, version 1): six required columns (seven where it is known what
// was bought), plain values packed with zstd. What stands where is told at the end, in Thrift's compact protocol.

import { type Bars, BAR_FIELDS, columnsOf, withSides } from '../bars.ts'

/** The columns of bars of which it is known what was bought. */
export const SIDED_FIELDS = [...BAR_FIELDS, 'bought'] as const

const MAGIC = new TextEncoder().encode('PAR1')
/** Numbers of the format's own enumerations. */
const INT64 = 2
const DOUBLE = 5
const REQUIRED = 0
const TIMESTAMP_MILLIS = 9
const PLAIN = 0
const RLE = 3
const ZSTD = 6
const DATA_PAGE = 0

interface Chunk {
  readonly offset: number
  readonly packed: number
  readonly unpacked: number
}

interface Group {
  readonly rows: number
  readonly chunks: readonly Chunk[]
}

/** The file in pieces; each list of bars becomes a group of rows. */
export async function* parquetPieces(
  windows: AsyncIterable<Bars>,
  sides: boolean,
): AsyncGenerator<Uint8Array> {
  const fields: readonly string[] = sides ? SIDED_FIELDS : BAR_FIELDS
  yield MAGIC
  let at = MAGIC.length
  const groups: Group[] = []
  for await (const bars of windows) {
    if (bars.length === 0) continue
    const chunks: Chunk[] = []
    const columns = columnsOf(sides ? withSides(bars) : bars).slice(0, fields.length)
    for (const [i, column] of columns.entries()) {
      const values = i === 0 ? wholeNumbers(column) : bytesOf(column)
      const packed = await Bun.zstdCompress(values)
      const header = pageHeader(bars.length, values.length, packed.length)
      chunks.push({
        offset: at,
        packed: header.length + packed.length,
        unpacked: header.length + values.length,
      })
      at += header.length + packed.length
      yield header
      yield packed
    }
    groups.push({ rows: bars.length, chunks })
  }
  const footer = footerOf(groups, fields)
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, footer.length, true)
  yield footer
  yield length
  yield MAGIC
}

function bytesOf(column: Float64Array): Uint8Array<ArrayBuffer> {
  // Bars may lie in shared memory, which the packer does not take.
  return new Uint8Array(new Float64Array(column).buffer)
}

function wholeNumbers(column: Float64Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(BigInt64Array.from(column, (value) => BigInt(value)).buffer)
}

function pageHeader(rows: number, unpacked: number, packed: number): Uint8Array {
  return new Thrift()
    .int(1, DATA_PAGE)
    .int(2, unpacked)
    .int(3, packed)
    .struct(5, (page) => page.int(1, rows).int(2, PLAIN).int(3, RLE).int(4, RLE))
    .end()
}

function footerOf(groups: readonly Group[], fields: readonly string[]): Uint8Array {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0)
  const schema = [
    (element: Thrift) => element.text(4, 'bars').int(5, fields.length),
    ...fields.map((field) => (element: Thrift) => {
      element
        .int(1, field === 'time' ? INT64 : DOUBLE)
        .int(3, REQUIRED)
        .text(4, field)
      if (field !== 'time') return element
      // A timestamp: an instant, in milliseconds.
      return element
        .int(6, TIMESTAMP_MILLIS)
        .struct(10, (type) =>
          type.struct(8, (stamp) => stamp.yes(1).struct(2, (unit) => unit.struct(1, (ms) => ms))),
        )
    }),
  ]
  return new Thrift()
    .int(1, 1)
    .structs(2, schema)
    .long(3, rows)
    .structs(
      4,
      groups.map((group) => (element: Thrift) => rowGroup(element, group, fields)),
    )
    .text(6, 'Chartroom')
    .end()
}

function rowGroup(group: Thrift, { rows, chunks }: Group, fields: readonly string[]): Thrift {
  return group
    .structs(
      1,
      chunks.map((chunk, i) => (column: Thrift) => columnChunk(column, chunk, fields[i] ?? '', rows)),
    )
    .long(
      2,
      chunks.reduce((sum, { unpacked }) => sum + unpacked, 0),
    )
    .long(3, rows)
}

function columnChunk(
  column: Thrift,
  { offset, packed, unpacked }: Chunk,
  name: string,
  rows: number,
): Thrift {
  return column.long(2, offset).struct(3, (meta) =>
    meta
      .int(1, name === 'time' ? INT64 : DOUBLE)
      .ints(2, [PLAIN, RLE])
      .texts(3, [name])
      .int(4, ZSTD)
      .long(5, rows)
      .long(6, unpacked)
      .long(7, packed)
      .long(9, offset),
  )
}

type Fill = (thrift: Thrift) => Thrift

/** A struct in Thrift's compact protocol; fields are added in the order of their numbers. */
class Thrift {
  readonly #bytes: number[] = []
  #last = 0

  yes(field: number): this {
    return this.#field(field, 1)
  }

  int(field: number, value: number): this {
    this.#field(field, 5)
    return this.#signed(value)
  }

  long(field: number, value: number): this {
    this.#field(field, 6)
    return this.#signed(value)
  }

  text(field: number, value: string): this {
    this.#field(field, 8)
    return this.#text(value)
  }

  struct(field: number, fill: Fill): this {
    this.#field(field, 12)
    return this.#append(fill(new Thrift()))
  }

  structs(field: number, fills: readonly Fill[]): this {
    this.#list(field, fills.length, 12)
    for (const fill of fills) this.#append(fill(new Thrift()))
    return this
  }

  ints(field: number, values: readonly number[]): this {
    this.#list(field, values.length, 5)
    for (const value of values) this.#signed(value)
    return this
  }

  texts(field: number, values: readonly string[]): this {
    this.#list(field, values.length, 8)
    for (const value of values) this.#text(value)
    return this
  }

  end(): Uint8Array {
    return Uint8Array.from([...this.#bytes, 0])
  }

  #append(inner: Thrift): this {
    for (const byte of inner.end()) this.#bytes.push(byte)
    return this
  }

  #field(field: number, type: number): this {
    this.#bytes.push(((field - this.#last) << 4) | type)
    this.#last = field
    return this
  }

  #list(field: number, length: number, type: number): void {
    this.#field(field, 9)
    if (length < 15) this.#bytes.push((length << 4) | type)
    else {
      this.#bytes.push(0xf0 | type)
      this.#varint(length)
    }
  }

  #text(value: string): this {
    const bytes = new TextEncoder().encode(value)
    this.#varint(bytes.length)
    for (const byte of bytes) this.#bytes.push(byte)
    return this
  }

  /** Zigzag: small numbers of either sign are short. */
  #signed(value: number): this {
    return this.#varint(value < 0 ? -2 * value - 1 : 2 * value)
  }

  #varint(value: number): this {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) | 128)
    this.#bytes.push(rest)
    return this
  }
}
