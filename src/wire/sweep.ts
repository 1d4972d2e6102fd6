// Sweeps: a script run with many choices of its inputs, and what remains of the best without luck.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import {
  asksDay,
  hasDay,
  hasError,
  hasScript,
  idOf,
  Listed,
  nullable,
  oneOf,
  PageQuery,
  Raw,
  Setting,
  Text,
  Time,
  type Wire,
} from './schema.ts'
import { JOB_STATES } from './job-state.ts'
import { judgedSharpe, LeastLength } from './trials.ts'

const maybe = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })
const number = (description: string) => Type.Number({ description })

const Varied = Type.Object(
  {
    input: Type.Optional(Text(200)),
    property: Type.Optional(Text(64)),
    values: Type.Optional(Type.Array(Setting, { minItems: 1, maxItems: 10_000 })),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    step: Type.Optional(
      Type.Number({ description: 'Without it every number between the ends may be tried.' }),
    ),
    log: Type.Optional(
      Type.Boolean({ description: 'Steps grow with the value: as many from 1 to 10 as from 10 to 100.' }),
    ),
  },
  {
    description:
      'An `input` by its title or the name of its variable, or a `property` of strategy(); over `values`, or from `min` to `max`.',
  },
)

const Windows = Type.Object({
  kind: oneOf(['none', 'holdout', 'rolling', 'anchored', 'matrix']),
  share: Type.Optional(
    Type.Number({ minimum: 0.05, maximum: 0.5, description: 'Of a window, what is out of sample.' }),
  ),
  runs: Type.Optional(Type.Integer({ minimum: 2, maximum: 50, description: 'How many windows.' })),
})

const Halving = Type.Object(
  {
    keep: Type.Optional(
      Type.Number({
        minimum: 0.1,
        maximum: 0.8,
        description: 'The share that goes on; a third if not given.',
      }),
    ),
    rungs: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3, description: 'How often; once if not given.' }),
    ),
  },
  {
    description:
      'Successive halving: choices are run on the first `keep` of the in-sample bars (with two rungs, first on `keep` of that), and only the best `keep` of them on all. Only a filter: scores are those of whole runs. What is sorted out is counted as tried.',
  },
)

export const SweepBody = Type.Object({
  name: Text(200),
  symbol: Text(64),
  interval: Text(16),
  exchange: Text(64),
  bars: Type.Integer({ minimum: 1, maximum: 2_000_000 }),
  source: Raw(1 << 20),
  inputs: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  overrides: Type.Optional(Type.Record(Type.String(), Setting)),
  space: Type.Array(Varied, { minItems: 1, maxItems: 20 }),
  where: Type.Optional(Type.Array(Raw(2000), { maxItems: 20 })),
  sampler: Type.Optional(oneOf(['grid', 'random', 'sobol', 'tpe', 'cmaes'])),
  trials: Type.Optional(Type.Integer({ minimum: 1, maximum: 20_000 })),
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })),
  objective: Type.Optional(Raw(2000)),
  constraints: Type.Optional(Type.Array(Raw(2000), { maxItems: 20 })),
  windows: Type.Optional(Windows),
  halving: Type.Optional(Halving),
  ...asksDay,
})
export type SweepBody = Wire<typeof SweepBody>

export const SweepState = oneOf(JOB_STATES)

const Sweep = Type.Object(
  {
    id: idOf('sw'),
    name: Type.String(),
    symbol: Type.String(),
    exchange: Type.String(),
    interval: Type.String(),
    bars: Type.Integer(),
    state: SweepState,
    createdAt: Time,
    startedAt: nullable(Time),
    finishedAt: nullable(Time),
    space: Type.Array(Varied),
    where: Type.Array(Type.String()),
    sampler: oneOf(['grid', 'random', 'sobol', 'tpe', 'cmaes']),
    trials: Type.Integer({ description: 'The most there may be.' }),
    seed: Type.Integer(),
    objective: Type.String(),
    constraints: Type.Array(Type.String()),
    windows: Windows,
    halving: nullable(Halving),
    range: Type.Object({ from: Time, to: Time, bars: Type.Integer() }),
    tried: Type.Integer({ description: 'Trials that are stored.' }),
    trying: Type.Integer({
      description: 'Trials that have run, and are stored with the others of their batches.',
    }),
    failed: Type.Integer({ description: 'Of the stored trials, those that ended with an error.' }),
    filtered: Type.Integer({ description: 'Choices that halving sorted out.' }),
    best: nullable(Type.Object({ trial: Type.Integer(), score: Type.Number() })),
    counted: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'Distinct trials of this script on this market that the caller ever made, by sweep or by hand. Null until the sweep has made its first.',
    }),
    sentence: nullable(Type.String()),
    ...hasDay,
    ...hasError,
    ...hasScript,
  },
  { $id: 'Sweep' },
)
export type Sweep = Wire<typeof Sweep>

