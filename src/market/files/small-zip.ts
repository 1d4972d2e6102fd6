// The files of a small zip, in a browser as well: archives of scripts and lists, which are read whole. Archives of bars are
// read as they arrive (`unpack.ts`).
//
// By the directory at its end (APPNOTE 4.3.12), since the head of an entry may not say how long it is.

export interface SmallFile {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const ENTRIES_MAX = 2000
const BYTES_MAX = 64 << 20
const END = 0x06054b50
const ENTRY = 0x02014b50
const DEFLATED = 8

export const isZip = ([a, b, c, d]: Uint8Array): boolean => a === 0x50 && b === 0x4b && c === 3 && d === 4

/** Throws an Error whose sentence says what is wrong with it. Archives within it are files like any. */
export async function filesOfZip(zip: Uint8Array<ArrayBuffer>): Promise<SmallFile[]> {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength)
  const end = endOf(view)
  const count = view.getUint16(end + 10, true)
  if (count > ENTRIES_MAX)
    throw new Error(`The archive has more than ${ENTRIES_MAX} files. Make smaller ones.`)
  const files: SmallFile[] = []
  let left = BYTES_MAX
  let at = view.getUint32(end + 16, true)
  for (let i = 0; i < count; i++) {
    if (at + 46 > zip.length || view.getUint32(at, true) !== ENTRY) throw damaged()
    const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
    const [packed, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)]
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true))
    const head = view.getUint32(at + 42, true)
    const name = new TextDecoder().decode(zip.subarray(at + 46, at + 46 + nameLength!))
    at += 46 + nameLength! + extra! + comment!
    if (name.endsWith('/') || /(?:^|\/)(?:__MACOSX\/|\.)/.test(name)) continue
    if (flags & 1) throw new Error('The archive is encrypted. Unpack it first.')
    left -= size
    if (left < 0)
      throw new Error(`The archive has more than ${BYTES_MAX >> 20} MB. Unpack it, and give the files.`)
    if (head + 30 > zip.length) throw damaged()
    const from = head + 30 + view.getUint16(head + 26, true) + view.getUint16(head + 28, true)
    const raw = zip.slice(from, from + packed)
    if (raw.length < packed || (method !== 0 && method !== DEFLATED)) throw damaged()
    files.push({ name, bytes: method === 0 ? raw : await inflated(raw, size) })
  }
  return files
}

const damaged = () =>
  new Error('The archive is damaged, or of a kind that is not read. Unpack it, and give the files.')

function endOf(view: DataView): number {
  for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - 22 - 0xffff); at--)
    if (view.getUint32(at, true) === END) return at
  throw damaged()
}

/** Never more than the directory promised. */
async function inflated(raw: Uint8Array<ArrayBuffer>, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size)
  let at = 0
  try {
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
    for await (const piece of stream as unknown as AsyncIterable<Uint8Array>) {
      if (at + piece.length > size) throw damaged()
      bytes.set(piece, at)
      at += piece.length
    }
  } catch {
    throw damaged()
  }
  if (at !== size) throw damaged()
  return bytes
}
