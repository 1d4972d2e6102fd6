// Judges the trials of a sweep, or one run: finds the best, and what remains of it without luck. What no row says, the trades of the
// best and the equity of what was chosen in the windows of a walk-forward, is run once more.

import { rowLayout, type Measured, type TrialInputs } from '../../broker/measured.ts'
import type { BacktestRequest } from '../../broker/backtest.ts'
import { stitchedEquity } from '../../broker/stitched.ts'
import { trialResults } from '../../broker/trial.ts'
import type { TradeRow } from '../../broker/report/build.ts'
import {
  deflatedSharpe,
  deviationByLuck,
  independentTrials,
  meanCorrelation,
} from '../../broker/statistics/deflated-sharpe.ts'
import { judgedLength, judgedSharpe } from '../../broker/statistics/judged-sharpe.ts'
import { momentsOf } from '../../broker/statistics/moments.ts'
import { monteCarloOfTrades } from '../../broker/statistics/monte-carlo.ts'
import { plateau } from '../../broker/statistics/plateau.ts'
import { costSensitivity } from '../../broker/statistics/sensitivity.ts'
import { walkForward, type WalkForwardRun } from '../../broker/statistics/walk-forward.ts'
import { lagsHolding } from '../../broker/statistics/luck-text.ts'
import type { ReportEquity } from '../../wire/report.ts'
import type { Verdict } from '../../wire/sweep.ts'
import type { JudgeJob, JudgeOutput } from './job.ts'
import type { Judged } from './verdict.ts'

/** What is judged, wherever it was run. */
export type Judging = Pick<
  JudgeJob,
  | 'bars'
  | 'measured'
  | 'rows'
  | 'steps'
  | 'axes'
  | 'points'
  | 'counted'
  | 'failed'
  | 'filtered'
  | 'deviation'
  | 'deviationOfAll'
  | 'seed'
  | 'cells'
  | 'winners'
>

/** Throws SeriesNeeded like a run. The tests for luck that take longest are not in it: see `luck.ts`. */
export function judge(job: Judging, request: BacktestRequest): Omit<JudgeOutput, 'luck'> {
  const { points, measured } = job
  const scored = scoresOf(job)
  const best = indexOfBest(scored)
  const trades = best < 0 ? null : tradesOf(request, points[best]!, measured)
  const stitched = stitchedEquity(
    request,
    points,
    stretchesOf(job).map((windows) =>
      windows.map(({ window: { outside }, winner }) => ({
        outside,
        trial: winner?.trial ?? null,
        outProfit: winner?.outProfit ?? 0,
      })),
    ),
  )
  return { judged: judgedOf(job, scored, best, trades), stitched }
}

interface BestTrades {
  /** Of all bars, those held out too. */
  readonly equity: ReportEquity
  readonly initialCapital: number
  readonly tickValue: number
  readonly trades: readonly TradeRow[]
}

function tradesOf(request: BacktestRequest, trial: TrialInputs, { inside }: Measured): BestTrades {
  const results = trialResults(request, trial)
  return {
    equity: results.figures.equity,
    initialCapital: results.figures.initialCapital,
    tickValue: request.symbol.mintick * request.symbol.pointValue,
    // Only trades on the bars that the trial was chosen on.
    trades: results.closed().filter(({ exitBar }) => exitBar >= inside.from && exitBar < inside.to),
  }
}

/** Whether holding would have made more on the bars that the trial was chosen on, if it closed a trade on them. */
function lagsOn(job: Judging, best: number, { equity, initialCapital, trades }: BestTrades): boolean {
  const { bars, measured } = job
  const to = measured.inside.to
  if (to === bars.length) return lagsHolding(equity)
  if (equity.buyHold === null || trades.length === 0) return false
  const share = bars.close[to - 1]! / bars.close[bars.length - 1]!
  return profitOf(job, best) < (equity.buyHold + initialCapital) * share - initialCapital
}

function scoresOf({ rows, measured }: Judging): Float64Array {
  const { width, score } = rowLayout(measured)
  return Float64Array.from({ length: rows.length / width }, (_, trial) => rows[trial * width + score]!)
}

function indexOfBest(scores: Float64Array): number {
  let best = -1
  for (let i = 0; i < scores.length; i++)
    if (!Number.isNaN(scores[i]!) && (best < 0 || scores[i]! > scores[best]!)) best = i
  return best
}

