// Tries every combination in the order of nested loops, the last axis fastest.

import { assert } from '../../../lib/assert.ts'
import type { Axis } from '../../../broker/statistics/parzen.ts'
import type { Sampler } from './sampler.ts'

export function gridSampler(axes: readonly Axis[]): Sampler {
  const counts = axes.map(({ count }) => {
    assert(count !== null, 'a grid has steps')
    return count
  })
  let next: number[] | null = counts.map(() => 0)
  return {
    batch: Infinity,
    ask() {
      if (next === null) return null
      const point = Float64Array.from(next, (at, axis) => (at + 0.5) / counts[axis]!)
      next = after(next, counts)
      return point
    },
    tell() {},
  }
}

function after(indices: readonly number[], counts: readonly number[]): number[] | null {
  const next = [...indices]
  for (let axis = next.length - 1; axis >= 0; axis--) {
    next[axis]!++
    if (next[axis]! < counts[axis]!) return next
    next[axis] = 0
  }
  return null
}
