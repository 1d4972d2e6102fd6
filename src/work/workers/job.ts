// What a job is: work on something that a user sent, done in a worker instead of on the server's own thread.
//
// One table, `Jobs`, lists the kinds with their input and answer; `kinds.ts` does them in a worker. Bars are passed by
// reference (shared memory). Answers for clients are the bytes of their JSON text: made in the worker, transferred without
// a copy, stored and sent unchanged.

import type { VariedSettings } from '../../broker/asked-commission.ts'
import type { Advanced, KeptState } from '../../broker/advance.ts'
import type { Forwarded, ForwardState } from '../../broker/forward.ts'
import type { ScanColumns, ScannedMarket, ScannedTrial } from '../../broker/scan.ts'
import type { VariedAmongTrials } from '../../broker/trial-columns.ts'
import type { Measured, TrialInputs, WindowWinner } from '../../broker/measured.ts'
import type { Stitched } from '../../broker/stitched.ts'
import type { TrialBatch } from '../../broker/trial.ts'
import type { ScriptNames } from '../../broker/trial-name.ts'
import type { TextBytes } from './answer.ts'
import type { LuckFound, LuckJob } from './luck.ts'
import type { Judged } from './verdict.ts'
import type { TrackKinds } from '../../broker/tracks.ts'
import type { Packed, Path } from '../../wire/columns.ts'
import type { PortfolioResult } from '../../wire/portfolio.ts'
import type { ReportSummary } from '../../wire/report.ts'
import type { Verification } from '../../wire/backtest.ts'
import type { SharpeRecord } from '../../broker/statistics/probabilistic-sharpe.ts'
import type { RandomState } from '../../lib/seeded-random.ts'
import type { Axis } from '../../broker/statistics/parzen.ts'
import type { ProblemCode } from '../../lib/problem-codes.ts'
import type { ProblemDetails } from '../../lib/problem.ts'
import type { Bars } from '../../market/bars.ts'
import type { FileAside } from '../../market/files/stage-files.ts'
import type { ReadBarsOptions, ReadFiles } from '../../market/import.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import type { Pictured } from '../../market/picture/chart-picture.ts'
import type { AsOf } from '../../language/behaviour.ts'
import type { Limits } from '../../language/runtime/limits.ts'

/** Every kind of job with its input and its answer. */
export interface Jobs {
  readonly run: { readonly job: RunJob; readonly answer: BacktestOutput }
  readonly preview: { readonly job: RunJob; readonly answer: PreviewOutput }
  readonly trials: { readonly job: TrialsJob; readonly answer: TrialsOutput }
  readonly scan: { readonly job: ScanJob; readonly answer: ScanOutput }
  readonly portfolio: { readonly job: PortfolioJob; readonly answer: PortfolioOutput }
  /** Whether a portfolio can begin; throws a Problem if not. */
  readonly checkPortfolio: { readonly job: PortfolioJob; readonly answer: null }
  readonly propose: { readonly job: ProposeJob; readonly answer: ProposeOutput }
  readonly judge: { readonly job: JudgeJob; readonly answer: JudgeOutput }
  /** A part of what takes longest of a sweep's verdict. */
  readonly luck: { readonly job: LuckJob; readonly answer: LuckFound }
  /** A step of a forward run. */
  readonly forward: { readonly job: ForwardJob; readonly answer: ForwardOutput }
  /** Its steps of several bars that have closed, as many as there is time for. */
  readonly follow: { readonly job: FollowJob; readonly answer: FollowOutput }
  readonly advance: { readonly job: AdvanceJob; readonly answer: AdvanceOutput }
  readonly verify: { readonly job: RunJob; readonly answer: Verification }
  /** The answer is JSON text. */
  readonly repaint: { readonly job: RunJob; readonly answer: string }
  /** The answer is JSON text; `null` if there is nothing to explain. */
  readonly explain: { readonly job: ExplainJob; readonly answer: string }
  readonly check: { readonly job: TextJob; readonly answer: CheckOutput }
  readonly format: { readonly job: TextJob; readonly answer: string }
  /** null if the script does not compile. */
  readonly checkAsked: { readonly job: AskedJob; readonly answer: AskedCheck | null }
  readonly compare: { readonly job: CompareJob; readonly answer: CompareOutput }
  readonly replay: { readonly job: ReplayJob; readonly answer: ReplayOutput }
  readonly pack: { readonly job: PackJob; readonly answer: PackOutput }
  /** Answers JSON text. */
  readonly tracks: { readonly job: TracksJob; readonly answer: string }
  /** Answers a snapshot's JSON text. */
  readonly publish: { readonly job: PublishJob; readonly answer: TextBytes }
  readonly pick: { readonly job: PickJob; readonly answer: string }
  /** The answer is a PNG; null if there is no bar to show. */
  readonly picture: { readonly job: Pictured; readonly answer: PictureOutput }
  readonly import: { readonly job: ImportJob; readonly answer: ImportOutput }
}
export type JobKind = keyof Jobs

