// Bars as bytes: a chunk of up to 4,096 bars, column after column.
//
// Prices are decimals with few digits, so a column is stored as 32-bit integers if that loses nothing: each value times a
// power of ten, minus the smallest. Encoding decodes every value again; a column that does not come back bit for bit (or
// spans more than 32 bits) is stored as plain Float64. This takes half the bytes of plain columns (see
// `tests/store/bar-chunks.bench.ts`); compressing the result would make reading three to five times slower.
//
//     0  uint32  number of bars
//     4  uint32  checksum of all that follows, begun with that number; 0 in those of earlier versions, which have none
//     8  6 × (float64 base, int32 exponent, int32 0)     exponent 127 = plain Float64
//   104  6 columns, each aligned to 8 bytes
//
// Behind them is, if of any bar it is known what was bought, that column in the same way, 16 bytes that tell how it is packed and
// the values. Earlier versions read the six and stop.

import { BAR_FIELDS, type Bars, emptyBars, knowsSides, sliceBars, withSides } from '../market/bars.ts'

export const CHUNK_BARS = 4096
/** How a column is packed. */
const COLUMN_BYTES = 16
const HEADER_BYTES = 8 + BAR_FIELDS.length * COLUMN_BYTES
const CHECK_AT = 4
const CHECKED_FROM = 8
const PLAIN = 127
/** 10^-3 comes first: times in whole seconds. Beyond eight decimals nobody quotes. */
const EXPONENTS = [0, 2, 1, 3, 4, 5, 6, 7, 8] as const
const TIME_EXPONENTS = [-3, 0] as const
const UINT32 = 0xffff_ffff

export function encodeChunk(bars: Bars): Buffer {
  const packed = BAR_FIELDS.map((field) =>
    packColumn(bars[field], field === 'time' ? TIME_EXPONENTS : EXPONENTS),
  )
  const bought = bars.bought && knowsSides(bars) ? packColumn(bars.bought, EXPONENTS) : null
  const end = packed.reduce((sum, { data }) => sum + aligned(data.byteLength), HEADER_BYTES)
  const buffer = Buffer.alloc(end + (bought ? COLUMN_BYTES + aligned(bought.data.byteLength) : 0))
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
  const put = ({ base, exponent, data }: PackedColumn, told: number, offset: number) => {
    view.setFloat64(told, base, true)
    view.setInt32(told + 8, exponent, true)
    buffer.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset)
    return offset + aligned(data.byteLength)
  }
  view.setUint32(0, bars.length, true)
  let offset = HEADER_BYTES
  for (const [i, column] of packed.entries()) offset = put(column, 8 + i * COLUMN_BYTES, offset)
  if (bought) put(bought, end, end + COLUMN_BYTES)
  view.setUint32(CHECK_AT, checkOf(buffer, bars.length), true)
  return buffer
}

/** A chunk that is not as it was written. */
export class DamagedChunk extends Error {}

/** Never 0. */
const checkOf = (bytes: Uint8Array, length: number) =>
  Bun.hash.crc32(bytes.subarray(CHECKED_FROM), length) || 1

function assertWhole(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, CHECKED_FROM)
  const told = view.getUint32(CHECK_AT, true)
  if (told !== 0 && told !== checkOf(bytes, view.getUint32(0, true)))
    throw new DamagedChunk('a chunk of bars is not as it was written')
}

/** Any number of bars as encoded chunks, by the time of their first bar. */
export function chunksOf(bars: Bars): Map<number, Buffer> {
  const parts = new Map<number, Buffer>()
  for (let at = 0; at < bars.length; at += CHUNK_BARS) {
    const part = sliceBars(bars, at, Math.min(bars.length, at + CHUNK_BARS))
    parts.set(part.time[0] ?? 0, encodeChunk(part))
  }
  return parts
}

/** Number of bars in an encoded chunk. */
export function chunkLength(bytes: Uint8Array): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true)
  if (length > CHUNK_BARS) throw new DamagedChunk(`a chunk of ${length} bars`)
  return length
}

/**
 * Decodes into `target`, starting at bar `at`. Answers its columns, which are one more than before if it was the first chunk that
 * knows what was bought.
 */
export function decodeChunk(bytes: Uint8Array, target: Bars, at: number): Bars {
  assertWhole(bytes)
  // Typed arrays need aligned memory, which a view into another buffer may not have.
  const source = bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.from(bytes)
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  const length = view.getUint32(0, true)
  /** Answers where the values end. */
  const take = (told: number, offset: number, column: Float64Array): number => {
    const base = view.getFloat64(told, true)
    const exponent = view.getInt32(told + 8, true)
    const from = source.byteOffset + offset
    if (exponent === PLAIN) {
      column.set(new Float64Array(source.buffer, from, length), at)
      return offset + length * 8
    }
    unpack(new Uint32Array(source.buffer, from, length), base, exponent, column, at)
    return offset + aligned(length * 4)
  }
  let offset = HEADER_BYTES
  for (const [i, field] of BAR_FIELDS.entries()) offset = take(8 + i * COLUMN_BYTES, offset, target[field])
  if (source.byteLength < offset + COLUMN_BYTES) return target
  const sided = withSides(target)
  if (sided.bought) take(offset, offset + COLUMN_BYTES, sided.bought)
  return sided
}

/** The bars of chunks that follow each other. */
export function decodeAll(parts: readonly Uint8Array[]): Bars {
  let bars = emptyBars(parts.reduce((sum, part) => sum + chunkLength(part), 0))
  let offset = 0
  for (const part of parts) {
    bars = decodeChunk(part, bars, offset)
    offset += chunkLength(part)
  }
  return bars
}

interface PackedColumn {
  readonly base: number
  readonly exponent: number
  readonly data: Uint32Array | Float64Array
}

function packColumn(values: Float64Array, exponents: readonly number[]): PackedColumn {
  const data = new Uint32Array(values.length)
  for (const exponent of exponents) {
    const base = pack(values, exponent, data)
    if (base !== null) return { base, exponent, data }
  }
  return { base: 0, exponent: PLAIN, data: values }
}

/** Fills `data` and answers its base; null if the column would not come back exactly. */
function pack(values: Float64Array, exponent: number, data: Uint32Array): number | null {
  const up = exponent >= 0 ? 10 ** exponent : 1
  const down = exponent >= 0 ? 1 : 10 ** -exponent
  let base = Number.POSITIVE_INFINITY
  // An iterator over a typed array takes five times as long. A NaN is refused below, since it is not a whole number.
  for (let i = 0; i < values.length; i++) base = Math.min(base, values[i]!)
  base = Math.round((base * up) / down)
  if (!Number.isSafeInteger(base)) return null
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    const scaled = Math.round((value * up) / down)
    const difference = scaled - base
    // Object.is, because a volume of -0 would come back as 0.
    if (difference < 0 || difference > UINT32 || !Object.is(((base + difference) * down) / up, value))
      return null
    data[i] = difference
  }
  return base
}

function unpack(data: Uint32Array, base: number, exponent: number, column: Float64Array, at: number): void {
  if (exponent < 0) {
    const down = 10 ** -exponent
    for (let i = 0; i < data.length; i++) column[at + i] = (base + data[i]!) * down
  } else if (exponent === 0) {
    for (let i = 0; i < data.length; i++) column[at + i] = base + data[i]!
  } else {
    // Dividing by 100 gives the number nearest to the decimal; multiplying by 0.01 does not.
    const up = 10 ** exponent
    for (let i = 0; i < data.length; i++) column[at + i] = (base + data[i]!) / up
  }
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / 8) * 8
}
