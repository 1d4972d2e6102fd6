// Keeps the page for when its host cannot be reached. It is one file, so this is all: the newest that there is, or else the last.

const CACHE = 'chartroom-playground'

interface Fetched {
  readonly request: Request
  respondWith(answer: Promise<Response>): void
}
const worker = globalThis as unknown as {
  readonly registration: { readonly scope: string }
  addEventListener(type: 'install', heard: (event: { waitUntil(done: Promise<unknown>): void }) => void): void
  addEventListener(type: 'fetch', heard: (event: Fetched) => void): void
}
const page = worker.registration.scope

worker.addEventListener('install', (event) =>
  event.waitUntil(caches.open(CACHE).then((cache) => cache.add(page))),
)
worker.addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(newest(event.request))
})

async function newest(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE)
  try {
    const answer = await fetch(request)
    if (answer.ok) await cache.put(page, answer.clone())
    return answer
  } catch (error) {
    const kept = await cache.match(page)
    if (kept) return kept
    throw error
  }
}
