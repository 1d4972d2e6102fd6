// Events from the server while the page is open: one stream of server-sent events for all tabs, which each tab
// passes on to its parts.
//
// A shared worker holds the stream. Chromium on Android has none: there each tab has a stream of its own, and closes it soon
// after it is hidden.

import type { StreamEvents } from '../wire/event.ts'
import { apiUrl } from './api-client.ts'
import { effect } from '@preact/signals'
import { base } from './base.ts'
import { LiveHub, type FromTab, type LiveEvent, type ToTab } from './live-hub.ts'
import { lookForServer, newestEvent, user } from './session.ts'
import { notifyHere, soundHere } from './settings.ts'
import { trustedScript } from './trusted-script.ts'

interface Listener {
  readonly heard: (data: never) => void
  readonly missed: () => void
}

/** File name of the shared worker, inserted by `server/source/dashboard-bundle.ts`. */
declare const LIVE_WORKER: string

const ALONE_HIDDEN_MS = 10_000

const listeners = new Map<LiveEvent, Set<Listener>>()
let say: ((message: FromTab) => void) | null = null

/**
 * Calls back for each event of the kind, and calls `missed` when some may have been lost: then load again what the events
 * are about. The returned function ends this.
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

const CAN_SHARE = typeof SharedWorker !== 'undefined'
/** Hidden tabs hear nothing after a while, unless they are to tell of alerts and have their one stream together. */
const listens = (): boolean =>
  document.visibilityState === 'visible' || (CAN_SHARE && (notifyHere.peek() || soundHere.peek()))

const everybody = () => [...listeners.values()].flatMap((group) => [...group])

function join(): void {
  say ??= connect()
  say({
    say: 'join',
    url: apiUrl('/api/platform/stream').href,
    user: user.peek()?.id ?? '',
    after: newestEvent.peek(),
    visible: listens(),
  })
  newestEvent.value = null
}

function connect(): (message: FromTab) => void {
  const speak = sharedLine() ?? ownLine()
  const tell = () => speak({ say: 'visible', visible: listens() })
  document.addEventListener('visibilitychange', tell)
  effect(() => {
    const told = [notifyHere.value, soundHere.value]
    if (told.length > 0) tell()
  })
  // A tab has to say that it closes; one that the browser restores from its cache joins again.
  addEventListener('pagehide', () => speak({ say: 'leave' }))
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted && everybody().length > 0) join()
  })
  return speak
}

function sharedLine(): ((message: FromTab) => void) | null {
  if (!CAN_SHARE) return null
  try {
    const { port } = new SharedWorker(trustedScript(`${base}/assets/${LIVE_WORKER}`), 'chartroom-live')
    port.onmessage = ({ data }: MessageEvent<ToTab>) => hear(data)
    return (message) => port.postMessage(message)
  } catch {
    // The browser has been configured to allow no shared workers.
    return null
  }
}

function ownLine(): (message: FromTab) => void {
  const hub = new LiveHub((url) => new EventSource(url), ALONE_HIDDEN_MS)
  const tab = { send: hear }
  return (message) => hub.hear(tab, message)
}

function hear(message: ToTab): void {
  if (message.event === 'broken') lookForServer()
  else if (message.event === 'resync') for (const { missed } of everybody()) missed()
  else if ('data' in message)
    for (const { heard } of listeners.get(message.event) ?? []) heard(message.data as never)
}
