// array.*: lists. `runtime/collections.ts` says what they hold and how slices share it.

import {
  arrayIsEmpty,
  arraySizeBelow0,
  cannotSortBy,
  collectionIsNa,
  covarianceOfSizes,
  invalidArgument,
  outOfBounds,
  searchesTexts,
  sortsByFieldOfNa,
  tooLarge,
} from '../messages/failing.ts'
import type { Allowance } from '../runtime/limits.ts'
import { PineArray } from '../runtime/collections.ts'
import type { Runtime } from '../runtime/runtime.ts'
import * as statistics from '../runtime/statistics.ts'
import { EPSILON } from './ta/window.ts'
import { valueText } from '../runtime/value-text.ts'
import { fn } from './define.ts'
import type { BuiltinEntry, BuiltinFunction } from './registry.ts'
import { limited } from './str.ts'
import { words } from '../../lib/words.ts'

type Any = PineArray | null
type Numbers = PineArray<number> | null

/** The array is na. */
function absent(name: string): never {
  throw collectionIsNa(name, 'array')
}

/** Types that have a constructor of their own from before generics. */
const NAMED_TYPES = words('bool box color float int label line linefill string table')

export const ARRAY: readonly BuiltinEntry[] = [
  fn('array.new', 'A new array of `size` elements.', '(int size = 0, T initial_value = na) array<T>', {
    fn: newArray,
    runtime: true,
  }),
  ...NAMED_TYPES.map((type) =>
    fn(
      `array.new_${type}`,
      `A new array of ${type}s.`,
      `(int size = 0, ${type} initial_value = na) array<${type}>`,
      { fn: newArray, runtime: true },
    ),
  ),
  fn('array.from', 'A new array of the arguments.', '(T ...args) array<T>', {
    fn: (runtime: Runtime, ...items: unknown[]) =>
      new PineArray<unknown>(items, naLike(items[0]), runtime.budget),
    runtime: true,
  }),

  fn('array.size', 'How many elements there are.', '(array<T> id) int', {
    fn: (id: Any) => (id ?? absent('array.size')).size,
    reads: true,
  }),
  fn(
    'array.get',
    'The element at an index; negative ones count from the end.',
    '(array<T> id, int index) T',
    {
      fn: (id: Any, index: number) => (id ?? absent('array.get')).get(index),
      reads: true,
    },
  ),
  fn('array.set', 'Puts a value at an index.', '(array<T> id, int index, T value) void', {
    fn: (id: Any, index: number, value: unknown) => (id ?? absent('array.set')).set(index, value),
  }),
  fn('array.push', 'Adds a value at the end.', '(array<T> id, T value) void', {
    fn: (id: Any, value: unknown) => {
      const array = id ?? absent('array.push')
      array.insert(array.size, value)
    },
  }),
  fn('array.pop', 'Takes the last element off.', '(array<T> id) T', {
    fn: (id: Any) => {
      const array = filled(id, 'array.pop')
      return array.remove(array.size - 1)
    },
  }),
  fn('array.shift', 'Takes the first element off.', '(array<T> id) T', {
    fn: (id: Any) => filled(id, 'array.shift').remove(0),
  }),
  fn('array.unshift', 'Adds a value at the front.', '(array<T> id, T value) void', {
    fn: (id: Any, value: unknown) => (id ?? absent('array.unshift')).insert(0, value),
  }),
  fn('array.insert', 'Puts a value in front of an index.', '(array<T> id, int index, T value) void', {
    fn: (id: Any, index: number, value: unknown) => (id ?? absent('array.insert')).insert(index, value),
  }),
  fn('array.remove', 'Takes the element at an index out.', '(array<T> id, int index) T', {
    fn: (id: Any, index: number) => (id ?? absent('array.remove')).remove(index),
  }),
  fn('array.first', 'The first element.', '(array<T> id) T', {
    fn: (id: Any) => filled(id, 'array.first').get(0),
    reads: true,
  }),
  fn('array.last', 'The last element.', '(array<T> id) T', {
    fn: (id: Any) => {
      const array = filled(id, 'array.last')
      return array.get(array.size - 1)
    },
    reads: true,
  }),
  fn('array.clear', 'Takes all elements out.', '(array<T> id) void', {
    fn: (id: Any) => (id ?? absent('array.clear')).clear(),
  }),
  fn(
    'array.fill',
    'Puts one value at the indexes from `index_from` up to, not including, `index_to`.',
    '(array<T> id, T value, int index_from = 0, int index_to = na) void',
    {
      fn: (id: Any, value: unknown, from: number, to: number) =>
        (id ?? absent('array.fill')).fill(value, from, to),
    },
  ),
  fn(
    'array.concat',
    'Adds the elements of another array at the end.',
    '(array<T> id1, array<T> id2) array<T>',
    {
      fn: (id: Any, other: Any) => {
        const array = id ?? absent('array.concat')
        array.append((other ?? absent('array.concat')).values())
        return array
      },
    },
  ),
  fn('array.copy', 'A copy; objects in it are shared.', '(array<T> id) array<T>', {
    fn: (id: Any) => (id ?? absent('array.copy')).copy(),
  }),
  fn(
    'array.slice',
    'A view of the elements from `index_from` up to, not including, `index_to`: writing to one writes to both.',
    '(array<T> id, int index_from, int index_to) array<T>',
    { fn: (id: Any, from: number, to: number) => (id ?? absent('array.slice')).slice(from, to) },
  ),
  fn('array.reverse', 'Turns the order around.', '(array<T> id) void', {
    fn: (id: Any) => {
      const array = id ?? absent('array.reverse')
      array.replace(array.values().toReversed())
    },
  }),
  fn('array.includes', 'True if a value is in it.', '(array<T> id, T value) bool', {
    fn: (id: Any, value: unknown) => (id ?? absent('array.includes')).values().some(isLike(value)),
  }),
  fn('array.indexof', 'Index of the first such value, or -1.', '(array<T> id, T value) int', {
    fn: (id: Any, value: unknown) => (id ?? absent('array.indexof')).values().findIndex(isLike(value)),
  }),
  fn('array.lastindexof', 'Index of the last such value, or -1.', '(array<T> id, T value) int', {
    fn: (id: Any, value: unknown) =>
      (id ?? absent('array.lastindexof')).values().findLastIndex(isLike(value)),
  }),
  fn(
    'array.join',
    'The elements as one text.',
    ['int', 'float', 'string'].map((type) => `(array<${type}> id, string separator = '') string`),
    {
      fn: (runtime: Runtime, id: Any, separator: string | null) =>
        limited(
          runtime,
          (id ?? absent('array.join'))
            .values()
            .map((each) => valueText(each))
            .join(separator ?? ''),
        ),
      runtime: true,
    },
  ),
  fn('array.every', 'True if all elements are true.', truths(), {
    // false for an empty array, unlike in mathematics. [measured on TradingView by PyneCore]
    fn: (id: Any) => {
      const values = (id ?? absent('array.every')).values()
      return values.length > 0 && values.every(isTrue)
    },
  }),
  fn('array.some', 'True if an element is true.', truths(), {
    fn: (id: Any) => (id ?? absent('array.some')).values().some(isTrue),
  }),

  fn(
    'array.sort',
    'Sorts the elements; objects by one of their fields.',
    '(array<T> id, string order = order.ascending, const int|string sort_field = 0) void',
    {
      fn: (id: Any, order: string, field: SortField) => {
        const array = id ?? absent('array.sort')
        const values = array.values()
        array.replace(sortedIndices(values, order, field, array.budget).map((index) => values[index]))
      },
    },
  ),
  fn(
    'array.sort_indices',
    'The indexes of the elements in sorted order.',
    '(array<T> id, string order = order.ascending, const int|string sort_field = 0) array<int>',
    {
      fn: (id: Any, order: string, field: SortField) => {
        const array = id ?? absent('array.sort_indices')
        const ascending = sortedIndices(array.values(), 'ascending', field, array.budget)
        // Turned around, not sorted the other way: equal elements come in descending order of their indexes.
        return array.derive(order === 'descending' ? ascending.reverse() : ascending, Number.NaN)
      },
    },
  ),
  ...(
    [
      ['', 'Index of a value in a sorted array, or -1.', equalPlace],
      [
        '_leftmost',
        'Index of the first such value in a sorted array, or of the last one below it.',
        leftmost,
      ],
      [
        '_rightmost',
        'Index of the last such value in a sorted array, or of the first one above it.',
        rightmost,
      ],
    ] as const
  ).map(([suffix, doc, place]) => {
    const name = `array.binary_search${suffix}`
    const objects = '(array<T> id, float val, const int|string sort_field = 0) int'
    return fn(name, doc, [...number('int', 'val'), objects], {
      fn: (id: Any, value: number, field: SortField = 0) => {
        const array = id ?? absent(name)
        return place((index) => numberOf(array.get(index), field), array.size, value)
      },
    })
  }),

  statistic('abs', 'The elements without their signs.', ['array<int>', 'array<float>'], (values, array) =>
    array.derive(values.map(Math.abs), Number.NaN),
  ),
  statistic('avg', 'Mean of the elements.', ['float', 'float'], (values) => statistics.mean(values)),
  statistic('sum', 'Sum of the elements.', ['int', 'float'], (values) => statistics.sum(values)),
  statistic('range', 'Largest less smallest.', ['int', 'float'], (values) => {
    return statistics.nthLargest(values, 0) - statistics.nthSmallest(values, 0)
  }),
  statistic('median', 'The value in the middle.', ['int', 'float'], (values) => statistics.median(values)),
  statistic('mode', 'The value seen most often.', ['int', 'float'], (values) => statistics.mode(values)),
  fn('array.max', 'The largest element, or the one `nth` after it.', nth(), {
    fn: (id: Numbers, place: number) => statistics.nthLargest((id ?? absent('array.max')).values(), place),
  }),
  fn('array.min', 'The smallest element, or the one `nth` after it.', nth(), {
    fn: (id: Numbers, place: number) => statistics.nthSmallest((id ?? absent('array.min')).values(), place),
  }),
  fn('array.variance', 'Variance of the elements.', biased(), {
    fn: (id: Numbers, isBiased: boolean) =>
      statistics.variance((id ?? absent('array.variance')).values(), isBiased),
  }),
  fn('array.stdev', 'Standard deviation of the elements.', biased(), {
    fn: (id: Numbers, isBiased: boolean) =>
      Math.sqrt(statistics.variance((id ?? absent('array.stdev')).values(), isBiased)),
  }),
  fn(
    'array.covariance',
    'Covariance of two arrays of one length.',
    '(array<float> id1, array<float> id2, bool biased = true) float',
    { fn: covariance },
  ),
  fn(
    'array.standardize',
    'The elements as distances from the mean in standard deviations.',
    ['(array<int> id) array<int>', '(array<float> id) array<float>'],
    { fn: standardize },
  ),
  fn(
    'array.percentile_linear_interpolation',
    'The value below which a percentage of the elements lies, between two elements if need be.',
    ['(array<int> id, float percentage) float', '(array<float> id, float percentage) float'],
    {
      fn: percentile('array.percentile_linear_interpolation', statistics.percentileLinear),
    },
  ),
  fn(
    'array.percentile_nearest_rank',
    'The element below which a percentage of the elements lies.',
    ['(array<int> id, float percentage) int', '(array<float> id, float percentage) float'],
    {
      fn: percentile('array.percentile_nearest_rank', statistics.percentileNearestRank),
    },
  ),
  fn(
    'array.percentrank',
    'Share of the elements that are not above the one at an index, in per cent.',
    ['(array<int> id, int index) float', '(array<float> id, int index) float'],
    {
      fn: (id: Numbers, index: number) => {
        const array = id ?? absent('array.percentrank')
        if (array.size < 2) return Number.NaN
        if (index < 0) throw outOfBounds(index, array.size)
        return statistics.percentRank(array.values(), array.at(Number.isNaN(index) ? 0 : index) - array.from)
      },
    },
  ),
]

