// The processor time of a thread as the system counts it. On a busy machine a job may wait for a processor longer than it
// works, and that is not its fault.

import { readFileSync, readlinkSync } from 'node:fs'
import process from 'node:process'

/** Processor time that the calling thread has had. */
export function ownThreadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The system's number of the calling thread; null if the system does not tell (other than Linux). */
export function ownThread(): number | null {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return null
  }
}

/** For another thread of this process, seen from outside; null if the system does not tell. */
export function threadMs(thread: number): number | null {
  try {
    // The first number is nanoseconds on a processor.
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return null
  }
}
