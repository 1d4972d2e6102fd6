// What a built-in with state is: a class, one instance a call site.

import type { Runtime } from './runtime.ts'

/** Constructed with the Runtime when `runtime` is true on the class, else without arguments. It may read it, not keep it. */
export interface StateClass {
  new (runtime: Runtime): { next(...args: never[]): unknown }
  readonly runtime?: boolean
  /** The instances have a `fillBlock` besides, `next` for a block of bars at once: `LengthFill`, `PairFill` or `BarsFill`. */
  readonly fills?: 'length' | 'pair' | 'bars'
  /** Two instances' `LengthFill.fillBlock` side by side. */
  readonly fillTwo?: (
    one: never,
    two: never,
    from: number,
    to: number,
    columns1: LengthColumns,
    columns2: LengthColumns,
  ) => void
}

/** Gives what `next` gives for bars `from` to `to` - 1, bit for bit, into a column. */
export interface LengthFill {
  fillBlock(from: number, to: number, columns: LengthColumns<never>): void
}

/** The same of the bars themselves. A column of one block is indexed with its mask, a whole one with -1. */
export interface BarsFill {
  fillBlock(from: number, to: number, target: Float64Array, targetMask: number): void
}

/**
 * One series, one length (or what else is second) and what else there is, the same on every bar. A column of one block is
 * indexed with its mask, a whole one with -1.
 */
export type LengthColumns<Second = number> = readonly [
  target: Float64Array,
  targetMask: number,
  source: Float64Array,
  sourceMask: number,
  length: Second,
  ...more: readonly never[],
]

/** The same of two series, into a column of 0 and 1. */
export interface PairFill {
  fillBlock(from: number, to: number, columns: PairColumns): void
}

export type PairColumns = readonly [
  target: Uint8Array,
  targetMask: number,
  source1: Float64Array,
  mask1: number,
  source2: Float64Array,
  mask2: number,
]
