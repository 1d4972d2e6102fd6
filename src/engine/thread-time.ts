// The time that a thread had a processor, as the system counts it: on a busy machine a job may wait for one longer than it
// works, and that is not its fault.

import { readFileSync, readlinkSync } from 'node:fs'
import process from 'node:process'

/** Of the thread that asks. */
export function ownThreadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The number by which the system knows the thread that asks; null where it does not say (not Linux). */
export function ownThread(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return null
  }
}

/** Of another thread of this process, seen from outside; null where the system does not say. */
export function threadMs(thread: number): number | null {
  try {
    // The first number is nanoseconds on a processor.
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return null
  }
}
