// The entry of the search thread; the executable contains it under this name.

import { setPriority } from 'node:os'
import process from 'node:process'
import { serveSearch } from './serve.ts'

declare const self: Worker

/** The server's own thread has priority over this one, on systems where threads have priorities. */
const NICE = 5
if (process.platform === 'linux') setPriority(0, NICE)

const hear = serveSearch(
  (message) => self.postMessage(message),
  () => Bun.gc(true),
)
self.onmessage = ({ data }: MessageEvent<Parameters<typeof hear>[0]>) => hear(data)
