// Counts the memory that a run has taken, and the steps after which it checks the clock.
//
// The process cannot tell: the heap's statistics cost 28 to 136 ms each time and omit typed arrays, and the growth may be
// another run's. So code that makes something that may be large reports it: columns, collections, objects, texts, drawings,
// log lines, orders. Only allocations are counted, since nobody is told when something is released. When the count reaches
// the limit, everything that the run can still reach is measured, and the count continues from there. So a run that keeps
// making and dropping texts pays for a walk whenever it has made as much as the limit, but is never stopped.

import { tookTooMuchMemory } from '../messages/failing.ts'
import { reachableBytes } from './reach.ts'
import type { Allowance, Limits } from './limits.ts'
import { TEXT } from './sizes.ts'

/** About two milliseconds. */
const STEPS_A_LOOK = 1 << 20
/** A walk is worth its cost after this much more, as a fraction of the limit. */
const BETWEEN_WALKS = 0.125

/** Less garbage is left to the engine's own collector. */
const GARBAGE_BYTES = 8 * 2 ** 20

/** There is one for each run, shared with the runs that request.* opens and with all its collections. */
export class Budget implements Allowance {
  /** Elements of an array or matrix; a pair of a map is two. */
  readonly collectionSize: number
  readonly #most: number
  /** The count at which the next walk is due. */
  #next: number
  #isOver = false
  readonly #roots: (() => readonly unknown[])[] = []
  readonly #shared = new Set<object>()
  readonly #outside: (() => number)[] = []
  /** Steps of built-ins since the clock was last checked. */
  #steps = 0
  /** Bytes taken since the start or the last walk. Generated code adds small amounts by itself. */
  used = 0
  /** Set by the run: its script's version says so. */
  countsFromEnd = true
  /** Throws when the run's time is over; set by the run. */
  watch: () => void = () => {}
  /** Called where there may be much garbage. */
  collect: () => void = () => {}

  constructor({ collectionSize, memoryBytes }: Pick<Limits, 'collectionSize' | 'memoryBytes'>) {
    this.collectionSize = collectionSize
    this.#most = memoryBytes
    this.#next = memoryBytes
  }

  /**
   * Adds what a run holds: `roots` lead to all it can reach except what is `shared`; `outside` are bytes that others keep
   * for it.
   */
  add(roots: () => readonly unknown[], shared: Iterable<object>, outside?: () => number): void {
    this.#roots.push(roots)
    for (const one of shared) this.#shared.add(one)
    this.#shared.add(this)
    if (outside !== undefined) this.#outside.push(outside)
  }

  /** Counts the steps of a built-in that may take long, so that the clock is checked in between. */
  work(steps: number): void {
    this.#steps += steps
    if (this.#steps < STEPS_A_LOOK) return
    this.#steps = 0
    this.watch()
  }

  /** Counts bytes that are about to be taken, or just were. Throws `script_limit_exceeded` past the limit. */
  take(bytes: number): void {
    this.used += bytes
    if (this.used > this.#next) this.recount(bytes)
  }

  /** Called by what adds to `used` itself, as generated code does. */
  check(): void {
    if (this.used > this.#next) this.recount()
  }

  /** Counts a text that was made, and returns it. */
  text<Text extends string | null>(text: Text): Text {
    if (text !== null) this.take(TEXT + 2 * text.length)
    return text
  }

  /** The count that the pool sees, which watches from outside; never above the limit, since the run stops itself there. */
  get counted(): number {
    let bytes = this.used
    for (const outside of this.#outside) bytes += outside()
    return Math.min(bytes, this.#most)
  }

  /** Measures everything reachable. `asked` is part of the count, but cannot be found yet. */
  recount(asked = 0): void {
    // The run checks once more to find the line, and is to be stopped again there.
    if (this.#isOver) throw tookTooMuchMemory(this.#most)
    // Garbage goes before the walk, which itself needs room.
    const isDue = this.used > this.#next
    if (isDue) this.collect()
    let bytes =
      asked +
      reachableBytes(
        this.#roots.flatMap((roots) => roots()),
        this.#shared,
      )
    const garbage = this.used - bytes
    this.used = bytes
    for (const outside of this.#outside) bytes += outside()
    this.#isOver = bytes > this.#most
    if (this.#isOver) {
      this.used = Math.max(bytes, this.#next + 1)
      throw tookTooMuchMemory(this.#most)
    }
    this.#next = Math.max(this.#most, this.used + BETWEEN_WALKS * this.#most)
    // Collecting takes 12 ms in a thread that knows a thousand scripts: more than an alert's script needs for a bar.
    if (!isDue && garbage > GARBAGE_BYTES) this.collect()
  }
}
