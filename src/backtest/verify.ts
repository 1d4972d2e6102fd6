// Proof of a report: run it again and compare every byte but the timings.

import { runBacktest, type BacktestRequest } from './run.ts'
import { canonicalJson } from './report/hash.ts'
import type { Report } from './report/report.ts'

export interface Verification {
  readonly equal: boolean
  readonly hash: string
  /** Path of the first value that differs, as a JSON Pointer; null = none. */
  readonly difference: string | null
}

/** `stored` is the report as it was kept, `request` what it was made from. */
export function verifyReport(stored: Report, request: BacktestRequest): Verification {
  const { report } = runBacktest(request)
  const before: unknown = JSON.parse(reportText(stored))
  const after: unknown = JSON.parse(reportText(report))
  const difference = firstDifference(before, after, '')
  return { equal: difference === null, hash: report.hash, difference }
}

/** The canonical text that two equal reports share. */
export function reportText(report: Report): string {
  const { timings: _, ...rest } = report
  return canonicalJson(rest)
}

function firstDifference(a: unknown, b: unknown, path: string): string | null {
  if (Object.is(a, b)) return null
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return path || '/'
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = firstDifference(left[key], right[key], `${path}/${key}`)
    if (found !== null) return found
  }
  return null
}
