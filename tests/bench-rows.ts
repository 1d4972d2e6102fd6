// Figures of the benchmarks as rows that `bun run bench --save` keeps and `--against` compares: less is better, always.

import { appendFileSync } from 'node:fs'

export interface BenchRow {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The least that it can be, measured in the same run. */
  readonly limit?: number
  /** What is wanted of it. Only rows that say so stand in FIGURES.md. */
  readonly wanted?: string
}

/** Where `bun run bench` collects them; without it they are only printed, by the benchmark itself. */
export const ROWS_FILE = 'BENCH_ROWS'

export function noteRow(
  name: string,
  value: number,
  unit: string,
  more: Pick<BenchRow, 'limit' | 'wanted'> = {},
): void {
  const file = process.env[ROWS_FILE]
  const row: BenchRow = { name, value, unit, ...more }
  if (file !== undefined && Number.isFinite(value)) appendFileSync(file, `${JSON.stringify(row)}\n`)
}
