// Finds where two reports of the same run differ: every byte counts, except for the timings, and for what says by which engine
// and on what it ran, which `ranOnOther` tells of.
//
// A report may grow, and never changes otherwise: a field may be added anywhere, and keeps its name, unit and meaning from
// then on. A report that was stored before is not held against it.

import { canonicalJson } from './hash.ts'
import { ORDERS_NOT_FILLED } from './unfilled.ts'
import type { Verification } from '../../wire/backtest.ts'
import type { Report } from '../../wire/report.ts'

/** `stored` is the report as it was stored, `again` that of the same run today. */
export function compareReports(stored: Report, again: Report): Verification {
  const kept: unknown = JSON.parse(reportText(stored))
  const added = new Set<string>()
  const found = firstDifference(kept, JSON.parse(reportText(again)), [], added)
  // A field that some of the stored rows have was known.
  const lost = [...added].find((field) => knows(kept, field.split('/').slice(1)))
  return {
    equal: found === null && lost === undefined,
    hash: again.hash,
    difference: found ?? lost ?? null,
    newFields: [...added].filter((field) => field !== lost),
    // The hash covers everything that the numbers depend on: script, inputs, bars, symbol, settings, engine.
    ranOnOther: stored.hash !== again.hash,
  }
}

/** The canonical text that two equal reports share. */
export function reportText(report: Report): string {
  const { timings: _timings, engine: _engine, hash: _hash, ...rest } = report
  // Runs from before it was told have no such warning; what it follows from is compared.
  const warnings = rest.warnings.filter(({ code }) => code !== ORDERS_NOT_FILLED)
  return canonicalJson({ ...rest, warnings })
}

/** Adds to `added` which fields only `again` has, with `*` for the places of a list. */
function firstDifference(
  stored: unknown,
  again: unknown,
  path: readonly string[],
  added: Set<string>,
): string | null {
  if (Object.is(stored, again)) return null
  const [left, right] = [stored, again].map(partsOf)
  if (!left || !right || Array.isArray(stored) !== Array.isArray(again)) return pointer(path)
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!(key in left) && !Array.isArray(stored)) {
      added.add(pointer([...path, key].map((part) => (/^\d+$/.test(part) ? '*' : part))))
      continue
    }
    const found = firstDifference(left[key], right[key], [...path, key], added)
    if (found !== null) return found
  }
  return null
}

const pointer = (path: readonly string[]) => `/${path.join('/')}`

const partsOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null

function knows(value: unknown, [key, ...rest]: readonly string[]): boolean {
  const parts = partsOf(value)
  if (key === undefined || !parts) return key === undefined
  if (key === '*') return Object.values(parts).some((one) => knows(one, rest))
  return key in parts && knows(parts[key], rest)
}
