// Reads and checks a file of bars in a worker. The bytes come from the server piece by piece, and valid bars go back to it,
// into drafts of the store.
//
// All who import share a thread, which reads a piece of each in turn. Parquet is read by code of others, which gives nobody
// a turn and which damage may send round in circles: such a file is only collected there, and read in a thread of its own.

import { assert } from '../../lib/assert.ts'
import { Problem } from '../../lib/problem.ts'
import type { BarDraft } from '../../market/bar-store.ts'
import { stageBars, type StageBars, stageNamed } from '../../market/import.ts'
import type { Host, Desk } from './desk.ts'
import type { ImportJob, ImportOutput } from './job.ts'
import type { JobPool } from './pool.ts'

/**
 * The most bytes of a file in one message: as much as a stream gives at once. On a busy machine a message and its answer
 * take as long as reading a megabyte.
 */
const MESSAGE_BYTES = 1 << 20
/**
 * How much of a message is read before others who share the thread get their turn. Smaller messages are put together: what
 * looks at a line again with each piece would take long for one that comes byte by byte.
 */
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
/** The same of what is read in a thread of its own: a group of rows, as bytes and as numbers. */
const ASIDE_MEMORY_BYTES = 2 * 2 ** 30
/** A group of rows as large as any that is read takes a few seconds. */
const ASIDE_MS = 20_000
/** The shared thread looks up after every piece. One that works for so long without is stuck, and is ended. */
const STUCK_MS = 5000
/** The most bytes of files that all imports together keep to be read in threads of their own. */
const KEPT_MAX = 2 ** 30

export async function importJob(
  { files, ...options }: ImportJob,
  { host, used }: Desk,
): Promise<ImportOutput> {
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
  // A server knows the formats of files only once somebody brings one.
  const { filesAside, SetAside } = await import('../../market/files/stage-files.ts')
  try {
    if (files) used(ASIDE_MEMORY_BYTES)
    const staged = files
      ? await stageNamed(filesAside(files), options, open)
      : await stageBars(pieces(host), { ...options, aside: host.keep }, open)
    const { bars, draft, read } = staged
    return { bars, draft: draft && drafts.indexOf(draft), read }
  } catch (error) {
    if (error instanceof SetAside) return { aside: error.files }
    throw error
  }
}

async function* pieces({ piece }: Pick<Desk['host'], 'piece'>): AsyncGenerator<Uint8Array> {
  let few: Uint8Array[] = []
  let size = 0
  for (let bytes = await piece(); bytes !== null; bytes = await piece()) {
    few.push(bytes)
    size += bytes.length
    if (size < PIECE_BYTES) continue
    yield* cut(few, PIECE_BYTES)
    few = []
    size = 0
  }
  if (size > 0) yield new Uint8Array(Buffer.concat(few))
}

/** Counts the bytes that all imports together keep to be read in threads of their own. */
export class KeptFiles {
  #bytes = 0

  /** Throws Problem 503 if there is no room. */
  take(bytes: number): void {
    if (this.#bytes + bytes > KEPT_MAX) throw tooManyKept()
    this.#bytes += bytes
  }

  give(bytes: number): void {
    this.#bytes -= bytes
  }
}

interface Readers {
  readonly pool: Pick<JobPool, 'do'>
  readonly kept: KeptFiles
}

/**
 * Lets a worker read what `importBars` is given, in `user`'s turn. `timeMs`: the processor time after which a file is given
 * up that makes no progress in a thread of its own.
 */
export function stageInWorker(
  { pool, kept }: Readers,
  user: string,
  timeMs: number,
  signal: AbortSignal,
): StageBars {
  return async (input, { symbol, interval, format, fileName, hints, isPart }, open) => {
    const source = cut(input, MESSAGE_BYTES)
    const drafts: BarDraft[] = []
    const draftOf = (number: number) => {
      assert(open, 'a job that imports has somewhere to put bars')
      return (drafts[number] ??= open())
    }
    let adding = Promise.resolve()
    const job: ImportJob = {
      symbol,
      ...(interval !== undefined && { interval }),
      ...(format && { format }),
      ...(fileName !== undefined && { fileName }),
      ...(hints && { hints }),
      ...(isPart && { isPart }),
    }
    const drafting: Drafting = {
      addBars: (number, some) => (adding = draftOf(number).add(some)),
      readBars: (number, range) => draftOf(number).read(range),
    }
    let keeping = 0
    const keep = (bytes: number) => {
      kept.take(bytes)
      keeping += bytes
    }
    try {
      const first = await pool.do('import', job, {
        ...sharedOptions(source, drafting, keep, timeMs),
        user,
        signal,
      })
      const staged =
        'aside' in first
          ? await pool.do(
              'import',
              { ...job, files: first.aside },
              { ...asideOptions(drafting, timeMs), user, signal },
            )
          : first
      assert(!('aside' in staged), 'what has a thread of its own is read there')
      const { bars, draft, read } = staged
      return { bars, draft: draft === null ? null : draftOf(draft), read }
    } finally {
      kept.give(keeping)
      // A job that was stopped may have left an unfinished write, and a client that is still sending.
      await adding.catch(() => {})
      source.return(undefined).catch(() => {})
    }
  }
}

type Drafting = Pick<Host, 'addBars' | 'readBars'>

/** Of a job in the thread that all imports share. */
function sharedOptions(
  source: AsyncGenerator<Uint8Array>,
  drafting: Drafting,
  keep: Host['keep'],
  timeMs: number,
) {
  const arrivals = new Arrivals()
  return {
    lane: 'imports' as const,
    budget: { timeMs: Math.min(timeMs, STUCK_MS), memoryBytes: MEMORY_BYTES },
    host: {
      ...drafting,
      async piece() {
        arrivals.asked()
        const { done, value } = await source.next()
        arrivals.came(value?.byteLength ?? 0)
        return done ? null : value
      },
      keep,
    },
    waits: () => arrivals.isSlow,
  }
}

/** Of a job in a thread of its own, which reads what was collected. */
const asideOptions = (host: Drafting, timeMs: number) => ({
  lane: 'tables' as const,
  budget: { timeMs: Math.min(timeMs, ASIDE_MS), memoryBytes: ASIDE_MEMORY_BYTES },
  host,
})

function tooManyKept(): Problem {
  return new Problem(
    503,
    'overloaded',
    'Nothing was imported: too many large Parquet files are being read. Try again later.',
    { retryAfter: 30 },
  )
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
