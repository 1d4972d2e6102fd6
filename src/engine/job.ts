// What goes between the pool and a worker: a job there, and progress, questions and a result back.
//
// Bars go by reference (shared memory). The result comes as JSON text: made in the worker, stored and sent as it is,
// so that a report of a thousand trades costs the main thread a string and not a million small objects.

import type { Bars } from '../market/bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { Series } from '../pine/compile.ts'
import type { Limits } from '../pine/runtime/runtime.ts'
import type { ProblemDetails } from '../lib/problem.ts'
import type { ReportSummary } from '../backtest/report/report.ts'

/** A BacktestRequest without its functions. */
export interface BacktestJob {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly bars: Bars
  readonly symbol: SymbolInfo
  readonly interval: string
  readonly finer: { readonly bars: Bars; readonly interval: string } | null
  readonly limits: Limits
  readonly overrides: Readonly<Record<string, number | string | boolean>>
  /** Sources of libraries by `user/library/version`. */
  readonly libraries: Readonly<Record<string, string>>
}

/** Bars for request.*, by `seriesName`; null = there are none. */
export type SeriesTable = Readonly<Record<string, Series | null>>

export interface ToWorker {
  readonly job: BacktestJob
  readonly series: SeriesTable
}

export type FromWorker =
  | { readonly kind: 'progress'; readonly bar: number }
  | { readonly kind: 'series'; readonly exchange: string; readonly symbol: string; readonly interval: string }
  | {
      readonly kind: 'problem'
      readonly status: number
      readonly code: string
      readonly message: string
      readonly details: ProblemDetails
    }
  /** Our mistake. */
  | { readonly kind: 'failure'; readonly stack: string }
  | ({ readonly kind: 'done' } & BacktestOutput)

export interface BacktestOutput {
  /** JSON text. */
  readonly report: string
  /** JSON text of an array. */
  readonly tracks: string
  /** The report's `summary`. */
  readonly summary: ReportSummary
  /** Of the report's amounts. */
  readonly currency: string
}
