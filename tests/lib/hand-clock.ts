// A clock that the test turns: sleepers wake in order, and time passes only when the test says so.

import type { Clock } from '../../src/lib/clock.ts'
import { isUnderWay } from '../store/under-way.ts'

const QUIET_TURNS = 20

export class HandClock implements Clock {
  time = Date.UTC(2026, 0, 1)
  #sleepers: { at: number; wake: () => void }[] = []

  /** How many still wait for their time: a process with one of them does not end by itself. */
  get asleep(): number {
    return this.#sleepers.length
  }

  now(): number {
    return this.time
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted || ms <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const sleeper = { at: this.time + ms, wake: resolve }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        resolve()
      })
    })
  }

  /** The hands are turned back; who sleeps sleeps no longer for it. */
  setBack(ms: number): void {
    this.time -= ms
    for (const sleeper of this.#sleepers) sleeper.at -= ms
  }

  /** Lets everything that can run now run: that is over once nothing has been asked of a store for some turns. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = isUnderWay() ? 0 : quiet + 1)
      await new Promise((resolve) => setImmediate(resolve))
  }

  /** Time passes while nothing runs, as on a machine that sleeps: whoever should have woken meanwhile wakes at its end. */
  async leap(ms: number): Promise<void> {
    this.time += ms
    await this.pass(0)
  }

  async pass(ms: number): Promise<void> {
    const end = this.time + ms
    for (;;) {
      await this.settle()
      const next = this.#sleepers.sort((a, b) => a.at - b.at)[0]
      if (!next || next.at > end) break
      this.time = Math.max(this.time, next.at)
      this.#sleepers.shift()
      next.wake()
    }
    this.time = end
    await this.settle()
  }
}
