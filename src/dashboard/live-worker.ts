// The shared worker: one for all tabs of the dashboard, there for as long as any of them is. See `live-hub.ts`.

import { LiveHub, type FromTab, type Tab } from './live-hub.ts'

/** Tabs that have been hidden for this long get the news only when they come into view. */
const HIDDEN_MS = 5 * 60_000

// The types of pages and of workers cannot stand in one program.
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void }

const hub = new LiveHub((url) => new EventSource(url), HIDDEN_MS)
scope.onconnect = ({ ports: [port] }) => {
  if (!port) return
  const tab: Tab = { send: (message) => port.postMessage(message) }
  port.onmessage = ({ data }: MessageEvent<FromTab>) => hub.hear(tab, data)
}
