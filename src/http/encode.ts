// Compresses answers on their way with zstd, Brotli or gzip, whichever the client accepts.
//
// The threads of zlib do all of it, at the levels that cost least: the network is hardly ever so slow that a better level
// pays. JSON of numbers shrinks to a third, at 300 MB a second.

import { promisify } from 'node:util'
import { memo } from '../lib/memo.ts'
import { turn } from '../lib/turn.ts'
import { free, type Chunk } from './chunks.ts'

/** A shorter answer fits into a few packets anyway. */
export const ENCODED_BYTES = 16 * 1024

/** In the order of our preference, which is compression at equal speed. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** The encoding that the client likes best among ours; null = send the answer uncompressed. */
export function encodingFor({ headers }: Request): Encoding | null {
  const chosen = chosenOf(headers.get('accept-encoding') ?? '')
  return chosen === 'identity' ? null : chosen
}

/** Clients send few different headers: how many have their choice remembered. */
const HEADERS_MAX = 100

const chosenOf = memo(HEADERS_MAX, (accepted): Encoding | 'identity' => {
  const likes = new Map<string, number>()
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', quality = 'q=1'] = part.split(';').map((one) => one.trim())
    const weight = /^q=([01](?:\.\d{0,3})?)$/.exec(quality)?.[1]
    likes.set(name, Number(weight ?? 0))
  }
  const liked = (name: string) => likes.get(name) ?? likes.get('*') ?? 0
  const [best] = ENCODINGS.toSorted((a, b) => liked(b) - liked(a))
  if (best === undefined || liked(best) === 0) return 'identity'
  // Everybody accepts an uncompressed answer, but some clients state that they prefer it.
  return liked(best) >= (likes.get('identity') ?? 0) ? best : 'identity'
})

/** Loaded with the first answer that is compressed. */
const zlib = () => process.getBuiltinModule('node:zlib')

const brotli = () => ({ params: { [zlib().constants.BROTLI_PARAM_QUALITY]: 3 } })
const zstd = () => ({ params: { [zlib().constants.ZSTD_c_compressionLevel]: 1 } })
const GZIP = { level: 1 }

/** Functions that compress a whole text, and streams that compress piece by piece. */
const PACKERS = {
  zstd: {
    whole: (bytes: Uint8Array) => promisify(zlib().zstdCompress)(bytes, zstd()),
    pieces: () => zlib().createZstdCompress(zstd()),
  },
  br: {
    whole: (bytes: Uint8Array) => promisify(zlib().brotliCompress)(bytes, brotli()),
    pieces: () => zlib().createBrotliCompress(brotli()),
  },
  gzip: {
    whole: (bytes: Uint8Array) => promisify(zlib().gzip)(bytes, GZIP),
    pieces: () => zlib().createGzip(GZIP),
  },
} as const satisfies Record<Encoding, object>

export function encoded(encoding: Encoding, bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return PACKERS[encoding].whole(bytes)
}

/** Compresses chunk by chunk, as fast as the client takes it. */
export function encodedStream(encoding: Encoding, chunks: AsyncGenerator<Chunk>): ReadableStream<Uint8Array> {
  const packer = PACKERS[encoding].pieces()
  const { Readable, pipeline } = process.getBuiltinModule('node:stream')
  // If the client goes away the whole pipeline ends, and there is nobody to tell.
  pipeline(contentOf(chunks, packer.writableHighWaterMark), packer, () => undefined)
  return Readable.toWeb(packer)
}

/** A stream holds at most `most` bytes back, so a longer chunk has been compressed when the stream asks for the next one. */
async function* contentOf(chunks: AsyncGenerator<Chunk>, most: number): AsyncGenerator<string | Uint8Array> {
  for await (const { content, frees } of chunks) {
    await turn()
    yield content
    if (content.length >= most) free(frees)
  }
}
