// What operators and casts do, where JavaScript's own do something else. The generated code calls these.

import { fieldOfNa, loopsOverNa, offsetBelow0, stepNotAbove0, stringTooLong } from '../messages/failing.ts'
import { type Runtime } from './runtime.ts'

/** Bool column entry of a three-state bool (version 4 and 5). */
export function encodeBool(value: boolean | null): number {
  return value === null ? 2 : value ? 1 : 0
}
export function decodeBool(value: number): boolean | null {
  return value === 2 ? null : value === 1
}

/**
 * Converts a number to a bool: na is false, and so is a number within 1e-10 of zero, as in comparisons [measured by
 * PyneCore].
 */
export function truthy(value: number): boolean {
  return value > 1e-10 || value < -1e-10
}

/** The same in version 4 and 5, where na stays na [measured by PyneCore]. */
export function truthyOrNa(value: number): boolean | null {
  return value === value ? truthy(value) : null
}

/** The step of a `for`, which has no direction: that comes from its ends. With na the loop runs once [measured by PyneCore]. */
export function loopStep(by: number): number {
  if (by <= 0) throw stepNotAbove0(by)
  return by
}

/** `and`/`or` of version 4 and 5: the right side has been evaluated already, whatever the left one was. */
export function strictAnd(left: boolean | null, right: boolean | null): boolean | null {
  return left && right
}
export function strictOr(left: boolean | null, right: boolean | null): boolean | null {
  return left || right
}

/** na equals nothing, itself included, and differs from nothing. */
export function same(left: unknown, right: unknown): boolean {
  return left !== null && left === right
}
export function differs(left: unknown, right: unknown): boolean {
  return left !== null && right !== null && left !== right
}
/** An na text is the empty one (K16). */
export function sameText(left: string | null, right: string | null): boolean {
  return (left ?? '') === (right ?? '')
}
export function differsText(left: string | null, right: string | null): boolean {
  return (left ?? '') !== (right ?? '')
}
/** Between three-state bools the answer is na as well (a study of 2020 that plotted all six cases on TradingView). */
export function sameBool(left: boolean | null, right: boolean | null): boolean | null {
  return left === null || right === null ? null : left === right
}
export function differsBool(left: boolean | null, right: boolean | null): boolean | null {
  return left === null || right === null ? null : left !== right
}
/** Nothing differs from an infinity, as from na. */
export function differsInt(left: number, right: number): boolean {
  return left !== right && Number.isFinite(left - right)
}
export function sameColor(left: number, right: number): boolean {
  return left === right
}
export function differsColor(left: number, right: number): boolean {
  return left === left && right === right && left !== right
}

/** The last two texts that a place in the script has put together. */
interface Joined {
  left: string | null
  right: string | null
  text: string
}

export const nothingJoined = (): Joined => ({ left: null, right: null, text: '' })

/**
 * On most bars a place puts the same texts together as on the one before. The text is the same one then, whose characters and
 * hash the engine knows already: it need not be written out to look it up in a map.
 */
export function concatenate(
  left: string | null,
  right: string | null,
  { limits, budget }: Runtime,
  last: Joined,
): string | null {
  if (left === null || right === null) return null
  if (left === last.left && right === last.right) return budget.text(last.text)
  const text = left + right
  const limit = limits.stringLength
  if (text.length > limit) throw stringTooLong(text.length, limit)
  last.left = left
  last.right = right
  last.text = text
  return budget.text(text)
}

/** The object whose field is read or written; na has none. */
export function objectOf<T>(object: T | null): T {
  if (object === null || object === undefined) throw fieldOfNa()
  return object
}

/** What a loop goes over. */
export function collectionOf<T>(collection: T | null): T {
  if (collection === null || collection === undefined) throw loopsOverNa()
  return collection
}

/** How far back `x[n]` looks: whole bars, none where n is na. What is less than a bar is cut off on both sides of 0 (L15). */
export function historyOffset(offset: number): number {
  const whole = Math.trunc(offset) || 0
  if (whole < 0) throw offsetBelow0(whole)
  return whole
}

export function shallowCopy<T extends object>(object: T | null): T | null {
  if (object === null) return null
  const copy: unknown = Object.assign(Object.create(Object.getPrototypeOf(object) as object), object)
  return copy as T
}
