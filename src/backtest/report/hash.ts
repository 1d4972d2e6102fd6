// The fingerprint of a run: SHA-256 over the canonical JSON of everything its numbers depend on.

import { memoOf } from '../../lib/memo.ts'
import { BAR_FIELDS, type Bars } from '../../market/bars.ts'

/** Hash of the columns' bytes; remembered, because a sweep runs over the same bars many times. */
export const barsHash = memoOf((bars: Bars): string => {
  const hasher = new Bun.CryptoHasher('sha256')
  for (const field of BAR_FIELDS) {
    const column = bars[field]
    hasher.update(new Uint8Array(column.buffer, column.byteOffset, column.byteLength))
  }
  return hasher.digest('hex')
})

/** JSON with sorted keys and without white space: equal values, equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : part,
  )
}
