// The states of users' long work, and what may follow each. This file is plain, so that the dashboard can load it.

/** Of work that ends by itself: a backtest, a sweep, a scan, a portfolio. */
export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const
export type JobState = (typeof JOB_STATES)[number]
/** Of a forward run, which goes on until somebody stops it. */
export const FORWARD_STATES = ['running', 'stopped', 'failed'] as const
export type WorkState = JobState | (typeof FORWARD_STATES)[number]

const STATES: Readonly<Record<WorkState, { readonly isOver: boolean; readonly next: readonly WorkState[] }>> =
  {
    // A stored backtest is never written as running, so it ends as queued.
    queued: { isOver: false, next: ['running', 'done', 'failed', 'cancelled'] },
    // Work that its server gives back waits again.
    running: { isOver: false, next: ['queued', 'done', 'failed', 'cancelled', 'stopped'] },
    // A scan can be run again whatever became of it; a sweep can be resumed that is not done.
    done: { isOver: true, next: ['queued'] },
    failed: { isOver: true, next: ['queued'] },
    cancelled: { isOver: true, next: ['queued'] },
    stopped: { isOver: true, next: [] },
  }

/** Whether the work still waits or runs. */
export const isUnderWay = ({ state }: { readonly state: WorkState }): boolean => !STATES[state].isOver

/** Whether work in one state may be in the other next. */
export const mayFollow = (before: WorkState, after: WorkState): boolean =>
  before === after || STATES[before].next.includes(after)
