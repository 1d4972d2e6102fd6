// What `for … in` walks over. Collections hand out their elements as an array; maps their keys.

import type { PineMap } from './collections.ts'

interface Listing {
  values(): readonly unknown[]
}

export function itemsOf(collection: Listing): readonly unknown[] {
  return collection.values()
}

export function keysOf(map: PineMap): readonly unknown[] {
  return [...map.entries.keys()]
}
