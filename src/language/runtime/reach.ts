// The bytes of all that can be reached from a run's state, about as JavaScriptCore keeps them.
//
// A text that is found again is counted once, and where it is held again the first one is put in its place: a script that
// makes the same 40,000 characters on every bar then really has them once.

import { PineArray } from './collections.ts'
import { ChartPoint, Drawings, type Drawing } from './drawings.ts'
import { PineMatrix } from './matrix.ts'

/** The memory of an object besides its fields, with what the collector and this walk keep about it. */
export const OBJECT = 64
const POINT = 56
const SLOT = 8
const PAIR = 40
const TEXT_MIN = 32

export function reachableBytes(roots: readonly unknown[], shared: ReadonlySet<unknown>): number {
  return new Walk(shared).from(roots)
}

class Walk {
  readonly #seen: Set<unknown>
  readonly #texts = new Map<string, string>()
  readonly #open: object[] = []
  #bytes = 0

  constructor(shared: ReadonlySet<unknown>) {
    this.#seen = new Set(shared)
  }

  from(roots: readonly unknown[]): number {
    for (const root of roots) this.#value(root)
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) this.#look(next)
    return this.#bytes
  }

  /** Answers what is to be held in its place: an earlier text with the same letters. */
  #value(value: unknown): unknown {
    if (typeof value === 'string') return value.length > TEXT_MIN ? this.#text(value) : value
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
    this.#bytes += 2 * text.length
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
    this.#bytes += SLOT * list.length
    for (let i = 0; i < list.length; i++) {
      const item = list[i]
      if (typeof item === 'number') continue
      const held = this.#value(item)
      if (held !== item) list[i] = held
    }
  }

  #map(map: Map<unknown, unknown>): void {
    this.#bytes += PAIR * map.size
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
      this.#bytes += OBJECT
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
