// The entry of the worker thread; the executable contains it under this name.

import { KINDS } from './kinds.ts'
import { LowHelpers, lowerOwnPriority } from './thread-priority.ts'
import { serveJobs } from './worker-loop.ts'

lowerOwnPriority()
const helpers = new LowHelpers()

serveJobs(KINDS, () => helpers.look(performance.now()))
