// Pictures that users send: a PNG that is shown to others is taken apart and put together again.
//
// What a client calls a picture may be anything, and a real PNG may carry a text, a place or a second file behind its end.
// So its chunks are read, checked by their sums, and only those that make the picture are kept. PNG specification, third
// edition, 5 and 11.

import { promisify } from 'node:util'
import { crc32, inflate } from 'node:zlib'

const inflated = promisify(inflate)

const SIGNATURE = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])
/** All that a picture of true colours needs. */
const KEPT: ReadonlySet<string> = new Set(['IHDR', 'IDAT', 'IEND'])
/** Length, name and sum of a chunk. */
const FRAME_BYTES = 12
/** Samples a pixel, by the kind of colour: red, green and blue, perhaps with an alpha. */
const SAMPLES: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

export interface PngLimits {
  readonly width: number
  readonly height: number
}

/** The bytes of the picture alone, or what is wrong with them as the end of a sentence. */
export async function cleanPng(
  bytes: Uint8Array,
  { width: widest, height: highest }: PngLimits,
): Promise<Uint8Array<ArrayBuffer> | string> {
  if (!SIGNATURE.every((byte, i) => bytes[i] === byte)) return 'is not a PNG'
  const chunks = chunksOf(bytes)
  if (!chunks) return 'is a PNG that is damaged'
  const [head] = chunks
  if (head?.name !== 'IHDR' || head.data.length !== 13) return 'is a PNG that is damaged'
  const facts = new DataView(head.data.buffer, head.data.byteOffset)
  const [width, height] = [facts.getUint32(0), facts.getUint32(4)]
  const samples = SAMPLES[facts.getUint8(9)]
  const [depth, interlace] = [facts.getUint8(8), facts.getUint8(12)]
  if (depth !== 8 || samples === undefined || interlace !== 0)
    return 'must have eight bits a colour, no palette and no interlacing, as browsers make them'
  if (width === 0 || height === 0) return 'has no pixels'
  if (width > widest || height > highest)
    return `is ${width} × ${height} pixels; at most ${widest} × ${highest} are shown`
  const kept = chunks.filter(({ name }) => KEPT.has(name))
  const packed = Buffer.concat(kept.filter(({ name }) => name === 'IDAT').map(({ data }) => data))
  // A line is its filter's number, then its pixels.
  const expected = height * (1 + width * samples)
  const pixels = await inflated(packed, { maxOutputLength: expected }).catch(() => null)
  if (pixels?.length !== expected) return 'is a PNG that is damaged'
  return Buffer.concat([SIGNATURE, ...kept.map(({ whole }) => whole)])
}

interface Chunk {
  readonly name: string
  readonly data: Uint8Array
  /** With its frame. */
  readonly whole: Uint8Array
}

/**
 * The chunks up to the one that ends the picture; null if a chunk is cut short, has a wrong checksum, or the end is
 * missing.
 */
function chunksOf(bytes: Uint8Array): readonly Chunk[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const chunks: Chunk[] = []
  for (let at = SIGNATURE.length; at + FRAME_BYTES <= bytes.length;) {
    const length = view.getUint32(at)
    const end = at + FRAME_BYTES + length
    if (end > bytes.length) return null
    const named = bytes.subarray(at + 4, end - 4)
    if (crc32(named) !== view.getUint32(end - 4)) return null
    const name = String.fromCharCode(...named.subarray(0, 4))
    chunks.push({ name, data: named.subarray(4), whole: bytes.subarray(at, end) })
    if (name === 'IEND') return chunks
    at = end
  }
  return null
}
