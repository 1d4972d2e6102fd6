// PNG: pictures that we draw are written, and those that users send are taken apart and put together again.
//
// What a client calls a picture may be anything, and a real PNG may carry a text, a place or a second file behind its end.
// So its chunks are read, checked by their sums, and only those that make the picture are kept. PNG specification, third
// edition, 5 and 11.

import { promisify } from 'node:util'
import type { ZlibOptions } from 'node:zlib'

/** With `info` the answer also says how many bytes were read, as Node.js documents and its types do not. */
type Inflated = (
  packed: Uint8Array,
  options: ZlibOptions & { readonly info: true },
) => Promise<{ readonly buffer: Uint8Array; readonly engine: { readonly bytesWritten: number } }>

/** Loaded with the first picture. */
const inflated: Inflated = (packed, options) =>
  (promisify(process.getBuiltinModule('node:zlib').inflate) as unknown as Inflated)(packed, options)
const { crc32 } = Bun.hash

const SIGNATURE = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])
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
  // PNG knows one way of packing and one of filtering.
  if (facts.getUint8(10) !== 0 || facts.getUint8(11) !== 0) return 'is a PNG that is damaged'
  if (depth !== 8 || samples === undefined || interlace !== 0)
    return 'must have eight bits a colour, no palette and no interlacing, as browsers make them'
  if (width === 0 || height === 0) return 'has no pixels'
  if (width > widest || height > highest)
    return `is ${width} × ${height} pixels; at most ${widest} × ${highest} are shown`
  const packed = Buffer.concat(chunks.filter(({ name }) => name === 'IDAT').map(({ data }) => data))
  // A line is its filter's number, then its pixels.
  const expected = height * (1 + width * samples)
  const pixels = await inflated(packed, { maxOutputLength: expected, info: true }).catch(() => null)
  if (pixels?.buffer.length !== expected) return 'is a PNG that is damaged'
  // The file is written again: in the one that came, a second head or bytes behind the pixels would go unseen.
  return joined(head.data, packed.subarray(0, pixels.engine.bytesWritten))
}

/** `lines`, packed: each line of the picture behind the number of its filter. */
export function pngOf(
  { width, height, alpha }: PngLimits & { readonly alpha: boolean },
  lines: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, alpha ? 6 : 2, 0, 0, 0], 8)
  return joined(head, lines)
}

/** `pixels` are numbers of the palette, line by line; its colors are 0xRRGGBB, at most 256. */
export function palettePng(
  { width, height }: PngLimits,
  palette: readonly number[],
  pixels: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const lines = new Uint8Array(height * (1 + width))
  for (let y = 0; y < height; y++) lines.set(pixels.subarray(y * width, (y + 1) * width), y * (1 + width) + 1)
  const colors = Uint8Array.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))
  return joined(head, process.getBuiltinModule('node:zlib').deflateSync(lines), colors)
}

const joined = (head: Uint8Array, lines: Uint8Array, palette?: Uint8Array): Uint8Array<ArrayBuffer> =>
  Buffer.concat([
    SIGNATURE,
    framed({ name: 'IHDR', data: head }),
    ...(palette ? [framed({ name: 'PLTE', data: palette })] : []),
    framed({ name: 'IDAT', data: lines }),
    framed({ name: 'IEND', data: new Uint8Array() }),
  ])

interface Chunk {
  readonly name: string
  readonly data: Uint8Array
}

function framed({ name, data }: Chunk): Uint8Array {
  const whole = Buffer.alloc(FRAME_BYTES + data.length)
  whole.writeUInt32BE(data.length, 0)
  whole.write(name, 4, 'latin1')
  whole.set(data, 8)
  whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.length - 4)
  return whole
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
    chunks.push({ name, data: named.subarray(4) })
    if (name === 'IEND') return chunks
    at = end
  }
  return null
}
