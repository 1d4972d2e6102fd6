// Arrays and maps as scripts hold them.
//
// A slice is a view: it shares its parent's elements, and what is inserted through it lands in the parent. So an
// array is either a root, which owns `items`, or a view of a stretch of a root's `items`; views of views share the
// same root. Every collection carries the run's budget, its limits and its count, so that growing it needs nothing else.
//
// Fields are plain data (no closures, no private names), since a snapshot of a run copies them.

import { changesPast, invalidSlice, outOfBounds, tooLarge } from '../messages/failing.ts'
import type { Allowance } from './limits.ts'
import { COLLECTION, MAP, PAIR, SLOT } from './sizes.ts'

/** So many elements are moved one by one: `unshift` took three times as long for a handful. */
const FEW_MOVED = 32

function insertAt<T>(items: T[], place: number, value: T): void {
  const last = items.length
  if (last - place > FEW_MOVED) {
    // `splice` makes a list of what it removes.
    if (place === 0) items.unshift(value)
    else items.splice(place, 0, value)
    return
  }
  items.push(value)
  for (let i = last; i > place; i--) items[i] = items[i - 1]!
  items[place] = value
}

export class PineArray<T = unknown> {
  /** The root's elements. */
  items: T[]
  /** The value of an element that does not exist: NaN for numbers and colours, null for the rest. */
  readonly na: T
  readonly budget: Allowance
  /** null = a root; `from` and `count` are then not used. */
  readonly parent: PineArray<T> | null
  from: number
  count: number

  constructor(items: T[], na: T, budget: Allowance, parent: PineArray<T> | null = null, from = 0, count = 0) {
    const { collectionSize } = budget
    if (items.length > collectionSize) throw tooLarge('array', items.length, collectionSize)
    budget.take(COLLECTION + (parent === null ? SLOT * items.length : 0))
    this.items = items
    this.na = na
    this.budget = budget
    this.parent = parent
    this.from = from
    this.count = count
  }

  get size(): number {
    if (this.parent === null) return this.items.length
    // Elements that its array has lost are lost here too, until the array is as long again.
    return Math.max(0, Math.min(this.count, this.items.length - this.from))
  }

  /** The elements as an array; for a root, its own, which must not be written to. */
  values(): readonly T[] {
    return this.parent === null ? this.items : this.items.slice(this.from, this.from + this.size)
  }

  get(index: number): T {
    if (Number.isNaN(index)) return this.na
    return this.items[this.at(index)]!
  }

  set(index: number, value: T): void {
    if (Number.isNaN(index)) return
    this.items[this.at(index)] = value
  }

  /** Inserts at the place in front of element `index`; `size` is one past the end, and so is na. */
  insert(index: number, value: T): void {
    const size = this.size
    let place = Number.isNaN(index) ? size : Math.trunc(index)
    const { budget } = this
    if (place < 0 && budget.countsFromEnd) place += size
    if (place < 0 || place > size) throw outOfBounds(index, size)
    if (this.items.length >= budget.collectionSize)
      throw tooLarge('array', this.items.length + 1, budget.collectionSize)
    budget.used += SLOT
    insertAt(this.items, this.from + place, value)
    grow(this, 1)
  }

  /** An na index takes nothing out of numbers, and the first of texts and objects. [measured on TradingView by PyneCore] */
  remove(index: number): T {
    if (Number.isNaN(index)) return this.na === null && this.size > 0 ? this.remove(0) : this.na
    const place = this.at(index)
    const removed =
      this.parent === null && place === this.items.length - 1
        ? this.items.pop()!
        : place === 0
          ? this.items.shift()!
          : this.items.splice(place, 1)[0]!
    grow(this, -1)
    return removed
  }

  clear(): void {
    const size = this.size
    if (this.parent === null) this.items.length = 0
    else this.items.splice(this.from, size)
    grow(this, -size)
  }

  append(values: readonly T[]): void {
    const size = this.items.length + values.length
    const { collectionSize } = this.budget
    if (size > collectionSize) throw tooLarge('array', size, collectionSize)
    this.budget.take(SLOT * values.length)
    const place = this.from + this.size
    const added = values.slice()
    if (this.parent === null) for (const value of added) this.items.push(value)
    else {
      // Not spread into splice(): 100,000 arguments are too many for a call.
      const rest = this.items.splice(place)
      for (const value of added) this.items.push(value)
      for (const value of rest) this.items.push(value)
    }
    grow(this, added.length)
  }

