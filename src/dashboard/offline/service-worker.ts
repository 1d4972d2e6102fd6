// The service worker: keeps the files of one build, so that the page opens where the server cannot be reached.
//
// It never sees an answer of the API: those that are kept lie in IndexedDB (`kept-answers.ts`), where signing out removes
// them. The page itself always comes from the server while that answers, so nobody is held on an old version. A new build is
// a new worker. It waits until no page of the old build is open, since that still loads its parts, or takes over when the
// only page there is asks it to.

import type { PushMessage } from '../../wire/channel.ts'
import { newest } from './newest.ts'
import { openNotice, showNotice, type NoticeScope } from './notices.ts'

/** Written in by `server/source/dashboard-bundle.ts`. */
declare const BUILD: string
declare const FILES: readonly string[]

/** What a service worker's global scope has beyond a page's, as far as it is used here. */
interface Scope extends NoticeScope {
  skipWaiting(): Promise<void>
  addEventListener<T extends keyof Heard>(type: T, heard: (event: Heard[T]) => void): void
}
interface Extendable {
  waitUntil(done: Promise<unknown>): void
}
interface Heard {
  readonly install: Extendable
  readonly activate: Extendable
  readonly message: Extendable & { readonly data: unknown; readonly ports: readonly MessagePort[] }
  readonly push: Extendable & { readonly data: { json(): unknown } | null }
  readonly notificationclick: Extendable & { readonly notification: Notification; readonly action: string }
  readonly fetch: { readonly request: Request; respondWith(answer: Promise<Response>): void }
}
const worker = globalThis as unknown as Scope

const NAMES = 'chartroom-files-'
const CACHE = NAMES + BUILD
const home = worker.registration.scope
const assets = `${home}assets/`
/**
 * It is one file and registers no worker of its own, since it is in a sandbox without an origin. It is kept when somebody opens
 * it, since it is larger than all of the dashboard, and its policy with it.
 */
const playground = `${home}try`

worker.addEventListener('install', (event) => event.waitUntil(keepFiles()))
// Pages that are open stay as they are: what one has preloaded without the worker must not be asked of it a second time.
worker.addEventListener('activate', (event) => event.waitUntil(dropOthers()))
worker.addEventListener('message', (event) => {
  if (event.data === 'build') event.ports[0]?.postMessage(BUILD)
  if (event.data === 'take over') event.waitUntil(takeOver())
})
worker.addEventListener('push', (event) => {
  if (event.data) event.waitUntil(showNotice(worker, event.data.json() as PushMessage))
})
worker.addEventListener('notificationclick', (event) =>
  event.waitUntil(openNotice(worker, event.notification, event.action)),
)
worker.addEventListener('fetch', (event) => {
  const { request } = event
  if (request.method !== 'GET') return
  if (isOurs(request.url)) event.respondWith(fileOf(request))
  else if (request.mode === 'navigate')
    event.respondWith(isPlayground(request.url) ? newest(request, playground, CACHE) : pageOf(request))
})

/** Files of another build are the server's to answer. */
const isOurs = (url: string): boolean =>
  url.startsWith(assets) && (url.endsWith('.woff2') || FILES.includes(url.slice(assets.length)))

/** What is shared stands behind the `#`. */
const isPlayground = (url: string): boolean => url.replace(/\/?(?:[?#].*)?$/, '') === playground

/** All code at once: a part that is missing offline is a page that does not open. Typefaces are kept as they are used. */
async function keepFiles(): Promise<void> {
  const cache = await caches.open(CACHE)
  const page = await fetch(home, { cache: 'reload' })
  // While servers of two versions answer, the page may be of another build: then its files are not these.
  const text = await page.clone().text()
  if (!page.ok || !text.includes(`content="${BUILD}"`)) throw new Error('The page is of another build.')
  await cache.put(home, page)
  await cache.addAll(FILES.map((name) => assets + name))
}

async function dropOthers(): Promise<void> {
  const names = await caches.keys()
  await Promise.all(
    names.filter((name) => name.startsWith(NAMES) && name !== CACHE).map((name) => caches.delete(name)),
  )
}

async function takeOver(): Promise<void> {
  const open = await worker.clients.matchAll({ includeUncontrolled: true })
  if (open.length <= 1) await worker.skipWaiting()
}

async function pageOf(request: Request): Promise<Response> {
  const kept = async () => (await caches.open(CACHE)).match(home)
  try {
    const answer = await fetch(request)
    // A proxy answers for a server that is away.
    const isLost = answer.status >= 502 && answer.status <= 504
    return await withoutPreloads((isLost && (await kept())) || answer)
  } catch (error) {
    const page = await kept()
    if (page) return withoutPreloads(page)
    throw error
  }
}

/** The files are kept here already, and some browsers do not use what was preloaded past the worker, but say so. */
async function withoutPreloads(page: Response): Promise<Response> {
  if (!page.ok || !page.headers.get('content-type')?.startsWith('text/html')) return page
  const text = (await page.text()).replaceAll(/<link rel="modulepreload"[^>]*>/g, '')
  const headers = new Headers(page.headers)
  // They were those of the text as it came.
  headers.delete('content-encoding')
  headers.delete('content-length')
  return new Response(text, { status: page.status, headers })
}

/** A file's name contains a hash of its content, so a kept file is never out of date. */
async function fileOf(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE)
  const kept = await cache.match(request.url)
  if (kept) return kept
  const answer = await fetch(request)
  if (answer.ok) await cache.put(request.url, answer.clone())
  return answer
}
