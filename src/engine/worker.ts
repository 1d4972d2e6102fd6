// The worker thread's entry; the executable contains it under this name.

import { setPriority } from 'node:os'
import process from 'node:process'
import { KINDS } from './kinds.ts'
import { serveJobs } from './worker-loop.ts'

/** Where a thread has a priority of its own (Linux), the server's goes first: it answers while every core is busy here. */
const NICE = 10
if (process.platform === 'linux') setPriority(0, NICE)

serveJobs(KINDS)
