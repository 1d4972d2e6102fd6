// What a job is: work on what a user sent, done in a worker instead of on the server's own thread.
//
// The kinds of jobs stand in one table, `Jobs`, with what goes in and what comes out; `kinds.ts` does them, in a worker.
// Bars go by reference (shared memory). Answers that are sent on come as the bytes of their JSON text: made in the worker,
// handed over without a copy, stored and sent as they are.

import type { Advanced, Kept } from '../backtest/advance.ts'
import type { ScanColumns, ScannedMarket } from '../backtest/scan.ts'
import type { Measured, TrialBatch, TrialInputs } from '../backtest/trial.ts'
import type { TextBytes } from './answer.ts'
import type { JudgeJob, JudgeOutput } from './judge-job.ts'
import type { Verified } from '../backtest/report/difference.ts'
import type { TrackKinds } from '../backtest/tracks.ts'
import type { Packed, Path } from '../wire/columns.ts'
import type { ReportSummary } from '../wire/report.ts'
import type { ProblemCode } from '../lib/problem-codes.ts'
import type { ProblemDetails } from '../lib/problem.ts'
import type { BarRange, Bars } from '../market/bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { Series } from '../pine/environment.ts'
import type { Limits } from '../pine/runtime/runtime.ts'

/** Every kind of job: what goes in and what comes out. */
export interface Jobs {
  readonly run: { readonly job: RunJob; readonly answer: BacktestOutput }
  readonly preview: { readonly job: RunJob; readonly answer: PreviewOutput }
  readonly trials: { readonly job: TrialsJob; readonly answer: TrialsOutput }
  readonly scan: { readonly job: ScanJob; readonly answer: ScanOutput }
  readonly judge: { readonly job: JudgeJob; readonly answer: JudgeOutput }
  readonly advance: { readonly job: AdvanceJob; readonly answer: AdvanceOutput }
  readonly verify: { readonly job: RunJob; readonly answer: VerifyOutput }
  /** Answers JSON text. */
  readonly repaint: { readonly job: RunJob; readonly answer: string }
  /** Answers JSON text, `null` where there is nothing to explain. */
  readonly explain: { readonly job: ExplainJob; readonly answer: string }
  readonly check: { readonly job: TextJob; readonly answer: CheckOutput }
  readonly format: { readonly job: TextJob; readonly answer: string }
  readonly compare: { readonly job: CompareJob; readonly answer: CompareOutput }
  readonly replay: { readonly job: ReplayJob; readonly answer: ReplayOutput }
  readonly pack: { readonly job: PackJob; readonly answer: PackOutput }
  readonly pick: { readonly job: PickJob; readonly answer: string }
  readonly import: { readonly job: ImportJob; readonly answer: ImportOutput }
}
export type JobKind = keyof Jobs

/** A BacktestRequest without its functions. */
export interface RunJob {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly bars: Bars
  /** Of the bars, where it is known from an earlier run. */
  readonly barsHash?: string | null
  readonly symbol: SymbolInfo
  readonly interval: string
  readonly limits: Limits
  readonly overrides: Readonly<Record<string, number | string | boolean>>
  /** Kinds of tracks to answer; all if not said. */
  readonly tracks?: TrackKinds
  /** Whether a run that is kept is answered as columns as well. */
  readonly asColumns?: boolean
}

/** A run, and the list of trades that it differs from. */
export interface ExplainJob extends RunJob {
  /** JSON text of the list. */
  readonly exported: string
  /** Of its times; null = to be found out. */
  readonly timezone: string | null
  /** All bars up to the run's last, where it did not have them all. */
  readonly earlier: Bars | null
}

/** Some of a sweep's trials: the same script and bars, with other inputs and settings each. */
export interface TrialsJob extends RunJob {
  readonly points: readonly TrialInputs[]
  readonly measured: Measured
}

export interface TrialsOutput extends TrialBatch {
  /** By which the ledger tells scripts apart. */
  readonly script: string
}

/** Some of a scan's markets: the same script over the bars of each. */
export interface ScanJob extends Omit<RunJob, 'bars' | 'symbol'> {
  readonly markets: readonly { readonly bars: Bars; readonly symbol: SymbolInfo }[]
}

export interface ScanOutput {
  /** null where no market could be run. */
  readonly columns: ScanColumns | null
  /** In the order of the markets. */
  readonly rows: readonly (
    ScannedMarket | { readonly error: { readonly code: string; readonly message: string } }
  )[]
}

/** A run that goes on from what was kept of it; see `backtest/advance.ts`. */
export interface AdvanceJob extends RunJob {
  readonly kept: KeptRun | null
  /** The bars are known to begin with those that what is kept was made of. */
  readonly trusted: boolean
  /** Index of the first bar somebody wants to hear of. */
  readonly from: number
}

/** Its bytes are in shared memory: they go to a worker and back without a copy. */
export interface KeptRun extends Kept {
  /** Hash of what the script imports. */
  readonly libraries: string
}

export interface AdvanceOutput extends Omit<Advanced, 'kept'> {
  /** null: keep what you have. */
  readonly kept: KeptRun | null
}

export interface TextJob {
  readonly source: string
}

