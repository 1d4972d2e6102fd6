// The shared worker that runs the hub (`live-hub.ts`): one for all tabs of the dashboard, as long as any is open.

import { LiveHub, type FromTab, type Tab } from './live-hub.ts'

/** After all tabs have been hidden for this long, the stream is closed until one comes into view. */
const HIDDEN_MS = 5 * 60_000

// One TypeScript program cannot have the types of both pages and workers.
const scope = globalThis as unknown as { onconnect: (event: MessageEvent) => void }

const hub = new LiveHub((url) => new EventSource(url), HIDDEN_MS)
scope.onconnect = ({ ports: [port] }) => {
  if (!port) return
  const tab: Tab = { send: (message) => port.postMessage(message) }
  port.onmessage = ({ data }: MessageEvent<FromTab>) => hub.hear(tab, data)
}
