// The worker pool: scripts run beside the server, not in it, and are stopped when they take too much.
//
// A script that loops for ever cannot be asked to stop, so its thread is ended from outside: `terminate()` stops even
// `for(;;)` within 25 ms. Memory is watched too: JavaScript has no limit a thread, and a full object heap would take
// the whole process down, so the process's memory is looked at every 20 ms (2.5 us a look) while something runs.
//
// Each user has one job running; the others wait in turn, and users take turns.

import type { Clock } from '../lib/clock.ts'
import { Problem } from '../lib/problem.ts'
import { seriesName } from '../market/bar-store.ts'
import type { Series } from '../pine/compile.ts'
import type { BacktestJob, BacktestOutput, FromWorker, ToWorker } from './job.ts'

/** The part of a worker thread the pool uses. */
export interface WorkerThread {
  onmessage: ((event: MessageEvent<FromWorker>) => unknown) | null
  onerror: ((event: ErrorEvent) => unknown) | null
  postMessage(message: ToWorker): void
  terminate(): void
}

export interface PoolOptions {
  readonly workers: number
  readonly clock: Clock
  readonly spawn: () => WorkerThread
  /** Resident memory of the process, bytes. */
  readonly memory: () => number
}

export interface RunOptions {
  /** Whose job it is: one of a user's jobs runs at a time. */
  readonly user: string
  /** Bars that request.* asks for; null = there are none. */
  readonly series: (exchange: string, symbol: string, interval: string) => Series | null
  readonly signal?: AbortSignal | undefined
  readonly started?: (() => void) | undefined
  readonly progress?: ((bar: number) => void) | undefined
}

interface Task {
  readonly job: BacktestJob
  readonly options: RunOptions
  readonly resolve: (output: BacktestOutput) => void
  readonly reject: (error: unknown) => void
}

interface Running {
  readonly task: Task
  readonly worker: WorkerThread
  readonly startedAt: number
  /** Ends the thread; the task fails with `reason`. */
  readonly stop: (reason: Problem) => void
}

/** Jobs a user may have waiting behind the one that runs. */
export const WAITING_MAX = 10
/** Jobs waiting, of all users together. */
const OVERLOAD = 1000
const LOOK_MS = 20
/** request.* may ask for this many series. */
const SERIES_MAX = 64
/** The engine stops itself at the limit and can say on which line; the pool only when it does not. */
const GRACE_MS = 500
/** After a thread was ended its memory takes up to this long to come back. */
const FREE_MS = 1000

