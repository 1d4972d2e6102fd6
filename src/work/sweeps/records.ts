// What is stored of a sweep: its record, what it runs, its batches of trials, and its verdict.
//
// A batch is written in one commit with the record and the ledger, so after a sudden end the sweep goes on behind a
// complete batch as if it had never stopped. Numbers are stored as bytes: a row of 120 takes a kilobyte.

import type { Measured } from '../../broker/measured.ts'
import type { WindowWinner } from '../../broker/measured.ts'
import type { Sweep as SweepWire } from '../../wire/sweep.ts'
import { seriesName } from '../../market/bar-store.ts'
import type { Key, Kv } from '../../store/kv.ts'
import type { Halving } from './halving.ts'
import type { Choice } from './space.ts'
import { recordsOf } from '../jobs/records.ts'

export type SweepState = SweepWire['state']

type AskedSweep = Pick<
  SweepWire,
  | 'name'
  | 'asOf'
  | 'symbol'
  | 'exchange'
  | 'interval'
  | 'bars'
  | 'space'
  | 'where'
  | 'sampler'
  | 'trials'
  | 'seed'
  | 'objective'
  | 'constraints'
  | 'windows'
>

export interface Sweep extends AskedSweep {
  readonly id: string
  readonly userId: string
  readonly seriesOwner: string
  readonly state: SweepState
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly range: SweepWire['range']
  /** Hash of the bars: a sweep goes on only over exactly the same ones. */
  readonly barsHash: string
  readonly measured: Measured
  readonly batches: number
  readonly tried: number
  readonly failed: number
  /** Missing in records from before there was halving, as is `filtered`. */
  readonly halving?: Halving | null
  readonly filtered?: number
  readonly best: SweepWire['best']
  /** The script's name in the ledger; '' until a trial has run. */
  readonly script: string
  readonly sentence: string | null
  readonly error: SweepWire['error']
}

export interface Batch {
  readonly choices: readonly (readonly Choice[])[]
  /** The rows in base64. */
  readonly rows: string
  readonly failures: readonly { readonly trial: number; readonly code: string; readonly message: string }[]
  /** `trial` counts from the first trial of the sweep. */
  readonly winners: readonly (WindowWinner | null)[]
}

/** The most sweeps of a user, who must then delete one to make another. */
const SWEEPS_MAX = 100

export const sweeps = recordsOf<Sweep>('sweeps', SWEEPS_MAX)

export const scriptKey = (id: string): Key => ['sweep-script', id]
export const batchKey = (id: string, batch: number): Key => ['sweep-batch', id, batch]
export const verdictKey = (id: string): Key => ['sweep-verdict', id]
/** What a cell of the walk-forward earned out of sample. */
export const stitchedKey = (id: string, cell: number): Key => ['sweep-stitched', id, cell]

export function encodeRows(rows: Float64Array): string {
  return Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength).toString('base64')
}

export function decodeRows(text: string): Float64Array {
  const bytes = Buffer.from(text, 'base64')
  return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
}

export async function batchOf(kv: Kv, id: string, batch: number): Promise<Batch | null> {
  const entry = await kv.get(batchKey(id, batch))
  return entry && (JSON.parse(entry.value) as Batch)
}

/** All batches of a sweep that is not removed, in order. */
export async function* batchesOf(kv: Kv, { id, batches }: Sweep): AsyncGenerator<Batch> {
  for (let batch = 0; batch < batches; batch++) {
    const stored = await batchOf(kv, id, batch)
    if (!stored) throw new Error(`batch ${batch} of ${id} is missing`)
    yield stored
  }
}

/** Under what the ledger counts its trials. */
export const ledgerOf = ({ userId, script, exchange, symbol, interval }: Sweep) => ({
  userId,
  script,
  market: seriesName({ exchange, symbol, interval }),
})
