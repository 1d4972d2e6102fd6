// What the compiler hands to a run: the generated function, what that needs, and access to the parts of the script that
// requests evaluate elsewhere. A run does not know how they are made.

import type { InputSpec } from './inputs.ts'

export type PineVersion = 4 | 5 | 6

/** How many bars are computed ahead at a time. A power of two, because columns of one block are indexed with a mask. */
export const BLOCK = 4096

/** Entries of a column that is not kept, of which the script reads so many bars back: those stay while a block is computed. */
export function roomOf(back: number): number {
  return back === 0 ? BLOCK : 2 * BLOCK
}

export interface Executable {
  /** What a run has to know of the script. */
  readonly program: {
    readonly version: PineVersion
    readonly declaration: {
      readonly args: Readonly<Record<string, number | string | boolean | null>>
    }
    readonly inputs: readonly InputSpec[]
    readonly enums: readonly { readonly members: readonly object[] }[]
  }
  readonly constants: readonly unknown[]
  /** The source offset of each line of the text; -1 = none. */
  readonly offsets: Int32Array
  readonly columns: readonly RunColumn[]
  readonly tracks: readonly TrackSpec[]
  /** Frames one run makes. */
  readonly frameCount: number
  /** The columns of the values that a slice is wanted for. */
  readonly results: readonly Pick<RunColumn, 'index' | 'kind'>[]
  /** What the run may receive instead of computing it; empty unless it was generated `apart`. */
  readonly shares: readonly ColumnShare[]
  readonly instantiate: Instantiate
  /** The part of the script that the request at a call site evaluates; `path` leads to it. The same each time it is asked for. */
  slice(site: number, path: string): Executable
  /** What a request evaluates, as a text: two that ask for the same are one. */
  requestKey(site: number, path: string): string
}

/** Columns that one hoist fills, and the inputs they depend on: runs that agree on these inputs have the same columns. */
export interface ColumnShare {
  readonly hoist: number
  readonly inputs: readonly InputSpec[]
  readonly columns: readonly number[]
}

/** `kept`: all of it is there; else only the block at work and what of the past is read. `back`: how many bars back that is at most. */
export interface RunColumn {
  readonly index: number
  readonly kind: 'f64' | 'u8' | 'any'
  readonly kept: boolean
  readonly back: number
}

export type Instantiate = (
  context: object,
  inputs: readonly unknown[],
  sources: readonly (Float64Array | null)[],
) => Instance

/** The value of the generated text. `state` and `hoisted` are the frames that a snapshot copies. */
export interface Instance {
  readonly state: object
  readonly hoisted: object
  /** Classes of the script's types, in the order the text needed them. */
  readonly types: readonly (new (...fields: never[]) => object)[]
  readonly options: readonly Readonly<Record<string, number | string | boolean | null>>[]
  /** Fetches the columns again after they have grown and moved. */
  bind(): void
  hoist(from: number, to: number): void
  /** The script's body on one bar, once more. */
  body(bar: number): void
  run(from: number, to: number): void
}

/** What a plot call records, for `runtime/plots.ts`. */
export interface TrackSpec {
  readonly kind: string
  /** The number of the plan's column that holds a parameter, by the parameter's name. */
  readonly columns: Record<string, number>
  readonly colors: Record<string, number>
  readonly texts: Record<string, number>
  between: readonly [number, number] | null
}

export type ColumnData = Float64Array | Uint8Array | unknown[]
