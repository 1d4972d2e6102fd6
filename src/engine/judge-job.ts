// Judges a sweep: finds its best trial, and what remains of it without luck. That takes seconds of arithmetic over
// thousands of trials, so it is a job. The best is run once more for its trades, and what was chosen in the windows of a
// walk-forward for its equity.

import { rowLayout, type Measured, type TrialInputs, type WindowWinner } from '../backtest/measured.ts'
import type { BacktestRequest } from '../backtest/run.ts'
import { stitchedEquity, type Stitched } from '../backtest/stitched.ts'
import { trialResults } from '../backtest/trial.ts'
import type { TradeRow } from '../backtest/report/build.ts'
import {
  deflatedSharpe,
  deviationByLuck,
  independentTrials,
  meanCorrelation,
} from '../statistics/deflated-sharpe.ts'
import { judgedLength, judgedSharpe } from '../statistics/judged-sharpe.ts'
import { luckSentence, percentText } from '../statistics/luck.ts'
import { momentsOf } from '../statistics/moments.ts'
import { monteCarloOfTrades } from '../statistics/monte-carlo.ts'
import { overfitting, type BlockSums, type Overfitting } from '../statistics/overfitting.ts'
import { plateau } from '../statistics/plateau.ts'
import { snoopingTests } from '../statistics/reality-check.ts'
import { costSensitivity } from '../statistics/sensitivity.ts'
import { walkForward, type WalkForwardRun } from '../statistics/walk-forward.ts'
import type { Verdict } from '../wire/sweep.ts'
import type { RunJob } from './job.ts'
import { withAllItAsks } from './run-job.ts'
import type { Desk } from './worker-loop.ts'

export interface JudgeJob extends RunJob {
  readonly measured: Measured
  /** One row for each trial, in shared memory. */
  readonly rows: Float64Array
  /** For each trial, the index of its value on each axis; -1 if an axis has no steps. */
  readonly steps: Int32Array
  readonly axes: readonly { readonly ordered: boolean }[]
  readonly points: readonly TrialInputs[]
  /** The number of distinct trials of this script on this market, by sweeps and by hand. */
  readonly counted: number
  readonly failed: number
  /** How far the Sharpe ratios of all these trials lie apart, if their rows are not here: a single run is judged. */
  readonly deviation?: number
  /** How far the Sharpe ratios of all counted trials lie apart, if it is known: those of one sweep may all stand close together. */
  readonly deviationOfAll?: number | null
  readonly seed: number
  /** The cells of the walk-forward matrix, and the best trial of each of their windows, in order. */
  readonly cells: readonly { readonly share: number; readonly runs: number }[]
  readonly winners: readonly (WindowWinner | null)[]
}

export interface JudgeOutput {
  readonly verdict: Verdict
  /** What each cell earned out of sample, in their order. */
  readonly stitched: readonly Stitched[]
}

/** With more trials the blocks are joined in pairs, which leaves 70 splits of 12,870. */
const SPLIT_TRIALS_MAX = 5000
/** With more trials the tests of data snooping would take minutes, so they take only those with the best scores. */
const SNOOPED_MAX = 4000
/** As many points of a scatter plot as an eye can tell apart. */
const SHOWN_MAX = 1000
const BINS = 30

export async function judgeJob(job: JudgeJob, desk: Desk): Promise<JudgeOutput> {
  const scored = scoresOf(job)
  const best = indexOfBest(scored)
  const { trades, stitched } = await ranAgain(job, best, desk)
  return { verdict: verdictOf(job, scored, best, trades), stitched }
}

interface BestTrades {
  readonly initialCapital: number
  readonly tickValue: number
  readonly trades: readonly TradeRow[]
}

/** What no row says: the trades of the best, and the equity of what was chosen in each window. */
function ranAgain(job: JudgeJob, best: number, desk: Desk) {
  const { points, cells } = job
  if (best < 0 && cells.length === 0) return { trades: null, stitched: [] }
  return withAllItAsks(job, { ...desk, progress: () => {} }, (request) => ({
    trades: best < 0 ? null : tradesOf(request, points[best]!, job.measured),
    stitched: stitchedEquity(
      request,
      points,
      stretchesOf(job).map((windows) =>
        windows.map(({ window: { outside }, winner }) => ({
          outside,
          trial: winner?.trial ?? null,
          outProfit: winner?.outProfit ?? 0,
        })),
      ),
    ),
  }))
}

function tradesOf(request: BacktestRequest, trial: TrialInputs, { inside }: Measured): BestTrades {
  const results = trialResults(request, trial)
  return {
    initialCapital: results.figures.initialCapital,
    tickValue: request.symbol.mintick * request.symbol.pointValue,
    // Only trades on the bars that the trial was chosen on.
    trades: results.closed().filter(({ exitBar }) => exitBar >= inside.from && exitBar < inside.to),
  }
}

