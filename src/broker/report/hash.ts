// The fingerprint of a run: SHA-256 over the canonical JSON of everything its numbers depend on.

import { memoOf } from '../../lib/memo.ts'
import { Sha256 } from '../../lib/sha256.ts'
import { BAR_FIELDS, type Bars, knowsSides } from '../../market/bars.ts'

/** Hash of the columns' bytes; remembered, because a sweep runs over the same bars many times. */
export const barsHash = memoOf((bars: Bars): string => {
  const hasher = new Sha256()
  for (const field of BAR_FIELDS) {
    const column = bars[field]
    hasher.add(new Uint8Array(column.buffer, column.byteOffset, column.byteLength))
  }
  return hasher.hex()
})

const READS_SIDES = /\brequest\s*\.\s*footprint\b/

/**
 * Hash of what was bought of all these bars, for a script that asks for it; null if nobody knows. Bars whose sides become known
 * are the same to every other script.
 */
export function sidesHash(source: string, all: Iterable<Bars>): string | null {
  if (!READS_SIDES.test(source)) return null
  const hasher = new Sha256()
  let known = false
  for (const bars of all) {
    const { bought } = bars
    const knows = bought !== undefined && knowsSides(bars)
    known ||= knows
    hasher.add(knows ? new Uint8Array(bought.buffer, bought.byteOffset, bought.byteLength) : '-')
  }
  return known ? hasher.hex() : null
}

/** JSON with sorted keys and without white space: equal values, equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : part,
  )
}
