// What the database answered last, for requests that only show something while it is away.
//
// A chart that was open a moment ago can be shown again, with the bars that are still in memory, if everything that leads
// to it is known: the session, the series, the layout. So what such a request reads is remembered, and answered again
// where the database gives no answer. A request must say that it only shows (`show`), since anything else might act on what
// is no longer so. Commits are refused meanwhile, with or without it.
//
// An answer is remembered for a quarter of an hour, since among them are credentials: one that was revoked where the
// database can be reached would go on being good for as long here.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Problem } from '../../lib/problem.ts'
import type { BarStore } from '../../market/bar-store.ts'
import type { Kv } from '../kv.ts'

interface Remembered {
  readonly value: unknown
  readonly bytes: number
  readonly at: number
}

/** What one request was shown. */
interface Shown {
  /** The age of the oldest remembered answer among it; 0 = all of it was new. */
  ageMs: number
}

const REMEMBERED_MS = 15 * 60_000
const BYTES_MAX = 32 << 20
/** What an answer without a text in it weighs, and each row of one. */
const ROW_BYTES = 200

export class LastKnown {
  /** A monotonic clock, in ms. */
  readonly #now: () => number
  readonly #bytesMax: number
  readonly #shows = new AsyncLocalStorage<Shown>()
  /** In order of use, the least recent first; `#bytes` is the sum of their sizes. */
  readonly #answers = new Map<string, Remembered>()
  #bytes = 0

  constructor({ now, bytesMax = BYTES_MAX }: { now(): number; readonly bytesMax?: number }) {
    this.#now = now
    this.#bytesMax = bytesMax
  }

  /** Does work that only shows something, and answers how old the oldest of what it was shown is. */
  async show<T>(work: () => T): Promise<{ readonly answer: Awaited<T>; readonly ageMs: number }> {
    const shown: Shown = { ageMs: 0 }
    const answer = await this.#shows.run(shown, work)
    return { answer, ageMs: shown.ageMs }
  }

  /** The documents, with a memory. */
  kv(kv: Kv): Kv {
    return {
      get: (key) =>
        this.#ask(
          ['get', key],
          () => kv.get(key),
          (entry) => lengthOf([entry]),
        ),
      getMany: (keys) => this.#ask(['getMany', keys], () => kv.getMany(keys), lengthOf),
      versions: (keys) => this.#ask(['versions', keys], () => kv.versions(keys), rowsOf),
      list: (selector, options) =>
        this.#ask(['list', selector, options], () => kv.list(selector, options), lengthOf),
      commit: (commit) => kv.commit(commit),
      close: () => kv.close(),
    }
  }

  /** The bars, with a memory of which there are; the bars themselves are kept by `BarCache`. */
  bars(store: BarStore): BarStore {
    return {
      ...store,
      info: (key) =>
        this.#ask(
          ['info', key],
          () => store.info(key),
          () => ROW_BYTES,
        ),
      list: (of) => this.#ask(['series', of], () => store.list(of), rowsOf),
      symbol: (...name) =>
        this.#ask(
          ['symbol', ...name],
          () => store.symbol(...name),
          () => ROW_BYTES,
        ),
      symbols: () => this.#ask(['symbols'], () => store.symbols(), rowsOf),
    }
  }

  async #ask<T>(
    question: readonly unknown[],
    ask: () => Promise<T>,
    sizeOf: (value: T) => number,
  ): Promise<T> {
    const shown = this.#shows.getStore()
    if (!shown) return ask()
    const name = JSON.stringify(question)
    try {
      const value = await ask()
      this.#remember(name, { value, bytes: name.length + sizeOf(value), at: this.#now() })
      return value
    } catch (error) {
      const known = isAway(error) ? this.#answers.get(name) : undefined
      const ageMs = known ? this.#now() - known.at : Infinity
      if (!known || ageMs > REMEMBERED_MS) throw error
      // At least 1, so that even an answer of this very moment counts as remembered.
      shown.ageMs = Math.max(shown.ageMs, ageMs, 1)
      return known.value as T
    }
  }

  #remember(name: string, answer: Remembered): void {
    this.#forget(name)
    this.#answers.set(name, answer)
    this.#bytes += answer.bytes
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= this.#bytesMax) return
      this.#forget(oldest)
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#answers.get(name)?.bytes ?? 0
    this.#answers.delete(name)
  }
}

function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'store_unavailable'
}

const rowsOf = (rows: readonly unknown[]) => (rows.length + 1) * ROW_BYTES

const lengthOf = (entries: readonly ({ readonly value: string } | null)[]) =>
  entries.reduce((sum, entry) => sum + ROW_BYTES + (entry?.value.length ?? 0), ROW_BYTES)