/** A BacktestRequest without its functions. */
export interface RunJob {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly bars: Bars
  /** The hash of the bars if an earlier run worked it out. */
  readonly barsHash?: string | null
  readonly symbol: SymbolInfo
  readonly interval: string
  readonly limits: Limits
  readonly overrides: Readonly<Record<string, number | string | boolean>>
  /** As of a BacktestRequest. */
  readonly asOf?: AsOf
  /** Kinds of tracks to answer; default: all. */
  readonly tracks?: TrackKinds
  /** Whether a run that is stored is also answered as columns. */
  readonly asColumns?: boolean
}

/** A run, and the list of trades that it differs from. */
export interface ExplainJob extends RunJob {
  /** The exported list as JSON text. */
  readonly exported: string
  /** Trades of it that could not be read. */
  readonly lost: number
  /** The time zone of the list's times; null = to be found out. */
  readonly timezone: string | null
  /** All bars up to the run's last one, if the run did not have all of them. */
  readonly earlier: Bars | null
}

/** Some of a sweep's trials: the same script and bars, each with other inputs and settings. */
export interface TrialsJob extends RunJob {
  readonly points: readonly TrialInputs[]
  readonly measured: Measured
  /** Jobs of one name are of one script and the same bars, and share columns; without it nothing is kept. */
  readonly columns?: VariedAmongTrials & { readonly name: string }
}

export interface TrialsOutput extends TrialBatch, ScriptNames {
  /** How long they ran, not counting the wait for a thread. */
  readonly tookMs: number
}

/** The trials of a sweep so far, and the random numbers that the next is drawn with. */
export interface ProposeJob {
  readonly axes: readonly Axis[]
  /** Their places, axis by axis, one after the other: two arrays cross to a worker sooner than thousands. */
  readonly places: Float64Array
  readonly scores: Float64Array
  readonly random: RandomState
}

export interface ProposeOutput {
  readonly point: Float64Array
  readonly random: RandomState
}

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
  /** Choices that halving sorted out, which have no row. */
  readonly filtered: number
  /** How far the Sharpe ratios of all these trials lie apart, if their rows are not here: a single run is judged. */
  readonly deviation?: number
  /** How far the Sharpe ratios of all counted trials lie apart, if it is known: those of one sweep may all stand close together. */
  readonly deviationOfAll?: number | null
  readonly seed: number
  /** The cells of the walk-forward matrix, and the best trial of each of their windows, in order. */
  readonly cells: readonly { readonly share: number; readonly runs: number }[]
  readonly winners: readonly (WindowWinner | null)[]
  /** Whether this job looks how much of it is luck, or others do. */
  readonly luck: 'here' | 'elsewhere'
}

export interface JudgeOutput {
  readonly judged: Judged
  /** What `withLuck` needs besides, unless others look for it. */
  readonly luck: readonly LuckFound[]
  /** What each cell earned out of sample, in their order. */
  readonly stitched: readonly Stitched[]
}

/** Some of a scan's markets: the same script over the bars of each. */
export interface ScanJob extends Omit<RunJob, 'bars' | 'symbol'> {
  readonly markets: readonly { readonly bars: Bars; readonly symbol: SymbolInfo }[]
}

export interface ScanOutput {
  /** null if no market could be run. */
  readonly columns: ScanColumns | null
  /** In the order of the markets. */
  readonly rows: readonly (
    ScannedMarket | { readonly error: { readonly code: string; readonly message: string } }
  )[]
  readonly names: ScriptNames
  /** What the ledger counts, in the order of the markets; null where no strategy was run. */
  readonly tried: readonly (ScannedTrial | null)[]
}

