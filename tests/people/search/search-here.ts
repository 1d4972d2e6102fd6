// Search without a thread: what is said to it is answered at once.

import type { SearchThread } from '../../../src/people/search/search.ts'
import { serveSearch } from '../../../src/people/search/serve.ts'

export function searchHere(): SearchThread {
  const thread: SearchThread = {
    onmessage: null,
    onerror: null,
    postMessage: (message) => hear(structuredClone(message)),
    terminate: () => {},
  }
  const hear = serveSearch(
    (data) => void thread.onmessage?.(new MessageEvent('message', { data })),
    () => {},
  )
  return thread
}
