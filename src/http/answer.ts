// The form of an answer: JSON or columns, whole or in chunks, compressed as the client takes it, and 304 where the client has
// the state already. Large answers are sent piece by piece, and are compressed away from the event loop.

import { COLUMNS_TYPE } from '../wire/columns.ts'
import { chunkStream, partsStream, type Chunk } from './chunks.ts'
import { areBars, columnChunks, columnsAnswer, columnsTag, hasColumns } from './columns.ts'
import { ENCODED_BYTES, encoded, encodedStream, encodingFor, type Encoding } from './encode.ts'
import { answerParts, answerChunks, answerTag, hasJsonText, isLarge } from './json-text.ts'
import type { KeptText } from './kept-answers.ts'
import type { AccessOptions, LeaveContext, Visit } from './visit.ts'

/** Tells caches to keep one answer for each value of the header. */
export function varyBy({ headers }: LeaveContext['set'], name: string): void {
  if (headers['vary'] === undefined) {
    headers['vary'] = name
    return
  }
  headers['vary'] = [...new Set([...String(headers['vary']).split(', '), name])].filter(Boolean).join(', ')
}

export async function withEtag(
  visit: Visit,
  request: Request,
  set: LeaveContext['set'],
  answer: Record<string, unknown>,
): Promise<unknown> {
  if (!hasColumns(answer) && !hasJsonText(answer)) {
    const text = JSON.stringify(answer)
    return isSeen(request, set, etagOf(text)) ? '' : jsonSent(request, set, text)
  }
  const tag = hasColumns(answer) ? columnsTag(answer) : await answerTag(answer)
  return isSeen(request, set, etagOf(tag)) ? '' : sent(visit, request, set, answer)
}

const etagOf = (tag: string): string => `"${Bun.hash(tag).toString(36)}"`

/** Sends a text that was answered before, unchanged. */
export function keptSent(
  request: Request,
  set: LeaveContext['set'],
  kept: KeptText,
  options: AccessOptions,
): string | Promise<Response> {
  if (options.columns) varyBy(set, 'accept')
  if (options.etag && isSeen(request, set, kept.etag)) return ''
  set.headers['content-type'] = JSON_TYPE
  if (kept.json.length < ENCODED_BYTES) return kept.json
  const encoding = encodingOf(request, set)
  return encoding === null
    ? kept.json
    : kept.encoded(encoding).then((bytes) => responseOf(set, bytes, encoding))
}

/**
 * The whole answer, as Elysia would make it of a text or a Response and the headers that were set. Copying headers that are made
 * takes a quarter of the time of making them of an object.
 */
export function withHeaders(
  sent: string | Response,
  status: number,
  headers: Headers,
  own: Readonly<Record<string, string | number>>,
): Response {
  for (const [name, value] of Object.entries(own)) headers.set(name, String(value))
  if (typeof sent === 'string') return new Response(sent, { status, headers })
  for (const [name, value] of sent.headers) headers.set(name, value)
  return new Response(sent.body, { status, headers })
}

/** Sets the ETag of the answer's state, and a 304 if the client already has that state. */
function isSeen(request: Request, set: LeaveContext['set'], etag: string): boolean {
  set.headers.etag = etag
  set.headers['cache-control'] = 'private, no-cache'
  const seen = request.headers
    .get('if-none-match')
    ?.split(',')
    .map((tag) => tag.trim())
    .find((one) => one === '*' || one.replace(/^W\//, '') === etag)
  if (seen === undefined) return false
  // The client has the weak tag of an encoded answer.
  if (seen !== '*') set.headers.etag = seen
  set.status = 304
  return true
}

/** The answer in the form that its handler chose, and in the client's preferred encoding. */
export function sent(
  visit: Visit,
  request: Request,
  set: LeaveContext['set'],
  answer: Record<string, unknown>,
): unknown {
  if (hasColumns(answer)) return columnsSent(visit, request, set, answer)
  if (!hasJsonText(answer)) return jsonSent(request, set, JSON.stringify(answer))
  set.headers['content-type'] = JSON_TYPE
  return isLarge(answer)
    ? encodedChunks(visit, request, set, answerChunks(answer))
    : answerParts(answer).then((parts) => encodedParts(visit, request, set, parts))
}

const JSON_TYPE = 'application/json;charset=utf-8'

function jsonSent(
  request: Request,
  set: LeaveContext['set'],
  text: string,
): string | Promise<string | Response> {
  set.headers['content-type'] = JSON_TYPE
  return text.length < ENCODED_BYTES ? text : encodedText(request, set, text)
}

/** Compression halves bars, but hardly shrinks the numbers of a run, which are sent as they are. */
function columnsSent(
  visit: Visit,
  request: Request,
  set: LeaveContext['set'],
  answer: Record<string, unknown>,
): Response {
  set.headers['content-type'] = COLUMNS_TYPE
  const pieces = columnsAnswer(answer)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  // What is not bars comes from a job, and belongs to this request alone.
  const chunks = columnChunks(pieces, !areBars(answer))
  return areBars(answer) && length >= ENCODED_BYTES
    ? encodedChunks(visit, request, set, chunks)
    : responseOf(set, chunkStream(chunks, visit.connection.isOpen()))
}

export async function encodedText(
  request: Request,
  set: LeaveContext['set'],
  text: string,
): Promise<string | Response> {
  if (text.length < ENCODED_BYTES) return text
  const encoding = encodingOf(request, set)
  if (encoding === null) return text
  return responseOf(set, await encoded(encoding, new TextEncoder().encode(text)), encoding)
}

async function encodedParts(
  visit: Visit,
  request: Request,
  set: LeaveContext['set'],
  parts: Uint8Array<ArrayBuffer>[],
): Promise<Response> {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const encoding = length < ENCODED_BYTES ? null : encodingOf(request, set)
  const isWhole = length < ENCODED_BYTES || !visit.connection.isOpen()
  // Joining them first would copy everything twice.
  if (encoding === null) return responseOf(set, isWhole ? new Blob(parts) : partsStream(parts))
  return responseOf(set, await encoded(encoding, Buffer.concat(parts)), encoding)
}

function encodedChunks(
  visit: Visit,
  request: Request,
  set: LeaveContext['set'],
  chunks: AsyncGenerator<Chunk>,
): Response {
  const encoding = encodingOf(request, set)
  return encoding === null
    ? responseOf(set, chunkStream(chunks, visit.connection.isOpen()))
    : responseOf(set, encodedStream(encoding, chunks), encoding)
}

/** Sets the encoding. The same state then has different bytes, which a weak ETag allows. */
function encodingOf(request: Request, set: LeaveContext['set']): Encoding | null {
  varyBy(set, 'accept-encoding')
  const encoding = encodingFor(request)
  const { etag } = set.headers
  if (encoding !== null && etag !== undefined) set.headers.etag = `W/${etag}`
  return encoding
}

function responseOf(
  { headers, status }: LeaveContext['set'],
  body: ConstructorParameters<typeof Response>[0],
  encoding?: Encoding,
): Response {
  const type = headers['content-type'] ?? 'text/plain;charset=utf-8'
  return new Response(body, {
    status: typeof status === 'number' ? status : 200,
    headers: {
      'content-type': String(type),
      ...(encoding && { 'content-encoding': encoding }),
    },
  })
}
