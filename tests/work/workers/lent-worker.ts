// Worker threads that the servers of a file's tests have one after another: a thread needs 0.2 s of the processor to load the
// compiler, which most tests use for some milliseconds.
//
// A server has its thread from its first job to the end of the test. The next one gets it without anything that the thread
// kept for the one before (`serveLent`). A thread that is ended, or busy when the test is over, is lent to nobody again.

import { onTestFinished } from 'bun:test'
import type { FromWorker, ToWorker } from '../../../src/work/workers/job.ts'
import type { WorkerThread } from '../../../src/work/workers/task.ts'
import { ANEW } from './serve-lent.ts'

/** Makes the threads of a pool, which run `file`. */
export function lentWorkers(file: URL): () => WorkerThread {
  const free: Worker[] = []
  return () => new LentWorker(file, free)
}

class LentWorker implements WorkerThread {
  onmessage: WorkerThread['onmessage'] = null
  onerror: WorkerThread['onerror'] = null
  readonly #file: URL
  readonly #free: Worker[]
  #worker: Worker | null = null
  /** Its jobs that have not ended. */
  readonly #jobs = new Set<number>()

  constructor(file: URL, free: Worker[]) {
    this.#file = file
    this.#free = free
  }

  postMessage(message: ToWorker): void {
    if (message.to === 'job') this.#jobs.add(message.task)
    this.#worker ??= this.#borrow()
    this.#worker.postMessage(message)
  }

  terminate(): void {
    if (this.#jobs.size === 0) this.#giveBack()
    this.#worker?.terminate()
    this.#worker = null
  }

  #borrow(): Worker {
    const used = this.#free.pop()
    used?.postMessage(ANEW)
    const worker = used ?? new Worker(this.#file.href)
    worker.onmessage = (event: MessageEvent<FromWorker>) => {
      const { from, task } = event.data
      if (['done', 'problem', 'refused', 'failure'].includes(from)) this.#jobs.delete(task)
      this.onmessage?.(event)
    }
    worker.onerror = (event) => this.onerror?.(event)
    try {
      onTestFinished(() => {
        if (this.#jobs.size === 0) this.#giveBack()
      })
    } catch {
      // The server is that of several tests.
    }
    return worker
  }

  #giveBack(): void {
    if (this.#worker === null) return
    // What it has left of a large job is nobody's business any more.
    this.#worker.onmessage = null
    this.#free.push(this.#worker)
    this.#worker = null
  }
}