function percentile(name: string, find: (values: readonly number[], percentage: number) => number) {
  return (id: Numbers, percentage: number) => {
    const values = (id ?? absent(name)).values()
    if (percentage < 0 || percentage > 100)
      throw invalidArgument('percentage', percentage, name, 'between 0 and 100 (RE10002)')
    return find(values, percentage)
  }
}

/** L18: of numbers too, where 0 is false; anything else is refused. */
function truths(): string[] {
  return ['(array<bool> id) bool', '(array<int> id) bool', '(array<float> id) bool']
}

function newArray(runtime: Runtime, size: number, initial: unknown): PineArray {
  const count = Number.isNaN(size) ? 0 : Math.trunc(size)
  const limit = runtime.limits.collectionSize
  if (count < 0) throw arraySizeBelow0(count)
  if (count > limit) throw tooLarge('newArray', count, limit)
  return new PineArray<unknown>(
    Array.from({ length: count }, () => initial),
    naLike(initial),
    runtime.budget,
  )
}

/** The na of a value's type. */
export function naLike(value: unknown): number | null {
  return typeof value === 'number' ? Number.NaN : null
}

function filled(id: Any, name: string): PineArray {
  const array = id ?? absent(name)
  if (array.size === 0) throw arrayIsEmpty(name)
  return array
}

