// The bytes of all that can be reached from a run's state.
//
// A text that is found again is counted once, and where it is held again the first one is put in its place: a script that
// makes the same 40,000 characters on every bar then really has them once.

import { PineArray } from './collections.ts'
import { ChartPoint, Drawings, type Drawing } from './drawings.ts'
import { PineMatrix } from './matrix.ts'
import { COLLECTION, MAP, OBJECT, PAIR, POINT, SLOT, TEXT } from './sizes.ts'

export function reachableBytes(roots: readonly unknown[], shared: ReadonlySet<object>): number {
  return new Walk(shared).from(roots)
}

class Walk {
  /** A Set takes 100 bytes for each, more than most objects. */
  readonly #seen: WeakSet<object>
  readonly #texts = new Map<string, string>()
  readonly #open: object[] = []
  #bytes = 0

  constructor(shared: ReadonlySet<object>) {
    this.#seen = new WeakSet(shared)
  }

  from(roots: readonly unknown[]): number {
    for (const root of roots) this.#value(root)
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) this.#look(next)
    return this.#bytes
  }

  /** Answers what is to be held in its place: an earlier text with the same letters. */
  #value(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return value
    // Polylines have millions of them, each its own: not worth being remembered.
    if (value instanceof ChartPoint) {
      this.#bytes += POINT
      return value
    }
    if (isAlive(value)) return value
    if (this.#seen.has(value)) return value
    this.#seen.add(value)
    this.#open.push(value)
    return value
  }

  #text(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    this.#texts.set(text, text)
    this.#bytes += TEXT + 2 * text.length
    return text
  }

  #look(object: object): void {
    if (ArrayBuffer.isView(object)) this.#bytes += object.byteLength
    else if (Array.isArray(object)) this.#list(object)
    else if (object instanceof Map) this.#map(object)
    else if (object instanceof Set) {
      this.#bytes += PAIR * object.size
      for (const item of object) this.#value(item)
    } else if (object instanceof Drawings) {
      this.#bytes += SLOT * object.items.length
      for (const drawing of object.items)
        if (isAlive(drawing)) this.#fields(drawing)
        else this.#value(drawing)
    } else this.#fields(object)
  }

  #list(list: unknown[]): void {
    this.#bytes += OBJECT + SLOT * list.length
    for (let i = 0; i < list.length; i++) {
      const item = list[i]
      if (typeof item === 'number') continue
      const held = this.#value(item)
      if (held !== item) list[i] = held
    }
  }

  #map(map: Map<unknown, unknown>): void {
    this.#bytes += (map.size > 0 ? MAP : OBJECT) + PAIR * map.size
    for (const [key, item] of map) {
      this.#value(key)
      const held = this.#value(item)
      if (held !== item) map.set(key, held)
    }
  }

  #fields(object: object): void {
    // Numbers lead to nothing.
    if ((object instanceof PineArray || object instanceof PineMatrix) && typeof object.na === 'number') {
      if (!(object instanceof PineArray) || object.parent === null) this.#bytes += SLOT * object.items.length
      else this.#value(object.parent)
      this.#bytes += COLLECTION
      return
    }
    const fields = object as Record<string, unknown>
    this.#bytes += OBJECT
    // Object.keys() would make a list for each of millions of objects.
    for (const name in fields) {
      this.#bytes += SLOT
      const item = fields[name]
      if (typeof item === 'number') continue
      const held = this.#value(item)
      if (held !== item) fields[name] = held
    }
  }
}

/**
 * Whether it is a drawing that is there, which is counted where all of them are and needs not be remembered: that took a
 * fourth of a run of 9,000 lines. Objects of scripts name their fields p0, p1 and so on, and none is taken for one.
 */
function isAlive(value: object): boolean {
  return (value as Partial<Drawing>).deletedBar === -1
}
