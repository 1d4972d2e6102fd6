// Runs that this process works on, how far each has come, and who watches them. It also knows who watches a run of another
// server, about which only the stored record tells anything.

import { isUnderWay, type JobState } from '../../wire/job-state.ts'
import type { Run } from './records.ts'

/** How far a run has come, as its watchers see it. */
export interface RunProgress {
  readonly state: JobState
  readonly bar: number
  readonly bars: number
}

export interface RunningNow extends Pick<Run, 'name' | 'exchange' | 'symbol' | 'interval'> {
  readonly state: 'queued' | 'running'
  /** How many bars it has run over, and how many there are. */
  readonly bar: number
  readonly bars: number
}

export interface LiveRun {
  readonly run: Run
  progress: RunProgress
  readonly abort: AbortController
  readonly watchers: Set<(progress: RunProgress) => void>
}

export class LiveRuns {
  readonly #live = new Map<string, LiveRun>()
  /** Who watches runs that another server does. */
  readonly #afar = new Map<string, Set<() => void>>()

  enter(run: Run): LiveRun {
    const progress = { state: 'queued' as const, bar: 0, bars: run.bars }
    const live: LiveRun = { run, progress, abort: new AbortController(), watchers: new Set() }
    this.#live.set(run.id, live)
    return live
  }

  has(id: string): boolean {
    return this.#live.has(id)
  }

  leave({ run }: LiveRun): void {
    this.#live.delete(run.id)
  }

  /** Stops the work on a run. */
  end(id: string): void {
    this.#live.get(id)?.abort.abort()
  }

  /** Only this process knows whether the run waits or runs; only the record says how it ended. */
  asItIs(run: Run): Run {
    const live = this.#live.get(run.id)
    return live && run.finishedAt === null && isUnderWay(live.progress)
      ? { ...run, state: live.progress.state }
      : run
  }

  /** The user's runs that wait or run, the newest last. */
  underWay(userId: string): RunningNow[] {
    return [...this.#live.values()].flatMap(({ run, progress: { state, bar, bars } }) => {
      if (run.userId !== userId || (state !== 'queued' && state !== 'running')) return []
      const { name, exchange, symbol, interval } = run
      return [{ name, exchange, symbol, interval, state, bar, bars }]
    })
  }

  /** Calls `watch` with the run's current progress and with every change, until it is finished or the signal aborts. */
  async watch(
    id: string,
    signal: AbortSignal,
    watch: (progress: RunProgress) => void,
    find: () => Promise<Run | null>,
  ): Promise<void> {
    const live = this.#live.get(id)
    if (!live) return this.#watchAfar(id, signal, watch, find)
    watch(live.progress)
    if (!isUnderWay(live.progress)) return
    await new Promise<void>((resolve) => {
      const done = () => {
        live.watchers.delete(listen)
        resolve()
      }
      const listen = (progress: RunProgress) => {
        watch(progress)
        if (!isUnderWay(progress)) done()
      }
      live.watchers.add(listen)
      signal.addEventListener('abort', done, { once: true })
    })
  }

  /** A run that is over, or that another server does. */
  async #watchAfar(
    id: string,
    signal: AbortSignal,
    watch: (progress: RunProgress) => void,
    find: () => Promise<Run | null>,
  ): Promise<void> {
    const woken = { wake: () => {} }
    const all = this.#afar.get(id) ?? new Set()
    const wake = () => woken.wake()
    this.#afar.set(id, all.add(wake))
    signal.addEventListener('abort', wake, { once: true })
    try {
      for (;;) {
        const { promise, resolve } = Promise.withResolvers<void>()
        woken.wake = resolve
        // Read after the subscription: the run may have ended before anybody listened.
        const run = await find()
        if (!run) return
        watch({ state: run.state, bar: run.range?.bars ?? 0, bars: run.range?.bars ?? run.bars })
        if (!isUnderWay(run) || signal.aborted) return
        await promise
      }
    } finally {
      signal.removeEventListener('abort', wake)
      all.delete(wake)
      if (all.size === 0 && this.#afar.get(id) === all) this.#afar.delete(id)
    }
  }

  /** Another process has changed a run, or removed it. */
  heard(id: string, run: Run | null): void {
    if (!run || !isUnderWay(run)) this.end(id)
    for (const wake of this.#afar.get(id) ?? []) wake()
  }
}

export function tell(live: LiveRun, progress: RunProgress): void {
  live.progress = progress
  for (const watcher of live.watchers) watcher(progress)
}
