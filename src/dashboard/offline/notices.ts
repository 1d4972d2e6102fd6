// Notifications of the browser that come from the server while perhaps no page is open: the service worker shows them, and
// a tap opens the chart, in a page that is open already if there is one.

import type { PushMessage } from '../../wire/channel.ts'
import type { AlertLink } from '../../wire/link.ts'

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
  const { id, title, text, path, picture, actions = [] } = message
  await registration.showNotification(title, {
    body: text,
    tag: id,
    data: { path, actions },
    // TypeScript does not know them, as browsers without service workers have none.
    ...({
      actions: actions.map(({ action, label }) => ({ action, title: label })),
      ...(picture !== undefined && { image: registration.scope + picture.slice(1) }),
    } as object),
  })
}

/** A tap on the notification, or on one of its buttons: `action` is the button's name, or ''. */
export async function openNotice(
  { registration, clients }: NoticeScope,
  notification: Pick<Notification, 'data' | 'close' | 'title' | 'tag'>,
  action: string,
): Promise<void> {
  notification.close()
  const { path, actions = [] } = notification.data as Pick<PushMessage, 'path' | 'actions'>
  const token = actions.find((one) => one.action === action)?.token
  if (token !== undefined) return follow(registration, token, notification)
  const pages = await clients.matchAll({ includeUncontrolled: true, type: 'window' })
  const page = pages.find(({ visibilityState }) => visibilityState === 'visible') ?? pages[0]
  if (!page) return void (await clients.openWindow(registration.scope + path.slice(1)))
  page.postMessage({ show: path })
  await page.focus()
}

/** Does what the button says, and says what came of it in the notification's place. */
async function follow(
  registration: NoticeScope['registration'],
  token: string,
  { title, tag, data }: Pick<Notification, 'data' | 'title' | 'tag'>,
): Promise<void> {
  const answer = await fetch(`${registration.scope}api/links/follow`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  }).catch(() => null)
  const { link } = answer?.ok ? ((await answer.json()) as { link: AlertLink }) : { link: null }
  const body = link === null ? 'That did not reach Chartroom. Tap to open it.' : DONE[link.action]
  await registration.showNotification(title, {
    body,
    tag,
    data: { path: (data as Pick<PushMessage, 'path'>).path },
  })
}

const DONE = { pause: 'The alert is paused.', acknowledge: 'Noted: nobody else will be told of it.' } as const
