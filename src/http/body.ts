// Reads request bodies strictly: they need the right media type, at most the bytes that the route allows, valid UTF-8, and
// a JSON object.
//
// Elysia's own reader turns a missing content type into "no body", bad UTF-8 into U+FFFD and 413 into an empty
// answer, so bodies are read here.

import type { Clock } from '../lib/clock.ts'
import { jsonExcess } from '../lib/json-bounds.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import { sha256 } from '../lib/sha256.ts'
import type { Held } from './bodies.ts'
import { arriving, paced } from './pace.ts'
import { pointerPart } from './validate.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

export interface Body {
  readonly value: Record<string, unknown>
  /** SHA-256 of the bytes, for idempotency keys. */
  readonly hash: string
}

/** How a body is read. */
export interface BodyOptions {
  readonly types?: readonly string[] | undefined
  /** For large bodies: counts their bytes, and gives up on one that arrives too slowly. */
  readonly large?: { readonly clock: Clock; readonly held: Held } | undefined
  /** What to do instead with what is too large. */
  readonly instead?: string | undefined
}

/**
 * The JSON object that a request carries; without a body it is `{}`. `maxBytes` counts the bytes that arrive, not those
 * announced.
 */
export async function jsonBody(request: Request, maxBytes: number, options: BodyOptions = {}): Promise<Body> {
  const parts = await bodyBytes(request, maxBytes, options)
  const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  const hash = sha256(bytes)
  if (bytes.length === 0 && !request.headers.has('content-type')) return { value: {}, hash }
  if ((request.headers.get('content-encoding') ?? 'identity') !== 'identity')
    throw new Problem(415, 'unsupported_media_type', 'Send the body as it is, without Content-Encoding.')
  const excess = jsonExcess(bytes, BOUNDS)
  if (excess !== null) throw malformed(`The body ${excess}`)
  const value = parseJson(decode(bytes))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Problem(400, 'body_not_object', 'The body must be a JSON object.')
  return { value: value as Record<string, unknown>, hash }
}

const JSON_ONLY: readonly string[] = ['application/json']

/** More than any request needs; it bounds the time of parsing to 10 ms. */
const BOUNDS = { depth: 64, values: 50_000 }

/** The bytes of a request as they arrive, unread. */
export async function bodyBytes(
  request: Request,
  maxBytes: number,
  { types = JSON_ONLY, large, instead = 'Shorten it.' }: BodyOptions = {},
): Promise<Uint8Array[]> {
  const announced = request.headers.get('content-length')
  if (announced !== null && Number(announced) > maxBytes) throw tooLarge(maxBytes, instead)
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const parts: Uint8Array[] = []
  let size = 0
  if (request.body)
    for await (const part of large ? paced(large.clock, request.body) : arriving(request.body)) {
      size += part.byteLength
      if (size > maxBytes) throw tooLarge(maxBytes, instead)
      large?.held.add(part.byteLength)
      parts.push(part)
    }
  if ((size > 0 || type !== '') && !types.includes(type))
    throw new Problem(
      415,
      'unsupported_media_type',
      `Send the body as ${types.filter(Boolean).join(' or ')}.`,
    )
  return parts
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not UTF-8.')
  }
}

function parseJson(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw malformed('The body is not valid JSON.')
  }
  // JSON.parse keeps `__proto__` as a plain field, but one careless copy makes it the prototype. Nobody needs it.
  if (/__proto__|\\u005f/i.test(text) && hasField(value, '__proto__'))
    throw malformed('A field may not be called __proto__.')
  // UTF-8 cannot contain half a surrogate pair, but a JSON escape can. It could be neither stored nor sent on.
  const half = /\\ud[89a-f]/i.test(text) ? halfPair(value, '') : null
  if (half !== null) throw invalidField(half, 'surrogate', 'A text has half of a surrogate pair.')
  return value
}

/** JSON Pointer of a text that is not Unicode, or of an object with a field of such a name; null = there is none. */
function halfPair(value: unknown, path: string): string | null {
  if (typeof value === 'string') return value.isWellFormed() ? null : path
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const found = name.isWellFormed() ? halfPair(inner, `${path}/${pointerPart(name)}`) : path
    if (found !== null) return found
  }
  return null
}

/** Whether an object anywhere in it has a field of this name. */
function hasField(value: unknown, wanted: string): boolean {
  const open = [value]
  while (open.length > 0) {
    const item = open.pop()
    if (typeof item !== 'object' || item === null) continue
    if (Object.hasOwn(item, wanted)) return true
    for (const inner of Object.values(item)) open.push(inner)
  }
  return false
}

const malformed = (message: string) => new Problem(400, 'malformed_json', message)

function tooLarge(maxBytes: number, instead: string): Problem {
  const most = maxBytes.toLocaleString('en-US')
  return new Problem(
    413,
    'payload_too_large',
    `This is too large: the body of such a request may have at most ${most} bytes. ${instead}`,
  )
}
