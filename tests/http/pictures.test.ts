// The chart of an alert, drawn by the engine and sent with the message, and the link under which others fetch it.

import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Channel, Notification } from '../../src/wire/channel.ts'
import type { Attempt } from '../../src/notify/webhooks/send.ts'
import { barCsv } from '../bar-csv.ts'
import { pixelsOf } from '../market/picture/png-pixels.ts'
import { testServer, unlimited } from './server.ts'

const TELEGRAM = {
  name: 'phone',
  kind: 'telegram',
  settings: { token: '123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', chat: '5' },
}
const SLACK = { name: 'team', kind: 'slack', settings: { url: 'https://hooks.slack.example/services/x' } }
const WEEK = 168 * 3_600_000

// The engine's thread is started in each.
setDefaultTimeout(900_000)

async function world() {
  const attempts: Attempt[] = []
  const mails: { readonly text: string; readonly picture: Uint8Array | null }[] = []
  const server = testServer(unlimited, {
    engine: 'real',
    network: {
      http: () => Promise.reject(new Error('no network in tests')),
      openSocket: () => {
        throw new Error('no network in tests')
      },
      publicUrl: 'https://room.example',
      mailTransport: async ({ text }, picture) => void mails.push({ text, picture }),
      async send(attempt) {
        attempts.push(attempt)
        return { status: 200, retryAfter: null, excerpt: '{"ok":true}', failure: null }
      },
    },
  })
  const cookie = await server.signUp()
  const call = (method: string, path: string, body?: object) =>
    server.call(method, `/api/platform${path}`, { headers: cookie, ...(body && { body }) })
  const series = (symbol: string) => `symbol=${symbol}&exchange=X&interval=1h`
  await server.call('POST', `/api/platform/bars/import?${series('ABC')}`, {
    headers: { ...cookie, 'content-type': 'text/csv' },
    body: barCsv(200),
  })
  const channel = async (body: object) => (await call('POST', '/channels', body)).json.channel as Channel
  const told = async ({ id }: Channel) =>
    (await call('GET', `/channels/${id}/notifications`)).json.notifications as Notification[]
  return {
    ...server,
    attempts,
    mails,
    user: (method: string, path: string, body?: object) =>
      server.call(method, `/api/auth/${path}`, { headers: cookie, ...(body && { body }) }),
    call,
    channel,
    told,
    /** Without channels by mail. */
    fire: (channels: readonly Channel[]) =>
      call('POST', '/alerts', {
        symbol: 'ABC',
        exchange: 'X',
        interval: '1h',
        kind: 'price',
        op: 'above',
        price: 1,
        name: 'high',
        channels: channels.length > 0 ? [] : ['email'],
        channelIds: channels.map(({ id }) => id),
      }),
    /** Sends until nothing waits. */
    async deliver(channels: readonly Channel[]) {
      const stop = new AbortController()
      const running = server.services.features.start(stop.signal)
      const isWaiting = async () =>
        (await Promise.all(channels.map(told))).flat().some(({ state }) => state === 'pending')
      while (await isWaiting()) await Bun.sleep(0)
      stop.abort()
      await running
    },
    /** Held against the operation's schema. */
    opened: (path: string) => server.call('GET', path),
    bare: (path: string) => server.app.handle(new Request(`http://localhost${path}`)),
  }
}

async function pngIn({ headers, body }: Attempt): Promise<Uint8Array> {
  const form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { ...headers } }).formData()
  return new Uint8Array(await (form.get('photo') as unknown as Blob).arrayBuffer())
}

test('an alert’s chart is drawn, sent to those who take files, and shown to those who take addresses', async () => {
  const { attempts, bare, channel, deliver, fire, opened, told } = await world()
  const channels = [await channel(TELEGRAM), await channel({ ...SLACK, picture: 'light' })]
  expect(channels.map(({ picture }) => picture)).toEqual(['dark', 'light'])
  await fire(channels)
  await deliver(channels)
  for (const one of channels) {
    const [notification] = await told(one)
    expect([notification?.state, notification?.attempts[0]?.note]).toEqual(['delivered', undefined])
  }
  const photo = attempts.find(({ url }) => url.pathname.endsWith('/sendPhoto'))
  const png = await pngIn(photo!)
  expect(pixelsOf(png)).toMatchObject({ width: 1600, height: 900 })
  expect(png.length).toBeLessThan(60_000)

  const slack = attempts.find(({ url }) => url.hostname === 'hooks.slack.example')
  const { blocks } = JSON.parse(new TextDecoder().decode(slack!.body))
  const address: string = blocks[2].image_url
  expect(address).toMatch(/^https:\/\/room\.example\/api\/links\/pictures\/[\w-]+\.png$/)
  expect((await opened(new URL(address).pathname)).status).toBe(200)
  const shown = await bare(new URL(address).pathname)
  expect(shown.status).toBe(200)
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'private, max-age=86400',
    'x-robots-tag': 'noindex, nofollow',
    'x-content-type-options': 'nosniff',
  })
  // The light one is another picture.
  const bytes = new Uint8Array(await shown.arrayBuffer())
  expect(pixelsOf(bytes).at(0, 899)).toBe('#ffffff')
  expect(pixelsOf(png).at(0, 899)).toBe('#0f1216')
})

