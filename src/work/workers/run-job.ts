// Runs a script in a worker, after fetching what it needs, so that it runs only once.

import { compareReports } from '../../broker/report/difference.ts'
import { packGiven, type Packed } from '../../wire/columns.ts'
import type { Report } from '../../wire/report.ts'
import type { Verification } from '../../wire/backtest.ts'
import { lagsHolding } from '../../broker/statistics/luck-text.ts'
import { trialName } from '../../broker/trial-name.ts'
import { findRepaint } from '../../broker/repaint.ts'
import type { BacktestRequest, BacktestResult } from '../../broker/backtest.ts'
import { runBacktest } from '../../broker/run.ts'
import { Problem } from '../../lib/problem.ts'
import { outline } from '../../language/outline.ts'
import { AnswerScales, lengthOf } from './answer.ts'
import { withSeries } from './asked-series.ts'
import type { FinerBars, Desk } from './desk.ts'
import type { BacktestOutput, PreviewOutput, RunJob } from './job.ts'
import { librariesOf } from './libraries.ts'
import { storedValue } from './stored-text.ts'
import { ownThreadMs } from './thread-time.ts'
import { toldBy } from './told.ts'

/** The most series that request.* may ask for beyond those that the script's text tells. */
const SERIES_MAX = 64

export type RunBacktest = (request: BacktestRequest) => BacktestResult

export async function runJob(
  job: RunJob,
  desk: Desk,
  run: RunBacktest = runBacktest,
): Promise<BacktestOutput> {
  const { result, scales } = await weighedResult(job, desk, run)
  const { report } = result
  const { summary, currency } = report
  const { last = { report: 0, tracks: 0 } } = desk
  const texts = {
    report: scales.bytes(result.reportTexts(), last.report),
    tracks: scales.bytes(result.trackTexts(job.tracks), last.tracks),
  }
  last.report = lengthOf(texts.report)
  last.tracks = lengthOf(texts.tracks)
  const output = {
    ...texts,
    summary,
    currency,
    tried: { ...triedBy(job, report), moments: result.moments(), lags: lagsHolding(report.equity) },
    curve: result.curve(),
    barsHash: result.barsHash,
    // Packing takes the run's columns away, so the texts have to be written first.
    packed: job.asColumns ? packedResult(result, null, scales) : null,
  }
  result.release()
  return output
}

/** Runs a script for an answer as columns. They are the run's own columns, without any text in between. */
export async function previewJob(
  job: RunJob,
  desk: Desk,
  run: RunBacktest = runBacktest,
): Promise<PreviewOutput> {
  const { result, scales } = await weighedResult(job, desk, run)
  const { report } = result
  const tried = { ...triedBy(job, report), moments: result.moments(), lags: lagsHolding(report.equity) }
  const packed = packedResult(result, job.tracks, scales)
  result.release()
  return { result: packed, tried, barsHash: result.barsHash }
}

function packedResult(result: BacktestResult, tracks: RunJob['tracks'], scales: AnswerScales): Packed {
  const packed = packGiven(result.columns(tracks), ['result'])
  scales.add(packed.text.length)
  for (const { byteLength } of packed.bytes) scales.add(byteLength)
  return packed
}

async function weighedResult(job: RunJob, desk: Desk, run: RunBacktest) {
  let counted = 0
  const used = (bytes: number) => desk.used((counted = Math.max(counted, bytes)))
  const result = await resultOf(job, { ...desk, used }, (request) => run({ ...request, isNew: true }))
  const { answerBytes, memoryBytes } = job.limits
  // The report itself may exceed the memory that the run was allowed, so the count stops at the limit.
  const weighed = (bytes: number) => desk.used(Math.min(memoryBytes, counted + bytes))
  return { result, scales: new AnswerScales(Math.min(answerBytes, memoryBytes), weighed, collect) }
}

export const triedBy = ({ source }: RunJob, { inputs, script }: Report) => ({
  ...toldBy(source).names,
  trial: trialName(inputs, script.declaration),
})

/** Runs a backtest again and says where its report differs from the stored one. */
export async function verifyJob(job: RunJob, desk: Desk): Promise<Verification> {
  const { report } = await resultOf(job, desk, runBacktest)
  return compareReports((await storedValue(desk.host, 'report')) as Report, report)
}

/** Tests whether the script sees the future, or would have shown something else live. */
export async function repaintJob(job: RunJob, desk: Desk): Promise<string> {
  return JSON.stringify(await withAllItAsks(job, desk, findRepaint))
}

async function resultOf(job: RunJob, desk: Desk, run: RunBacktest): Promise<BacktestResult> {
  return withAllItAsks(job, desk, run)
}

/** Calls `work` with the job as a request, after fetching everything that the script asks for. */
export async function withAllItAsks<Answer>(
  job: RunJob,
  desk: Desk,
  run: (request: BacktestRequest, libraries: ReadonlyMap<string, string | null>) => Answer,
): Promise<Answer> {
  const { request, libraries, wanted } = await requestOf(job, desk)
  return withSeriesOf(desk, wanted, (series) => run({ ...request, series }, libraries))
}

/** The job as a request, but for the series that request.* will ask for: `wanted` are those that are known ahead. */
export async function requestOf(job: RunJob, desk: Desk) {
  const { source, symbol, interval, inputs, overrides } = job
  const { mayAsk, outline: told } = toldBy(source)
  const wanted = mayAsk ? outline(source, { symbol, interval, inputs }).series : []
  const libraries = await librariesOf(source, desk.host, inputs)
  const finer: FinerBars | null =
    (overrides['use_bar_magnifier'] ?? told.magnifier) ? await desk.host.finer() : null
  const request: Omit<BacktestRequest, 'series'> = {
    ...job,
    finer,
    library: (user, library, version) => libraries.get(`${user}/${library}/${version}`) ?? null,
    progress: desk.progress,
    used: desk.used,
    ...(desk.scripts && { scripts: desk.scripts }),
    collect,
    now: () => performance.now(),
    spent: ownThreadMs,
  }
  return { request, libraries, wanted }
}

/** Series that the script's text asks for. */
export type Wanted = ReturnType<typeof outline>['series']

/** Runs with the series that the script requests, and again whenever one is missing. */
export function withSeriesOf<Answer>(
  desk: Desk,
  wanted: Wanted,
  run: (series: BacktestRequest['series']) => Answer,
): Promise<Answer> {
  return withSeries((...name) => desk.host.series(...name), run, {
    wanted,
    before(asked) {
      if (asked < SERIES_MAX) return
      throw new Problem(422, 'script_limit_exceeded', `request.* asked for more than ${SERIES_MAX} series.`)
    },
  })
}

const collect = () => Bun.gc(true)
