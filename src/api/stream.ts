// What happens, as it happens: new bars, firings of one's alerts, one's finished backtests, as server-sent events.

import { Type } from '@sinclair/typebox'
import { Elysia, sse } from 'elysia'
import type { Scope } from '../accounts/accounts.ts'
import { ownerOf } from '../market/bar-store.ts'
import { resolveSeries, seriesOf } from '../market/seen-bars.ts'
import { marketName } from '../market/symbol.ts'
import { access, type ApiDeps } from './access.ts'
import { eventWait } from './event-wait.ts'
import { doc, Text } from './schemas.ts'

/** A reader that falls further behind than this loses the oldest events: it can always ask for the state. */
const WAITING_MAX = 256

interface StreamEvent {
  readonly event: 'bars' | 'firing' | 'backtest'
  readonly data: Readonly<Record<string, unknown>>
}

export function streamRoutes(deps: ApiDeps) {
  return new Elysia({ prefix: '/api/platform/stream', tags: ['Stream'], normalize: false })
    .use(access(deps))
    .get(
      '',
      ({ caller, may, query, request, server }) => {
        server?.timeout(request, 0)
        const signal = AbortSignal.any([request.signal, deps.stopping])
        const reader = { userId: caller.user.id, may }
        const symbol = query.symbol === undefined ? undefined : marketName(query.symbol)
        return follow(deps, reader, symbol, signal)
      },
      {
        access: 'session bars:read',
        query: Type.Object({ symbol: Type.Optional(Text(64)) }),
        detail: doc(
          'Follow what happens',
          {},
          'Server-sent events: `bars` {exchange,symbol,interval,last,inserted,updated}, `firing` and `backtest`; with `symbol` only the bars of that one. A token hears of firings with `alerts:read` and of backtests with `backtests:read`.',
        ),
      },
    )
}

/** Who listens, and what of theirs the credential may show. */
interface Reader {
  readonly userId: string
  readonly may: (scope: Scope) => boolean
}

async function* follow(
  { bars, rooms }: ApiDeps,
  { userId, may }: Reader,
  symbol: string | undefined,
  signal: AbortSignal,
) {
  const waiting: StreamEvent[] = []
  const wait = eventWait(signal)
  const tell = (event: StreamEvent) => {
    if (waiting.push(event) > WAITING_MAX) waiting.shift()
    wait.wake()
  }
  const stops = [
    bars.onChange(({ key, inserted, updated, last }) => {
      // Another's private bars are nobody's business, nor are everybody's where one has one's own instead.
      const mine = ownerOf(resolveSeries(bars, userId, key)) === ownerOf(key)
      if (mine && (symbol === undefined || key.symbol === symbol))
        tell({ event: 'bars', data: { ...seriesOf(key, ''), last, inserted, updated } })
    }),
    rooms.onFired(({ ownerId, ...firing }) => {
      if (ownerId === userId && may('alerts:read')) tell({ event: 'firing', data: firing })
    }),
    rooms.onRunDone(({ userId: ownerId, id, name, state, summary }) => {
      if (ownerId === userId && may('backtests:read'))
        tell({ event: 'backtest', data: { id, name, state, summary } })
    }),
  ]
  try {
    yield sse({ event: 'hello', data: {} })
    while (!signal.aborted) {
      const next = waiting.shift()
      if (next) yield sse({ event: next.event, data: next.data })
      else if (await wait.quiet()) yield sse({ event: 'alive', data: {} })
    }
  } finally {
    for (const stop of stops) stop()
  }
}
