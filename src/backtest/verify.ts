// Proof of a report: run it again and compare every byte but the timings.

import { compareReports, type Verified } from './report/difference.ts'
import type { Report } from '../wire/report.ts'
import { runBacktest, type BacktestRequest } from './run.ts'

/** `stored` is the report as it was kept, `request` what it was made from. */
export function verifyReport(stored: Report, request: BacktestRequest): Verified {
  return compareReports(stored, runBacktest(request).report)
}
