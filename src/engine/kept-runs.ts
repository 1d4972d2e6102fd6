// Kept state of runs that go on bar by bar: as much as fits, and the least recently used makes room.
//
// It is bytes in shared memory, made and read in workers; a run without any starts over. So nothing is lost with a thread
// that had to be ended, and no script waits for the thread that ran it before.

import type { AdvanceJob, AdvanceOutput, KeptRun } from './job.ts'
import type { JobOptions, JobPool } from './pool.ts'

/** Of all kept runs together. */
const KEPT_BYTES = 256 * 2 ** 20

interface Entry {
  readonly run: KeptRun
  /**
   * Where the bars it was made of lie, if they are the cache's. A view of those never changes, though more may follow
   * behind it, so the same place means the same bars and they need not be looked at again.
   */
  readonly place: WeakRef<SharedArrayBuffer> | null
}

export class KeptRuns {
  readonly #pool: Pick<JobPool, 'do'>
  readonly #bytesMax: number
  // In order of use, the oldest first; `#bytes` is the sum of their bytes, and never above #bytesMax.
  readonly #runs = new Map<string, Entry>()
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
   * Runs a script on over bars that came, and tells of those from `from`. `name`: where the bars are from, so that runs
   * over the same bars share what is kept; that they are the same is made sure of by their content.
   */
  async advance(
    name: string,
    job: Omit<AdvanceJob, 'kept' | 'trusted'>,
    options: JobOptions,
  ): Promise<Omit<AdvanceOutput, 'kept'>> {
    const { source, inputs, overrides, symbol, interval, bars } = job
    const key = JSON.stringify([name, interval, bars.time[0] ?? null, symbol, inputs, overrides, source])
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

  /** As the one that was used last. What is too large for all is not kept. */
  #put(key: string, entry: Entry): void {
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

function costOf(key: string, { run }: Entry): number {
  return run.run.byteLength + run.broker.byteLength + 2 * key.length
}
