// Sends events as they happen, as server-sent events: new bars, firings of the user's alerts, the user's finished backtests
// and sweeps.

import { marketName } from '../lib/market-name.ts'
import { sse } from 'elysia'
import type { Scope } from '../wire/scopes.ts'
import type { FormingOf } from '../people/feeds/live-bars.ts'
import { ownerOf, seriesName } from '../market/bar-store.ts'
import { resolveSeries, seriesOf } from '../market/seen-bars.ts'
import { stands, type ApiDeps } from './access.ts'
import { firingWire } from './alerts.ts'
import { formingWire } from './bars.ts'
import type { Services } from './deps.ts'
import { EventLog, type StreamEvent, type StreamLog, type Told } from './event-log.ts'
import { eventWait, SILENT_SECONDS } from './event-wait.ts'
import type { Routes } from './route.ts'

/** How many of the newest events a returning reader can still get. */
const LOGGED = 4096

/** The scope that a token needs for events of each kind. */
const SCOPES = {
  firing: 'alerts:read',
  backtest: 'backtests:read',
  sweep: 'backtests:read',
  drawings: 'ideas:read',
  layout: 'ideas:read',
} as const satisfies Readonly<Record<string, Scope>>

export const STREAM_ROUTES: Routes = {
  'GET /api/platform/stream': ({ deps, caller, may, query, request, server }) => {
    // The timeout hits only readers that take nothing: a stream writes at least every 15 s.
    server?.timeout(request, SILENT_SECONDS)
    const signal = AbortSignal.any([request.signal, deps.stopping])
    const reader = {
      userId: caller.user.id,
      stands: () => stands(deps, caller),
      may,
      symbol: query.symbol === undefined ? null : marketName(query.symbol),
      after: request.headers.get('last-event-id') ?? query.after ?? null,
    }
    return follow(deps, deps.events, reader, signal, deps.streams.enter(caller.user.id, signal))
  },
}

/** Everything that happens from now on. */
export function streamLog({ bars, features, clock }: Services): StreamLog {
  const log = new EventLog<Told>(clock.now().toString(36), LOGGED)
  const tell = (event: StreamEvent) => log.push({ event, text: null, isTheirs: new Map() })
  bars.onChange(({ key, inserted, updated, last }) =>
    tell({ event: 'bars', key, data: { ...seriesOf(key, ''), last, inserted, updated } }),
  )
  features.onFired((firing) => tell({ event: 'firing', ownerId: firing.ownerId, data: firingWire(firing) }))
  features.onRunDone(({ userId: ownerId, id, name, state, summary }) =>
    tell({ event: 'backtest', ownerId, data: { id, name, state, summary } }),
  )
  features.drawings.onChange(({ ownerId, exchange, symbol, revision }) =>
    tell({ event: 'drawings', ownerId, data: { exchange, symbol, revision } }),
  )
  features.layouts.onChange(({ ownerId, id, updatedAt }) =>
    tell({ event: 'layout', ownerId, data: { id, updatedAt } }),
  )
  features.sweeps.onOver(({ userId: ownerId, id, name, state, tried, sentence }) =>
    tell({ event: 'sweep', ownerId, data: { id, name, state, tried, sentence } }),
  )
  return log
}

/** Elysia sends what `toSSE` answers. An event has one id, so its text is the same for everybody. */
function frameOf(id: string, told: Told) {
  const { event, data } = told.event
  const text = (told.text ??= `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  return { sse: true, toSSE: () => text } as const
}

/** A reader: who listens, to what, and which of the user's objects the credential covers. */
interface Reader {
  readonly userId: string
  /** Whether its credential is still accepted: it may have been revoked since. */
  readonly stands: () => Promise<boolean>
  readonly may: (scope: Scope) => boolean
  /** Limits bars to this symbol. */
  readonly symbol: string | null
  /** Id of the last event that the reader saw. */
  readonly after: string | null
}

async function* follow(
  deps: ApiDeps,
  log: StreamLog,
  reader: Reader,
  signal: AbortSignal,
  leave: () => void,
) {
  const wait = eventWait(signal)
  const stop = log.onEvent(wait.wake)
  // Only the newest state of a forming bar matters, so these events are not kept, and have no id.
  const forming = new Map<string, FormingOf>()
  const stopForming = deps.features.live.onForming((one) => {
    if (reader.symbol !== null && one.key.symbol !== reader.symbol) return
    forming.set(seriesName(one.key), one)
    wait.wake()
  })
  try {
    let place = reader.after ?? log.newest
    // An id that is unknown here is neither confirmed nor repeated.
    const known = log.behind(place) !== 'missed'
    yield sse({ ...(known && { id: place }), event: 'hello', data: {} })
    while (!signal.aborted) {
      const next = log.behind(place)
      if (next === 'missed') {
        place = log.newest
        if (!(await reader.stands())) break
        yield sse({ id: place, event: 'resync', data: {} })
      } else if (next) {
        place = next.id
        if (!(await mayHear(deps, reader, next.event))) continue
        if (!(await reader.stands())) break
        yield frameOf(place, next.event)
      } else if (forming.size > 0) {
        const told = [...forming.values()]
        forming.clear()
        if (!(await reader.stands())) break
        for (const { key, row } of told) {
          const { exchange, symbol, interval } = key
          if (ownerOf(await resolveSeries(deps.bars, reader.userId, key)) !== '') continue
          yield sse({ event: 'forming', data: { exchange, symbol, interval, bar: formingWire(row) } })
        }
      } else if (await wait.quiet()) {
        if (!(await reader.stands())) break
        yield sse({ id: place, event: 'alive', data: {} })
      }
    }
  } finally {
    stop()
    stopForming()
    leave()
  }
}

async function mayHear(
  { bars }: ApiDeps,
  { userId, may, symbol }: Reader,
  { event, isTheirs }: Told,
): Promise<boolean> {
  if (event.event === 'bars') {
    const { key } = event
    if (symbol !== null && key.symbol !== symbol) return false
    // A reader gets neither another's private bars nor shared ones that are hidden by their own of the same name.
    const mine = isTheirs.get(userId) ?? ownerOf(await resolveSeries(bars, userId, key)) === ownerOf(key)
    isTheirs.set(userId, mine)
    return mine
  }
  return event.ownerId === userId && may(SCOPES[event.event])
}
