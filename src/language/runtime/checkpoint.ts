// The contents of a run's objects before the re-runs of calc_on_order_fills.

import { PineArray, PineMap } from './collections.ts'
import { ChartPoint, Drawings } from './drawings.ts'
import { History } from './history.ts'
import { PineMatrix } from './matrix.ts'
import { Request } from './request.ts'

/** What a generated class tells about its fields: which are `varip` and, for a script's type, their names. */
interface Generated {
  readonly varip?: readonly string[]
  readonly fields?: readonly string[]
}

/**
 * What a run's objects hold at one moment, to be put back into the same objects as often as wanted: names that shared an
 * object, and the past of a variable that holds it, go on doing so.
 *
 * `varip` is left alone, as in TradingView's rollback (variable declarations, "varip"): variables, fields of types, and
 * what is in the collections and points such a variable holds. An object of a type is no exception: of it the `varip`
 * fields alone are left.
 */
export class Checkpoint {
  readonly #undo: (() => void)[] = []
  readonly #seen: Set<unknown>

  constructor(roots: readonly object[], shared: ReadonlySet<unknown>) {
    this.#seen = new Set(shared)
    const frames = roots.filter((root) => !(root instanceof Drawings))
    for (const frame of frames) this.#leave(frame)
    for (const root of roots) this.#save(root)
  }

  restore(): void {
    for (const undo of this.#undo) undo()
  }

  /** Goes through the frames for what their `varip` variables hold, before anything else is saved. */
  #leave(frame: object): void {
    const kept = generated(frame).varip ?? []
    for (const [name, value] of Object.entries(frame)) {
      if (kept.includes(name)) this.#leaveContents(value)
      else if (isObject(value) && /^f\d+$/.test(name)) this.#leave(value)
    }
  }

  #leaveContents(value: unknown): void {
    const isContainer =
      value instanceof PineArray ||
      value instanceof PineMap ||
      value instanceof PineMatrix ||
      value instanceof ChartPoint
    if (!isContainer || this.#seen.has(value)) return
    this.#seen.add(value)
    if (value instanceof PineArray && value.parent !== null) this.#leaveContents(value.parent)
    const parts = value instanceof PineMap ? value.entries.values() : 'items' in value ? value.items : []
    if (value instanceof PineMap) this.#seen.add(value.entries)
    else if ('items' in value) this.#seen.add(value.items)
    for (const part of parts) {
      this.#leaveContents(part)
      // An object of a type in it is saved as any other.
      if (isObject(part) && generated(part).fields) this.#save(part)
    }
  }

  #save(value: unknown): void {
    if (!isObject(value) || isDeleted(value) || this.#seen.has(value)) return
    this.#seen.add(value)
    if (value instanceof Request) return
    if (value instanceof History) {
      this.#undo.push(value.mark())
      this.#save(value.last)
    } else if (ArrayBuffer.isView(value)) {
      const list = value as Float64Array
      const saved = list.slice()
      this.#undo.push(() => list.set(saved))
    } else if (Array.isArray(value)) this.#saveList(value)
    else if (value instanceof Map) this.#saveMap(value)
    else if (value instanceof Set) this.#saveSet(value)
    else this.#saveFields(value as Record<string, unknown>)
  }

  #saveList(list: unknown[]): void {
    const saved = list.slice()
    this.#undo.push(() => {
      list.length = saved.length
      for (const [i, item] of saved.entries()) list[i] = item
    })
    for (const item of saved) this.#save(item)
  }

  #saveMap(map: Map<unknown, unknown>): void {
    const saved = [...map]
    this.#undo.push(() => {
      map.clear()
      for (const [key, item] of saved) map.set(key, item)
    })
    for (const [, item] of saved) this.#save(item)
  }

  #saveSet(set: Set<unknown>): void {
    const saved = [...set]
    this.#undo.push(() => {
      set.clear()
      for (const item of saved) set.add(item)
    })
    for (const item of saved) this.#save(item)
  }

  #saveFields(object: Record<string, unknown>): void {
    const kept = generated(object).varip ?? []
    const saved = Object.entries(object).filter(([name]) => !kept.includes(name))
    this.#undo.push(() => {
      for (const [name, item] of saved) object[name] = item
    })
    for (const [, item] of saved) this.#save(item)
    const isOfType = generated(object).fields !== undefined
    for (const name of kept) {
      if (isOfType) this.#leaveContents(object[name])
      else if (isObject(object[name]) && generated(object[name]).fields) this.#save(object[name])
    }
  }
}

function generated(object: object): Generated {
  return (object.constructor as Generated | undefined) ?? {}
}

/** A drawing that is gone never changes again, and a run may have thousands of them. */
function isDeleted(value: object): boolean {
  return 'deletedBar' in value && value.deletedBar !== -1
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
