// Takes files out of what they are packed in: zip, gzip, zstd.
//
// All is read as it arrives, in bounded memory, and nothing is written to a disk: a name in an archive is only a name, so
// `../../etc/passwd` is as good as any other. What is packed so tightly that it is no data (a bomb) is given up on, and an
// archive that breaks off, that is encrypted, or whose check sums do not agree is refused: half a file is not a file.

import { Problem } from '../../lib/problem.ts'
import { ZstdFrames } from './zstd-frames.ts'

/** A file of rows, wherever it came from. */
export interface NamedFile {
  /** As the archive or the folder names it; '' if nobody said. */
  readonly name: string
  readonly bytes: AsyncIterable<Uint8Array>
  /** What it was packed in, outermost first. */
  readonly packing: readonly Packing[]
  /** Any part of it, if it lies on a disk as it is. */
  readonly slices?: ByteSlices
}

export interface ByteSlices {
  readonly size: number
  /** `to` is exclusive; the end of the file if it is missing. */
  readonly slice: (from: number, to?: number) => Promise<ArrayBuffer>
}

export const PACKINGS = ['zip', 'gzip', 'zstd'] as const
export type Packing = (typeof PACKINGS)[number]

/** Real data shrinks to a tenth or a twentieth; deflate of nothing but zeros to a thousandth. */
const RATIO_MAX = 200
const RATIO_FROM_BYTES = 16 << 20
/** More than anybody's history of trades. */
export const UNPACKED_MAX = 64 * 2 ** 30
const ENTRIES_MAX = 20_000
/** What is packed so small is unpacked in one go: more than some MB that is, it is packed too tightly. */
const AT_ONCE_BYTES = RATIO_FROM_BYTES / RATIO_MAX / 2
const NAME_MAX = 4096

/** All files in `file`; itself if it is not packed. `isPart`: only its beginning is there, which is no mistake. */
export async function* unpacked(
  { name, bytes, packing, slices }: NamedFile,
  { isPart = false }: { readonly isPart?: boolean } = {},
): AsyncGenerator<NamedFile> {
  const input = new ByteQueue(bytes)
  await input.have(4)
  const kind = packingOf(input.peek(4))
  if (kind === null) yield { name, bytes: input.rest(), packing, ...(slices && { slices }) }
  else if (packing.length === 2 || (packing.includes('zip') && kind === 'zip')) throw nested()
  else if (kind === 'zip') yield* zipEntries(input, [...packing, kind], isPart)
  else
    yield* unpacked(
      {
        name: name.replace(/\.(?:gz|gzip|zst|zstd)$/i, ''),
        bytes: inflated(input.rest(), kind, isPart),
        packing: [...packing, kind],
      },
      { isPart },
    )
}

/** By the first bytes, whatever the file is called. */
function packingOf([a, b, c, d]: Uint8Array): Packing | null {
  if (a === 0x50 && b === 0x4b && ((c === 3 && d === 4) || (c === 5 && d === 6))) return 'zip'
  if (a === 0x1f && b === 0x8b) return 'gzip'
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd ? 'zstd' : null
}

const damaged = (what: string) => new Problem(422, 'validation_failed', `Nothing was imported: ${what}.`)
const nested = () => damaged('there is an archive within an archive; unpack the outer one')
const brokenOff = () => damaged('the archive breaks off before its end; copy or download it again')
function unreadable(error: unknown): Problem {
  if (isBreak(error)) return brokenOff()
  return codeOf(error).endsWith('windowTooLarge')
    ? damaged('zstd needs more than 128 MB of memory for this file; pack it again without --long')
    : damaged('the compressed data is damaged; copy or download it again')
}
const bomb = () =>
  damaged(`what is packed is more than ${RATIO_MAX} times as large as the archive, which no file of bars is`)