const Span = Type.Object(
  { from: Type.Integer(), to: Type.Integer() },
  { description: 'Indices of bars; `to` is the first behind it.' },
)
const Spread = Type.Object({
  low: number('5% are below it.'),
  middle: number('The median.'),
  high: number('95% are below it.'),
})
const SnoopingTest = Type.Object({
  statistic: Type.Number(),
  lower: number('p, with poor trials left out.'),
  consistent: number('p, with hopeless trials left out.'),
  upper: number('p, with all trials.'),
})

export const Verdict = Type.Object(
  {
    sentence: Type.String({ description: 'The verdict in a sentence, for traders.' }),
    trials: Type.Integer(),
    scored: Type.Integer({ description: 'Those that meet the constraints and have a score.' }),
    failed: Type.Integer(),
    counted: Type.Integer({ description: 'Distinct trials ever made, which is what luck is judged by.' }),
    best: nullable(Type.Object({ trial: Type.Integer(), score: Type.Number() })),
    robust: nullable(
      Type.Object({
        trial: Type.Integer(),
        score: Type.Number(),
        median: number('Of it and the trials one step away.'),
      }),
    ),
    sharpe: nullable(
      Type.Object(
        {
          ...judgedSharpe,
          correlation: number('Mean correlation between trials.'),
          independent: number('Independent tries that the counted trials are worth.'),
          deflatedIndependent: maybe('`deflated`, counting the independent tries only.'),
        },
        { description: 'The deflated Sharpe ratio (Bailey, López de Prado 2014).' },
      ),
    ),
    length: nullable(LeastLength),
    overfitting: nullable(
      Type.Object(
        {
          splits: Type.Integer(),
          probability: number(
            'How often the best of one half of the time is below the middle on the other half.',
          ),
          slope: number('Of the best’s Sharpe ratio out of sample on that in sample.'),
          intercept: Type.Number(),
          loss: number('How often the best loses out of sample.'),
          logits: Type.Object({ from: Type.Number(), to: Type.Number(), counts: Type.Array(Type.Integer()) }),
          points: Type.Array(Type.Array(Type.Number()), {
            description: 'In and out of sample; at most 1,000.',
          }),
        },
        {
          description:
            'Combinatorially symmetric cross-validation (2015): 16 blocks and 12,870 splits; of more than 5,000 trials, 8 blocks and 70 splits.',
        },
      ),
    ),
    snooping: nullable(
      Type.Object(
        { trials: Type.Integer(), white: SnoopingTest, hansen: SnoopingTest },
        {
          description:
            'White’s reality check (2000) and Hansen’s test for superior predictive ability (2005), of the 4,000 trials with the best scores at most; `trials` says of how many.',
        },
      ),
    ),
    heldOut: nullable(
      Type.Object({
        bars: Type.Integer(),
        score: nullable(Type.Number()),
        trades: Type.Number(),
        netProfit: Type.Number(),
        netProfitPct: Type.Number(),
        efficiency: maybe('Profit a bar on the bars held out, over that on the others.'),
      }),
    ),
    walkForward: nullable(
      Type.Object({
        passed: Type.Integer({ description: 'Cells that pass all five rules.' }),
        cells: Type.Array(
          Type.Object({
            share: Type.Number(),
            runs: Type.Integer(),
            efficiency: maybe('Profit a bar out of sample over profit a bar in sample.'),
            profit: Type.Number(),
            profitableRuns: Type.Integer(),
            passes: Type.Object({
              profit: Type.Boolean(),
              efficiency: Type.Boolean(),
              runs: Type.Boolean(),
              spread: Type.Boolean(),
              drawdown: Type.Boolean(),
            }),
            passed: Type.Boolean(),
            windows: Type.Array(
              Type.Object({
                inside: Span,
                outside: Span,
                trial: nullable(Type.Integer()),
                score: nullable(Type.Number()),
                inProfit: Type.Number(),
                outProfit: Type.Number(),
                outDrawdownPct: Type.Number(),
              }),
            ),
          }),
        ),
      }),
    ),
    plateau: nullable(
      Type.Object({
        neighbours: Type.Integer(),
        median: number('Of the best and its neighbours, over the best.'),
        least: Type.Number(),
      }),
    ),
    monteCarlo: nullable(
      Type.Object({
        rounds: Type.Integer(),
        order: Type.Object({ drawdown: Spread, drawdownPct: Spread }),
        bootstrap: Type.Object({ profit: Spread, drawdown: Spread, drawdownPct: Spread }),
        loss: number('Share of the histories that lose.'),
      }),
    ),
    costs: nullable(
      Type.Object({
        table: Type.Array(
          Type.Object({
            commission: number('Multiples of what it was.'),
            ticks: number('Of slippage on top, at each end of a trade.'),
            profit: Type.Number(),
          }),
        ),
        breakEvenTicks: maybe('Ticks that would take all of the profit.'),
      }),
    ),
  },
  { $id: 'Verdict' },
)
export type Verdict = Wire<typeof Verdict>

