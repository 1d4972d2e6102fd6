// What is measured of a trial, and where in its row of numbers each of them stands.
//
// Code that plans trials and reads their rows imports only this, without the compiler and the broker that run them.

import type { BacktestRequest } from './backtest.ts'
import { SPAN_FIGURES } from './span-figures.ts'

export interface TrialSpan {
  readonly from: number
  readonly to: number
}

/** What is measured for every trial. */
export interface Measured {
  readonly objective: string
  /** All of them must hold, or the trial has no score. */
  readonly constraints: readonly string[]
  /** Names of the figures that are stored. */
  readonly figures: readonly string[]
  readonly inside: TrialSpan
  readonly outside: TrialSpan | null
  /** Walk-forward windows, each of which has its own best trial. */
  readonly windows: readonly { readonly inside: TrialSpan; readonly outside: TrialSpan }[]
  /** Blocks for the test of overfitting, and finer pieces for the tests of data snooping. */
  readonly blocks: number
  readonly pieces: number
}

export interface TrialInputs {
  readonly inputs: BacktestRequest['inputs']
  readonly overrides: NonNullable<BacktestRequest['overrides']>
}

export interface WindowWinner {
  readonly trial: number
  readonly score: number
  readonly inProfit: number
  readonly outProfit: number
  readonly outDrawdownPct: number
}

export interface RowLayout {
  readonly score: number
  readonly bars: number
  readonly sharpe: number
  readonly skewness: number
  readonly kurtosis: number
  readonly figures: number
  readonly outside: number
  readonly sums: number
  readonly squares: number
  readonly pieces: number
  readonly width: number
}

/** Figures of the held-out bars, in the order of a row. */
export const OUTSIDE_FIGURES = SPAN_FIGURES

export function rowLayout({ figures, outside, blocks, pieces }: Measured): RowLayout {
  const afterFigures = 5 + figures.length
  const afterOutside = afterFigures + (outside ? 1 + OUTSIDE_FIGURES.length : 0)
  return {
    score: 0,
    bars: 1,
    sharpe: 2,
    skewness: 3,
    kurtosis: 4,
    figures: 5,
    outside: afterFigures,
    sums: afterOutside,
    squares: afterOutside + blocks,
    pieces: afterOutside + 2 * blocks,
    width: afterOutside + 2 * blocks + pieces,
  }
}

/** Measures a single run over all of its bars. */
export function wholeRun(bars: number): Measured {
  return {
    objective: 'netProfit',
    constraints: [],
    figures: [],
    inside: { from: 0, to: bars },
    outside: null,
    windows: [],
    blocks: 2,
    pieces: Math.min(64, bars),
  }
}
