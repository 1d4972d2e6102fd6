// The worker thread's entry; the executable contains it under this name.

import { runBacktest } from '../backtest/run.ts'
import { serveBacktests } from './worker-loop.ts'

serveBacktests((request) => runBacktest({ ...request, now: () => performance.now() }))