function judgedOf(job: Judging, scores: Float64Array, best: number, trades: BestTrades | null): Judged {
  const { counted, failed, bars, measured } = job
  const tried = {
    trials: scores.length,
    failed,
    scored: scores.filter((score) => !Number.isNaN(score)).length,
    counted,
  }
  const forward = walkForwards(job)
  const robust = best < 0 ? null : mostRobust(job, scores)
  const sharpe = best < 0 ? null : sharpeOf(job, best)
  const heldOut = best < 0 ? null : heldOutOf(job, best)
  const { inside } = measured
  const spanMs = (bars.time[inside.to - 1] ?? 0) - (bars.time[inside.from] ?? 0)
  const verdict = {
    ...tried,
    best: best < 0 ? null : { trial: best, score: scores[best]! },
    robust,
    sharpe,
    length: sharpe && judgedLength(sharpe, counted, spanMs),
    overfitting: null,
    snooping: null,
    heldOut,
    walkForward: forward,
    plateau: best < 0 ? null : plateauOf(job, scores, best),
    monteCarlo:
      trades &&
      monteCarloOfTrades(
        trades.trades.map(({ profit }) => profit),
        trades.initialCapital,
        { seed: job.seed },
      ),
    costs: trades && costSensitivity(trades.trades, trades.tickValue),
  }
  return {
    verdict,
    isOne: job.deviation !== undefined,
    loses: profitOf(job, best) < 0,
    lags: trades !== null && lagsOn(job, best, trades),
    own: scores.length - failed + job.filtered,
  }
}

function sharpeOf(
  { rows, measured, counted, deviation: known, deviationOfAll }: Judging,
  best: number,
): NonNullable<Verdict['sharpe']> {
  const layout = rowLayout(measured)
  const trials = rows.length / layout.width
  const at = (trial: number, column: number) => rows[trial * layout.width + column]!
  const sharpes: number[] = []
  for (let i = 0; i < trials; i++) if (!Number.isNaN(at(i, layout.sharpe))) sharpes.push(at(i, layout.sharpe))
  const record = {
    count: at(best, layout.bars),
    sharpe: at(best, layout.sharpe),
    skewness: at(best, layout.skewness),
    kurtosis: at(best, layout.kurtosis),
  }
  // A sweep close around a trial that an earlier one chose would otherwise take away the luck of that choice. Ratios of
  // runs on fewer bars lie further apart, by luck no further than these.
  const ofAll = Math.min(deviationOfAll ?? 0, deviationByLuck(record.count))
  const deviation = known ?? Math.max(momentsOf(sharpes).deviation, ofAll)
  const correlation = meanCorrelation(piecesOf(rows, layout.width, layout.pieces, measured.pieces))
  const independent = independentTrials(counted, correlation)
  return {
    ...judgedSharpe(record, counted, deviation),
    correlation,
    independent,
    deflatedIndependent: deflatedSharpe(record, independent, deviation).probability,
  }
}

function* piecesOf(rows: Float64Array, width: number, from: number, pieces: number): Generator<Float64Array> {
  for (let at = 0; at < rows.length; at += width) {
    const row = rows.subarray(at + from, at + from + pieces)
    if (!Number.isNaN(row[0]!)) yield row
  }
}

/** NaN if it is not known. */
function profitOf({ rows, measured }: Judging, trial: number): number {
  const { width, figures } = rowLayout(measured)
  const at = measured.figures.indexOf('netProfit')
  return trial < 0 || at < 0 ? NaN : rows[trial * width + figures + at]!
}

function heldOutOf(job: Judging, best: number): Verdict['heldOut'] {
  const { rows, measured } = job
  const { outside, inside } = measured
  if (!outside) return null
  const layout = rowLayout(measured)
  const at = best * layout.width
  const [trades = 0, netProfit = 0, netProfitPct = 0] = rows.subarray(at + layout.outside + 1)
  const inProfit = profitOf(job, best)
  const kept = netProfit / (outside.to - outside.from) / (inProfit / (inside.to - inside.from))
  const score = rows[at + layout.outside]!
  return {
    bars: outside.to - outside.from,
    score: Number.isNaN(score) ? null : score,
    trades,
    netProfit,
    netProfitPct,
    efficiency: inProfit > 0 && Number.isFinite(kept) ? kept : null,
  }
}

