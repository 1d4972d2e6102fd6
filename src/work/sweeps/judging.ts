// The verdict of a sweep whose trials are made: one job judges all of them, and the tests for luck that take longest are shared
// out like trials.

import type { JudgeJob } from '../workers/job.ts'
import { luckParts, type LuckFound, type LuckPart } from '../workers/luck.ts'
import { withLuck } from '../workers/verdict.ts'
import type { StitchedEquity, Verdict } from '../../wire/sweep.ts'
import type { Ledger } from './ledger.ts'
import type { SharedBatches, SweepNodes } from './offers.ts'
import { ledgerOf, type Sweep } from './records.ts'
import type { Rows } from './rows.ts'
import { stepsOf } from './steps.ts'
import type { Material, SweepTrials, TryDeps } from './trying.ts'
import { cellsOf } from './windows.ts'

export interface JudgeDeps extends TryDeps {
  readonly ledger: Ledger
  /** The servers that may do batches for each other; null or missing = there is one. */
  readonly nodes?: SweepNodes | null
  readonly trials: SweepTrials
}

export async function judged(
  deps: JudgeDeps,
  sweep: Sweep,
  material: Material,
  all: Rows,
  shared: SharedBatches,
  signal: AbortSignal,
): Promise<{ readonly verdict: Verdict; readonly stitched: readonly StitchedEquity[] }> {
  const { pool, ledger, atOnce, nodes, trials } = deps
  const { space, bars } = material
  const { count, deviation: deviationOfAll } = await ledger.counted(ledgerOf(sweep))
  const isShared = atOnce > 1 || (nodes?.members.length ?? 1) > 1
  const parts = luckParts({ ...sweep, rows: all.rows }, isShared)
  const isWhole = parts.length === 1
  const job: JudgeJob = {
    ...trials.jobOf(material),
    ...(await stepsOf(space, all.choices)),
    measured: sweep.measured,
    rows: all.rows,
    axes: space.axes.map(({ ordered }) => ({ ordered })),
    counted: Math.max(sweep.tried - sweep.failed, count),
    deviationOfAll,
    failed: sweep.failed,
    filtered: sweep.filtered ?? 0,
    seed: sweep.seed,
    cells: cellsOf(sweep.windows, bars.length).map(({ share, runs }) => ({ share, runs })),
    winners: all.winners,
    luck: isWhole ? 'here' : 'elsewhere',
  }
  const runs = 20 + sweep.measured.windows.length
  const { own, luck } = await shared.judge(
    () => pool.do('judge', job, trials.optionsFor(sweep, material, runs, signal)),
    isWhole ? [] : parts,
    (part) => luckIn(deps, sweep, material, all, part, signal),
  )
  return { verdict: withLuck(own.judged, isWhole ? own.luck : luck), stitched: own.stitched }
}

export function luckIn(
  { pool, trials }: Pick<JudgeDeps, 'pool' | 'trials'>,
  sweep: Sweep,
  material: Material,
  { rows }: Rows,
  part: LuckPart,
  signal: AbortSignal,
): Promise<LuckFound> {
  const { measured, seed } = sweep
  return pool.do('luck', { measured, seed, rows, part }, trials.optionsFor(sweep, material, 20, signal))
}
