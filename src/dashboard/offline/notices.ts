// Notifications of the browser that come from the server while perhaps no page is open: the service worker shows them, and
// a tap opens the chart, in a page that is open already if there is one.

import type { PushMessage } from '../../wire/channel.ts'

/** A page that this worker can speak to. */
export interface OpenPage {
  readonly visibilityState: 'visible' | 'hidden'
  focus(): Promise<unknown>
  postMessage(message: ToPage): void
}
/** What a page is asked: to show another path. */
export interface ToPage {
  readonly show: string
}
export interface NoticeScope {
  readonly registration: {
    readonly scope: string
    showNotification(title: string, options: NotificationOptions): Promise<void>
  }
  readonly clients: {
    matchAll(of: { includeUncontrolled: boolean; type?: 'window' }): Promise<readonly OpenPage[]>
    openWindow(url: string): Promise<unknown>
  }
}

/** The same notice again, as after a repeated delivery, replaces the first and makes no sound. */
export async function showNotice({ registration }: NoticeScope, message: PushMessage): Promise<void> {
  const { id, title, text, path } = message
  await registration.showNotification(title, { body: text, tag: id, data: { path } })
}

export async function openNotice(
  { registration, clients }: NoticeScope,
  notification: Pick<Notification, 'data' | 'close'>,
): Promise<void> {
  notification.close()
  const { path } = notification.data as { path: string }
  const pages = await clients.matchAll({ includeUncontrolled: true, type: 'window' })
  const page = pages.find(({ visibilityState }) => visibilityState === 'visible') ?? pages[0]
  if (!page) return void (await clients.openWindow(registration.scope + path.slice(1)))
  page.postMessage({ show: path })
  await page.focus()
}
