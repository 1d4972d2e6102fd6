// What page and worker say to each other.

import type { Checked, RunOptions } from '../engine/engine.ts'
import type { Market } from '../engine/market.ts'
import type { Diagnostic } from '../wire/script.ts'

export interface Questions {
  check: { readonly ask: { readonly source: string }; readonly answer: Checked }
  bars: { readonly ask: { readonly file: Uint8Array; readonly fileName: string }; readonly answer: Market }
  run: {
    readonly ask: {
      readonly source: string
      readonly market: Market
      readonly options: Pick<RunOptions, 'inputs' | 'timeMs'>
    }
    readonly answer: Ran
  }
}
export type Question = keyof Questions

export interface Ran {
  /** As a server stores it. */
  readonly report: string
  /**
   * Tracks as `wire/columns.ts` writes them. As lists, a browser made them anew number by number: with 200,000 bars the page
   * stood still for 2.2 seconds.
   */
  readonly tracks: ArrayBuffer
}

/** `what` names the question that `ask` is of. */
export interface Asked<Q extends Question = Question> {
  readonly id: number
  readonly what: Q
  readonly ask: Questions[Q]['ask']
}

export type Told =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly progress: number }
  | { readonly id: number; readonly refused: Refused }

/** A refusal in words for people. */
export interface Refused {
  readonly code: string
  readonly message: string
  readonly diagnostics: readonly Diagnostic[]
}
