// What a thread keeps from one part of a sweep to the next: the columns that its trials share.
//
// A part has a hundred trials at most, and in a grid the averages of the next hundred are those of the last. They are given
// back when no part has come for a while, since they take as much as 64 MB.

import type { TrialColumns } from '../backtest/trial-columns.ts'

const KEPT_MS = 5000

/** Calls `work` after some time unless the returned function is called before. */
export type Later = (work: () => void, ms: number) => () => void

const later: Later = (work, ms) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

export class KeptColumns {
  readonly #later: Later
  #kept: { readonly name: string; readonly columns: TrialColumns } | null = null
  #cancel = () => {}

  constructor(wait: Later = later) {
    this.#later = wait
  }

  /** Those of the last job if it had this name, or else new ones. */
  of(name: string, make: () => TrialColumns): TrialColumns {
    this.#cancel()
    if (this.#kept?.name !== name) this.#kept = { name, columns: make() }
    return this.#kept.columns
  }

  /** To be called after each job. */
  rest(): void {
    this.#cancel()
    this.#cancel = this.#later(() => {
      this.#kept = null
      Bun.gc(true)
    }, KEPT_MS)
  }
}
