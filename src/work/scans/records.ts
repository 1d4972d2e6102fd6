// What is stored of a scan: its record, its script, the markets it looks at, and their rows in batches.
//
// A batch is written in one commit with the record, so that after a sudden end the scan goes on behind the last complete
// one.

import { recordsOf, type JobScript } from '../jobs/records.ts'
import type { ScanRow, Scan as ScanWire } from '../../wire/scan.ts'
import type { Key } from '../../store/kv.ts'

export interface Scan extends Omit<ScanWire, 'source' | 'inputs' | 'overrides'> {
  readonly userId: string
  readonly batches: number
}

export interface ScanScript extends JobScript {
  /** The names as the user gave them; null = those of the watchlist, or all. */
  readonly symbols: readonly NamedMarket[] | null
}

/** An empty exchange means every one that has the symbol. */
export interface NamedMarket {
  readonly exchange: string
  readonly symbol: string
}

/** The most scans kept for one user. */
const SCANS_MAX = 100

export const scans = recordsOf<Scan>('scans', SCANS_MAX, {
  indexes: { watched: ({ watch, state }) => (watch !== null && state === 'done' ? [] : null) },
})

export const scriptKey = (id: string): Key => ['scan-script', id]
export const marketsKey = (id: string): Key => ['scan-markets', id]
export const batchKey = (id: string, batch: number): Key => ['scan-batch', id, batch]

export type ScanWatch = NonNullable<ScanWire['watch']>

/** Markets in a batch; only the last one has fewer. */
export const BATCH = 400

/** `fired`: for each condition, the bar on which the user was last told. */
export type StoredRow = ScanRow & { readonly fired?: Readonly<Record<string, number>> }
/** The JSON that is stored. */
export type StoredRows = readonly StoredRow[]
