// A sweep's trials as they are shown, in an answer or as lines of CSV, and its stitched equity as CSV.

import { OUTSIDE_FIGURES, rowLayout } from '../../broker/measured.ts'
import { NO_LOSSES } from '../../broker/report/summary.ts'
import { csvRow } from '../../lib/csv-text.ts'
import type { StitchedEquity, SweepTrial, Verdict } from '../../wire/sweep.ts'
import type { Batch, Sweep } from './records.ts'

const known = (value: number | undefined) => (value === undefined || !Number.isFinite(value) ? null : value)

/** `at` is its place in the batch, `trial` its number in the sweep. */
export function shownTrial(
  { measured }: Pick<Sweep, 'measured'>,
  { choices, failures }: Batch,
  rows: Float64Array,
  at: number,
  trial: number,
): SweepTrial {
  const layout = rowLayout(measured)
  const row = rows.subarray(at * layout.width, (at + 1) * layout.width)
  const failure = failures.find((one) => one.trial === at)
  return {
    trial,
    choices: [...(choices[at] ?? [])],
    score: known(row[layout.score]),
    figures: Object.fromEntries(measured.figures.map((name, i) => [name, known(row[layout.figures + i])])),
    sharpe: known(row[layout.sharpe]),
    outside: measured.outside && {
      score: known(row[layout.outside]),
      ...Object.fromEntries(OUTSIDE_FIGURES.map((name, i) => [name, known(row[layout.outside + 1 + i])])),
    },
    error: failure ? { code: failure.code, message: failure.message } : null,
  }
}

export function csvHead({ measured }: Pick<Sweep, 'measured'>, names: readonly string[]): string {
  const outside = measured.outside ? ['score', ...OUTSIDE_FIGURES].map((name) => `outside.${name}`) : []
  return csvRow(['trial', ...names, 'score', 'sharpe a bar', ...measured.figures, ...outside, 'error'])
}

export function csvLine({ trial, choices, score, sharpe, figures, outside, error }: SweepTrial): string {
  const cells = [
    trial,
    ...choices,
    score,
    sharpe,
    ...Object.entries({ ...figures }).map(asWritten),
    ...Object.entries({ ...outside }).map(asWritten),
    error?.message ?? null,
  ]
  return csvRow(cells.map((cell) => (cell === null ? '' : typeof cell === 'boolean' ? String(cell) : cell)))
}

/** A factor of wins without losses is a million among numbers that must be finite, which nobody who reads the file can know. */
const asWritten = ([name, value]: [string, number | null]): string | number | null =>
  name.endsWith('profitFactor') && value === NO_LOSSES ? 'Infinity' : value

/** The stitched equity as CSV, each row with the trial that the verdict says was chosen for its window. */
export function stitchedCsv(
  { time, equity, window }: StitchedEquity,
  walkForward: Verdict['walkForward'],
  cell: number,
): string {
  const windows = walkForward?.cells[cell]?.windows ?? []
  const rows = time.map((at, i) =>
    csvRow([new Date(at).toISOString(), equity[i]!, window[i]! + 1, windows[window[i]!]?.trial ?? '']),
  )
  return `${[csvRow(['time', 'equity', 'window', 'trial']), ...rows].join('\n')}\n`
}
