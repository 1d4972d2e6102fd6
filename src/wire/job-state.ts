// The states of long work that is stored: a run, a sweep, a scan. This file is plain, so that the dashboard can load it.

export const JOB_STATES = ['queued', 'running', 'done', 'failed', 'cancelled'] as const
export type JobState = (typeof JOB_STATES)[number]

/** Whether the work still waits or runs. */
export const isUnderWay = ({ state }: { readonly state: JobState }): boolean =>
  state === 'queued' || state === 'running'