  /** Writes `values`, of this array's size, over the elements. */
  replace(values: readonly T[]): void {
    const from = this.from
    for (let i = 0; i < values.length; i++) this.items[from + i] = values[i]!
  }

  fill(value: T, from: number, to: number): void {
    const size = this.size
    const start = Number.isNaN(from) ? 0 : Math.trunc(from)
    const end = Number.isNaN(to) ? size : Math.trunc(to)
    // An element has to be there to begin with; from one behind the end nothing is filled. [measured on TradingView by PyneCore]
    if (start < 0 || start >= size) throw outOfBounds(start, size)
    if (end < 0 || end > size) throw outOfBounds(end, size)
    if (start < end) this.items.fill(value, this.from + start, this.from + end)
  }

  slice(from: number, to: number): PineArray<T> {
    const size = this.size
    const start = Number.isNaN(from) ? 0 : Math.trunc(from)
    const end = Number.isNaN(to) ? size : Math.trunc(to)
    if (start < 0 || start >= size) throw outOfBounds(start, size)
    if (end < 0 || end > size) throw outOfBounds(end, size)
    if (start > end) throw invalidSlice(start, end)
    return new PineArray(this.items, this.na, this.budget, this, this.from + start, end - start)
  }

  copy(): PineArray<T> {
    return new PineArray(this.values().slice(), this.na, this.budget)
  }

  /** An array of its own of `items`, under this one's limit. */
  derive<U>(items: U[], na: U): PineArray<U> {
    return new PineArray(items, na, this.budget)
  }

  /** Index into `items`. Those below 0 count from the end in version 6, and end the run in those before. */
  at(index: number): number {
    const size = this.size
    let place = Math.trunc(index)
    if (place < 0 && this.budget.countsFromEnd) place += size
    if (!(place >= 0 && place < size)) throw outOfBounds(index, size)
    return this.from + place
  }
}

/** An array as a bar left it, which `x[1]` answers: it is read, sliced and copied as any other, and nothing changes it (L13). */
export class PastArray<T = unknown> extends PineArray<T> {
  override set(): never {
    throw changesPast('array')
  }
  override insert(): never {
    throw changesPast('array')
  }
  override remove(): never {
    throw changesPast('array')
  }
  override clear(): never {
    throw changesPast('array')
  }
  override append(): never {
    throw changesPast('array')
  }
  override replace(): never {
    throw changesPast('array')
  }
  override fill(): never {
    throw changesPast('array')
  }
  override slice(from: number, to: number): PineArray<T> {
    const { items, na, budget, from: start, count } = super.slice(from, to)
    return new PastArray(items, na, budget, this, start, count)
  }
}

export class PineMap<K = unknown, V = unknown> {
  readonly entries: Map<K, V>
  readonly na: V
  readonly budget: Allowance

  constructor(entries: Map<K, V>, na: V, budget: Allowance) {
    budget.take(MAP + PAIR * entries.size)
    this.entries = entries
    this.na = na
    this.budget = budget
  }

  keys(): Iterable<K> {
    return this.entries.keys()
  }

  get(key: K): V {
    const value = this.entries.get(key)
    return value === undefined ? this.na : value
  }

  /** The value `key` had before. */
  put(key: K, value: V): V {
    const before = this.entries.get(key)
    if (before === undefined) {
      const most = this.budget.collectionSize >> 1
      if (this.entries.size >= most) throw tooLarge('map', this.entries.size + 1, most)
      this.budget.used += PAIR
    }
    this.entries.set(key, value)
    return before === undefined ? this.na : before
  }

  remove(key: K): V {
    const before = this.get(key)
    this.entries.delete(key)
    return before
  }
}

/** A view and the views it was taken from grow with what is inserted through it. */
function grow<T>(array: PineArray<T>, by: number): void {
  for (let view: PineArray<T> | null = array; view !== null && view.parent !== null; view = view.parent)
    view.count += by
}
