// A sweep as it is asked for: checked as far as that needs no worker, and made the record of one that waits.

import { checkFigures, namesOf } from '../../broker/figures.ts'
import type { Measured } from '../../broker/measured.ts'
import { barsHash } from '../../broker/report/hash.ts'
import { invalidField } from '../../lib/problem.ts'
import type { Bars } from '../../market/bars.ts'
import type { SweepBody } from '../../wire/sweep.ts'
import { halvingOf } from './halving.ts'
import type { Sweep } from './records.ts'
import { expressionAt, type Space } from './space.ts'
import { cellsOf, heldOut } from './windows.ts'
import { words } from '../../lib/words.ts'

const TRIALS = 1000
/** TPE looks at all earlier trials before each choice. */
const TPE_TRIALS_MAX = 2000
const TRIALS_MAX = 20_000
const STANDARD_FIGURES = words('trades netProfit netProfitPct winRate profitFactor maxDrawdownPct sharpe')

/** Whose it is, and on which series. */
type Owned = Pick<
  Sweep,
  'id' | 'userId' | 'createdAt' | 'seriesOwner' | 'exchange' | 'symbol' | 'interval' | 'asOf'
>

/** Throws Problem 422 that names the field which cannot be. */
export function askedSweep(of: Owned, body: SweepBody, space: Space, bars: Bars): Sweep {
  const sampler = body.sampler ?? (space.size === null ? 'random' : 'grid')
  const trials = Math.min(
    body.trials ?? (sampler === 'grid' ? (space.size ?? TRIALS) : TRIALS),
    space.size ?? Infinity,
  )
  assertTrials(sampler, trials)
  const windows = body.windows ?? { kind: 'none' as const }
  const measured = measuredOf(body, windows, bars.length)
  return {
    ...of,
    name: body.name,
    bars: body.bars,
    state: 'queued',
    startedAt: null,
    finishedAt: null,
    space: body.space,
    where: body.where ?? [],
    sampler,
    trials,
    seed: body.seed ?? 1,
    objective: measured.objective,
    constraints: measured.constraints,
    windows,
    halving: halvingOf(body, sampler, measured.inside.to - measured.inside.from),
    range: { from: bars.time[0] ?? 0, to: bars.time.at(-1) ?? 0, bars: bars.length },
    barsHash: barsHash(bars),
    measured,
    batches: 0,
    tried: 0,
    failed: 0,
    filtered: 0,
    best: null,
    script: '',
    sentence: null,
    error: null,
  }
}

function measuredOf(body: SweepBody, windows: NonNullable<SweepBody['windows']>, bars: number): Measured {
  const objective = body.objective ?? 'netProfit'
  const constraints = body.constraints ?? []
  const { inside, outside } = heldOut(windows, bars)
  const spans = windows.kind !== 'none'
  const wanted = expressionAt(objective, '/objective')
  checkFigures(wanted.names, '/objective', { spans })
  const limits = constraints.map((text, i) => {
    const limit = expressionAt(text, `/constraints/${i}`)
    checkFigures(limit.names, `/constraints/${i}`, { spans })
    return limit
  })
  const length = inside.to - inside.from
  // Blocks are long enough for a meaningful Sharpe ratio of one block.
  const blocks = [16, 8, 4, 2].find((count) => length >= count * 10) ?? 2
  return {
    objective,
    constraints,
    figures: [...new Set([...STANDARD_FIGURES, ...namesOf([wanted, ...limits])])],
    inside,
    outside,
    windows: cellsOf(windows, bars).flatMap((cell) => cell.windows),
    blocks,
    pieces: Math.min(64, length),
  }
}

function assertTrials(sampler: Sweep['sampler'], trials: number): void {
  const most = sampler === 'tpe' ? TPE_TRIALS_MAX : TRIALS_MAX
  if (trials > most)
    throw invalidField(
      '/trials',
      'too_many_trials',
      sampler === 'grid'
        ? `The grid would have ${trials.toLocaleString('en')} trials; ${most.toLocaleString('en')} are allowed. Take larger steps, or the sampler sobol.`
        : `This sampler makes at most ${most.toLocaleString('en')} trials.`,
    )
}
