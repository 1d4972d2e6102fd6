// One life of a server, from its start to its end: the world as its seed makes it. When the life is over, by a crash or by
// its own will, nothing reaches it any more, and nothing of it has an effect: whatever it still computes waits for ever.

import { seededRandom } from '../lib/seeded-random.ts'
import { serveSearch } from '../people/search/serve.ts'
import type { SearchThread } from '../people/search/search.ts'
import type { Network, World } from '../server/world.ts'
import type { TrialsOutput } from '../work/workers/job.ts'
import { KINDS } from '../work/workers/kinds.ts'
import type { WorkerThread } from '../work/workers/task.ts'
import { serveJobs, type WorkerPort } from '../work/workers/worker-loop.ts'
import type { Timeline } from './timeline.ts'

/** How a server's clock goes wrong. */
export interface Skew {
  aheadMs: number
  /** How much of a second it gains in one. */
  readonly drift: number
}

/** A server begins to try choices of a sweep; what that answers ends it. */
type Tries = (choices: readonly string[]) => () => void

/** How long a trial takes at most. */
const TRIAL_MS = 100

export class Life {
  readonly name: string
  readonly timeline: Timeline
  readonly startedAt: number
  /** When and how it ended; null while it lasts. */
  end: { readonly at: number; readonly isCrash: boolean } | null = null
  /** Until then it stands still: nothing reaches it, and nothing in it goes on. */
  standsUntil = 0
  readonly #skew: Skew
  readonly #ended = Promise.withResolvers<void>()
  /** Who is woken by a signal: one listener for all of them, since each nap of a server would add one and take it back. */
  readonly #sleepers = new WeakMap<AbortSignal, Sleepers>()
  #tries: Tries = () => () => {}
  /** Asks it to stop, as SIGTERM does. */
  #ask: () => void = () => {}

  constructor(name: string, timeline: Timeline, skew: Skew) {
    this.name = name
    this.timeline = timeline
    this.startedAt = timeline.now
    this.#skew = skew
  }

