import type { Drawings } from './drawings.ts'
import type { Limits } from './runtime.ts'

export function newDrawings(_limits: Limits): Drawings {
  return { items: [] }
}