/** Scripts that trade with the same money, each on its market. */
export interface PortfolioJob {
  readonly parts: readonly (RunJob & { readonly priority: number })[]
  readonly capital: number | null
  readonly currency: string | null
}

export interface PortfolioOutput {
  readonly result: PortfolioResult
  /** JSON texts of the parts' reports. */
  readonly reports: readonly TextBytes[]
  /** … and of their tracks; null where they would be too much. */
  readonly partTracks: readonly (TextBytes | null)[]
  /** The trades of all parts as CSV. */
  readonly trades: TextBytes
  readonly tried: readonly Omit<BacktestOutput['tried'], 'moments' | 'lags'>[]
}

/** See `broker/forward.ts`. */
export interface ForwardJob extends RunJob {
  readonly kept: ForwardState | null
  /** Fills from this bar on are answered. */
  readonly from: number
  /** What of it is wanted as JSON text. */
  readonly wants: 'report' | 'tracks' | null
  /** As of a backtest. */
  readonly isNew?: boolean
}

export interface ForwardOutput extends Forwarded {
  readonly kind: 'strategy' | 'indicator' | 'library'
  /** What was wanted. */
  readonly text: TextBytes | null
}

export interface FollowJob extends RunJob {
  readonly kept: ForwardState | null
  /** The first of the bars to follow: each from here on has a step of its own. */
  readonly from: number
  /** Processor time after which no further step is begun. */
  readonly forMs: number
}

export interface FollowOutput {
  /** Those of the first bars, and of one at least. */
  readonly steps: readonly Omit<Forwarded, 'kept'>[]
  /** null: keep the state that you have. */
  readonly kept: ForwardState | null
}

/** A run that continues from its kept state; see `broker/advance.ts`. */
export interface AdvanceJob extends RunJob {
  readonly kept: KeptRun | null
  /** The caller guarantees that the bars begin with those of the kept state. */
  readonly trusted: boolean
  /** Index of the first bar whose results the caller wants. */
  readonly from: number
}

/** The state's bytes are in shared memory, so they go to a worker and back without a copy. */
export interface KeptRun extends KeptState {
  /** Hash of the libraries that the script imports. */
  readonly libraries: string
}

export interface AdvanceOutput extends Omit<Advanced, 'kept'> {
  /** null: keep the state you have. */
  readonly kept: KeptRun | null
}

export interface TextJob {
  readonly source: string
}

/** What somebody asks for of a script. */
export interface AskedJob extends TextJob {
  /** Of inputs. */
  readonly names: readonly string[]
  readonly overrides: Readonly<Record<string, unknown>>
  readonly varied?: VariedSettings
}

export interface AskedCheck {
  /** The first of the names that is no input of the script; null if all are. */
  readonly unknown: { readonly input: string; readonly message: string } | null
}

export interface CompareJob {
  /** The request's body as it came: JSON with `csv` or `xlsx`, and perhaps `timezone`. The job empties the list while it reads. */
  readonly body: Uint8Array[]
  readonly bars: Bars
  /** The symbol's own zone, which is tried first. */
  readonly exchangeTimezone: string
}

export interface ReplayJob {
  /** The bars that are replayed. */
  readonly bars: Bars
}

export interface PackJob extends TracksJob {
  /** The path of the tracks within the answer. */
  readonly at: Path
}
export interface TracksJob {
  readonly kinds: TrackKinds
}
/** The worker transfers the bytes without a copy. */
export type PackOutput = Packed

export interface PublishJob {
  /** The bars that the stored backtest ran on. */
  readonly bars: Bars
}

export interface PickJob {
  /** Which part of an answer with a report is wanted. */
  readonly what: Picked
}
/** The figures of a report, or the newest of its trades that closed before a time, as many as the number says. */
export type Picked = 'figures' | { readonly trades: number; readonly before: number }

export type PictureOutput = Uint8Array<ArrayBuffer> | null