/** The windows of each cell, with the best trial of each. */
function stretchesOf({ cells, winners, measured }: Judging) {
  let at = 0
  return cells.map(({ runs }) => {
    const first = at
    at += runs
    return Array.from({ length: runs }, (_, run) => ({
      window: measured.windows[first + run]!,
      winner: winners[first + run] ?? null,
    }))
  })
}

function walkForwards(job: Judging): Verdict['walkForward'] {
  const { cells } = job
  if (cells.length === 0) return null
  const all = stretchesOf(job)
  const judged = cells.map(({ share, runs }, cell) => {
    const stretches = all[cell]!
    const done: WalkForwardRun[] = stretches.map(({ window: { inside, outside }, winner }) => ({
      inProfit: winner?.inProfit ?? 0,
      inBars: inside.to - inside.from,
      outProfit: winner?.outProfit ?? 0,
      outBars: outside.to - outside.from,
      outDrawdownPct: winner?.outDrawdownPct ?? 0,
    }))
    const shown = stretches.map(({ window: { inside, outside }, winner }) => ({
      inside,
      outside,
      trial: winner?.trial ?? null,
      score: winner?.score ?? null,
      inProfit: winner?.inProfit ?? 0,
      outProfit: winner?.outProfit ?? 0,
      outDrawdownPct: winner?.outDrawdownPct ?? 0,
    }))
    return { share, runs, ...walkForward(done), windows: shown }
  })
  return { cells: judged, passed: judged.filter(({ passed }) => passed).length }
}

/** The scored trials that are at most one step away from this one on every axis. */
function neighboursOf(
  job: Judging,
  scores: Float64Array,
  byPlace: ReadonlyMap<string, number>,
  trial: number,
): number[] {
  const { axes, steps } = job
  const place = Array.from(steps.subarray(trial * axes.length, (trial + 1) * axes.length))
  const open = axes.flatMap(({ ordered }, axis) => (ordered && place[axis]! >= 0 ? [axis] : []))
  // The full neighbourhood has 3^n trials. Beyond three axes the steps along one axis at a time are enough to recognise a
  // needle.
  const moves =
    open.length <= 3 ? allMoves(open) : open.flatMap((axis) => [[[axis, -1]], [[axis, 1]]] as const)
  return moves.flatMap((move) => {
    const other = [...place]
    for (const [axis, step] of move) other[axis]! += step
    const found = byPlace.get(other.join())
    return found === undefined || Number.isNaN(scores[found]!) ? [] : [found]
  })
}

function allMoves(axes: readonly number[]): (readonly (readonly [number, number])[])[] {
  const all = axes.reduce<(readonly (readonly [number, number])[])[]>(
    (moves, axis) => moves.flatMap((move) => [[...move, [axis, -1]], move, [...move, [axis, 1]]] as const),
    [[]],
  )
  return all.filter((move) => move.length > 0)
}

function placesOf({ axes, steps }: Judging, trials: number): Map<string, number> {
  const places = new Map<string, number>()
  for (let trial = 0; trial < trials; trial++)
    places.set(steps.subarray(trial * axes.length, (trial + 1) * axes.length).join(), trial)
  return places
}

function plateauOf(job: Judging, scores: Float64Array, best: number): Verdict['plateau'] {
  const around = neighboursOf(job, scores, placesOf(job, scores.length), best)
  return plateau(
    scores[best]!,
    around.map((trial) => scores[trial]!),
  )
}

/**
 * The trial with the best neighbourhood, which counts as the median of the trial and those one step away; null where none
 * that makes money has two neighbours or more with which it does so in the middle. An objective may be below zero for all.
 */
function mostRobust(job: Judging, scores: Float64Array): Verdict['robust'] {
  const places = placesOf(job, scores.length)
  let found: Verdict['robust'] = null
  for (let trial = 0; trial < scores.length; trial++) {
    if (Number.isNaN(scores[trial]!)) continue
    const around = neighboursOf(job, scores, places, trial)
    if (around.length < 2) continue
    const together = [trial, ...around]
    if (profitOf(job, trial) <= 0 || lowerMiddle(together.map((one) => profitOf(job, one))) <= 0) continue
    const middle = lowerMiddle(together.map((one) => scores[one]!))
    if (found === null || middle > found.median) found = { trial, score: scores[trial]!, median: middle }
  }
  return found
}

function lowerMiddle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)]!
}
