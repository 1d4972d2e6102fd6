// The pieces of sweeps that servers do for each other, held step by step against who makes it: a piece is offered by the server
// that has the sweep, taken by one for itself, and given back or answered by that one alone, once. What a server that is gone
// had taken is anybody's again.

import type { Offer } from '../work/sweeps/offers.ts'
import type { History } from './history.ts'

export class Lending {
  readonly #history: History
  /** Whether the others have buried it. */
  readonly #isGone: (node: string) => boolean
  /** The choices that somebody has answered to whoever asked for them. */
  readonly #answered = new Set<string>()

  constructor(history: History, isGone: (node: string) => boolean) {
    this.#history = history
    this.#isGone = isGone
  }

  /** A server has made one of the other. null: there is none. */
  step(before: Offer | null, after: Offer | null, by: string): void {
    if (!after) return
    const wrong = before ? this.#mistake(before, after, by) : after.lender !== by || after.node !== null
    if (wrong !== false) this.#found(after, `${by} ${wrong === true ? 'offers it for another' : wrong}`)
    if (before?.outcome || !after.outcome) return
    for (const choice of after.choices) {
      const name = `${after.lender} ${after.sweepId} ${JSON.stringify(choice)}`
      if (this.#answered.has(name))
        this.#found(after, `${JSON.stringify(choice)} is answered again, by ${by}`)
      this.#answered.add(name)
    }
  }

  /** What a server should not have done with it; false if all is well. */
  #mistake(before: Offer, after: Offer, by: string): string | false {
    if (before.outcome) return 'changes it, though it is answered'
    if (before.node === null)
      return (
        after.node !== by && (after.node === null ? 'gives back what nobody has' : 'takes it for another')
      )
    if (after.outcome) return before.node !== by && `answers what ${before.node} has`
    return before.node !== by && !this.#isGone(before.node) && `gives back what ${before.node} has`
  }

  #found({ id, sweepId }: Offer, says: string): void {
    this.#history.found('lent', `${id} of ${sweepId}: ${says}`)
  }
}
