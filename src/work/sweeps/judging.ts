// The verdict of a sweep whose trials are made: one job judges all of them, and the tests for luck that take longest are shared
// out like trials.

import type { TrialInputs } from '../../broker/measured.ts'
import type { JudgeJob } from '../workers/job.ts'
import { luckParts, type LuckFound, type LuckPart } from '../workers/luck.ts'
import { withLuck } from '../workers/verdict.ts'
import { turn } from '../../lib/turn.ts'
import type { StitchedEquity, Verdict } from '../../wire/sweep.ts'
import type { Ledger } from './ledger.ts'
import type { SharedBatches, SweepNodes } from './offers.ts'
import { ledgerOf, type Sweep } from './records.ts'
import type { Rows } from './rows.ts'
import type { Choice, Choices, Space } from './space.ts'
import type { Material, SweepTrials, TryDeps } from './trying.ts'
import { cellsOf } from './windows.ts'

export interface JudgeDeps extends TryDeps {
  readonly ledger: Ledger
  /** The servers that may do batches for each other; null or missing = there is one. */
  readonly nodes?: SweepNodes | null
  readonly trials: SweepTrials
}

/** As many trials are looked at in a turn of the server. */
const TURN_TRIALS = 500

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

/** Each trial's inputs, and the index of its value on each axis. */
async function stepsOf(space: Space, all: Choices): Promise<Pick<JudgeJob, 'steps' | 'points'>> {
  const steps = new Int32Array(all.length * space.axes.length)
  const numbers = space.axes.map(() => new Map<Choice, number>())
  for (const [axis] of space.axes.entries()) {
    const values = [...new Set(all.map((choices) => choices[axis]!))]
    const sorted = values.every((value) => typeof value === 'number')
      ? values.toSorted((a, b) => a - b)
      : values
    for (const [i, value] of sorted.entries()) numbers[axis]!.set(value, i)
  }
  const points: TrialInputs[] = []
  for (const [trial, choices] of all.entries()) {
    if (trial % TURN_TRIALS === 0) await turn()
    points.push(space.pointOf(choices))
    for (const [axis, { count }] of space.axes.entries())
      steps[trial * space.axes.length + axis] = count === null ? -1 : numbers[axis]!.get(choices[axis]!)!
  }
  return { steps, points }
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
