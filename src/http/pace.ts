// Gives up on a body that arrives so slowly that it only occupies a place: a byte now and then, for ever, is not an upload.
//
// Only the time that the sender takes counts, not that of the reader.
//
// A body that is refused before its end is still coming. If the client asked for the connection to be closed, as Python's
// urllib does with every request, Bun closes it with the answer, and a client that first sends all it has finds a broken pipe
// instead. So the rest is read and forgotten before. On a connection that stays open Bun does so by itself, after the answer.

import type { Clock } from '../lib/clock.ts'
import { memoOf } from '../lib/memo.ts'
import { Problem } from '../lib/problem.ts'
import { within } from '../lib/within.ts'

/** Half a kilobyte a second is slow enough for anybody. */
const WAITED_MS = 30_000
const FOR_BYTES = 16 << 10
/** How long the rest of a refused body is waited for. */
const REST_MS = 30_000

type Body = ReadableStream<Uint8Array>

/** A body has one reader, from its first chunk to what nobody wanted of it. */
const readerOf = memoOf((body: Body) => body.getReader())

/** The chunks of a body as they come. Throws Problem 408 if too little arrives. */
export async function* paced(clock: Clock, body: Body): AsyncGenerator<Uint8Array> {
  const reader = readerOf(body)
  let waitedMs = 0
  let bytes = 0
  for (;;) {
    const askedAt = clock.now()
    const read = await within(clock, WAITED_MS - waitedMs, chunkOf(reader))
    if (read === null) throw tooSlow()
    if (read.done) return
    const passedMs = clock.now() - askedAt
    // If more time than was left has passed, the clock was set, or the body would have been given up already.
    if (passedMs > 0 && passedMs <= WAITED_MS - waitedMs) waitedMs += passedMs
    bytes += read.value.byteLength
    if (bytes >= FOR_BYTES) waitedMs = bytes = 0
    yield read.value
  }
}

/** The chunks of a body that is too small to matter, however slowly they come. */
export async function* arriving(body: Body): AsyncGenerator<Uint8Array> {
  const reader = readerOf(body)
  for (let read = await chunkOf(reader); !read.done; read = await chunkOf(reader)) yield read.value
}

/** To be awaited before a request is refused: nobody reads any more of it. */
export async function skipRest(clock: Clock, { body, headers }: Request): Promise<void> {
  if (!body) return
  const reader = readerOf(body)
  if (/\bclose\b/i.test(headers.get('connection') ?? '')) {
    const ended = (async () => {
      while (!(await reader.read()).done);
    })()
    await within(
      clock,
      REST_MS,
      ended.catch(() => undefined),
    )
  }
  reader.cancel().catch(() => undefined)
}

const chunkOf = (reader: ReturnType<typeof readerOf>) => reader.read().catch(() => Promise.reject(brokeOff()))

/** The client has disconnected in the middle. That is not our mistake, and nobody hears the answer. */
function brokeOff(): Problem {
  return new Problem(400, 'malformed_json', 'The body broke off.')
}

function tooSlow(): Problem {
  const message = `Within ${WAITED_MS / 1000} s less than ${FOR_BYTES >> 10} KiB came. Send it over a faster connection, or in parts.`
  return new Problem(408, 'upload_too_slow', message)
}
