// What happens on the server while the page is open: one stream of server-sent events for all parts of it.
//
// It is opened with the first listener and closed with the last; the browser reconnects by itself.

import { apiUrl } from './api-client.ts'

interface LiveEvents {
  readonly bars: {
    readonly exchange: string
    readonly symbol: string
    readonly interval: string
    readonly last: number
  }
  readonly firing: {
    readonly id: string
    readonly message: string
    readonly exchange: string
    readonly symbol: string
    readonly interval: string
  }
  readonly backtest: { readonly id: string; readonly name: string; readonly state: string }
}
type LiveEvent = keyof LiveEvents

const listeners = new Map<LiveEvent, Set<(data: never) => void>>()
let stream: EventSource | null = null

/** Calls back for each event of the kind; the returned function ends that. */
export function onLive<E extends LiveEvent>(event: E, listener: (data: LiveEvents[E]) => void): () => void {
  let group = listeners.get(event)
  if (!group) listeners.set(event, (group = new Set()))
  group.add(listener)
  stream ??= open()
  return () => {
    group.delete(listener)
    if ([...listeners.values()].some((one) => one.size > 0)) return
    stream?.close()
    stream = null
  }
}

function open(): EventSource {
  const source = new EventSource(apiUrl('/api/platform/stream'))
  for (const event of ['bars', 'firing', 'backtest'] as const)
    source.addEventListener(event, ({ data }: MessageEvent<string>) => {
      const parsed = JSON.parse(data) as never
      for (const listener of listeners.get(event) ?? []) listener(parsed)
    })
  return source
}
