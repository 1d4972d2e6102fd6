// The door of the backtest room: a script, bars and settings in; report and tracks out.
//
// Pure: same script, bars, inputs and settings give a byte-equal report, on any machine, in a worker or not.

import type { Bars } from '../market/bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import type { Series } from '../pine/compile.ts'
import type { Limits } from '../pine/runtime/runtime.ts'
import type { Report } from './report/report.ts'
import type { Track } from './tracks.ts'

export interface BacktestRequest {
  readonly source: string
  readonly inputs: Readonly<Record<string, unknown>>
  readonly bars: Bars
  readonly symbol: SymbolInfo
  readonly interval: string
  /** For the bar magnifier and security_lower_tf; null = none cached. */
  readonly finer?: { readonly bars: Bars; readonly interval: string } | null
  readonly limits: Limits
  readonly series: (exchange: string, symbol: string, interval: string) => Series | null | undefined
  readonly library?: (user: string, library: string, version: number) => string | null
  readonly progress?: (bar: number) => void
  /** Declaration arguments to run with instead of the script's (initial_capital, commission_value, …). */
  readonly overrides?: Readonly<Record<string, number | string | boolean>>
}

export interface BacktestResult {
  readonly report: Report
  readonly tracks: readonly Track[]
}

/** A script that cannot run: diagnostics in wire form. */
export interface WireDiagnostic {
  readonly severity: 'error' | 'warning'
  readonly line: number
  readonly column: number
  readonly endLine: number
  readonly endColumn: number
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

/**
 * Throws Problem 422 `script_invalid` (details.diagnostics), `script_runtime_error`, `script_limit_exceeded`,
 * `validation_failed` (an input); SeriesNeeded when request.* wants bars that `series` answers undefined for.
 */
export function runBacktest(_request: BacktestRequest): BacktestResult {
  throw new Error('assertion failed: the engine is not here yet')
}
