// Virtual time: a heap of what is to happen, and a loop that lets the next of it happen once nothing else is left to do.
//
// What happens at the same moment happens in an order that the seed picks. Between two happenings all that is left to do is
// done: promises, and the turns of `lib/turn.ts`. So whatever is not in the heap takes no time at all, and a run depends on the
// seed alone, as long as nobody reaches for the real clock, randomness, threads or network.

import { drainMicrotasks } from 'bun:jsc'
import { type SeededRandom, seededRandom } from '../lib/seeded-random.ts'
import { isTurnWanted } from '../lib/turn.ts'

interface Happening {
  readonly at: number
  /** Orders what is at the same moment. */
  readonly order: number
  readonly run: () => void
  isCancelled: boolean
}

/** Where every run begins, so that its times read well. */
export const EPOCH = Date.UTC(2026, 0, 5)
/** A turn of the real loop asks the kernel what is new, where nothing ever is; collectors and the like still need some. */
const TURN_EVERY = 64
/** The lines of a trace that are kept: the first, which say how it began, and the last. */
const HEAD_LINES = 40
const TAIL_LINES = 150

export class Timeline {
  /** UTC milliseconds; the truth, which servers see through clocks of their own. */
  now = EPOCH
  /** How many things have happened. */
  happened = 0
  readonly random: SeededRandom
  readonly #heap: Happening[] = []
  readonly #head: string[] = []
  #tail: string[] = []
  #lines = 0
  #digest = 0n

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  /** Returns a function that takes it back. */
  after(ms: number, run: () => void): () => void {
    const happening = {
      at: this.now + Math.max(0, ms),
      order: this.random.uniform(),
      run,
      isCancelled: false,
    }
    push(this.#heap, happening)
    return () => {
      happening.isCancelled = true
    }
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.random.below(most - least + 1)
  }

  /** True once in `times` on average. */
  once(times: number): boolean {
    return this.random.below(times) === 0
  }

  pick<T>(list: readonly T[]): T {
    return list[this.random.below(list.length)]!
  }

  /** Lets time pass until `until`, or until `isOver` says so. */
  async run(until: number, isOver: () => boolean = () => false): Promise<void> {
    await runDry()
    for (let next = this.#heap[0]; next && next.at <= until && !isOver(); next = this.#heap[0]) {
      pop(this.#heap)
      if (next.isCancelled) continue
      this.now = next.at
      this.happened++
      next.run()
      drainMicrotasks()
      if (isTurnWanted() || this.happened % TURN_EVERY === 0) await runDry()
    }
    this.now = Math.max(this.now, until)
  }

  tell(who: string, what: string): void {
    const line = `${new Date(this.now).toISOString().slice(5, 23)} ${who}: ${what}`
    this.#digest = Bun.hash.wyhash(line, this.#digest)
    this.#lines++
    if (this.#head.length < HEAD_LINES) this.#head.push(line)
    else this.#tail.push(line)
    if (this.#tail.length > 2 * TAIL_LINES) this.#tail = this.#tail.slice(-TAIL_LINES)
  }

  /** Equal for equal runs, whatever of them the trace has left out. */
  get digest(): string {
    return this.#digest.toString(16).padStart(16, '0')
  }

  /** At most 200 lines. */
  trace(): string[] {
    const tail = this.#tail.slice(-TAIL_LINES)
    const left = this.#lines - this.#head.length - tail.length
    return [...this.#head, ...(left > 0 ? [`… ${left} lines …`] : []), ...tail]
  }
}

/** Resolves when all that could be done without time passing has been done. */
async function runDry(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve))
  while (isTurnWanted())
}

const isBefore = (a: Happening, b: Happening) => a.at < b.at || (a.at === b.at && a.order < b.order)

function push(heap: Happening[], happening: Happening): void {
  let at = heap.push(happening) - 1
  for (let above = (at - 1) >> 1; at > 0 && isBefore(happening, heap[above]!); above = (at - 1) >> 1) {
    heap[at] = heap[above]!
    at = above
  }
  heap[at] = happening
}

function pop(heap: Happening[]): void {
  const last = heap.pop()
  if (!last || heap.length === 0) return
  let at = 0
  for (;;) {
    let below = 2 * at + 1
    if (below >= heap.length) break
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
    if (!isBefore(heap[below]!, last)) break
    heap[at] = heap[below]!
    at = below
  }
  heap[at] = last
}
