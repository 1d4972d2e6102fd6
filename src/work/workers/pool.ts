// The job pool: whatever users sent is compiled, run and compared beside the server, not in it, and stopped if it takes too
// much.
//
// A script that loops for ever cannot be asked to stop, so its thread is ended from outside: `terminate()` stops even
// `for(;;)` within 25 ms. Time and memory are measured for each job: only the processor time of its own thread counts, so
// no job fails because of others, and the job counts the bytes it takes where the pool can see them. The memory of the
// whole process is only a last brake for what nobody counted, and it stops the job with the highest count.
//
// Jobs run in lanes. Work that a user waits for while typing (`quick`) never queues behind work that takes a minute
// (`long`): each lane may use the threads of the slower ones and one more. Within a lane users take turns, and have one job
// running at a time. Imports mostly wait for their clients' bytes, so all of them share one thread, which is ended once it
// works without a word to anybody. Files whose reading may never end (`tables`) have threads of their own.

import { assert } from '../../lib/assert.ts'
import { Problem } from '../../lib/problem.ts'
import {
  UNKNOWN_THREAD,
  USED,
  type FromWorker,
  type JobKind,
  type Jobs,
  type Question,
  type Said,
  type ToWorker,
} from './job.ts'
import {
  bytesOf,
  cancelled,
  readerEnded,
  shuttingDown,
  tooLate,
  tooMuchMemory,
  type ThreadMs,
} from './limits.ts'
import { Lanes, type LanesOptions } from './lanes.ts'
import { every } from './later.ts'
import {
  LANES,
  OWN_THREADS,
  type JobOptions,
  type Lane,
  type Running,
  type Task,
  type WorkerThread,
} from './task.ts'
import { Turns } from './turns.ts'

export interface PoolOptions extends LanesOptions {
  readonly spawn: () => WorkerThread
  readonly threadMs: ThreadMs
  /** Resident memory of the process, bytes. */
  readonly memory: () => number
  /** Memory of the machine or container; close to it the last brake is pulled. */
  readonly memoryMax: number
  /** Calls `work` again and again until the returned function is called; absent: by the time of the process. */
  readonly every?: (work: () => void, ms: number) => () => void
}

/** The most jobs of a lane that a user may have waiting behind the running one. */
const WAITING_MAX = 10
/** Checks come as fast as a user types, in every tab. */
const QUICK_WAITING_MAX = 40
/** The most waiting jobs of all users together. */
const OVERLOAD = 1000
const LOOK_MS = 20
/** The thread of imports says something more often than this if all is well, and it has something to do. */
const SILENT_MS = 200
/** The memory of an ended thread takes up to this long to come back. */
const FREE_MS = 1000
/** How long a measure of the memory of the idle process holds: each reads a file of the system, which costs a job 50 µs. */
const IDLE_MEASURE_MS = 1000
/** What the process may take beyond all budgets before the last brake: caches, uncollected heaps, bodies. */
const SLACK_BYTES = 2 ** 30
/** The fraction of all memory beyond which the last brake is pulled. */
const MEMORY_PART = 0.9
/** If a large job leaves more than this on a thread's heap, garbage not counted, only ending the thread frees it. */
const LEFT_MAX_BYTES = 96 * 2 ** 20

