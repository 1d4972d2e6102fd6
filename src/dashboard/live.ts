// What happens on the server while the page is open: one stream of server-sent events for all tabs of the dashboard, and in
// each of them for all of its parts.
//
// The stream is a shared worker's. Chromium on Android has none: there the tab has its own, and closes it soon after nobody
// looks at it.

import type { StreamEvents } from '../wire/event.ts'
import { apiUrl } from './api-client.ts'
import { base } from './base.ts'
import { LiveHub, type FromTab, type LiveEvent, type ToTab } from './live-hub.ts'
import { user } from './session.ts'

interface Listener {
  readonly heard: (data: never) => void
  readonly missed: () => void
}

/** File of the shared worker; `tools/dashboard-bundle.ts` says which. */
declare const LIVE_WORKER: string

const ALONE_HIDDEN_MS = 10_000

const listeners = new Map<LiveEvent, Set<Listener>>()
let say: ((message: FromTab) => void) | null = null

/**
 * Calls back for each event of the kind, and `missed` when some may have been; the returned function ends that.
 * Whoever shows what events tell of asks for it again when some were missed.
 */
export function onLive<E extends LiveEvent>(
  event: E,
  heard: (data: StreamEvents[E]) => void,
  missed: () => void = () => {},
): () => void {
  const listener: Listener = { heard, missed }
  let group = listeners.get(event)
  if (!group) listeners.set(event, (group = new Set()))
  group.add(listener)
  if (everybody().length === 1) join()
  return () => {
    group.delete(listener)
    if (everybody().length === 0) say?.({ say: 'leave' })
  }
}

const everybody = () => [...listeners.values()].flatMap((group) => [...group])

function join(): void {
  say ??= connect()
  say({
    say: 'join',
    url: apiUrl('/api/platform/stream').href,
    user: user.peek()?.id ?? '',
    visible: document.visibilityState === 'visible',
  })
}

function connect(): (message: FromTab) => void {
  const speak = sharedLine() ?? ownLine()
  document.addEventListener('visibilitychange', () =>
    speak({ say: 'visible', visible: document.visibilityState === 'visible' }),
  )
  // A closed tab has to say that it leaves; one that comes back from the browser's cache joins again.
  addEventListener('pagehide', () => speak({ say: 'leave' }))
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && everybody().length > 0) join()
  })
  return speak
}

function sharedLine(): ((message: FromTab) => void) | null {
  if (typeof SharedWorker === 'undefined') return null
  try {
    const { port } = new SharedWorker(workerUrl(`${base}/assets/${LIVE_WORKER}`), 'chartroom-live')
    port.onmessage = ({ data }: MessageEvent<ToTab>) => hear(data)
    return (message) => port.postMessage(message)
  } catch {
    // A browser that was told to allow none.
    return null
  }
}

function ownLine(): (message: FromTab) => void {
  const hub = new LiveHub((url) => new EventSource(url), ALONE_HIDDEN_MS)
  const tab = { send: hear }
  return (message) => hub.hear(tab, message)
}

function hear(message: ToTab): void {
  if (message.event === 'resync') for (const { missed } of everybody()) missed()
  else for (const { heard } of listeners.get(message.event) ?? []) heard(message.data as never)
}

/** The page's policy takes an address of code from a named place only. */
function workerUrl(address: string): string {
  const { trustedTypes } = globalThis as {
    trustedTypes?: {
      createPolicy: (
        name: string,
        rules: { createScriptURL: (url: string) => string },
      ) => { createScriptURL: (url: string) => unknown }
    }
  }
  const policy = trustedTypes?.createPolicy('chartroom-live', { createScriptURL: (url) => url })
  return (policy?.createScriptURL(address) ?? address) as string
}
