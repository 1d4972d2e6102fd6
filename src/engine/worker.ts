// The entry of the worker thread; the executable contains it under this name.

import { setPriority } from 'node:os'
import process from 'node:process'
import { KINDS } from './kinds.ts'
import { serveJobs } from './worker-loop.ts'

/** On Linux a thread has a priority of its own. This lower one lets the server answer while every core is busy with jobs. */
const NICE = 10
if (process.platform === 'linux') setPriority(0, NICE)

serveJobs(KINDS)