/** Numbers count too: 0 and na are false. */
function isTrue(value: unknown): boolean {
  return typeof value === 'number' ? value !== 0 && !Number.isNaN(value) : value === true
}

/** Tells what a search takes for the same: numbers within Pine's slack, na for na, everything else only itself. */
function isLike(value: unknown): (each: unknown) => boolean {
  if (typeof value !== 'number') return (each) => each === value
  return Number.isNaN(value)
    ? (each) => Number.isNaN(each)
    : (each) => typeof each === 'number' && (each === value || Math.abs(each - value) <= EPSILON)
}

/** A field of a script's type, by its place or its name. */
export type SortField = number | string | null

/** Places of `values` in sorted order, na last; objects by one of their fields. */
export function sortedIndices(
  values: readonly unknown[],
  order: string,
  field: SortField,
  budget: Allowance,
): number[] {
  const keys = values.map((value) => sortKey(value, field))
  if (values.includes(null) && values.some((value) => typeof value === 'object' && value !== null))
    throw sortsByFieldOfNa()
  const direction = order === 'descending' ? -1 : 1
  // na is after all numbers, but before all strings. [measured on TradingView by PyneCore]
  if (keys.some((key) => typeof key === 'string'))
    for (const [i, key] of keys.entries()) if (typeof key === 'number') keys[i] = ''
  return values
    .map((_, i) => i)
    .sort((i, j) => {
      const [a, b] = [keys[i]!, keys[j]!]
      // Long texts that differ at their ends are read to their ends, each time.
      budget.work(typeof a === 'string' ? 10 + (a.length >> 2) : 10)
      return direction * compare(a, b)
    })
}

