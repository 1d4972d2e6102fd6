// What the service worker shows of a message, and what a tap on it opens.

import { expect, test } from 'bun:test'
import { browserName } from '../../src/dashboard/channels/this-browser.ts'
import { openNotice, showNotice, type OpenPage } from '../../src/dashboard/offline/notices.ts'

const MESSAGE = { id: 'ntc_1', title: 'BTC above 70,000', text: 'now 📈', path: '/chart/X%3AB/1h', at: 5 }

function world(pages: readonly ('visible' | 'hidden')[]) {
  const done: unknown[] = []
  const open = pages.map((visibilityState, i): OpenPage => ({
    visibilityState,
    focus: async () => void done.push(['focus', i]),
    postMessage: (message) => void done.push(['message', i, message]),
  }))
  return {
    done,
    scope: {
      registration: {
        scope: 'https://room.example/charts/',
        showNotification: async (title: string, options: NotificationOptions) =>
          void done.push([title, options]),
      },
      clients: {
        matchAll: async () => open,
        openWindow: async (url: string) => void done.push(['open', url]),
      },
    },
  }
}
const notification = { data: { path: MESSAGE.path }, close: () => undefined, title: 'BTC', tag: 'ntc_1' }

test('a message is shown under its id, so that its repetition replaces it', async () => {
  const { scope, done } = world([])
  await showNotice(scope, MESSAGE)
  expect(done).toEqual([
    [
      'BTC above 70,000',
      { body: 'now 📈', tag: 'ntc_1', data: { path: MESSAGE.path, actions: [] }, actions: [] },
    ],
  ])
})

test('the chart of a message is fetched from where the dashboard is', async () => {
  const { scope, done } = world([])
  await showNotice(scope, { ...MESSAGE, picture: '/api/links/pictures/abc.png' })
  expect(done).toMatchObject([
    [MESSAGE.title, { image: 'https://room.example/charts/api/links/pictures/abc.png' }],
  ])
})

test('a tap opens a window, within the path that the server has', async () => {
  const { scope, done } = world([])
  await openNotice(scope, notification, '')
  expect(done).toEqual([['open', 'https://room.example/charts/chart/X%3AB/1h']])
})

test.each([
  [['hidden', 'visible'], 1],
  [['hidden', 'hidden'], 0],
] as const)('a tap with the pages %j open shows it in page %p, and loads nothing again', async (pages, i) => {
  const { scope, done } = world(pages)
  await openNotice(scope, notification, '')
  expect(done).toEqual([
    ['message', i, { show: MESSAGE.path }],
    ['focus', i],
  ])
})

test.each([
  [200, 'The alert is paused.'],
  [410, 'That did not reach Chartroom. Tap to open it.'],
])(
  'a button of it does what it says, and the notification says what came of it: %p',
  async (status, body) => {
    const actions = [{ action: 'pause', label: 'Pause the alert', token: 'abc' }] as const
    const { scope, done } = world(['visible'])
    await showNotice(scope, { ...MESSAGE, actions })
    const data = { path: MESSAGE.path, actions }
    expect(done).toEqual([
      [
        MESSAGE.title,
        expect.objectContaining({ data, actions: [{ action: 'pause', title: 'Pause the alert' }] }),
      ],
    ])
    const before = globalThis.fetch
    const asked: unknown[] = []
    globalThis.fetch = Object.assign(
      async (url: unknown, { body: sent }: { body?: unknown } = {}) => {
        asked.push(url, sent)
        return Response.json({ ok: true, link: { action: 'pause' } }, { status })
      },
      { preconnect: before.preconnect },
    ) as typeof fetch
    try {
      await openNotice(scope, { ...notification, data }, 'pause')
    } finally {
      globalThis.fetch = before
    }
    expect(asked).toEqual(['https://room.example/charts/api/links/follow', '{"token":"abc"}'])
    expect(done.slice(1)).toEqual([['BTC', { body, tag: 'ntc_1', data: { path: MESSAGE.path } }]])
  },
)

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0',
    'Edge on Windows',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1',
    'Safari on iPhone',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['Something else', 'Browser'],
])('%p is called %p', (agent, name) => {
  expect(browserName(agent)).toBe(name)
})
