// Gives up on a body that arrives so slowly that it only occupies a place: a byte now and then, for ever, is not an upload.
//
// Only the time that the sender takes counts, not that of the reader.

import type { Clock } from '../lib/clock.ts'
import { Problem } from '../lib/problem.ts'
import { within } from '../lib/within.ts'

/** Half a kilobyte a second is slow enough for anybody. */
const WAITED_MS = 30_000
const FOR_BYTES = 16 << 10

/** The chunks of a body as they come. Throws Problem 408 if too little arrives. */
export async function* paced(clock: Clock, body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  let waitedMs = 0
  let bytes = 0
  try {
    for (;;) {
      const askedAt = clock.now()
      const read = await within(
        clock,
        WAITED_MS - waitedMs,
        reader.read().catch(() => Promise.reject(brokeOff())),
      )
      if (read === null) throw tooSlow()
      if (read.done) return
      const passedMs = clock.now() - askedAt
      // If more time than was left has passed, the clock was set, or the body would have been given up already.
      if (passedMs > 0 && passedMs <= WAITED_MS - waitedMs) waitedMs += passedMs
      bytes += read.value.byteLength
      if (bytes >= FOR_BYTES) waitedMs = bytes = 0
      yield read.value
    }
  } finally {
    // The sender may still be sending, and learns from the answer that it can stop.
    reader.cancel().catch(() => undefined)
  }
}

/** The client has disconnected in the middle. That is not our mistake, and nobody hears the answer. */
export function brokeOff(): Problem {
  return new Problem(400, 'malformed_json', 'The body broke off.')
}

function tooSlow(): Problem {
  const message = `Within ${WAITED_MS / 1000} s less than ${FOR_BYTES >> 10} KiB came. Send it over a faster connection, or in parts.`
  return new Problem(408, 'upload_too_slow', message)
}
