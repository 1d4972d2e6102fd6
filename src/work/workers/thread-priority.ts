// On Linux a thread has a priority of its own. Threads that work for jobs take a lower one, so that the server answers while
// every processor is busy with jobs.
//
// JavaScriptCore has threads besides that make machine code of what runs often. They are there for the whole process, and
// have the priority of whoever needed them first, mostly the server. A sweep kept them busy for a sixth of a processor, in
// turns of up to 40 ms. When the server was woken on two busy processors and one of them was in its place, it waited 0.26 ms
// on average (p90 0.7), and 0.17 (p90 0.3) where they had the priority of jobs. They get one in between, as jobs wait for
// what they make. The collector's helpers keep theirs: the server's own collector waits for them.

import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import process from 'node:process'

/** A processor that a job and the server both want is shared about 1 to 9, … */
const NICE = 10
/** … and one that a helper and the server want, about 1 to 3. */
const HELPER_NICE = 5
/** The name that JavaScriptCore gives them. */
const HELPER = 'JITWorker'
/** New ones come when they are needed, and go after some seconds without work. */
const LOOK_MS = 1000

/** Lowers the calling thread's priority. */
export function lowerOwnPriority(): void {
  if (process.platform === 'linux') setPriority(0, NICE)
}

/** Lowers the priority of the process's helpers, as often as it is called but at most once a second. */
export class LowHelpers {
  readonly #tasks: string
  readonly #lower: (thread: number) => void
  readonly #seen = new Set<string>()
  #looked = -Infinity

  constructor(
    tasks = '/proc/self/task',
    lower: (thread: number) => void = (thread) => setPriority(thread, HELPER_NICE),
  ) {
    this.#tasks = tasks
    this.#lower = lower
  }

  look(now: number): void {
    if (now - this.#looked < LOOK_MS) return
    this.#looked = now
    const threads = this.#threads()
    for (const thread of this.#seen) if (!threads.has(thread)) this.#seen.delete(thread)
    for (const thread of threads) if (!this.#seen.has(thread)) this.#lowerIfHelper(thread)
  }

  /** None where the system does not tell (other than Linux). */
  #threads(): ReadonlySet<string> {
    try {
      return new Set(readdirSync(this.#tasks))
    } catch {
      return new Set()
    }
  }

  #lowerIfHelper(thread: string): void {
    try {
      const name = readFileSync(`${this.#tasks}/${thread}/comm`, 'utf8').trim()
      if (name === HELPER) this.#lower(Number(thread))
      this.#seen.add(thread)
    } catch {
      // It has ended meanwhile, or the system does not allow it: then it keeps its priority.
    }
  }
}
