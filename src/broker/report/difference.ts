// Finds where two reports of the same run differ: every byte counts, except for the timings.

import { canonicalJson } from './hash.ts'
import type { Verification } from '../../wire/backtest.ts'
import type { Report } from '../../wire/report.ts'

export type Verified = Omit<Verification, 'ranOnOther'>

/** `stored` is the report as it was stored, `again` that of the same run today. */
export function compareReports(stored: Report, again: Report): Verified {
  const difference = firstDifference(JSON.parse(reportText(stored)), JSON.parse(reportText(again)), '')
  return { equal: difference === null, hash: again.hash, difference }
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
