// Tells of alerts beyond the page: by a notification of the browser and by a sound, while any tab is open.
//
// Every tab hears of every firing. The first that can tell of one does, and writes that down where all tabs of the browser
// see it; adding the same key a second time fails, also if both do it at the same moment.

import type { Firing } from '../../wire/alert.ts'
import { marketText, nameOf, quantity } from '../format.ts'
import { href } from '../router.ts'
import { notifyHere, soundHere, timezone } from '../settings.ts'
import { barText } from './alert-model.ts'

/** When many fire together, this many are shown one by one. */
const SHOWN_MAX = 3

export async function announce(firings: readonly Firing[]): Promise<void> {
  if (notifyHere.peek() && mayNotify()) await notify(await claimed('notification', firings))
  // A browser lets only a page ring in which something was clicked.
  const canRing = soundHere.peek() && (navigator.userActivation?.hasBeenActive ?? true)
  if (canRing && (await claimed('sound', firings)).length > 0) ring()
}

/** Whether the browser shows notifications of this page; it never does over http. */
export const mayNotify = (): boolean => 'Notification' in window && Notification.permission === 'granted'

async function notify(firings: readonly Firing[]): Promise<void> {
  const rest = firings.length - SHOWN_MAX
  for (const firing of firings.slice(0, SHOWN_MAX))
    await show(firing.message, {
      body: `${marketText(firing)} at ${quantity(firing.price)}${barText(firing, timezone.peek())}`,
      tag: firing.id,
      data: { path: `/chart/${encodeURIComponent(nameOf(firing))}/${firing.interval}` },
    })
  if (rest > 0) await show(`${rest} more alerts fired`, { tag: 'more alerts', data: { path: '/alerts' } })
}

/** By the service worker where there is one: phones take no other, and it answers the tap. */
async function show(
  title: string,
  options: NotificationOptions & { readonly data: { path: string } },
): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration()
  if (registration?.active) return registration.showNotification(title, options)
  new Notification(title, options).onclick = () => {
    window.focus()
    location.assign(href(options.data.path))
  }
}

/** Two short notes, the second higher. */
export function ring(): void {
  const audio = new AudioContext()
  const volume = new GainNode(audio, { gain: 0.15 })
  volume.connect(audio.destination)
  for (const [i, frequency] of [660, 880].entries()) {
    const note = new OscillatorNode(audio, { frequency })
    const begins = audio.currentTime + i * 0.18
    note.connect(volume)
    note.start(begins)
    note.stop(begins + 0.16)
    if (i === 1) note.onended = () => void audio.close()
  }
}

// ——— once over all tabs ———

const DATABASE = 'chartroom-told'
const STORE = 'told'
/** How long it is remembered: tabs hear of a firing within moments of one another. */
const REMEMBERED_MS = 3_600_000

/** Those of the firings that no other tab has told of in this way. All of them where the browser stores nothing. */
async function claimed(way: string, firings: readonly Firing[]): Promise<readonly Firing[]> {
  const database = await opened().catch(() => null)
  if (!database) return firings
  try {
    const mine = await Promise.all(firings.map(({ id }) => added(database, `${way} ${id}`)))
    return firings.filter((_, i) => mine[i])
  } finally {
    database.close()
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(DATABASE, 1)
    asked.onupgradeneeded = () =>
      asked.result.createObjectStore(STORE, { keyPath: 'key' }).createIndex('at', 'at')
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })
}

function added(database: IDBDatabase, key: string): Promise<boolean> {
  const transaction = database.transaction(STORE, 'readwrite')
  const store = transaction.objectStore(STORE)
  const now = Date.now()
  store.index('at').openCursor(IDBKeyRange.upperBound(now - REMEMBERED_MS)).onsuccess = ({ target }) => {
    const cursor = (target as IDBRequest<IDBCursorWithValue | null>).result
    if (!cursor) return
    cursor.delete()
    cursor.continue()
  }
  store.add({ key, at: now })
  return new Promise((resolve) => {
    transaction.oncomplete = () => resolve(true)
    transaction.onabort = () => resolve(false)
    transaction.onerror = () => resolve(false)
  })
}