/** Bytes that arrive in chunks of any size, taken in the sizes that are needed. */
class ByteQueue {
  readonly #source: AsyncIterator<Uint8Array>
  #chunk = new Uint8Array()
  /** How many bytes were taken. */
  taken = 0

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Waits for `length` bytes; answers whether there are so many. */
  async have(length: number): Promise<boolean> {
    if (this.#chunk.length >= length) return true
    const parts = [this.#chunk]
    let size = this.#chunk.length
    while (size < length) {
      const { done, value } = await this.#source.next()
      if (done) break
      parts.push(value as Uint8Array<ArrayBuffer>)
      size += value.length
    }
    this.#chunk = new Uint8Array(Buffer.concat(parts))
    return size >= length
  }

  /** The next bytes, which stay; fewer if there are no more. `have` was asked for them. */
  peek(length: number): Uint8Array {
    return this.#chunk.subarray(0, length)
  }

  take(length: number): Uint8Array {
    const taken = this.#chunk.subarray(0, length)
    this.#chunk = this.#chunk.subarray(length)
    this.taken += taken.length
    return taken
  }

  /** Some bytes, at most `length`; null at the end. */
  async some(length: number): Promise<Uint8Array | null> {
    if (this.#chunk.length === 0 && !(await this.have(1))) return null
    return this.take(Math.min(length, this.#chunk.length))
  }

  /** Puts back what was taken last. */
  untake(bytes: Uint8Array): void {
    this.#chunk = new Uint8Array(Buffer.concat([bytes, this.#chunk]))
    this.taken -= bytes.length
  }

  async *rest(): AsyncGenerator<Uint8Array> {
    try {
      for (let bytes = await this.some(1 << 20); bytes !== null; bytes = await this.some(1 << 20)) yield bytes
    } finally {
      await this.#source.return?.()
    }
  }
}

/** What one stream of compressed bytes holds. */
async function* inflated(
  input: AsyncIterable<Uint8Array>,
  kind: 'gzip' | 'zstd' | 'deflate',
  isPart: boolean,
  end: (consumed: number) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const inflate = await decompressor(kind)
  const state = { fed: 0, isEnded: false, failure: null as unknown }
  inflate.once('end', () => (state.isEnded = true))
  const frames = kind === 'zstd' ? new ZstdFrames() : null
  const feeding = feed()
  let size = 0
  try {
    for await (const chunk of inflate as AsyncIterable<Uint8Array>) {
      size += chunk.length
      if (size > UNPACKED_MAX || (size > RATIO_FROM_BYTES && size > state.fed * RATIO_MAX)) throw bomb()
      yield chunk
    }
    await feeding
    if (frames && !frames.isWhole && !isPart) throw brokenOff()
    end(inflate.bytesWritten)
  } catch (error) {
    // What went wrong where the bytes come from is told as it was.
    if (state.failure !== null) throw state.failure
    if (error instanceof Problem) throw error
    if (isPart && isBreak(error)) return
    throw unreadable(error)
  } finally {
    inflate.destroy()
  }

  async function feed(): Promise<void> {
    try {
      for await (const chunk of input) {
        if (state.isEnded || inflate.destroyed) return
        state.fed += chunk.length
        frames?.pass(chunk)
        if (!inflate.write(chunk)) await writable(inflate)
      }
      if (!state.isEnded && !inflate.destroyed) inflate.end()
    } catch (error) {
      state.failure = error
      inflate.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/**
 * What a small piece of deflate holds, without a thread of its own: to wait for one twice is most of the time that an archive
 * of thousands of files takes.
 */
async function* inflatedAtOnce(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const packed = Buffer.concat(await Array.fromAsync(input))
  const { inflateRawSync } = await import('node:zlib')
  try {
    yield new Uint8Array(inflateRawSync(packed, { maxOutputLength: RATIO_FROM_BYTES }))
  } catch (error) {
    throw codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? bomb() : unreadable(error)
  }
}

async function decompressor(kind: 'gzip' | 'zstd' | 'deflate') {
  // Few servers are ever given an archive.
  const zlib = await import('node:zlib')
  // What reads the pieces gives others a turn after each: with the usual 16 KiB most of the time went there.
  const options = { chunkSize: 64 << 10 }
  if (kind === 'gzip') return zlib.createGunzip(options)
  return kind === 'zstd' ? zlib.createZstdDecompress(options) : zlib.createInflateRaw(options)
}

/** Resolves when the stream takes more, or never will. */
function writable(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of ['drain', 'end', 'error', 'close']) stream.off(event, done)
      resolve()
    }
    for (const event of ['drain', 'end', 'error', 'close']) stream.on(event, done)
  })
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

function isBreak(error: unknown): boolean {
  const text = error instanceof Error ? `${codeOf(error)} ${error.message}` : ''
  return /Z_BUF_ERROR|unexpected end|incomplete|premature/i.test(text)
}

const LOCAL_HEADER = 0x04034b50
const DESCRIPTOR = 0x08074b50
/** What follows the last entry: the central directory, its end, or its end of 64 bits. */
const AFTER_ENTRIES = [0x02014b50, 0x06054b50, 0x06064b50, 0x08064b50]
const END_OF_DIRECTORY = [0x50, 0x4b, 5, 6]
const STORED = 0
const DEFLATED = 8
const ZSTANDARD = 93
const MAX_32 = 0xffffffff

interface Entry {
  readonly name: string
  readonly method: number
  readonly crc: number
  readonly packed: number
  /** Sizes and check sum follow the data. */
  readonly isOpenEnded: boolean
  readonly isLarge: boolean
}

/** The files of an archive in the order in which they stand, by their own headers: the directory comes last. */
async function* zipEntries(
  input: ByteQueue,
  packing: readonly Packing[],
  isPart: boolean,
): AsyncGenerator<NamedFile> {
  for (let count = 0; ; count++) {
    if (count > ENTRIES_MAX)
      throw damaged(
        `the archive has more than ${ENTRIES_MAX.toLocaleString('en')} files; pack fewer into one, and import them one after the other`,
      )
    const entry = await entryAt(input, isPart)
    if (!entry) return
    const content = entryBytes(input, entry, isPart)
    if (isWanted(entry.name)) yield* unpacked({ name: entry.name, bytes: content, packing }, { isPart })
    // What nobody read has to be passed over.
    for await (const bytes of content) void bytes
  }
}

/** Folders, and what macOS and Windows leave in archives, are no data; nor is a file of check sums. */
export function isWanted(name: string): boolean {
  const parts = name.split('/')
  return (
    !name.endsWith('/') &&
    !parts.includes('__MACOSX') &&
    !/^(?:\.|desktop\.ini$|thumbs\.db$)/i.test(parts.at(-1) ?? '') &&
    !/\.(?:checksum|sha256|md5|pdf|md|html?)$/i.test(name) &&
    !/^(?:readme|licen[cs]e)(?:\.txt)?$/i.test(parts.at(-1) ?? '')
  )
}

async function entryAt(input: ByteQueue, isPart: boolean): Promise<Entry | null> {
  if (!(await input.have(4))) {
    if (isPart) return null
    throw brokenOff()
  }
  const signature = view(input.peek(4)).getUint32(0, true)
  if (AFTER_ENTRIES.includes(signature)) {
    await toEnd(input, isPart)
    return null
  }
  if (signature !== LOCAL_HEADER) throw damaged('the zip archive is damaged')
  if (!(await input.have(30))) {
    if (isPart) return null
    throw brokenOff()
  }
  const head = view(input.take(30))
  const flags = head.getUint16(6, true)
  if ((flags & 1) !== 0) throw damaged('the zip archive is encrypted; unpack it first')
  const lengths = [head.getUint16(26, true), head.getUint16(28, true)] as const
  if (lengths[0] > NAME_MAX) throw damaged('the zip archive is damaged')
  if (!(await input.have(lengths[0] + lengths[1]))) {
    if (isPart) return null
    throw brokenOff()
  }
  const name = nameOf(input.take(lengths[0]), (flags & 0x800) !== 0)
  const extra = input.take(lengths[1])
  const packed = head.getUint32(18, true)
  const large = packed === MAX_32 ? largeSizeOf(extra) : null
  return {
    name,
    method: head.getUint16(8, true),
    crc: head.getUint32(14, true),
    packed: large ?? packed,
    isOpenEnded: (flags & 8) !== 0,
    isLarge: large !== null || hasLarge(extra),
  }
}

/** Names are UTF-8 if a flag says so; Windows in Russia leaves the flag out and writes code page 866. */
function nameOf(bytes: Uint8Array, isUtf8: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).normalize()
  } catch {
    return new TextDecoder(isUtf8 ? 'utf-8' : 'ibm866').decode(bytes)
  }
}

/** The packed size in the extra field of 64 bits; null if there is none. */
function largeSizeOf(extra: Uint8Array): number | null {
  const at = largeAt(extra)
  if (at < 0 || at + 20 > extra.length) return null
  return Number(view(extra).getBigUint64(at + 12, true))
}

function hasLarge(extra: Uint8Array): boolean {
  return largeAt(extra) >= 0
}

function largeAt(extra: Uint8Array): number {
  const fields = view(extra)
  for (let at = 0; at + 4 <= extra.length; at += 4 + fields.getUint16(at + 2, true))
    if (fields.getUint16(at, true) === 1) return at
  return -1
}

/** The content of an entry, checked against its sum. May be read to its end more than once, which gives nothing more. */
function entryBytes(input: ByteQueue, entry: Entry, isPart: boolean): AsyncGenerator<Uint8Array> {
  return checked()

  async function* checked(): AsyncGenerator<Uint8Array> {
    let crc = 0
    for await (const bytes of content()) {
      crc = Bun.hash.crc32(bytes, crc)
      yield bytes
    }
    const expected = entry.isOpenEnded ? await descriptorOf(input, entry, isPart) : entry.crc
    // The archive says the sum of the whole, so a part cannot be compared.
    if (!isPart && expected !== null && expected !== crc)
      throw damaged(`the check sum of ${shown(entry.name)} in the archive does not agree`)
  }

  function content(): AsyncGenerator<Uint8Array> {
    const { method, packed, isOpenEnded } = entry
    if (method !== STORED && method !== DEFLATED && method !== ZSTANDARD)
      throw damaged(`${shown(entry.name)} is packed by method ${method}; expected deflate, zstd or none`)
    if (isOpenEnded && method !== DEFLATED)
      throw damaged(`the archive does not say where ${shown(entry.name)} ends; pack it again`)
    if (method === STORED) return upTo(input, packed, isPart)
    if (method === DEFLATED && !isOpenEnded && !isPart && packed <= AT_ONCE_BYTES)
      return inflatedAtOnce(upTo(input, packed, isPart))
    if (!isOpenEnded)
      return inflated(upTo(input, packed, isPart), method === DEFLATED ? 'deflate' : 'zstd', isPart)
    const tail = new Tail()
    return inflated(tail.of(input), 'deflate', isPart, (consumed) => input.untake(tail.behind(consumed)))
  }
}

const TAIL_BYTES = 512 << 10

/** Remembers the last bytes that were taken: of data that says itself where it ends, some may lie behind the end. */
class Tail {
  readonly #chunks: Uint8Array[] = []
  #taken = 0
  #kept = 0

  async *of(input: ByteQueue): AsyncGenerator<Uint8Array> {
    for (let bytes = await input.some(64 << 10); bytes !== null; bytes = await input.some(64 << 10)) {
      this.#taken += bytes.length
      this.#kept += bytes.length
      this.#chunks.push(bytes)
      // The inflater holds less than this back before it takes more.
      while (this.#kept - (this.#chunks[0]?.length ?? 0) > TAIL_BYTES)
        this.#kept -= this.#chunks.shift()?.length ?? 0
      yield bytes
    }
  }

  /** What was taken behind the first `consumed` bytes. */
  behind(consumed: number): Uint8Array {
    const kept = Buffer.concat(this.#chunks)
    return new Uint8Array(kept.subarray(kept.length - (this.#taken - consumed)))
  }
}

async function* upTo(input: ByteQueue, length: number, isPart: boolean): AsyncGenerator<Uint8Array> {
  for (let left = length; left > 0;) {
    const bytes = await input.some(Math.min(left, 1 << 20))
    if (!bytes) {
      if (isPart) return
      throw brokenOff()
    }
    left -= bytes.length
    yield bytes
  }
}

async function descriptorOf(input: ByteQueue, { isLarge }: Entry, isPart: boolean): Promise<number | null> {
  if (!(await input.have(16))) {
    if (isPart) return null
    throw brokenOff()
  }
  const isSigned = view(input.peek(4)).getUint32(0, true) === DESCRIPTOR
  const length = (isSigned ? 4 : 0) + 4 + (isLarge ? 16 : 8)
  if (!(await input.have(length))) throw brokenOff()
  return view(input.take(length)).getUint32(isSigned ? 4 : 0, true)
}

/** Reads on to the end of the directory: without it, the archive was cut. */
async function toEnd(input: ByteQueue, isPart: boolean): Promise<void> {
  let tail = new Uint8Array()
  for (let bytes = await input.some(1 << 20); bytes !== null; bytes = await input.some(1 << 20))
    tail = new Uint8Array(Buffer.concat([tail, bytes]).subarray(-70_000))
  if (isPart) return
  const end = Buffer.from(tail).lastIndexOf(Buffer.from(END_OF_DIRECTORY))
  const isWhole =
    end >= 0 && end + 22 <= tail.length && end + 22 + view(tail).getUint16(end + 20, true) <= tail.length
  if (!isWhole) throw brokenOff()
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The last part of a name, short enough for a message. */
function shown(name: string): string {
  return (name.split('/').at(-1) ?? '').slice(0, 100)
}
