// Arrays and matrices as a bar left them, for scripts that look at their past (L13).
//
// What a variable holds when the bar ends is copied then, so that nothing that happens to it later shows in `x[1]`. Columns of
// the script's own variables are copied by the generated body; buffers of blocks and functions tell of themselves here.

import { PastArray, PineArray } from './collections.ts'
import type { History } from './history.ts'
import { PastMatrix, PineMatrix } from './matrix.ts'

export function pastOf(value: unknown): unknown {
  if (value instanceof PastArray || value instanceof PastMatrix) return value
  if (value instanceof PineArray) return new PastArray(value.values().slice(), value.na, value.budget)
  if (value instanceof PineMatrix)
    return new PastMatrix(value.rows, value.columns, value.items.slice(), value.na, value.budget)
  return value
}

/** Copies what was put into buffers on this bar. */
export function settle(touched: Set<History<unknown>>): void {
  for (const history of touched) history.put(history.lastBar, pastOf(history.last))
  touched.clear()
}
