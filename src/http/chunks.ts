// How a large answer is sent: chunk by chunk, as fast as its client takes it.
//
// What a job has handed over (see `work/workers/job.ts`) belongs to one answer alone, and its memory is given back as it is sent. The
// garbage collector would do that late, because it goes by the heap of this thread, which is small, and not by the buffers that
// hang on it: after a few previews of a million bars, 142 MB each, half a gigabyte of answers that had long been sent still
// lay there.

import { turn } from '../lib/turn.ts'

/** A part of an answer, and the memory that nobody needs once the part is sent. */
export interface Chunk {
  readonly content: string | Uint8Array
  readonly frees: ArrayBuffer | null
}

/** Gives the memory back. Any view of it is empty afterwards. */
export function free(memory: ArrayBuffer | null): void {
  // Moving a buffer to a smaller size is the only way that the language has.
  if (memory !== null && !memory.detached) memory.transfer(0)
}

/**
 * Makes the answer's bytes as the client takes them. `isSocket` says that Bun's server reads them, which copies a chunk in the
 * turn in which it takes it. Any other reader may keep the chunks, so their memory is left to the collector.
 */
export function chunkStream(chunks: AsyncGenerator<Chunk>, isSocket: boolean): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let taken: ArrayBuffer | null = null
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      // Each turn of the event loop sends one chunk, however fast the client is and however many clients there are.
      await turn()
      // The reader asks for another chunk, so it took the last one, and did so in an earlier turn.
      if (isSocket) free(taken)
      const { done, value } = await chunks.next()
      if (done) return controller.close()
      const { content, frees } = value
      taken = frees
      controller.enqueue(typeof content === 'string' ? encoder.encode(content) : content)
    },
    async cancel() {
      await chunks.return(undefined)
    },
  })
}

/**
 * All of an answer in one go. Where a handler has waited, Bun writes each header of a large body to the socket by itself: 50
 * packets, which took half of the time of sending 700 kB. A stream that is written to directly goes out with its headers.
 */
export function partsStream(parts: readonly Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    type: 'direct',
    pull(controller) {
      for (const part of parts) void controller.write(part)
      controller.close()
    },
  })
}
