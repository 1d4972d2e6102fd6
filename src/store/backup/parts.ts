// A part of a step as bytes: the SHA-256 of the rest, and that rest compressed: the pages, then what they are as JSON, then the
// length of that.

import { sha256 } from '../../lib/sha256.ts'
import type { Moment, Run } from './pages.ts'

const SHA_BYTES = 64
const LENGTH_BYTES = 4
/** A part holds about so many bytes of pages; a long value is never divided. */
const PART_BYTES = 4 << 20
const FIRST_BYTES = 256 << 10

interface PartFoot {
  readonly transaction: number
  readonly pageSize: number
  readonly lastPage: number
  /** Base64 of the meta page. */
  readonly meta: string
  /** Number of the first page and count of bytes, of each run. */
  readonly runs: readonly (readonly [number, number])[]
}

/**
 * Parts that are smaller keep this thread for a millisecond at most. On another one, whose memory and caches are cold, to compress
 * 200 kB takes twice as much of the processor.
 */
const SMALL_BYTES = 512 << 10

/** Collects pages in one piece of memory, which it keeps: to get 4 MB from the system takes as long as to fill them twice. */
export class PartWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #length = 0
  #runs: (readonly [number, number])[] = []

  get isFull(): boolean {
    return this.#length >= PART_BYTES
  }

  /** Drops what was added since the last part. */
  clear(): void {
    this.#length = 0
    this.#runs = []
    if (this.#bytes.length > 4 * PART_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES)
  }

  /** `read` writes the run into the memory that it is given, from a byte on. */
  add({ first, bytes }: Run, read: (target: Buffer, to: number) => void): void {
    const to = this.#room(bytes)
    read(this.#bytes, to)
    this.#runs.push([first, bytes])
  }

  /** The part, after which the next begins. */
  async finished({ transaction, pageSize, lastPage, meta }: Moment): Promise<Uint8Array> {
    const foot: PartFoot = {
      transaction,
      pageSize,
      lastPage,
      meta: meta.toString('base64'),
      runs: this.#runs,
    }
    const text = Buffer.from(JSON.stringify(foot))
    const to = this.#room(text.length + LENGTH_BYTES)
    text.copy(this.#bytes, to)
    this.#bytes.writeUInt32LE(text.length, to + text.length)
    const bytes = this.#bytes.subarray(0, this.#length)
    const packed =
      bytes.length < SMALL_BYTES
        ? Bun.zstdCompressSync(bytes, { level: 1 })
        : await Bun.zstdCompress(bytes, { level: 1 })
    this.clear()
    return Buffer.concat([Buffer.from(sha256(packed), 'latin1'), packed])
  }

  /** Where so many bytes begin, which were not used before. */
  #room(bytes: number): number {
    const at = this.#length
    if (at + bytes > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, at + bytes))
      this.#bytes.copy(larger, 0, 0, at)
      this.#bytes = larger
    }
    this.#length += bytes
    return at
  }
}

interface Part {
  readonly moment: Moment
  readonly pages: readonly { readonly first: number; readonly bytes: Buffer }[]
}

/** Throws if these are not the bytes of a part. */
export async function decodePart(bytes: Uint8Array): Promise<Part> {
  const packed = bytes.subarray(SHA_BYTES)
  const told = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(SHA_BYTES, bytes.length)).toString(
    'latin1',
  )
  if (told !== sha256(packed)) throw new Error('its checksum is wrong')
  const plain = await Bun.zstdDecompress(packed)
  const raw = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength)
  const end = raw.length - LENGTH_BYTES
  const foot = raw.toString('utf8', end - raw.readUInt32LE(end), end)
  const { meta, runs, ...moment } = JSON.parse(foot) as PartFoot
  let at = 0
  return {
    moment: { ...moment, meta: Buffer.from(meta, 'base64') },
    pages: runs.map(([first, length]) => ({ first, bytes: raw.subarray(at, (at += length)) })),
  }
}
