// Looks over the pages of a Parquet column before they are read.
//
// A page says itself how long it is. Where damage makes that negative, or leaves it out, the reader that we use goes round
// in circles; so every page's header is checked first (parquet-format, `PageHeader` in Thrift's compact protocol).

const TYPE = 1
const UNPACKED = 2
const PACKED = 3
/** The headers of data pages, of dictionaries, and of data pages of version 2; the first field of each counts values. */
const KINDS: Readonly<Record<number, number>> = { 0: 5, 2: 7, 3: 8 }
const PAGE_MAX = 1 << 30
const DEPTH_MAX = 8

/**
 * How long all pages are, unpacked. Throws RangeError unless the bytes are pages, one behind the other, of at most `rows`
 * values each.
 */
export function checkPages(bytes: Uint8Array, rows: number): number {
  let length = 0
  for (let at = 0; at < bytes.length;) {
    const reader = new Fields(bytes, at)
    const header = reader.struct(0)
    const [type, unpacked, packed] = [header.get(TYPE), header.get(UNPACKED), header.get(PACKED)]
    const kind = typeof type === 'number' ? header.get(KINDS[type] ?? -1) : undefined
    const values = kind instanceof Map ? kind.get(1) : undefined
    const rest = bytes.length - reader.at
    if (!isWithin(packed, rest) || !isWithin(unpacked, PAGE_MAX) || !isWithin(values, Math.max(rows, 1)))
      throw new RangeError('a page has a length that it cannot have')
    length += unpacked
    at = reader.at + packed
  }
  return length
}

function isWithin(value: Value | undefined, most: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= most
}

type Value = number | Struct
type Struct = ReadonlyMap<number, Value>

/** Whole numbers and structs of a struct; what else there is, is passed over. */
class Fields {
  readonly #bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  struct(depth: number): Struct {
    if (depth > DEPTH_MAX) throw new RangeError('structs are nested too deep')
    const found = new Map<number, Value>()
    for (let field = 0; ;) {
      const head = this.#byte()
      const type = head & 15
      if (type === 0) return found
      field = head >> 4 === 0 ? this.#signed() : field + (head >> 4)
      const value = this.#value(type, depth)
      if (value !== null) found.set(field, value)
    }
  }

  #value(type: number, depth: number): Value | null {
    if (type === 1 || type === 2) return null
    if (type === 3) return this.#byte()
    if (type === 4 || type === 5 || type === 6) return this.#signed()
    if (type === 7) return this.#skip(8)
    if (type === 8) return this.#skip(this.#varint())
    if (type === 12) return this.struct(depth + 1)
    if (type === 9 || type === 10) return this.#list(depth)
    throw new RangeError('a field has a type that there is not')
  }

  #list(depth: number): null {
    const head = this.#byte()
    const length = head >> 4 === 15 ? this.#varint() : head >> 4
    if (length > this.#bytes.length) throw new RangeError('a list is too long')
    for (let i = 0; i < length; i++) {
      // In a list, yes and no take a byte each.
      if ((head & 15) <= 2) this.#byte()
      else this.#value(head & 15, depth + 1)
    }
    return null
  }

  #skip(length: number): null {
    if (this.at + length > this.#bytes.length) throw new RangeError('a field breaks off')
    this.at += length
    return null
  }

  #byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new RangeError('a page breaks off')
    return byte
  }

  #varint(): number {
    let value = 0
    for (let power = 1; power < 2 ** 63; power *= 128) {
      const byte = this.#byte()
      value += (byte & 127) * power
      if (byte < 128) return value
    }
    throw new RangeError('a number is too long')
  }

  #signed(): number {
    const value = this.#varint()
    // Whoever asks takes none below 0, however far below it is.
    return value % 2 === 0 ? value / 2 : -1
  }
}
