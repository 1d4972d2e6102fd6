// Shared libraries of Linux without what only debuggers read.
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