export class BacktestPool {
  readonly #options: PoolOptions
  readonly #waiting: Task[] = []
  readonly #running = new Set<Running>()
  readonly #idle: WorkerThread[] = []
  #guard: ReturnType<typeof setInterval> | null = null
  #idleMemory = 0
  #lastEndedAt = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running.size
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Throws Problem 429 `concurrency_limited` when the user has too many jobs waiting, 503 when everybody has. Call it before promising anything. */
  assertRoom(user: string): void {
    if (this.#waiting.length >= OVERLOAD)
      throw new Problem(503, 'overloaded', 'The server has too many backtests waiting. Try again later.', {
        retryAfter: 10,
      })
    const of = (tasks: Iterable<Task>) => [...tasks].filter(({ options }) => options.user === user).length
    const jobs = of(this.#waiting) + of([...this.#running].map(({ task }) => task))
    if (jobs <= WAITING_MAX) return
    throw new Problem(
      429,
      'concurrency_limited',
      `You have a backtest running and ${WAITING_MAX} waiting. Wait for one to end.`,
      { retryAfter: 5 },
    )
  }

  /** Runs a job when its turn comes. Rejects with the Problem the script is, or an Error that is ours. */
  run(job: BacktestJob, options: RunOptions): Promise<BacktestOutput> {
    this.assertRoom(options.user)
    return new Promise((resolve, reject) => {
      const task = { job, options, resolve, reject }
      options.signal?.addEventListener('abort', () => this.#cancel(task), { once: true })
      if (options.signal?.aborted) return reject(cancelled())
      this.#waiting.push(task)
      this.#next()
    })
  }

  /** Starts a worker ahead of the first job, so that this one does not wait for the engine to load. */
  warm(): void {
    if (this.#idle.length + this.#running.size === 0) this.#idle.push(this.#options.spawn())
  }

  /** Ends everything. Jobs fail with 503. */
  close(): void {
    this.#closed = true
    const stopping = new Problem(503, 'shutting_down', 'The server is stopping.', { retryAfter: 5 })
    for (const task of this.#waiting.splice(0)) task.reject(stopping)
    for (const running of this.#running) running.stop(stopping)
    for (const worker of this.#idle.splice(0)) worker.terminate()
  }

  #next(): void {
    while (this.#running.size < this.#options.workers && !this.#closed) {
      const busy = new Set([...this.#running].map(({ task }) => task.options.user))
      const at = this.#waiting.findIndex(({ options }) => !busy.has(options.user))
      const [task] = at < 0 ? [] : this.#waiting.splice(at, 1)
      if (!task) return
      this.#start(task)
    }
  }

  #start(task: Task): void {
    const { clock, memory, spawn } = this.#options
    const { job, options, resolve, reject } = task
    // Measured when nothing runs, and not while the memory of an ended thread is still on its way back.
    if (this.#running.size === 0 && clock.now() - this.#lastEndedAt > FREE_MS) this.#idleMemory = memory()
    const worker = this.#idle.pop() ?? spawn()
    const series: Record<string, Series | null> = {}
    const end = (reuse: boolean) => {
      this.#running.delete(running)
      worker.onmessage = null
      worker.onerror = null
      if (reuse && !this.#closed) this.#idle.push(worker)
      else {
        worker.terminate()
        this.#lastEndedAt = clock.now()
      }
      this.#watch()
      this.#next()
    }
    const running: Running = {
      task,
      worker,
      startedAt: clock.now(),
      stop: (reason) => {
        end(false)
        reject(reason)
      },
    }
    worker.onerror = (event) => {
      end(false)
      reject(new Error(`a worker failed: ${event.message}`))
    }
    worker.onmessage = ({ data }) => {
      switch (data.kind) {
        case 'progress':
          options.progress?.(data.bar)
          return
        case 'series': {
          const name = seriesName(data)
          if (name in series || Object.keys(series).length >= SERIES_MAX)
            return running.stop(limitExceeded(`request.* asked for more than ${SERIES_MAX} series`))
          series[name] = options.series(data.exchange, data.symbol, data.interval)
          worker.postMessage({ job, series })
          return
        }
        case 'problem':
          end(true)
          reject(new Problem(data.status, data.code, data.message, data.details))
          return
        case 'failure':
          end(false)
          reject(new Error(`a backtest failed: ${data.stack}`))
          return
        case 'done': {
          const { report, tracks, summary, currency } = data
          end(true)
          resolve({ report, tracks, summary, currency })
        }
      }
    }
    this.#running.add(running)
    this.#watch()
    options.started?.()
    worker.postMessage({ job, series })
  }

  #cancel(task: Task): void {
    const at = this.#waiting.indexOf(task)
    if (at >= 0) {
      this.#waiting.splice(at, 1)
      task.reject(cancelled())
    }
    for (const running of this.#running) if (running.task === task) running.stop(cancelled())
  }

  /** The guard ticks while something runs. */
  #watch(): void {
    if (this.#running.size > 0) this.#guard ??= setInterval(() => this.#look(), LOOK_MS)
    else if (this.#guard !== null) {
      clearInterval(this.#guard)
      this.#guard = null
    }
  }

  #look(): void {
    const now = this.#options.clock.now()
    for (const running of this.#running) {
      const { timeMs } = running.task.job.limits
      if (now - running.startedAt > timeMs + GRACE_MS)
        running.stop(limitExceeded(`The script ran for more than ${timeMs / 1000} s and was stopped.`))
    }
    if (now - this.#lastEndedAt < FREE_MS) return
    const grown = this.#options.memory() - this.#idleMemory
    const budget = [...this.#running].reduce((sum, { task }) => sum + task.job.limits.memoryBytes, 0)
    if (this.#running.size === 0 || grown <= budget) return
    // Which of several it was cannot be seen from outside: the newest goes first, for the others were fine before it.
    const newest = [...this.#running].reduce((a, b) => (b.startedAt >= a.startedAt ? b : a))
    const megabytes = Math.round(newest.task.job.limits.memoryBytes / 2 ** 20)
    newest.stop(limitExceeded(`The script took more than ${megabytes} MB of memory and was stopped.`))
  }
}

function limitExceeded(message: string): Problem {
  return new Problem(422, 'script_limit_exceeded', message)
}

export function cancelled(): Problem {
  return new Problem(409, 'conflict', 'The backtest was cancelled.')
}
