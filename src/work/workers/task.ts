// A job as the pool has it: whose it is, in which lane it waits, and what it takes while it runs.

import type { Host } from './desk.ts'
import type { FromWorker, JobKind, ToWorker } from './job.ts'

/** The part of a worker thread that the pool uses. */
export interface WorkerThread {
  onmessage: ((event: MessageEvent<FromWorker>) => unknown) | null
  onerror: ((event: ErrorEvent) => unknown) | null
  postMessage(message: ToWorker): void
  terminate(): void
}

/**
 * Fastest first. Alerts' scripts and parts of sweeps take turns with users' runs, but do not count as a user's one running
 * job: they are small, and each sender sends the next one only when one is done.
 */
export const LANES = ['quick', 'prompt', 'long', 'alerts', 'sweeps', 'imports', 'tables'] as const
export type Lane = (typeof LANES)[number]
/** These take no threads from others. */
export const OWN_THREADS: readonly Lane[] = ['imports', 'tables']

/** The most that a job may take. */
export interface Budget {
  /** Processor time. */
  readonly timeMs: number
  readonly memoryBytes: number
}

export interface JobOptions {
  /** Whose job it is. */
  readonly user: string
  readonly lane: Lane
  readonly budget: Budget
  /** The server's functions that the job may call. */
  readonly host?: Partial<Host> | undefined
  readonly signal?: AbortSignal | undefined
  readonly started?: (() => void) | undefined
  readonly progress?: ((bar: number) => void) | undefined
  /** Whether the job is idle until its client sends more. */
  readonly waits?: (() => boolean) | undefined
}

export interface Task {
  readonly kind: JobKind
  readonly job: unknown
  readonly options: JobOptions
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

export interface Running {
  readonly id: number
  readonly task: Task
  readonly worker: WorkerThread
  /** When it began; of one whose progress counts, when it was heard last. */
  startedAt: number
  /** What the worker reports about the job: see `USED`. */
  readonly used: Float64Array
  /** Why the host could not answer the job's question. */
  refusal: unknown
}

/** Lanes of one rank share their threads. */
export function rankOf(lane: Lane): number {
  return Math.min(LANES.indexOf(lane), LANES.indexOf('long'))
}