  get isOver(): boolean {
    return this.end !== null
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  finish(isCrash: boolean): void {
    if (this.end) return
    this.end = { at: this.timeline.now, isCrash }
    this.#ended.resolve()
  }

  stop(): void {
    this.#ask()
  }

  /** What comes of `work`, which begins now; for ever nothing once the life is over. */
  whileAlive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.isOver) return
      work().then(
        (value) => this.reach(() => resolve(value)),
        (error: unknown) =>
          this.reach(() => reject(error instanceof Error ? error : new Error(String(error)))),
      )
    })
  }

  /** Lets something come into it, as soon as it can; never once it is over. */
  reach(work: () => void): void {
    if (this.isOver) return
    const stillMs = this.standsUntil - this.timeline.now
    if (stillMs > 0) this.timeline.after(stillMs, () => this.reach(work))
    else work()
  }

  /** Something that takes `ms` to reach where it is done, and `backMs` for its answer. */
  async across<T>(ms: number, work: () => Promise<T>, backMs = 0): Promise<T> {
    return this.whileAlive(async () => {
      await this.timeline.pause(ms)
      return this.whileAlive(async () => {
        try {
          return await work()
        } finally {
          if (backMs > 0) await this.timeline.pause(backMs)
        }
      })
    })
  }

  /** `network`: what is on the other side of its wires. */
  world(network: Network, tries?: Tries): World {
    if (tries) this.#tries = tries
    const { timeline } = this
    const random = seededRandom(timeline.random.below(2 ** 31))
    const since = timeline.now
    const sleep = (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) return resolve()
        const sleepers = signal && this.#sleepers.getOrInsertComputed(signal, sleepersOn)
        const wake = () => {
          cancel()
          sleepers?.delete(wake)
          this.reach(resolve)
        }
        // A timer never ends early, and a busy process is a little late.
        const cancel = timeline.after(Math.max(1, ms) + timeline.random.below(2), wake)
        sleepers?.add(wake)
      })
    const { drift } = this.#skew
    return {
      environment: {},
      version: '0.0.0',
      clock: {
        now: () => Math.floor(timeline.now + this.#skew.aheadMs + (timeline.now - since) * drift),
        sleep,
      },
      steady: { now: () => (timeline.now - since) * (1 + drift), sleep },
      random: {
        bytes: (length) => Uint8Array.from({ length }, () => random.below(256)),
      },
      // Not hashes: the real ones are made on threads of their own, and take 24 ms.
      passwords: {
        hash: (password) => this.across(24, async () => `hash of ${password}`),
        verify: (password, hash) => this.across(24, async () => hash === `hash of ${password}`),
      },
      network,
      spawnWorker: () => this.#worker(),
      spawnSearch: () => this.#searcher(),
      machine: {
        processors: 2,
        threadMs: () => null,
        memory: () => 2 ** 28,
        memoryMax: 2 ** 34,
        every: (work, ms) => this.#every(work, ms),
      },
      print: () => {},
      warn: () => {},
      stopAsked: (stopping) =>
        new Promise((resolve) => {
          this.#ask = () => {
            stopping.abort()
            resolve('SIGTERM')
          }
        }),
      exit: (code) => {
        timeline.tell(this.name, `exits with ${code}`)
        this.finish(code !== 0)
        return new Promise(() => {})
      },
    }
  }

  #every(work: () => void, ms: number): () => void {
    let cancel = () => {}
    const next = () => {
      cancel = this.timeline.after(ms, () =>
        this.reach(() => {
          next()
          work()
        }),
      )
    }
    next()
    return () => cancel()
  }

  /** The engine itself, on the thread of the simulation: what is said to it and by it is copied, as between threads. */
  #worker(): WorkerThread {
    const { timeline } = this
    let isEnded = false
    const later = (work: () => void) => timeline.after(1, () => this.reach(() => !isEnded && work()))
    const thread: WorkerThread = {
      onmessage: null,
      onerror: null,
      postMessage(message) {
        const data = structuredClone(message)
        later(() => void port.onmessage?.(new MessageEvent('message', { data })))
      },
      terminate() {
        isEnded = true
      },
    }
    const port: WorkerPort = {
      onmessage: null,
      postMessage(message, transfer) {
        const data = structuredClone(message, { transfer })
        later(() => void thread.onmessage?.(new MessageEvent('message', { data })))
      },
    }
    // Nobody looks at pictures here, and to draw them was a seventh of what a world took. All threads have one heap here,
    // which is collected when it needs to be.
    serveJobs(
      { ...KINDS, picture: () => null, trials: (...asked) => this.#try(...asked) },
      () => {},
      port,
      () => {},
      (work, ms) => timeline.after(ms, () => this.reach(() => !isEnded && work())),
    )
    return thread
  }

  /** Trials take a time, as they do elsewhere, so that servers share them. */
  async #try(...[job, desk]: Parameters<typeof KINDS.trials>): Promise<TrialsOutput> {
    const { timeline } = this
    const tookMs = timeline.between(1, TRIAL_MS) * job.points.length
    const [sweep = ''] = (job.columns?.name ?? '').split(' ')
    const over = this.#tries(job.points.map((point) => `${sweep} ${JSON.stringify(point)}`))
    try {
      const [answer] = await Promise.all([KINDS.trials(job, desk), timeline.pause(tookMs)])
      return { ...answer, tookMs }
    } finally {
      over()
    }
  }

  #searcher(): SearchThread {
    const { timeline } = this
    const thread: SearchThread = {
      onmessage: null,
      onerror: null,
      postMessage: (message) => {
        const data = structuredClone(message)
        timeline.after(1, () => this.reach(() => hear(data)))
      },
      terminate: () => {},
    }
    const hear = serveSearch(
      (data) => {
        if (!this.isOver) void thread.onmessage?.(new MessageEvent('message', { data }))
      },
      () => {},
    )
    return thread
  }
}

type Sleepers = Set<() => void>

function sleepersOn(signal: AbortSignal): Sleepers {
  const sleepers: Sleepers = new Set()
  signal.addEventListener('abort', () => {
    for (const wake of sleepers) wake()
  })
  return sleepers
}
