// The stream of events.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { MarketName, Text } from './schema.ts'

export const STREAM = {
  'GET /api/platform/stream': {
    access: 'session bars:read',
    summary: 'Follow what happens',
    description:
      'Server-sent events: `bars` {exchange,symbol,interval,last,inserted,updated}, `firing`, `backtest`, and `sweep` {id,name,state,tried,sentence} when one is over, and `drawings` {exchange,symbol,revision} when those on a symbol changed; with `symbol` only the bars of that one. A token hears of firings with `alerts:read` and of backtests and sweeps with `backtests:read`, of drawings with `ideas:read`. Every event has an id: who comes back with it, as `Last-Event-ID` or `after`, gets what happened meanwhile, or `resync` when that is not known any more and the state has to be asked for. A reader that takes nothing for a minute is cut off. At most 20 streams a user: the next is 429 `concurrency_limited`.',
    query: Type.Object({ symbol: Type.Optional(MarketName), after: Type.Optional(Text(64)) }),
  },
} as const satisfies OperationTable