export interface CompareJob {
  /** The request's body as it came: JSON with `csv` and perhaps `timezone`. The job takes it out as it reads it. */
  readonly body: Uint8Array[]
  readonly bars: Bars
  /** The symbol's own zone, which is tried first. */
  readonly exchangeTimezone: string
}

export interface ReplayJob {
  /** The bars that are replayed. */
  readonly bars: Bars
}

export interface PackJob {
  /** Where in the answer the tracks are. */
  readonly at: Path
}
/** The worker hands its bytes over: they are not copied. */
export type PackOutput = Packed

export interface PickJob {
  /** What of an answer with a report is wanted. */
  readonly what: Picked
}
export type Picked = 'figures' | 'trades'

export interface BacktestOutput {
  /** JSON text, of which the worker hands the bytes over. */
  readonly report: TextBytes
  /** JSON text of an array. */
  readonly tracks: TextBytes
  /** The report's `summary`. */
  readonly summary: ReportSummary
  /** Of the report's amounts. */
  readonly currency: string
  /** By which the ledger of trials tells scripts, and choices of their values, apart. */
  readonly tried: { readonly script: string; readonly trial: string }
  /** Of the job's bars; null where it ran on a part of them. */
  readonly barsHash: string | null
  /** Report and tracks as `result` of an answer as columns, where that is wanted. */
  readonly packed: Packed | null
}

export interface PreviewOutput extends Pick<BacktestOutput, 'tried' | 'barsHash'> {
  /** Report and tracks, as `result` of an answer. */
  readonly result: Packed
}

export interface CheckOutput {
  readonly kind: 'strategy' | 'indicator' | 'library' | 'draft'
  readonly pineVersion: number | null
  /** JSON texts of arrays. */
  readonly inputs: string
  readonly plots: string
  readonly diagnostics: string
}

export interface CompareOutput {
  /** JSON text. */
  readonly comparison: string
  /** The export as JSON text, should its lists differ; '' where they agree or are too long to be explained. */
  readonly exported: string
  /** As it was given. */
  readonly timezone: string | null
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  /** JSON Pointers of unknown fields of the body. */
  readonly unknown: readonly string[]
}

export interface VerifyOutput extends Verified {
  /** Bars, symbol or engine are not what they were. */
  readonly ranOnOther: boolean
}

export interface ReplayOutput {
  /** JSON texts of arrays. */
  readonly trades: string
  readonly equity: string
}

export interface ImportJob {
  readonly format: 'csv' | 'json'
  readonly symbol: SymbolInfo
}

export interface ImportOutput {
  readonly bars: Bars
  /** Number of the draft that the bars before these went into; null = they are all. */
  readonly draft: number | null
  readonly rows: number
}

/** What a job may ask of the server while it goes on. */
export interface Host extends ScriptHost, ImportHost, StoredHost {}

export interface ScriptHost {
  /** Source of a library that the user may import; null = there is none. */
  library(user: string, library: string, version: number): string | null | Promise<string | null>
  /** Bars that request.* asks for; null = there are none. */
  series(exchange: string, symbol: string, interval: string): Series | null | Promise<Series | null>
  /** Bars for the bar magnifier: the finest there are of the symbol; null = there are none. */
  finer(): FinerBars | null | Promise<FinerBars | null>
}

interface ImportHost {
  /** The next piece of what is read; null = it is over. */
  piece(): Promise<Uint8Array | null>
  /** Bars for a draft of the store; drafts are numbered by the job. */
  addBars(draft: number, bars: Bars): Promise<void>
  readBars(draft: number, range: BarRange): Bars | Promise<Bars>
}

export interface StoredHost {
  /** The next part of the JSON text of a stored report, or of its tracks; null = it is over. */
  part(what: StoredText): string | null | Promise<string | null>
}
export type StoredText = 'report' | 'tracks'

export interface FinerBars {
  readonly bars: Bars
  readonly interval: string
}

/** A call of one of the host's functions. */
export interface Question {
  readonly name: string
  readonly args: readonly unknown[]
}

/**
 * What a job tells while it is busy, by place: the bytes it counts as its own, the number by which the system knows its
 * thread (0 = it has not begun), and the milliseconds of a processor that this thread had taken when the job began.
 */
export const USED = { bytes: 0, thread: 1, threadMs: 2 } as const
export const UNKNOWN_THREAD = -1
/** A job that took so much leaves much garbage behind, which is collected before the next. */
export const LARGE_BYTES = 64 * 2 ** 20

/** Every message is of one job, by the number the pool gave it. */
export type ToWorker = { readonly task: number } & (
  | {
      readonly to: 'job'
      readonly kind: string
      readonly job: unknown
      /** Shared with the pool, which looks at it from outside, since a thread that is busy answers nobody: see `USED`. */
      readonly used: Float64Array
    }
  | { readonly to: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly to: 'refusal'; readonly id: number }
  /** The caller has gone: stop. */
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
  /** The host could not answer a question; it knows why. */
  | { readonly from: 'refused' }
  /** A failure of ours, not of the user's text. */
  | { readonly from: 'failure'; readonly stack: string }
  | { readonly from: 'done'; readonly answer: unknown }
  /** After a large job was answered and its garbage collected: what is left of it on the worker's heap. */
  | { readonly from: 'left'; readonly bytes: number }
