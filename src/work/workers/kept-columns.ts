// What a thread keeps from one part of a sweep to the next: the columns that its trials share.
//
// A part has a hundred trials at most, and in a grid the averages of the next hundred are those of the last. They are given
// back when no part has come for a while, since they take as much as 64 MB. What trials leave behind is collected now and
// then: left alone the heap grew by 70 MB over 10,000 trials, all of it garbage, and collected it stays as it is.

import type { TrialColumns } from '../../broker/trial-columns.ts'
import { later, type Later } from './later.ts'

const KEPT_MS = 5000
/** A collection takes as long as some ten trials. */
const COLLECTED_TRIALS = 1000

export class KeptColumns {
  readonly #later: Later
  #kept: { readonly name: string; readonly columns: TrialColumns } | null = null
  readonly #collect: () => void
  #uncollected = 0
  #cancel = () => {}

  constructor(wait: Later = later, collect = () => Bun.gc(true)) {
    this.#later = wait
    this.#collect = collect
  }

  /** Those of the last job if it had this name, or else new ones in its memory. */
  of(name: string, make: () => TrialColumns): TrialColumns {
    this.#cancel()
    if (this.#kept?.name === name) return this.#kept.columns
    this.#kept?.columns.leave()
    this.#kept = { name, columns: make() }
    return this.#kept.columns
  }

  /** To be called after each job, with how many trials it ran. */
  rest(trials: number): void {
    this.#cancel()
    this.#uncollected += trials
    if (this.#uncollected >= COLLECTED_TRIALS) this.#collected()
    this.#cancel = this.#later(() => {
      this.#kept = null
      this.#collected()
    }, KEPT_MS)
  }

  #collected(): void {
    this.#uncollected = 0
    this.#collect()
  }
}
