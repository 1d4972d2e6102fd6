// What `for … in` walks over. Collections hand out their elements as an array; maps their keys.

import { ScriptError } from './runtime.ts'

interface Listing {
  values(): readonly unknown[]
}

export function itemsOf(collection: Listing): readonly unknown[] {
  return collection.values()
}

export function keysOf(map: { keys(): Iterable<unknown> } | null): readonly unknown[] {
  if (map === null) throw new ScriptError('Cannot walk over a map that is na.')
  return [...map.keys()]
}
