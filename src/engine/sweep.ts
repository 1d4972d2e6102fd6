// A sweep in one go: the server's own plan of trials, and its verdict, without workers and without a store.

import { rowLayout, type Measured, type WindowWinner } from '../broker/measured.ts'
import type { BacktestRequest } from '../broker/backtest.ts'
import { TrialColumns } from '../broker/trial-columns.ts'
import { runTrials, type TrialBatch } from '../broker/trial.ts'
import { Problem } from '../lib/problem.ts'
import type { SweepBody, SweepTrial, Verdict } from '../wire/sweep.ts'
import { askedSweep } from '../work/sweeps/asked.ts'
import { planOf, SAMPLERS } from '../work/sweeps/plan.ts'
import type { Sweep } from '../work/sweeps/records.ts'
import { spaceOf, type Choices, type Space } from '../work/sweeps/space.ts'
import { stepsOf } from '../work/sweeps/steps.ts'
import { shownTrial } from '../work/sweeps/trials.ts'
import { cellsOf } from '../work/sweeps/windows.ts'
import { judge } from '../work/workers/judge.ts'
import { luckJob, luckParts } from '../work/workers/luck.ts'
import { withLuck } from '../work/workers/verdict.ts'
import * as given from './given.ts'

/** What is varied, what is wanted, and what the choice is judged on. */
export interface SweepPlan extends Pick<
  SweepBody,
  'space' | 'where' | 'sampler' | 'trials' | 'seed' | 'objective' | 'constraints' | 'windows'
> {
  /** Told of the trials that were made, and of the most there may be. */
  readonly progress?: (tried: number, trials: number) => void
}

/** All trials in the order they were made, and what is left of the best when luck is taken away. */
export interface SweepResult {
  readonly trials: readonly SweepTrial[]
  readonly verdict: Verdict
}

const PLAN = given.fieldsOf<SweepPlan>({
  space: true,
  where: true,
  sampler: true,
  trials: true,
  seed: true,
  objective: true,
  constraints: true,
  windows: true,
  progress: true,
})

/** Throws Problem for what a server's schema would refuse; what the parts mean is looked at where they are used. */
function planGiven(plan: SweepPlan): void {
  given.named(plan ?? null, 'plan', PLAN)
  const { space, where = [], sampler = 'grid', trials = 1, seed = 0 } = plan
  if (given.list(space, 'space', 'what is varied').length === 0)
    throw given.wrong('space', 'at least one input')
  for (const [i, varied] of space.entries()) {
    given.object(varied ?? null, `space/${i}`)
    if (varied.values !== undefined) given.list(varied.values, `space/${i}/values`, 'values')
  }
  given.texts(where, 'where')
  if (!SAMPLERS.includes(sampler)) throw given.wrong('sampler', `one of ${SAMPLERS.join(', ')}`)
  given.whole(trials, 'trials', 1, 20_000)
  given.whole(seed, 'seed', 0, 2 ** 32 - 1)
  given.text(plan.objective ?? '', 'objective')
  given.texts(plan.constraints ?? [], 'constraints')
  given.object(plan.windows, 'windows')
  given.func(plan.progress, 'progress')
}

interface Tried {
  readonly choices: Choices
  readonly trials: readonly SweepTrial[]
  readonly rows: Float64Array
  readonly winners: readonly (WindowWinner | null)[]
}

/** Throws Problem 422 for what cannot be varied or wanted, and for a script of which no trial could be run. */
export async function swept(request: BacktestRequest, plan: SweepPlan): Promise<SweepResult> {
  planGiven(plan)
  const { progress, ...asked } = plan
  const { bars, source, asOf = '' } = request
  const space = spaceOf(asked.space, asked.where ?? [])
  const { exchange, symbol } = request.symbol
  const market = { exchange, symbol, interval: request.interval }
  const sweep = askedSweep(
    { id: '', userId: '', createdAt: 0, seriesOwner: '', asOf, ...market },
    { ...asked, ...market, name: '', bars: bars.length, source },
    space,
    bars,
  )
  const { choices, trials, rows, winners } = await triedAll(request, sweep, space, progress)
  const failed = trials.filter(({ error }) => error !== null).length
  const { measured, seed } = sweep
  const judging = {
    ...(await stepsOf(space, choices)),
    bars,
    measured,
    rows,
    axes: space.axes.map(({ ordered }) => ({ ordered })),
    counted: trials.length - failed,
    failed,
    filtered: 0,
    seed,
    cells: cellsOf(sweep.windows, bars.length).map(({ share, runs }) => ({ share, runs })),
    winners,
  }
  const luck = luckParts(judging, false).map((part) => luckJob({ ...judging, part }))
  return { trials, verdict: withLuck(judge(judging, request).judged, luck) }
}

/** Batch after batch, until the plan has nothing more to try. */
async function triedAll(
  request: BacktestRequest,
  sweep: Sweep,
  space: Space,
  progress: SweepPlan['progress'],
): Promise<Tried> {
  const { measured } = sweep
  const columns = new TrialColumns(request.bars.length, {
    inputs: sweep.space.flatMap(({ input = [] }) => input),
    settings: sweep.space.some(({ property }) => property !== undefined),
  })
  const plan = planOf(space, sweep, () => 0)
  const trials: SweepTrial[] = []
  const all: TrialBatch[] = []
  const choices: Choices[number][] = []
  let winners: readonly (WindowWinner | null)[] = measured.windows.map(() => null)
  for (;;) {
    const batch = plan.next()
    if (batch?.length === 0) break
    if (batch === null) {
      await plan.pending
      continue
    }
    const from = trials.length
    const points = batch.map((one) => space.pointOf(one))
    const done = (count: number) => progress?.(from + count, sweep.trials)
    const found = runTrials(request, points, measured, { columns, done })
    if (found.failures.length === batch.length && from === 0) throw noneRan(found)
    plan.tell(scoresOf(found.rows, measured))
    const shown = { choices: batch, rows: '', failures: found.failures, winners: [] }
    for (const i of batch.keys()) trials.push(shownTrial(sweep, shown, found.rows, i, from + i))
    winners = winners.map((best, i) => better(best, found.winners[i] ?? null, from))
    choices.push(...batch)
    all.push(found)
  }
  columns.leave()
  return { choices, trials, rows: Float64Array.from(all.flatMap(({ rows }) => [...rows])), winners }
}

function better(best: WindowWinner | null, found: WindowWinner | null, from: number): WindowWinner | null {
  if (found === null || (best !== null && best.score >= found.score)) return best
  return { ...found, trial: found.trial + from }
}

function scoresOf(rows: Float64Array, measured: Measured): (number | null)[] {
  const { width, score } = rowLayout(measured)
  return Array.from({ length: rows.length / width }, (_, trial) => {
    const found = rows[trial * width + score]!
    return Number.isNaN(found) ? null : found
  })
}

function noneRan({ failures }: TrialBatch): Problem {
  const said = failures[0]?.message ?? ''
  return new Problem(
    422,
    'script_runtime_error',
    `No trial of the first ${failures.length} could be run. The first said: ${said}`,
  )
}
