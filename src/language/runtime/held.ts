// What a script's variables hold: the drawings that are not taken away when there are too many (L16).

import { History } from './history.ts'
import type { ColumnData } from './executable.ts'

/**
 * The values of `var` variables, wherever they are declared, and of variables whose past is read: those are in the frames, or
 * in columns, where a variable may not have been written on this bar yet. What is in an array or an object is not held.
 */
export function heldBy(frame: object, columns: readonly ColumnData[], bar: number): ReadonlySet<unknown> {
  const held = new Set<unknown>()
  lookInto(frame, held)
  for (const column of columns) if (Array.isArray(column)) held.add(column[bar]).add(column[bar - 1])
  return held
}

function lookInto(frame: object, held: Set<unknown>): void {
  for (const [name, value] of Object.entries(frame))
    if (value instanceof History) held.add(value.last)
    else if (/^f\d+$/.test(name)) lookInto(value as object, held)
    else if (name.startsWith('v')) held.add(value)
}
