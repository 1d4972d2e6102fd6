// Programs of macOS with a signature of their own bytes.
//
// macOS ends a program whose pages are not those that its signature names. Bun signs what it makes for arm64, but leaves for x64
// the signature of Bun itself, which knows nothing of what was added. So that one is signed here as a linker does: by a
// `CodeDirectory` of the hashes of all pages, without anybody's name (ad hoc). The forms are those of Apple's <kern/cs_blobs.h>
// and <mach-o/loader.h>.

import { assert } from '../lib/assert.ts'

const MACHO_64 = 0xfeed_facf
const LC_SEGMENT_64 = 0x19
const LC_CODE_SIGNATURE = 0x1d
const HEADER = 32
/** Fields of a segment's command. */
const NAME = 8
const MEMORY_SIZE = 32
const FILE_OFFSET = 40
const FILE_SIZE = 48
/** Of the signature, and of memory on x64. */
const PAGE = 0x1000
const HASH = 32
/** `CS_ADHOC | CS_LINKER_SIGNED` */
const FLAGS = 0x2_0002
const SUPER_BLOB = 20
const DIRECTORY = 88

interface Commands {
  readonly signature: number
  readonly linkEdit: number
  readonly text: number
}

/** The same program, signed; files of other systems as they are. `identifier` is what the signature calls it. */
export function signedAdHoc(file: Uint8Array, identifier: string): Uint8Array {
  if (file.length < HEADER || new DataView(file.buffer, file.byteOffset).getUint32(0, true) !== MACHO_64)
    return file
  const { signature, linkEdit, text } = commandsOf(file)
  const given = new DataView(file.buffer, file.byteOffset)
  const limit = given.getUint32(signature + 8, true)
  assert(
    limit + given.getUint32(signature + 12, true) === file.length,
    'the signature is the end of the file',
  )
  const pages = Math.ceil(limit / PAGE)
  const size = SUPER_BLOB + DIRECTORY + identifier.length + 1 + pages * HASH
  const made = new Uint8Array(limit + size)
  made.set(file.subarray(0, limit))
  const view = new DataView(made.buffer)
  const number = (at: number) => Number(view.getBigUint64(at, true))
  view.setUint32(signature + 12, size, true)
  const linked = limit + size - number(linkEdit + FILE_OFFSET)
  view.setBigUint64(linkEdit + FILE_SIZE, BigInt(linked), true)
  view.setBigUint64(linkEdit + MEMORY_SIZE, BigInt(Math.ceil(linked / PAGE) * PAGE), true)
  const words = (at: number, ...values: readonly number[]) => {
    for (const [i, value] of values.entries()) view.setUint32(at + 4 * i, value)
  }
  words(limit, 0xfade_0cc0, size, 1, 0, SUPER_BLOB)
  const at = limit + SUPER_BLOB
  const hashes = DIRECTORY + identifier.length + 1
  words(at, 0xfade_0c02, size - SUPER_BLOB, 0x2_0400, FLAGS, hashes, DIRECTORY, 0, pages, limit)
  // Bytes of a hash, SHA-256, no platform, a page of 2^12.
  made.set([HASH, 2, 0, 12], at + 36)
  view.setBigUint64(at + 64, BigInt(number(text + FILE_OFFSET)))
  view.setBigUint64(at + 72, BigInt(number(text + FILE_SIZE)))
  // A program, not a library.
  view.setBigUint64(at + 80, 1n)
  made.set(new TextEncoder().encode(identifier), at + DIRECTORY)
  for (let page = 0; page < pages; page++) {
    const hash = Bun.SHA256.hash(made.subarray(page * PAGE, Math.min((page + 1) * PAGE, limit)))
    made.set(new Uint8Array(hash.buffer), at + hashes + page * HASH)
  }
  return made
}

/** Whether the signature's hashes are those of the program's pages, all of them. */
export function isSignedWhole(file: Uint8Array): boolean {
  const { signature } = commandsOf(file)
  const view = new DataView(file.buffer, file.byteOffset)
  const limit = view.getUint32(signature + 8, true)
  const at = limit + view.getUint32(limit + 16)
  const [hashes, pages, signed] = [view.getUint32(at + 16), view.getUint32(at + 28), view.getUint32(at + 32)]
  if (signed !== limit || pages !== Math.ceil(limit / PAGE)) return false
  for (let page = 0; page < pages; page++) {
    const hash = Bun.SHA256.hash(file.subarray(page * PAGE, Math.min((page + 1) * PAGE, limit)))
    const named = file.subarray(at + hashes + page * HASH, at + hashes + (page + 1) * HASH)
    if (Buffer.compare(named, new Uint8Array(hash.buffer)) !== 0) return false
  }
  return true
}

/** Where the commands stand that a signature changes or needs. */
function commandsOf(file: Uint8Array): Commands {
  const view = new DataView(file.buffer, file.byteOffset)
  const found: Partial<Record<keyof Commands, number>> = {}
  let at = HEADER
  for (let left = view.getUint32(16, true); left > 0; left--) {
    const kind = view.getUint32(at, true)
    const name = new TextDecoder().decode(file.subarray(at + NAME, at + NAME + 16))
    if (kind === LC_CODE_SIGNATURE) found.signature = at
    if (kind === LC_SEGMENT_64 && name.startsWith('__LINKEDIT\0')) found.linkEdit = at
    if (kind === LC_SEGMENT_64 && name.startsWith('__TEXT\0')) found.text = at
    at += view.getUint32(at + 4, true)
  }
  const { signature, linkEdit, text } = found
  assert(signature && linkEdit && text, 'a program of macOS that is signed')
  return { signature, linkEdit, text }
}
