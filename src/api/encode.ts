// Answers made smaller on their way: zstd, Brotli or gzip, as the client takes them.
//
// All of it happens in the threads of zlib, at the levels that cost least: the wire is hardly ever so slow that a better one
// pays. JSON of numbers comes down to a third at 300 MB a second.

import { Readable, pipeline } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib'

/** Shorter answers fit into a few packets anyway. */
export const ENCODED_BYTES = 16 * 1024

/** The one that is best at its speed first. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** What the client likes best of those we have; null = the answer as it is. */
export function encodingFor({ headers }: Request): Encoding | null {
  const likes = new Map<string, number>()
  for (const part of (headers.get('accept-encoding') ?? '').toLowerCase().split(',')) {
    const [name = '', quality = 'q=1'] = part.split(';').map((one) => one.trim())
    const weight = /^q=([01](?:\.\d{0,3})?)$/.exec(quality)?.[1]
    likes.set(name, Number(weight ?? 0))
  }
  const liked = (name: string) => likes.get(name) ?? likes.get('*') ?? 0
  const [best] = ENCODINGS.toSorted((a, b) => liked(b) - liked(a))
  if (best === undefined || liked(best) === 0) return null
  // Without compression is what everybody takes, but some say that they would rather have that.
  return liked(best) >= (likes.get('identity') ?? 0) ? best : null
}

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const GZIP = { level: 1 }

/** Whole, and piece by piece. */
const PACKERS = {
  zstd: {
    whole: (bytes: Uint8Array) => promisify(zstdCompress)(bytes, ZSTD),
    pieces: () => createZstdCompress(ZSTD),
  },
  br: {
    whole: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, BROTLI),
    pieces: () => createBrotliCompress(BROTLI),
  },
  gzip: {
    whole: (bytes: Uint8Array) => promisify(gzip)(bytes, GZIP),
    pieces: () => createGzip(GZIP),
  },
} as const satisfies Record<Encoding, object>

export function encoded(encoding: Encoding, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return PACKERS[encoding].whole(bytes)
}

/** Made smaller piece by piece, as the client takes it. */
export function encodedStream(
  encoding: Encoding,
  stream: ReadableStream<Uint8Array>,
): ReadableStream<Uint8Array> {
  const packer = PACKERS[encoding].pieces()
  // A client that goes away ends all of it; there is nobody to tell.
  pipeline(Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]), packer, () => undefined)
  return Readable.toWeb(packer)
}