function sortKey(value: unknown, field: SortField): number | string {
  if (typeof value === 'number' || typeof value === 'string') return value
  if (value === null) return Number.NaN
  const key = typeof value === 'object' ? fieldOf(value, field ?? 0) : undefined
  if (typeof key === 'number' || typeof key === 'string') return key
  if (key === null) return Number.NaN
  throw cannotSortBy(field)
}

function numberOf(value: unknown, field: SortField): number {
  const key = sortKey(value, field)
  if (typeof key === 'number') return key
  throw searchesTexts()
}

/** Objects of a script's types are of generated classes that list their fields, kept as p0, p1…, by name. */
function fieldOf(object: object, field: number | string): unknown {
  const { fields = [] } = object.constructor as { readonly fields?: readonly string[] }
  const place = typeof field === 'number' ? field : fields.indexOf(field)
  return fields[place] === undefined ? undefined : (Reflect.get(object, `p${place}`) as unknown)
}

/** na after everything. */
function compare(a: number | string, b: number | string): number {
  const isNaA = Number.isNaN(a)
  const isNaB = Number.isNaN(b)
  if (isNaA || isNaB) return Number(isNaA) - Number(isNaB)
  return a < b ? -1 : a > b ? 1 : 0
}

type KeyAt = (index: number) => number

/** Java's binary search: of several equal elements it finds the one that it meets first, not the leftmost. */
function equalPlace(keyAt: KeyAt, size: number, value: number): number {
  for (let low = 0, high = size - 1; low <= high;) {
    const middle = (low + high) >> 1
    const key = keyAt(middle)
    if (key === value) return middle
    if (key < value) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** The first element equal to the value, else the last one below it, else 0. */
function leftmost(keyAt: KeyAt, size: number, value: number): number {
  const place = partition(size, (index) => keyAt(index) < value)
  return place < size && keyAt(place) === value ? place : Math.max(0, place - 1)
}

/** The last element equal to the value, else the first one above it. */
function rightmost(keyAt: KeyAt, size: number, value: number): number {
  const place = partition(size, (index) => keyAt(index) <= value)
  return place > 0 && keyAt(place - 1) === value ? place - 1 : place
}

/** The first of the indexes up to `size` for which `isBefore` no longer holds. */
function partition(size: number, isBefore: (index: number) => boolean): number {
  let low = 0
  for (let high = size; low < high;) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

function covariance(id1: Numbers, id2: Numbers, isBiased: boolean): number {
  const xs = (id1 ?? absent('array.covariance')).values()
  const ys = (id2 ?? absent('array.covariance')).values()
  if (xs.length !== ys.length) throw covarianceOfSizes(xs.length, ys.length)
  return statistics.covariance(xs, ys, isBiased)
}

/** Ints keep their fractions too, as in a division. [measured on TradingView by PyneCore] */
function standardize(id: Numbers): PineArray<number> {
  const array = id ?? absent('array.standardize')
  return array.derive(statistics.standardize(array.values()), Number.NaN)
}

function statistic(
  name: string,
  doc: string,
  [ofInts, ofFloats]: readonly [string, string],
  compute: (values: readonly number[], array: PineArray<number>) => unknown,
): BuiltinFunction {
  const full = `array.${name}`
  return fn(full, doc, [`(array<int> id) ${ofInts}`, `(array<float> id) ${ofFloats}`], {
    fn: (id: Numbers) => {
      const array = id ?? absent(full)
      return compute(array.values(), array)
    },
  })
}

function number(returns: string, parameter: string): string[] {
  return [`(array<int> id, int ${parameter}) ${returns}`, `(array<float> id, float ${parameter}) ${returns}`]
}

function nth(): string[] {
  return ['(array<int> id, int nth = 0) int', '(array<float> id, int nth = 0) float']
}

function biased(): string[] {
  return ['(array<int> id, bool biased = true) float', '(array<float> id, bool biased = true) float']
}
