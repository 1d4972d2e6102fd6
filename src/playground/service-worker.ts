// Keeps the page for when its host cannot be reached. It is one file, so this is all: the newest that there is, or else the last.

import { newest } from '../dashboard/offline/newest.ts'

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
  if (event.request.mode === 'navigate') event.respondWith(newest(event.request, page, CACHE))
})
