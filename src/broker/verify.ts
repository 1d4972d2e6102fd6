// Verifies a report by running it again and comparing every byte except the timings.

import { compareReports, type Verified } from './report/difference.ts'
import type { Report } from '../wire/report.ts'
import type { BacktestRequest } from './backtest.ts'
import { runBacktest } from './run.ts'

/** `stored` is the report as it was stored, `request` what it was made from. */
export function verifyReport(stored: Report, request: BacktestRequest): Verified {
  return compareReports(stored, runBacktest(request).report)
}