function scoresOf({ rows, measured }: JudgeJob): Float64Array {
  const { width, score } = rowLayout(measured)
  return Float64Array.from({ length: rows.length / width }, (_, trial) => rows[trial * width + score]!)
}

function indexOfBest(scores: Float64Array): number {
  let best = -1
  for (let i = 0; i < scores.length; i++)
    if (!Number.isNaN(scores[i]!) && (best < 0 || scores[i]! > scores[best]!)) best = i
  return best
}

function verdictOf(job: JudgeJob, scores: Float64Array, best: number, trades: BestTrades | null): Verdict {
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
  const split = overfitting(blockSums(job))
  const heldOut = best < 0 ? null : heldOutOf(job, best)
  const { inside } = measured
  const spanMs = (bars.time[inside.to - 1] ?? 0) - (bars.time[inside.from] ?? 0)
  const verdict = {
    ...tried,
    best: best < 0 ? null : { trial: best, score: scores[best]! },
    robust,
    sharpe,
    length: sharpe && judgedLength(sharpe, counted, spanMs),
    overfitting: split && shownOverfitting(split),
    snooping: snoopingOf(job, scores),
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
  const sentence =
    job.deviation !== undefined ? sentenceOfOne(verdict) : sentenceOf(verdict, profitOf(job, best) < 0)
  return { ...verdict, sentence }
}

function sharpeOf(
  { rows, measured, counted, deviation: known, deviationOfAll }: JudgeJob,
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

function blockSums({ rows, measured }: JudgeJob): BlockSums {
  const layout = rowLayout(measured)
  const all = Array.from({ length: rows.length / layout.width }, (_, trial) => trial * layout.width)
  const ran = all.filter((at) => !Number.isNaN(rows[at + layout.sums]!))
  const joined = ran.length > SPLIT_TRIALS_MAX && measured.blocks % 4 === 0 ? 2 : 1
  const blocks = measured.blocks / joined
  const column = (from: number) => {
    const into = new Float64Array(ran.length * blocks)
    for (const [trial, at] of ran.entries())
      for (let block = 0; block < measured.blocks; block++)
        into[trial * blocks + Math.floor(block / joined)]! += rows[at + from + block]!
    return into
  }
  const { from, to } = measured.inside
  const bound = (block: number) => Math.floor((block * joined * (to - from)) / measured.blocks)
  const counts = Array.from({ length: blocks }, (_, block) => bound(block + 1) - bound(block))
  return { trials: ran.length, blocks, sums: column(layout.sums), squares: column(layout.squares), counts }
}

function shownOverfitting(found: Overfitting): NonNullable<Verdict['overfitting']> {
  const { splits, probability, slope, intercept, loss, logits, inSample, outOfSample } = found
  const finite = logits.filter(Number.isFinite)
  const edge = Math.max(1, ...finite.map(Math.abs))
  const counts = Array.from({ length: BINS }, () => 0)
  for (const logit of finite) counts[Math.min(BINS - 1, Math.floor(((logit + edge) / (2 * edge)) * BINS))]!++
  const every = Math.ceil(splits / SHOWN_MAX)
  const points: [number, number][] = []
  for (let i = 0; i < splits; i += every) points.push([inSample[i]!, outOfSample[i]!])
  return { splits, probability, slope, intercept, loss, logits: { from: -edge, to: edge, counts }, points }
}

function snoopingOf({ rows, measured, seed }: JudgeJob, scores: Float64Array): Verdict['snooping'] {
  const { width, pieces } = rowLayout(measured)
  const ranked = Array.from(scores, (score, trial) => ({ score, trial }))
    .filter(({ trial }) => !Number.isNaN(rows[trial * width + pieces]!))
    .sort((a, b) => (Number.isNaN(b.score) ? -1 : Number.isNaN(a.score) ? 1 : b.score - a.score))
    .slice(0, SNOOPED_MAX)
  const found = ranked.map(({ trial }) =>
    rows.subarray(trial * width + pieces, trial * width + pieces + measured.pieces),
  )
  const tests = snoopingTests(found, { seed, q: 0.25 })
  if (!tests) return null
  const shown = ({ statistic, lower, consistent, upper }: typeof tests.white) => ({
    statistic,
    lower,
    consistent,
    upper,
  })
  return { trials: found.length, white: shown(tests.white), hansen: shown(tests.hansen) }
}

/** NaN if it is not known. */
function profitOf({ rows, measured }: JudgeJob, trial: number): number {
  const { width, figures } = rowLayout(measured)
  const at = measured.figures.indexOf('netProfit')
  return trial < 0 || at < 0 ? NaN : rows[trial * width + figures + at]!
}

function heldOutOf(job: JudgeJob, best: number): Verdict['heldOut'] {
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
function stretchesOf({ cells, winners, measured }: JudgeJob) {
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

function walkForwards(job: JudgeJob): Verdict['walkForward'] {
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

/** Scores of the trials that are at most one step away from this one on every axis. */
function neighboursOf(
  job: JudgeJob,
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
    return found === undefined || Number.isNaN(scores[found]!) ? [] : [scores[found]!]
  })
}

function allMoves(axes: readonly number[]): (readonly (readonly [number, number])[])[] {
  const all = axes.reduce<(readonly (readonly [number, number])[])[]>(
    (moves, axis) => moves.flatMap((move) => [[...move, [axis, -1]], move, [...move, [axis, 1]]] as const),
    [[]],
  )
  return all.filter((move) => move.length > 0)
}

function placesOf({ axes, steps }: JudgeJob, trials: number): Map<string, number> {
  const places = new Map<string, number>()
  for (let trial = 0; trial < trials; trial++)
    places.set(steps.subarray(trial * axes.length, (trial + 1) * axes.length).join(), trial)
  return places
}

function plateauOf(job: JudgeJob, scores: Float64Array, best: number): Verdict['plateau'] {
  return plateau(scores[best]!, neighboursOf(job, scores, placesOf(job, scores.length), best))
}

/** The trial with the best neighbourhood, which counts as the median of the trial and those one step away. */
function mostRobust(job: JudgeJob, scores: Float64Array): Verdict['robust'] {
  const places = placesOf(job, scores.length)
  let found: Verdict['robust'] = null
  for (let trial = 0; trial < scores.length; trial++) {
    if (Number.isNaN(scores[trial]!)) continue
    const around = neighboursOf(job, scores, places, trial)
    if (around.length < 2) continue
    const sorted = [scores[trial]!, ...around].sort((a, b) => a - b)
    const middle = sorted[Math.floor((sorted.length - 1) / 2)]!
    if (found === null || middle > found.median) found = { trial, score: scores[trial]!, median: middle }
  }
  return found
}

/** The sentence that a trader reads first. */
function sentenceOf(verdict: Omit<Verdict, 'sentence'>, loses: boolean): string {
  const { best, trials, counted, sharpe, walkForward: forward, heldOut, overfitting: split } = verdict
  if (trials === 0) return 'Nothing was tried: no choice of values meets the conditions.'
  const count = counted.toLocaleString('en')
  if (!best || !sharpe) return `${count} tried, and none meets the objective and its constraints.`
  const luck = sharpe.deflated === null ? null : 1 - sharpe.deflated
  const head = counted === 1 ? 'One tried' : `Best of ${count} tried`
  const says = [loses ? `${head}, and it loses money.` : `${head}.`, luckSentence(sharpe.deflated)]
  const isLucky = luck === null || luck > 0.05
  const [cell] = forward?.cells ?? []
  if (forward && forward.cells.length > 1) {
    const isRobust = forward.passed >= forward.cells.length / 2 && !isLucky
    says.push(
      `Walk-forward passes in ${forward.passed} of ${forward.cells.length} cells: ${judged(isRobust)}.`,
    )
  } else if (cell) {
    const kept =
      cell.efficiency === null
        ? 'had no profit to keep'
        : cell.efficiency <= 0
          ? `${cell.profit < 0 ? 'loses money' : 'earns nothing'} out of sample`
          : `keeps ${percentText(cell.efficiency)} of the profit`
    says.push(`Walk-forward ${kept}: ${judged(cell.passed && !isLucky)}.`)
  } else if (heldOut) {
    const { efficiency } = heldOut
    const kept =
      efficiency === null
        ? 'had no profit to keep'
        : efficiency <= 0
          ? heldOut.netProfit < 0
            ? 'lose money'
            : 'earn nothing'
          : `keep ${percentText(efficiency)} of the profit`
    says.push(`The bars held out ${kept}: ${judged(efficiency !== null && efficiency >= 0.5 && !isLucky)}.`)
  } else if (split) {
    const isRobust = split.probability < 0.1 && !isLucky
    says.push(`Probability of overfitting: ${percentText(split.probability)}: ${judged(isRobust)}.`)
  }
  return says.join(' ')
}

/** The sentence for a single backtest, which is one of so many tries. */
function sentenceOfOne({ counted, sharpe, monteCarlo }: Omit<Verdict, 'sentence'>): string {
  const tries =
    counted <= 1 ? 'The only try of this script here.' : `One of ${counted.toLocaleString('en')} tried.`
  const loss = monteCarlo
    ? ` Drawn at random again, its trades lose in ${percentText(monteCarlo.loss)} of the histories.`
    : ''
  return `${tries} ${luckSentence(sharpe?.deflated ?? null)}${loss}`
}

const judged = (isRobust: boolean) => (isRobust ? 'robust' : 'not robust')
