// What `for … in` walks over: an array's elements, a matrix's rows, a map's keys.

import type { PineArray, PineMap } from './collections.ts'
import { rowReference, type PineMatrix } from './matrix.ts'

export function itemsOf(array: PineArray): readonly unknown[] {
  return array.values()
}

export function rowsOf(matrix: PineMatrix): number {
  return matrix.rows
}

export function rowOf(matrix: PineMatrix, row: number): PineArray {
  return rowReference(matrix, row)
}

export function keysOf(map: PineMap): readonly unknown[] {
  return [...map.entries.keys()]
}
