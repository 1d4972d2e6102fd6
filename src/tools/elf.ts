// Shared libraries of Linux without what only debuggers read, and executables of Bun's without zeros.
//
// An ELF file is a header, the segments that the system loads, and behind them sections for linkers and debuggers, with a
// table of all sections at the end. Nobody needs that table to load the library (System V ABI, chapters 4 and 5), so the file
// can end with its last segment.

import { assert } from '../lib/assert.ts'

const MAGIC = 0x7f45_4c46
const CLASS_64 = 2
const LITTLE_ENDIAN = 1
/** Fields of the header: where the table of segments stands, the size of an entry, how many; and the same of sections. */
const SEGMENTS_AT = 32
const SEGMENT_SIZE = 54
const SEGMENTS = 56
const SECTIONS_AT = 40
const SECTIONS = 60
const SECTION_NAMES = 62
/** Fields of a segment. */
const OFFSET = 8
const FILE_SIZE = 32

/** The same library; files of other systems as they are. */
export function withoutSymbols(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (file.length < 64 || view.getUint32(0) !== MAGIC) return file
  assert(view.getUint8(4) === CLASS_64 && view.getUint8(5) === LITTLE_ENDIAN, 'an ELF file of 64 bits')
  const [from, size, count] = [
    Number(view.getBigUint64(SEGMENTS_AT, true)),
    view.getUint16(SEGMENT_SIZE, true),
    view.getUint16(SEGMENTS, true),
  ]
  let end = from + size * count
  for (let at = from; at < from + size * count; at += size)
    end = Math.max(
      end,
      Number(view.getBigUint64(at + OFFSET, true) + view.getBigUint64(at + FILE_SIZE, true)),
    )
  assert(end <= file.length, 'an ELF file with all its segments')
  const bare = file.slice(0, end)
  const header = new DataView(bare.buffer)
  header.setBigUint64(SECTIONS_AT, 0n, true)
  header.setUint16(SECTIONS, 0, true)
  header.setUint16(SECTION_NAMES, 0, true)
  return bare
}

const PT_LOAD = 1
const PT_NOTE = 4
const SHT_NOBITS = 8
const SHF_TLS = 0x400
const VIRTUAL = 16
const PHYSICAL = 24
const MEMORY_SIZE = 40
const ALIGNMENT = 48

/**
 * The same executable of Bun's, 1.8 MB smaller; files of other systems as they are. Bun puts what it is given, the section
 * `.bun`, behind the variables that begin as zero, into the segment of all variables, and so these zeros are written into the
 * file. In a segment of its own, for which the entry of the notes makes room, `.bun` can stand where the zeros were, and the
 * system makes them, as it does for other programs.
 */
export function withoutZeros(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  if (file.length < 64 || view.getUint32(0) !== MAGIC) return file
  const number = (at: number) => Number(view.getBigUint64(at, true))
  const table = number(SEGMENTS_AT)
  const size = view.getUint16(SEGMENT_SIZE, true)
  // Copies: the slices of a Buffer are none.
  const entries = Array.from(
    { length: view.getUint16(SEGMENTS, true) },
    (_, i) => new Uint8Array(file.subarray(table + i * size, table + (i + 1) * size)),
  )
  const sections = sectionsOf(view)
  const given = sections.find(({ name }) => name === '.bun')
  assert(given !== undefined, 'an executable of Bun’s')
  const of = (entry: Uint8Array, field: number) =>
    Number(new DataView(entry.buffer).getBigUint64(field, true))
  const typeOf = (entry: Uint8Array) => new DataView(entry.buffer).getUint32(0, true)
  const holder = entries.findIndex(
    (entry) =>
      typeOf(entry) === PT_LOAD &&
      of(entry, OFFSET) <= given.offset &&
      given.offset < of(entry, OFFSET) + of(entry, FILE_SIZE),
  )
  const note = entries.findIndex((entry) => typeOf(entry) === PT_NOTE)
  const variables = entries[holder]
  assert(variables !== undefined && note > holder, 'a segment of variables, and notes behind it')
  const [from, virtual, page] = [of(variables, OFFSET), of(variables, VIRTUAL), of(variables, ALIGNMENT)]
  const zeros = sections.filter(
    ({ type, flags, address }) => type === SHT_NOBITS && !(flags & SHF_TLS) && address >= virtual,
  )
  const end = from + Math.min(...zeros.map(({ address }) => address)) - virtual
  const moved = Math.ceil(end / page) * page
  assert(given.address % page === 0 && given.offset % page === 0, '.bun begins with a page')
  assert(
    file.subarray(end, given.offset).every((byte) => byte === 0),
    'nothing but zeros before .bun',
  )
  const cut = given.offset - moved
  const set = (entry: Uint8Array, fields: Readonly<Record<number, number>>) => {
    const made = new Uint8Array(entry)
    for (const [at, value] of Object.entries(fields))
      new DataView(made.buffer).setBigUint64(Number(at), BigInt(value), true)
    return made
  }
  const rest = from + of(variables, FILE_SIZE) - given.offset
  const made = [
    ...entries.slice(0, holder),
    set(variables, { [FILE_SIZE]: moved - from, [MEMORY_SIZE]: given.address - virtual }),
    set(variables, {
      [OFFSET]: moved,
      [VIRTUAL]: given.address,
      [PHYSICAL]: given.address,
      [FILE_SIZE]: rest,
      [MEMORY_SIZE]: rest,
    }),
    ...entries.slice(holder + 1).filter((_entry, i) => i + holder + 1 !== note),
  ]
  const smaller = Buffer.concat([file.subarray(0, moved), file.subarray(given.offset)])
  for (const [i, entry] of made.entries()) smaller.set(entry, table + i * size)
  const sectionsAt = number(SECTIONS_AT) - cut
  smaller.writeBigUInt64LE(BigInt(sectionsAt), SECTIONS_AT)
  for (const [i, { offset }] of sections.entries())
    if (offset >= given.offset)
      smaller.writeBigUInt64LE(BigInt(offset - cut), sectionsAt + i * SECTION_SIZE + SECTION_OFFSET)
  return smaller
}

const SECTION_SIZE = 64
const SECTION_OFFSET = 24

function sectionsOf(view: DataView) {
  const at = Number(view.getBigUint64(SECTIONS_AT, true))
  const number = (offset: number) => Number(view.getBigUint64(offset, true))
  const heads = Array.from({ length: view.getUint16(SECTIONS, true) }, (_, i) => at + i * SECTION_SIZE)
  const names = number((heads[view.getUint16(SECTION_NAMES, true)] ?? 0) + SECTION_OFFSET)
  return heads.map((head) => {
    const from = view.byteOffset + names + view.getUint32(head, true)
    const bytes = new Uint8Array(view.buffer, from, 32)
    return {
      name: new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))),
      type: view.getUint32(head + 4, true),
      flags: number(head + 8),
      address: number(head + 16),
      offset: number(head + SECTION_OFFSET),
    }
  })
}
