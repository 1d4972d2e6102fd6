// Copies of a run's state: for the forming bar, which is run again on each tick, and for the re-runs of
// calc_on_order_fills.
//
// State is a graph of plain objects, class instances with plain fields, arrays, typed arrays and maps. Two fields that
// named one object before name one object after. What is not state (the context, enum members, the broker) is shared.

import { History } from './history.ts'
import { Request } from './request.ts'

export function copyGraph<T>(root: T, shared: ReadonlySet<unknown>): T {
  const copies = new Map<object, unknown>()
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || shared.has(value)) return value
    const known = copies.get(value)
    if (known !== undefined) return known
    if (value instanceof Request) return keep(value, value.copy())
    if (value instanceof History) return keep(value, value.copy(copy))
    if (ArrayBuffer.isView(value)) return keep(value, (value as Float64Array).slice())
    if (Array.isArray(value)) {
      const list = keep(value, [] as unknown[])
      for (const item of value) list.push(copy(item))
      return list
    }
    if (value instanceof Map) {
      const map = keep(value, new Map<unknown, unknown>())
      for (const [key, item] of value) map.set(copy(key), copy(item))
      return map
    }
    if (value instanceof Set) {
      const set = keep(value, new Set<unknown>())
      for (const item of value) set.add(copy(item))
      return set
    }
    const object = keep(
      value,
      Object.create(Object.getPrototypeOf(value) as object) as Record<string, unknown>,
    )
    for (const [name, item] of Object.entries(value)) object[name] = copy(item)
    return object
  }
  const keep = <Copy>(original: object, made: Copy): Copy => {
    copies.set(original, made)
    return made
  }
  return copy(root) as T
}

/**
 * Brings `frame` back to what `saved` holds, but for `varip` variables, which keep what the script has made of them. A
 * frame's class names those in a static `varip`.
 */
export function rollBack(frame: object, saved: object): void {
  const kept = (frame.constructor as { varip?: readonly string[] }).varip ?? []
  const fields = frame as Record<string, unknown>
  for (const [name, value] of Object.entries(saved)) {
    if (kept.includes(name)) continue
    const own = fields[name]
    const isFrame = typeof value === 'object' && value !== null && /^f\d+$/.test(name)
    if (isFrame && typeof own === 'object' && own !== null) rollBack(own, value as object)
    else fields[name] = value
  }
}