export const StitchedEquity = Type.Object(
  {
    capital: number('What it begins with: the capital of the script.'),
    netProfit: number('Of all windows together.'),
    netProfitPct: number('A fraction of the capital.'),
    maxDrawdown: number('The deepest fall from a peak, at the closes of bars.'),
    maxDrawdownPct: number('A fraction of the peak.'),
    time: Type.Array(Time, { description: 'Of the bars; at most some 1,000, with each peak and trough.' }),
    equity: Type.Array(Type.Number(), { description: 'At their closes.' }),
    window: Type.Array(Type.Integer(), {
      description: 'The place among the `windows` of the cell, which say what trial was chosen.',
    }),
  },
  {
    $id: 'StitchedEquity',
    description:
      'What was earned out of sample, window after window, each with the trial that was best on the bars before it. Amounts are those of the trials’ own runs, so a window’s add up to its `outProfit`.',
  },
)
export type StitchedEquity = Wire<typeof StitchedEquity>

const OfCell = Type.Object({
  cell: Type.Optional(
    Type.String({
      pattern: '^[12]?[0-9]$',
      expected: 'a whole number from 0 to 29',
      description: 'The place in `walkForward.cells` of the verdict; the first if not given.',
    }),
  ),
})

export const SweepTrial = Type.Object(
  {
    trial: Type.Integer({ description: 'Its number, from 0 in the order they were made.' }),
    choices: Type.Array(Setting, { description: 'Values of what the space varies, in its order.' }),
    score: maybe('Null where it failed or does not meet the constraints.'),
    figures: Type.Record(Type.String(), nullable(Type.Number())),
    sharpe: maybe('A bar.'),
    outside: nullable(Type.Record(Type.String(), nullable(Type.Number()))),
    error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  },
  { $id: 'SweepTrial' },
)
export type SweepTrial = Wire<typeof SweepTrial>