export interface BacktestOutput {
  /** JSON text, whose bytes the worker transfers. */
  readonly report: TextBytes
  /** JSON text of an array. */
  readonly tracks: TextBytes
  /** The report's `summary`. */
  readonly summary: ReportSummary
  /** The currency of the report's amounts. */
  readonly currency: string
  /** The names by which the ledger of trials tells scripts, and choices of their values, apart. */
  readonly tried: ScriptNames & {
    readonly trial: string
    /** Of the returns a bar; null if nothing was traded. */
    readonly moments: SharpeRecord | null
    /** See `lagsHolding`. */
    readonly lags: boolean
  }
  /** See `BacktestResult.curve`. */
  readonly curve: readonly number[] | null
  /** Hash of the job's bars; null if it ran on a part of them. */
  readonly barsHash: string | null
  /** Report and tracks as the `result` of an answer as columns, if the job asked for it. */
  readonly packed: Packed | null
}

export interface PreviewOutput extends Pick<BacktestOutput, 'tried' | 'barsHash'> {
  /** Report and tracks as the `result` of an answer. */
  readonly result: Packed
}

export interface CheckOutput {
  readonly kind: 'strategy' | 'indicator' | 'library' | 'draft'
  readonly pineVersion: number | null
  /** JSON texts of arrays. */
  readonly inputs: string
  readonly plots: string
  /** JSON text: the arguments of a strategy, else null. */
  readonly declaration: string
  /** JSON text: the names of those that the script itself has. */
  readonly given: string
  readonly diagnostics: string
}

export interface CompareOutput {
  /** JSON text. */
  readonly comparison: string
  /** The export as JSON text if its list differs; '' if they agree, or if it is too long to be explained. */
  readonly exported: string
  /** Trades of it that could not be read. */
  readonly lost: number
  /** The time zone as the request gave it. */
  readonly timezone: string | null
  /** JSON texts: what an XLSX sets, and its figures beside those of the report; `null` of a CSV. */
  readonly settings: string
  readonly figures: string
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  /** JSON Pointers of unknown fields of the body. */
  readonly unknown: readonly string[]
}

export interface ReplayOutput {
  /** JSON texts of arrays. */
  readonly trades: string
  readonly equity: string
}

export interface ImportJob extends Omit<ReadBarsOptions, 'progress' | 'aside'> {
  /** What is read in a thread of its own; missing = the input, in turn with others. */
  readonly files?: readonly FileAside[]
}

/** Bars that were read; or files that have to be read in a thread of their own. */
export type ImportOutput = StagedOutput | { readonly aside: readonly FileAside[] }

export interface StagedOutput {
  readonly bars: Bars
  /** The number of the draft with the earlier bars; null if there are none. */
  readonly draft: number | null
  readonly read: ReadFiles
}

/** A call of one of the host's functions. */
export interface Question {
  readonly name: string
  readonly args: readonly unknown[]
}

/**
 * What a busy job reports, by index: the bytes it counts as its own, the system's number of its thread (0 = not started
 * yet), and the milliseconds of processor time that the thread had taken when the job began.
 */
export const USED = { bytes: 0, thread: 1, threadMs: 2 } as const
export const UNKNOWN_THREAD = -1
/** A job that took this much leaves much garbage behind, which is collected before the next one. */
export const LARGE_BYTES = 64 * 2 ** 20

/** Every message belongs to one job, named by the number the pool gave it. */
export type ToWorker = { readonly task: number } & (
  | {
      readonly to: 'job'
      readonly kind: string
      readonly job: unknown
      /** Shared with the pool, which reads it from outside because a busy thread answers nobody: see `USED`. */
      readonly used: Float64Array
    }
  | { readonly to: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly to: 'refusal'; readonly id: number }
  /** The caller has gone, so the job should stop. */
  | { readonly to: 'stop' }
)

export type FromWorker = { readonly task: number } & Said

export type Said =
  | { readonly from: 'progress'; readonly bar: number }
  | ({ readonly from: 'question'; readonly id: number } & Question)
  | {
      readonly from: 'problem'
      readonly status: number
      readonly code: ProblemCode
      readonly message: string
      readonly details: ProblemDetails
    }
  /** The host could not answer a question, and remembers why. */
  | { readonly from: 'refused' }
  /** The failure is our mistake, not that of the user's text. */
  | { readonly from: 'failure'; readonly stack: string }
  | { readonly from: 'done'; readonly answer: unknown }
  /** Sent after a large job, once its garbage is collected: how much remains on the worker's heap. */
  | { readonly from: 'left'; readonly bytes: number }