test('a link to a chart ends after a week, and no other text is one', async () => {
  const { attempts, bare, channel, clock, deliver, fire, told } = await world()
  const channels = [await channel(SLACK)]
  await fire(channels)
  await deliver(channels)
  const { blocks } = JSON.parse(new TextDecoder().decode(attempts[0]!.body))
  const path = new URL(blocks[2].image_url).pathname
  const [{ id } = { id: '' }] = await told(channels[0]!)
  /** The boxes of these tests seal nothing. */
  const link = (text: string) => `/api/links/pictures/${Buffer.from(text).toString('base64url')}.png`
  const until = clock.now() + WEEK
  const code = async (at: string) => {
    const answer = await bare(at)
    return [
      answer.status,
      answer.ok ? 'png' : ((await answer.json()) as { error: { code: string } }).error.code,
    ]
  }
  expect(await code(link(`${id} dark ${until} UTC`))).toEqual([200, 'png'])
  for (const wrong of [
    '/api/links/pictures/x.png',
    '/api/links/pictures/☃',
    `${path.slice(0, 60)}.png`,
    link(`ntc_none dark ${until} UTC`),
    link(`${id} red ${until} UTC`),
    link(`pause al_1 fir_1 ${until}`),
    `/api/links/pictures/${'a'.repeat(1400)}`,
  ])
    expect([wrong, ...(await code(wrong))]).toEqual([wrong, 404, 'link_not_found'])
  clock.advance(WEEK + 1)
  expect(await code(path)).toEqual([410, 'link_expired'])
})

test('an alert whose bars are gone is told without its chart, and the log says so', async () => {
  const { attempts, call, channel, deliver, fire, told } = await world()
  const channels = [await channel(TELEGRAM)]
  await fire(channels)
  expect((await call('DELETE', '/bars?symbol=ABC&exchange=X&interval=1h')).status).toBe(200)
  await deliver(channels)
  expect(attempts.map(({ url }) => url.pathname.split('/').at(-1))).toEqual(['sendMessage'])
  const [notification] = await told(channels[0]!)
  expect(notification).toMatchObject({
    state: 'delivered',
    attempts: [{ note: 'There was no chart: its bars are not there any more.' }],
  })
})

test('the chart of a channel is switched off, and its form refuses other words', async () => {
  const { attempts, call, channel, deliver, fire } = await world()
  const one = await channel(TELEGRAM)
  expect((await call('PATCH', `/channels/${one.id}`, { picture: 'off' })).json.channel.picture).toBe('off')
  expect((await call('PATCH', `/channels/${one.id}`, { picture: 'blue' })).json.error.fields[0].path).toBe(
    '/picture',
  )
  await fire([one])
  await deliver([one])
  expect(attempts.map(({ url }) => url.pathname.split('/').at(-1))).toEqual(['sendMessage'])
})

test('the chart is in the mail of an alert, as its owner wants it, and nobody’s outbox lists what it is made of', async () => {
  const { call, fire, mails, services, user } = await world()
  const letters = async () =>
    (await call('GET', '/alerts/outbox')).json.letters as readonly Record<string, unknown>[]
  /** Sends the one letter that waits: the clock stands still, so the loop takes no second one. */
  async function mailed() {
    await fire([])
    const stop = new AbortController()
    const running = services.features.start(stop.signal)
    while ((await letters()).some(({ state }) => state === 'waiting')) await Bun.sleep(0)
    stop.abort()
    await running
    const { text = '', picture = null } = mails.at(-1) ?? {}
    expect(text).toContain('X:ABC 1h')
    expect(text).toMatch(
      /\n\nOpen the chart: https:\/\/room\.example\/chart\/X%3AABC\/1h\nPause it: https:\/\/room\.example\/tap#[\w-]+$/,
    )
    return picture && pixelsOf(picture).at(0, 899)
  }
  const change = async (body: object) => (await user('PATCH', 'user', body)).json
  expect((await user('GET', 'session')).json.user.mailPicture).toBe('dark')
  expect(await mailed()).toBe('#0f1216')
  expect((await change({ mailPicture: 'light' })).user.mailPicture).toBe('light')
  expect(await mailed()).toBe('#ffffff')
  expect((await change({ mailPicture: 'off' })).user).toMatchObject({ mailPicture: 'off', name: 'trader' })
  expect(await mailed()).toBeNull()
  expect((await change({ mailPicture: 'blue' })).error.fields[0].path).toBe('/mailPicture')
  expect((await change({ name: 'Ada' })).user).toMatchObject({ mailPicture: 'off', name: 'Ada' })
  expect((await letters()).map((letter) => 'picture' in letter)).toEqual([false, false, false])
})