export const SWEEPS = {
  'POST /api/platform/sweeps': {
    access: 'session backtests:write',
    summary: 'Run a script with many choices of its inputs',
    description:
      'Answers at once; follow it at `/events`. `space` names inputs (by title or variable name) or properties of `strategy()`, each over `values` or from `min` to `max` by `step`; `log` spreads a range evenly over powers. `where` are conditions between them such as `fast < slow`; a choice that breaks one is no trial. `sampler`: `grid` tries all, `random` and `sobol` spread `trials` (1,000 if not given) over the space, `tpe` and `cmaes` learn from what was tried; the same `seed` tries the same. `objective` is what is wanted as large as possible: a figure of the report (`netProfit`, `sharpe`, `equity.cagr`, `all.averageTrade`) or an expression (`netProfit / maxDrawdown`); `constraints` such as `trades >= 30` must hold. `windows`: `holdout` keeps the last `share` of the bars back; `rolling` and `anchored` choose again in each of `runs` windows; `matrix` does so for thirty pairs of share and runs. A window’s figures are those of its stretch of one run over all bars, at closes: trades, netProfit, netProfitPct, winRate, profitFactor, maxDrawdown, maxDrawdownPct, returnOverDrawdown, and sharpe a bar. `halving` sorts choices out by the beginning of the bars; without windows or with a hold-out, and with a sampler that does not learn. One sweep of a user runs at a time; twenty may wait, and a hundred are kept.',
    body: SweepBody,
    answer: { id: idOf('sw'), sweep: Sweep },
  },
  'GET /api/platform/sweeps': {
    access: 'session backtests:read',
    summary: 'List sweeps, newest first',
    description: 'Without source and inputs.',
    query: PageQuery,
    answer: Listed('sweeps', Sweep),
  },
  'GET /api/platform/sweeps/{id}': {
    access: 'session backtests:read',
    summary: 'One sweep with its verdict',
    description:
      '`verdict` is null while it runs. What each number means is in the help, under “What is left of the best of many”.',
    answer: { sweep: Sweep, verdict: nullable(Verdict) },
  },
  'GET /api/platform/sweeps/{id}/results': {
    access: 'session backtests:read',
    summary: 'The trials of a sweep',
    description:
      'In the order they were run, up to 1,000 a page. A sweep that is still running answers those it has so far.',
    query: PageQuery,
    answer: Listed('trials', SweepTrial),
  },
  'GET /api/platform/sweeps/{id}/results.csv': {
    access: 'session backtests:read',
    summary: 'The trials of a sweep as CSV',
    description: 'One row for each trial: its number, its values, its score and its figures.',
  },
  'GET /api/platform/sweeps/{id}/walk-forward': {
    access: 'session backtests:read',
    summary: 'The stitched out-of-sample equity of a sweep',
    description:
      'Of one cell of its walk-forward. Null while the sweep runs, where it has no windows or no such cell, and of sweeps from before this was kept.',
    query: OfCell,
    answer: { stitched: nullable(StitchedEquity) },
  },
  'GET /api/platform/sweeps/{id}/walk-forward.csv': {
    access: 'session backtests:read',
    summary: 'The stitched out-of-sample equity of a sweep as CSV',
    description: 'A row for each point: time, equity, number of the window from 1, and its trial.',
    query: OfCell,
  },
  'POST /api/platform/sweeps/{id}/cancel': {
    access: 'session backtests:write',
    summary: 'Stop a sweep',
    description: 'Its trials are kept, and `resume` goes on from there. A sweep that is over stays as it is.',
    answer: { id: idOf('sw'), sweep: Sweep },
  },
  'POST /api/platform/sweeps/{id}/resume': {
    access: 'session backtests:write',
    summary: 'Go on with a sweep that was stopped',
    description:
      'Also with one that failed. It goes on as if it had never stopped. 409 if its bars have changed since.',
    answer: { id: idOf('sw'), sweep: Sweep },
  },
  'DELETE /api/platform/sweeps/{id}': {
    access: 'session backtests:write',
    summary: 'Stop and remove a sweep',
    description: 'Its trials stay counted: to forget them would make the next best look better than it is.',
    answer: { id: idOf('sw'), deleted: Type.Boolean() },
  },
  'GET /api/platform/sweeps/{id}/events': {
    access: 'session backtests:read',
    summary: 'Follow a sweep',
    description:
      'Server-sent events: `progress` with `state`, `tried`, `trying`, `filtered`, `planned`, `failed`, `best` and `perSecond`, then `end` with `sweep`.',
  },
  'GET /api/platform/backtests/{id}/verdict': {
    access: 'session backtests:read',
    summary: 'What is left of a backtest when luck is taken away',
    description:
      'Judges it as one of all trials of its script on its market: deflated and probabilistic Sharpe ratio, least track record and backtest length, Monte Carlo of its trades, higher costs. It is run again for that. What needs several trials is null: see sweeps.',
    answer: { id: idOf('bt'), verdict: Verdict },
  },
  'GET /api/platform/trials': {
    access: 'session backtests:read',
    summary: 'How often the caller tried a script on a market',
    description:
      'Distinct choices of inputs and settings, by sweep, by scan, in portfolios, by hand and by preview. `of` is the id of a backtest or of a sweep. A script is the same in any layout, and with other defaults of its inputs.',
    query: Type.Object({ of: Text(80) }),
    answer: { counted: Type.Integer() },
  },
} as const satisfies OperationTable
