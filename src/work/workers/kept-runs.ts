// Keeps the state of runs that go on bar by bar. When the room is used up, the least recently used state is dropped.
//
// The state is bytes in shared memory, written and read in workers. A run without one starts over, so nothing is lost if a
// thread has to be ended, and no script waits for the thread that ran it before.

import type { AdvanceJob, AdvanceOutput, KeptRun } from './job.ts'
import type { JobPool } from './pool.ts'
import type { JobOptions } from './task.ts'

/** What all kept runs together may take: the one that was asked for longest ago goes first. */
const KEPT_BYTES = 256 * 2 ** 20

interface HeldRun {
  readonly run: KeptRun
  /**
   * The memory of the bars that the state was made from, if they are the cache's. A cached view never changes, though more
   * bars may follow behind it, so the same memory means the same bars and nobody has to compare them.
   */
  readonly place: WeakRef<SharedArrayBuffer> | null
}

export class KeptRuns {
  readonly #pool: Pick<JobPool, 'do'>
  readonly #bytesMax: number
  // In order of use, the least recent first; `#bytes` is the sum of their sizes and never exceeds #bytesMax.
  readonly #runs = new Map<string, HeldRun>()
  #bytes = 0

  constructor(pool: Pick<JobPool, 'do'>, bytesMax = KEPT_BYTES) {
    this.#pool = pool
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  get count(): number {
    return this.#runs.size
  }

  /**
   * Advances a script's run over the bars that came, and answers the results from bar `from` on. `name` says where the bars
   * are from: runs over the same bars share one state, and a check of their content makes sure that they are the same.
   */
  async advance(
    name: string,
    job: Omit<AdvanceJob, 'kept' | 'trusted'>,
    options: JobOptions,
  ): Promise<Omit<AdvanceOutput, 'kept'>> {
    const { source, inputs, overrides, asOf = null, symbol, interval, bars } = job
    const from = bars.time[0] ?? null
    const key = JSON.stringify([name, interval, from, symbol, inputs, overrides, asOf, source])
    const entry = this.#runs.get(key)
    if (entry) this.#put(key, entry)
    const kept = entry?.run ?? null
    const { buffer } = bars.time
    const trusted = buffer === entry?.place?.deref()
    const { kept: next, ...answer } = await this.#pool.do('advance', { ...job, kept, trusted }, options)
    if (next)
      this.#put(key, { run: next, place: buffer instanceof SharedArrayBuffer ? new WeakRef(buffer) : null })
    return answer
  }

  /** Keeps a state as the most recently used one, unless it alone exceeds the limit. */
  #put(key: string, entry: HeldRun): void {
    const before = this.#runs.get(key)
    if (before) this.#bytes -= costOf(key, before)
    this.#runs.delete(key)
    if (costOf(key, entry) > this.#bytesMax) return
    this.#runs.set(key, entry)
    this.#bytes += costOf(key, entry)
    for (const [oldest, other] of this.#runs) {
      if (this.#bytes <= this.#bytesMax) return
      this.#runs.delete(oldest)
      this.#bytes -= costOf(oldest, other)
    }
  }
}

function costOf(key: string, { run }: HeldRun): number {
  return run.run.byteLength + run.broker.byteLength + 2 * key.length
}