export class JobPool {
  readonly #options: PoolOptions
  readonly #lanes: Lanes
  readonly #waiting: Readonly<Record<Lane, Turns<Task>>> = {
    quick: new Turns(),
    prompt: new Turns(),
    long: new Turns(),
    alerts: new Turns(),
    sweeps: new Turns(),
    imports: new Turns(),
    tables: new Turns(),
  }
  readonly #running = new Map<number, Running>()
  readonly #idle: WorkerThread[] = []
  /** Threads that will end with their present job. */
  readonly #retired = new WeakSet<WorkerThread>()
  /** The thread that all imports share; null = there is no import. */
  #importer: WorkerThread | null = null
  /** Imports that were given up, and whose thread has not said yet that it is done with them. */
  readonly #givenUp = new Set<number>()
  /** When the thread of imports was last heard, or had something to do again. */
  #importerHeardAt = 0
  /** Its processor time at some moment since; null = not measured yet. */
  #importerSilent: { readonly at: number; readonly ms: number | null } | null = null
  /** The `used` of the first of its jobs, by which the thread is known: a later one may never begin. */
  #importerUsed: Float64Array = new Float64Array(Object.keys(USED).length)
  #importTimeMs = Infinity
  #tasks = 0
  #endGuard: (() => void) | null = null
  #idleMemory = 0
  #idleMeasuredAt = Number.NEGATIVE_INFINITY
  #lastEndedAt = 0
  /** The lanes that share the slow threads, the least recently served first. */
  #slow: readonly Lane[] = ['long', 'alerts', 'sweeps']
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#lanes = new Lanes(options, this.#running)
  }

  get workers(): number {
    return this.#options.workers
  }

  get running(): number {
    return this.#running.size
  }

  /** Whether a long job would begin at once. */
  get hasFreeWorker(): boolean {
    return !this.#closed && this.waiting === 0 && this.#lanes.isFree('long')
  }

  get waiting(): number {
    return LANES.reduce((sum, lane) => sum + this.#waiting[lane].length, 0)
  }

  /**
   * Throws Problem 429 `concurrency_limited` if the user has too many jobs waiting, or 503 if everybody together has or the
   * server is stopping. Call it before promising anything.
   */
  assertRoom(user: string, lane: Lane = 'long'): void {
    if (this.#closed) throw shuttingDown()
    if (this.waiting >= OVERLOAD)
      throw new Problem(503, 'overloaded', 'The server has too many jobs waiting. Try again later.', {
        retryAfter: 10,
      })
    if (lane === 'alerts' || lane === 'sweeps') return
    const most = lane === 'quick' ? QUICK_WAITING_MAX : WAITING_MAX
    const jobs = this.#waiting[lane].lengthOf(user) + this.#lanes.runningOf(lane, user)
    if (jobs <= most) return
    throw new Problem(
      429,
      'concurrency_limited',
      lane === 'long'
        ? `You have a backtest running and ${most} waiting. Wait for one to end.`
        : `You have ${most} of these waiting already. Wait for one to end.`,
      { retryAfter: 5 },
    )
  }

  /** Does a job when its turn comes. Rejects with a Problem if the user's text is to blame, or with an Error if we are. */
  do<K extends JobKind>(kind: K, job: Jobs[K]['job'], options: JobOptions): Promise<Jobs[K]['answer']> {
    return new Promise((resolve, reject) => {
      this.assertRoom(options.user, options.lane)
      if (options.signal?.aborted) throw cancelled()
      const task: Task = { kind, job, options, resolve: resolve as Task['resolve'], reject }
      options.signal?.addEventListener('abort', () => this.#cancel(task), { once: true })
      this.#waiting[options.lane].push(options.user, task)
      this.#next()
    })
  }

  /** Starts a worker before the first job, which then does not wait for the engine to load. */
  warm(): void {
    if (this.#closed) return
    if (this.#idle.length + this.#running.size === 0) this.#idle.push(this.#spawn())
  }

  /** Somebody asks the server for something else than long work: while people do, sweeps leave them a processor. */
  asked(): void {
    this.#lanes.asked()
  }

  /** The server is stopping: waiting jobs fail at once with 503, and no new ones are accepted. Running ones may go on. */
  drain(): void {
    this.#closed = true
    for (const lane of LANES) for (const task of this.#waiting[lane].clear()) task.reject(shuttingDown())
  }

  /** Ends everything; jobs fail with 503. */
  close(): void {
    this.drain()
    for (const running of this.#running.values()) this.#stop(running, shuttingDown())
    this.#endImporter()
    for (const worker of this.#idle.splice(0)) worker.terminate()
  }

  #next(): void {
    for (let task = this.#take(); task; task = this.#take()) this.#start(task)
  }

  #take(): Task | null {
    if (this.#closed) return null
    for (const lane of [...OWN_THREADS, 'quick', 'prompt', ...this.#slow] as const) {
      if (!this.#lanes.isFree(lane)) continue
      const task = this.#waiting[lane].take((user) => this.#lanes.mayStart(lane, user))
      if (!task) continue
      if (this.#slow.includes(lane)) this.#slow = [...this.#slow.filter((other) => other !== lane), lane]
      return task
    }
    return null
  }

  #start(task: Task): void {
    const { clock } = this.#options
    const { kind, job, options } = task
    this.#measureIdle()
    const worker = this.#workerFor(options.lane)
    const used = new Float64Array(new SharedArrayBuffer(8 * Object.keys(USED).length))
    const id = ++this.#tasks
    this.#running.set(id, { id, task, worker, startedAt: clock.now(), used, refusal: null })
    if (options.lane === 'imports') {
      this.#importTimeMs = options.budget.timeMs
      if (this.#lanes.importsHeld().held === 1 && this.#givenUp.size === 0) {
        this.#importerUsed = used
        this.#hearImporter()
      }
    }
    this.#watch()
    options.started?.()
    worker.postMessage({ task: id, to: 'job', kind, job, used })
  }

  /** Measured only while nothing runs, and not while the memory of an ended thread is still coming back. */
  #measureIdle(): void {
    const now = this.#options.clock.now()
    if (this.#running.size > 0 || now - this.#lastEndedAt <= FREE_MS) return
    if (now - this.#idleMeasuredAt < IDLE_MEASURE_MS) return
    this.#idleMeasuredAt = now
    this.#idleMemory = this.#options.memory()
  }

  #workerFor(lane: Lane): WorkerThread {
    if (lane === 'imports' && this.#importer) return this.#importer
    const worker = this.#idle.pop() ?? this.#spawn()
    if (lane === 'imports') this.#importer = worker
    return worker
  }

  #spawn(): WorkerThread {
    const worker = this.#options.spawn()
    worker.onmessage = ({ data }) => {
      if (data.from === 'left') return this.#retire(worker, data.bytes)
      if (worker === this.#importer) this.#hearImporter()
      const running = this.#running.get(data.task)
      if (running) this.#hear(running, data)
      else if (isLast(data) && this.#givenUp.delete(data.task)) this.#restImporter(data.from !== 'failure')
    }
    worker.onerror = (event) => {
      worker.terminate()
      if (worker === this.#importer) this.#endImporter()
      const idle = this.#idle.indexOf(worker)
      if (idle >= 0) this.#idle.splice(idle, 1)
      for (const running of this.#running.values()) {
        if (running.worker !== worker) continue
        this.#end(running, { reuse: false })
        running.task.reject(new Error(`a worker failed: ${event.message}`))
      }
    }
    return worker
  }

  #hear(running: Running, said: Said): void {
    const { task } = running
    if (task.options.lane === 'tables') this.#restart(running)
    switch (said.from) {
      case 'progress':
        return task.options.progress?.(said.bar)
      case 'question':
        return void this.#answer(running, said)
      case 'problem':
        this.#end(running, { reuse: true })
        return task.reject(new Problem(said.status, said.code, said.message, said.details))
      case 'refused':
        this.#end(running, { reuse: true })
        return task.reject(running.refusal)
      case 'failure':
        this.#end(running, { reuse: false })
        return task.reject(new Error(`a job failed: ${said.stack}`))
      case 'done':
        this.#end(running, { reuse: true })
        return task.resolve(said.answer)
    }
  }

  /** Only the time without progress counts. */
  #restart(running: Running): void {
    const { used } = running
    const thread = used[USED.thread] ?? 0
    running.startedAt = this.#options.clock.now()
    const ms = thread > 0 ? this.#options.threadMs(thread) : null
    if (ms !== null) used[USED.threadMs] = ms
  }

  async #answer(running: Running, { id, name, args }: Question & { readonly id: number }): Promise<void> {
    const { worker, id: task } = running
    const host = (running.task.options.host ?? {}) as Partial<
      Record<string, (...args: readonly unknown[]) => unknown>
    >
    let message: ToWorker
    try {
      const ask = host[name]
      assert(ask, `a job without a host for ${name}`)
      message = { task, to: 'reply', id, value: await ask(...args) }
    } catch (error) {
      running.refusal = error
      message = { task, to: 'refusal', id }
    }
    if (this.#running.has(task)) worker.postMessage(message)
  }

  /** Ends a job, and starts the next one. */
  #end(running: Running, { reuse }: { readonly reuse: boolean }): void {
    const { id, worker, task } = running
    if (!this.#running.delete(id)) return
    if (task.options.lane !== 'imports') this.#release(worker, reuse && !this.#retired.has(worker))
    else if (worker === this.#importer) {
      if (!reuse) worker.postMessage({ task: id, to: 'stop' })
      this.#restImporter(reuse)
    }
    this.#watch()
    this.#next()
  }

  #hearImporter(): void {
    this.#importerHeardAt = this.#options.clock.now()
    this.#importerSilent = null
  }

  /** Does without the thread of imports if nothing is left for it to do. */
  #restImporter(reuse: boolean): void {
    const worker = this.#importer
    if (!worker || this.#givenUp.size > 0 || this.#lanes.importsHeld().held > 0) return
    this.#importer = null
    this.#release(worker, reuse)
    this.#watch()
  }

  #endImporter(): void {
    this.#importer?.terminate()
    this.#importer = null
    this.#givenUp.clear()
    this.#lastEndedAt = this.#options.clock.now()
  }

  /** The last large job of this thread left too much behind. The thread may be busy with the next one already. */
  #retire(worker: WorkerThread, left: number): void {
    if (left <= LEFT_MAX_BYTES) return
    const idle = this.#idle.indexOf(worker)
    if (idle < 0) this.#retired.add(worker)
    else {
      this.#idle.splice(idle, 1)
      this.#release(worker, false)
    }
  }

  #release(worker: WorkerThread, reuse: boolean): void {
    // One more than long work uses: or a preview's thread, idle between two of them, would cost the next part of a sweep its own.
    if (reuse && !this.#closed && this.#idle.length < this.#lanes.threadsFor('prompt')) {
      this.#idle.push(worker)
      return
    }
    worker.terminate()
    this.#lastEndedAt = this.#options.clock.now()
  }

  /** Ends the thread, unless others share it. */
  #stop(running: Running, reason: Problem): void {
    this.#end(running, { reuse: false })
    running.task.reject(reason)
  }

  #cancel(task: Task): void {
    if (this.#waiting[task.options.lane].remove(task.options.user, task)) task.reject(cancelled())
    for (const running of this.#running.values()) if (running.task === task) this.#giveUp(running)
  }

  /**
   * An import that is given up leaves its thread running: loading one takes a while, on a busy machine longer than clients
   * wait. If every client that gave up ended the thread, no import would ever find one ready.
   */
  #giveUp(running: Running): void {
    const { id, task, worker } = running
    if (task.options.lane !== 'imports') return this.#stop(running, cancelled())
    worker.postMessage({ task: id, to: 'stop' })
    // It may be in the middle of something that never ends, so nobody else gets the thread before it answers.
    this.#givenUp.add(id)
    this.#end(running, { reuse: true })
    task.reject(cancelled())
  }

  /** The guard ticks while something runs. */
  #watch(): void {
    if (this.#running.size + this.#givenUp.size > 0) {
      this.#endGuard ??= (this.#options.every ?? every)(() => this.#look(), LOOK_MS)
    } else {
      this.#endGuard?.()
      this.#endGuard = null
    }
  }

  #look(): void {
    const now = this.#options.clock.now()
    // These may begin by the clock alone.
    if ((['imports', 'prompt', 'sweeps'] as const).some((lane) => this.#waiting[lane].length > 0))
      this.#next()
    this.#lookAtImporter(now)
    for (const running of this.#running.values()) {
      const { memoryBytes } = running.task.options.budget
      const late = tooLate(running, now, this.#options.threadMs)
      if (late) this.#stop(running, late)
      else if (bytesOf(running) > memoryBytes) this.#stop(running, tooMuchMemory(memoryBytes))
    }
    if (this.#running.size === 0 || now - this.#lastEndedAt < FREE_MS) return
    const budgets = [...this.#running.values()].reduce(
      (sum, { task }) => sum + task.options.budget.memoryBytes,
      0,
    )
    const most = Math.min(this.#idleMemory + budgets + SLACK_BYTES, MEMORY_PART * this.#options.memoryMax)
    if (this.#options.memory() <= most) return
    // No job took too much by its own count. The uncounted memory most likely belongs to the job with the highest count.
    const largest = [...this.#running.values()].reduce((a, b) => (bytesOf(b) > bytesOf(a) ? b : a))
    this.#stop(largest, tooMuchMemory(largest.task.options.budget.memoryBytes))
  }

  /** Ends the thread of imports if it does nothing but work on one of them. */
  #lookAtImporter(now: number): void {
    if (!this.#importer || now - this.#importerHeardAt < SILENT_MS) return
    const imports = [...this.#running.values()].filter(({ task }) => task.options.lane === 'imports')
    const thread = this.#importerUsed[USED.thread] ?? 0
    // One that has not begun yet has done nothing, however long a busy machine takes to start it.
    if (thread === 0) return
    const ms = thread === UNKNOWN_THREAD ? null : this.#options.threadMs(thread)
    if (!this.#importerSilent) this.#importerSilent = { at: now, ms }
    const { at, ms: before } = this.#importerSilent
    // Where the system does not tell, the clock's time counts, unless all wait for their clients.
    const idle = imports.length > 0 && imports.every(({ task }) => task.options.waits?.())
    const worked = ms !== null && before !== null ? ms - before : idle ? 0 : now - at
    if (worked <= this.#importTimeMs) return
    this.#endImporter()
    for (const running of imports) {
      running.task.reject(readerEnded())
      this.#running.delete(running.id)
    }
    this.#watch()
    this.#next()
  }
}

function isLast({ from }: FromWorker): boolean {
  return from === 'done' || from === 'problem' || from === 'refused' || from === 'failure'
}
