// Reads and checks a file of bars in a worker. The bytes come from the server piece by piece, and valid bars go back to it,
// into drafts of the store.

import { assert } from '../lib/assert.ts'
import type { BarDraft } from '../market/bar-store.ts'
import { stageBars, type StageBars } from '../market/import.ts'
import type { ImportJob, ImportOutput } from './job.ts'
import type { JobPool } from './pool.ts'
import type { Desk } from './worker-loop.ts'

/**
 * The most bytes of a file in one message: as much as a stream gives at once. On a busy machine a message and its answer
 * take as long as reading a megabyte.
 */
const MESSAGE_BYTES = 1 << 20
/** How much of a message is read before others who share the thread get their turn. */
const PIECE_BYTES = 256 << 10
/**
 * A client that sends fewer bytes a second than this loses its place. The rate is measured over windows of this length,
 * leaving out each window's beginning.
 */
const SLOW_BYTES = 64 << 10
const WINDOW_MS = 2000
const BEGINNING_MS = 250
/** Only for the last brake: the stage itself bounds what an import keeps in memory. */
const MEMORY_BYTES = 64 * 2 ** 20

export async function importJob(options: ImportJob, { host, alone }: Desk): Promise<ImportOutput> {
  const drafts: BarDraft[] = []
  const open = (): BarDraft => {
    const number = drafts.length
    const draft: BarDraft = {
      async add(bars) {
        await host.addBars(number, bars)
        // Frees what 65,000 rows left behind: without this the heap grows to five times the file's size.
        Bun.gc(true)
      },
      read: (range = {}) => host.readBars(number, range),
      // Only the server commits and discards.
      commit: () => Promise.reject(new Error('assertion failed: a job commits nothing')),
      discard: () => Promise.resolve(),
    }
    drafts.push(draft)
    return draft
  }
  const { bars, draft, read } = await stageBars(pieces(host), { ...options, ...(alone && { alone }) }, open)
  return { bars, draft: draft && drafts.indexOf(draft), read }
}

async function* pieces({ piece }: Pick<Desk['host'], 'piece'>): AsyncGenerator<Uint8Array> {
  for (let bytes = await piece(); bytes !== null; bytes = await piece()) yield* cut([bytes], PIECE_BYTES)
}

/**
 * Lets a worker read what `importBars` is given, in `user`'s turn. `timeMs`: the processor time after which a file is given
 * up that lets no other be read.
 */
export function stageInWorker(pool: JobPool, user: string, timeMs: number, signal: AbortSignal): StageBars {
  return async (input, { symbol, interval, format, fileName, hints, isPart }, open) => {
    const source = cut(input, MESSAGE_BYTES)
    const drafts: BarDraft[] = []
    const draftOf = (number: number) => {
      assert(open, 'a job that imports has somewhere to put bars')
      return (drafts[number] ??= open())
    }
    let adding = Promise.resolve()
    const arrivals = new Arrivals()
    const reading = pool.do(
      'import',
      {
        symbol,
        ...(interval !== undefined && { interval }),
        ...(format && { format }),
        ...(fileName !== undefined && { fileName }),
        ...(hints && { hints }),
        ...(isPart && { isPart }),
      },
      {
        user,
        lane: 'imports',
        budget: { timeMs, memoryBytes: MEMORY_BYTES },
        host: {
          async piece() {
            arrivals.asked()
            const { done, value } = await source.next()
            arrivals.came(value?.byteLength ?? 0)
            return done ? null : value
          },
          addBars: (number, some) => (adding = draftOf(number).add(some)),
          readBars: (number, range) => draftOf(number).read(range),
        },
        signal,
        waits: () => arrivals.isSlow,
      },
    )
    try {
      const { bars, draft, read } = await reading
      return { bars, draft: draft === null ? null : draftOf(draft), read }
    } finally {
      // A job that was stopped may have left an unfinished write, and a client that is still sending.
      await adding.catch(() => {})
      source.return(undefined).catch(() => {})
    }
  }
}

/** Measures how fast an upload arrives: a byte now and then counts as nothing. */
class Arrivals {
  #from = performance.now()
  #bytes = 0
  #isAwaited = false

  get isSlow(): boolean {
    const passed = performance.now() - this.#from
    return this.#isAwaited && passed > BEGINNING_MS && this.#bytes < (SLOW_BYTES * passed) / 1000
  }

  asked(): void {
    this.#isAwaited = true
    if (performance.now() - this.#from < WINDOW_MS) return
    this.#from = performance.now()
    this.#bytes = 0
  }

  came(bytes: number): void {
    this.#isAwaited = false
    this.#bytes += bytes
  }
}

async function* cut(
  input: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of input)
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size)
}
