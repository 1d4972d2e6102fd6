// What a script's variables hold: the drawings that are not taken away when there are too many (L16).

import { memoOf } from '../../lib/memo.ts'
import { History } from './history.ts'
import type { ColumnData } from './executable.ts'

/**
 * The values of `var` variables, wherever they are declared, and of variables whose past is read: those are in the frames, or
 * in columns, where a variable may not have been written on this bar yet. What is in an array or an object is not held.
 */
export function heldBy(frame: object, columns: readonly ColumnData[], bar: number): ReadonlySet<unknown> {
  const held = new Set<unknown>()
  lookInto(frame as Readonly<Record<string, unknown>>, held)
  for (const column of columns) if (Array.isArray(column)) held.add(column[bar]).add(column[bar - 1])
  return held
}

/** The names of fields in which there may be one, by the class of frames; null until the first such frame is looked at. */
const placesOf = memoOf((_class: object) => ({ names: null as readonly string[] | null }))

function lookInto(frame: Readonly<Record<string, unknown>>, held: Set<unknown>): void {
  for (const place of placesIn(frame)) {
    const value = frame[place]
    if (place.startsWith('f')) lookInto(value as typeof frame, held)
    else held.add(value instanceof History ? value.last : value)
  }
}

/** Numbers are never anything else. A frame is asked on every sixth bar that draws a line: its names are looked at once. */
function placesIn(frame: Readonly<Record<string, unknown>>): readonly string[] {
  const places = placesOf((frame as object).constructor)
  places.names ??= Object.keys(frame).filter(
    (name) =>
      /^f\d+$/.test(name) ||
      frame[name] instanceof History ||
      (name.startsWith('v') && typeof frame[name] !== 'number'),
  )
  return places.names
}
