// What is shared by a link: script, inputs and the series, compressed behind the `#`, which browsers send to nobody.
//
//     #1.<base64url of deflate-raw of JSON>

export interface Shared {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  /** The id of a sample series, or the name of a file, which is not in the link. */
  readonly series: string
}

const VERSION = '1.'
/** Longer ones are cut by mail programs and chats; a script of 200 kB still fits. */
export const LINK_MAX = 100_000
/** What a link unpacks to: a megabyte of nothing takes a kilobyte. */
const TEXT_MAX = 1 << 20

/** Why a link could not be opened or made, as a sentence. */
export class LinkError extends Error {}

/** Throws LinkError for a script that is too long for a link. */
export async function linkOf(shared: Shared): Promise<string> {
  const bytes = await through(
    new CompressionStream('deflate-raw'),
    new TextEncoder().encode(JSON.stringify(shared)),
  )
  const text = `#${VERSION}${base64url(bytes)}`
  if (text.length > LINK_MAX)
    throw new LinkError('This script is too long for a link. Send it as a file instead.')
  return text
}

/** null without anything behind the `#`. Throws LinkError. */
export async function sharedIn(hash: string): Promise<Shared | null> {
  if (hash.length <= 1) return null
  if (hash.length > LINK_MAX)
    throw new LinkError(
      `This link is longer than the ${LINK_MAX / 1000} kB that one may have, so nothing of it was opened.`,
    )
  if (!hash.startsWith(`#${VERSION}`)) throw broken()
  try {
    const bytes = await through(
      new DecompressionStream('deflate-raw'),
      bytesOf(hash.slice(1 + VERSION.length)),
    )
    const shared = sharedOf(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
    if (shared === null) throw broken()
    return shared
  } catch (error) {
    throw error instanceof LinkError ? error : broken()
  }
}

const broken = () =>
  new LinkError('This link is broken or cut off: a script could not be read from it. Copy it again, whole.')

/** null if it is none. */
export function sharedOf(value: unknown): Shared | null {
  if (typeof value !== 'object' || value === null) return null
  const { source, inputs = {}, series = '' } = value as Readonly<Record<string, unknown>>
  if (typeof source !== 'string' || typeof series !== 'string') return null
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) return null
  return { source, series, inputs: inputs as Shared['inputs'] }
}

async function through(
  stream: CompressionStream | DecompressionStream,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader()
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const part = next.value
    size += part.length
    if (size > TEXT_MAX) {
      await reader.cancel()
      throw new LinkError('This link unpacks to more than a megabyte, so nothing of it was opened.')
    }
    parts.push(part)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

function base64url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0))
}
