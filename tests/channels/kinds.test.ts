// What each service is sent, by its own documentation: addresses, headers, names of fields and limits, written by hand.

import { describe, expect, test } from 'bun:test'
import type { ChannelKind, ChannelRequest, Notice, Settings } from '../../src/channels/kind.ts'
import { PUSH_BYTES } from '../../src/channels/push-encryption.ts'
import { KINDS } from '../../src/channels/kinds.ts'
import { CHANNEL_KINDS, type ChannelKindName } from '../../src/wire/channel.ts'

const NOTICE: Notice = {
  title: 'BTC <above> 70,000 & rising',
  text: 'Пробой "вверх" 📈\nBINANCE:BTCUSDT 1h, close 70001.5',
  url: 'https://room.example/alerts',
  at: Date.UTC(2026, 10, 22, 12),
  symbol: 'BTCUSDT',
  exchange: 'BINANCE',
  interval: '1h',
  price: 70001.5,
}
const defaults = ({ fields }: ChannelKind): Settings =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default ?? '']))

function textOf({ body }: ChannelRequest): string {
  if (typeof body !== 'string') throw new Error('this is no text')
  return body
}

function sent(kind: ChannelKindName, settings: Settings, notice: Partial<Notice> = {}) {
  const request = KINDS[kind].request(
    { ...defaults(KINDS[kind]), ...settings },
    { ...NOTICE, ...notice },
    'ntc_1',
  )
  return { ...request, body: JSON.parse(textOf(request)) }
}

const SETTINGS: Readonly<Record<ChannelKindName, Settings>> = {
  ntfy: { topic: 'mine' },
  telegram: { token: '123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', chat: '-100' },
  discord: { url: 'https://discord.example/api/webhooks/1/x' },
  slack: { url: 'https://hooks.slack.example/services/T/B/x' },
  gotify: { server: 'https://push.example/', token: 'AbC' },
  pushover: { token: 'a'.repeat(30), user: 'u'.repeat(30) },
  matrix: { server: 'https://matrix.example', token: 'syt_x', room: '!abc:matrix.example' },
  http: { url: 'https://mine.example/in' },
  push: { endpoint: 'https://push.example/x', p256dh: `B${'A'.repeat(86)}`, auth: 'A'.repeat(22) },
}

test('ntfy is sent JSON to the root of its server, and a token only if there is one', () => {
  expect(sent('ntfy', { topic: 'mine' })).toEqual({
    method: 'POST',
    url: 'https://ntfy.sh',
    headers: { 'content-type': 'application/json' },
    body: {
      topic: 'mine',
      title: NOTICE.title,
      message: NOTICE.text,
      priority: 4,
      tags: ['chart_with_upwards_trend'],
      click: 'https://room.example/alerts',
    },
  })
  const own = sent('ntfy', { topic: 't', server: 'https://push.home/', token: 'tk_x', priority: '5' })
  expect([own.url, own.headers, own.body.priority]).toEqual([
    'https://push.home',
    { 'content-type': 'application/json', authorization: 'Bearer tk_x' },
    5,
  ])
})

test('Telegram is sent HTML in which nothing of the alert is a mark, and no preview', () => {
  expect(sent('telegram', SETTINGS.telegram)).toEqual({
    method: 'POST',
    url: 'https://api.telegram.org/bot123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage',
    headers: { 'content-type': 'application/json' },
    body: {
      chat_id: '-100',
      text: '<b>BTC &lt;above&gt; 70,000 &amp; rising</b>\nПробой &quot;вверх&quot; 📈\nBINANCE:BTCUSDT 1h, close 70001.5\n<a href="https://room.example/alerts">Open the chart</a>',
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    },
  })
})

const PAUSE = 'https://room.example/tap#abc'

test('links to pause and acknowledge are in every message, and outlast any cut', () => {
  const actions = [
    { action: 'acknowledge', label: 'I have seen it', token: 'xyz', url: 'https://room.example/tap#xyz' },
    { action: 'pause', label: 'Pause the alert', token: 'abc', url: PAUSE },
  ] as const
  for (const kind of CHANNEL_KINDS) {
    const settings = kind === 'http' ? { ...SETTINGS.http, body: '{"p": "{{pauseUrl}}"}' } : SETTINGS[kind]
    for (const text of ['short', 'x'.repeat(9000)]) {
      const { body } = sent(kind, settings, { text, actions })
      const wanted = kind === 'push' ? '"token":"abc"' : PAUSE
      expect([kind, JSON.stringify(body).includes(wanted)]).toEqual([kind, true])
    }
  }
  expect(sent('ntfy', SETTINGS.ntfy, { actions }).body.actions[1]).toEqual({
    action: 'view',
    clear: true,
    label: 'Pause the alert',
    url: PAUSE,
  })
  expect(sent('telegram', SETTINGS.telegram, { actions }).body.text).toEndWith(
    `<a href="https://room.example/tap#xyz">I have seen it</a>\n<a href="${PAUSE}">Pause the alert</a>`,
  )
  expect(sent('slack', SETTINGS.slack, { actions }).body.blocks[1].text.text).toEndWith(
    `<${PAUSE}|Pause the alert>`,
  )
  expect(sent('discord', SETTINGS.discord, { actions }).body.embeds[0].description).toEndWith(
    `[Pause the alert](${PAUSE})`,
  )
  expect(sent('pushover', SETTINGS.pushover, { text: 'x'.repeat(9000), actions }).body.message).toHaveLength(
    1024,
  )
  const http = { ...SETTINGS.http, body: '{"a": "{{acknowledgeUrl}}"}' }
  expect(sent('http', http, { actions }).body).toEqual({ a: 'https://room.example/tap#xyz' })
  expect(sent('http', http).body).toEqual({ a: '' })
})

test('Discord is sent an embed that mentions nobody', () => {
  expect(sent('discord', SETTINGS.discord, { text: '@everyone' })).toEqual({
    method: 'POST',
    url: 'https://discord.example/api/webhooks/1/x?wait=true',
    headers: { 'content-type': 'application/json' },
    body: {
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: NOTICE.title,
          description: '@everyone',
          timestamp: '2026-11-22T12:00:00.000Z',
          url: 'https://room.example/alerts',
        },
      ],
    },
  })
})

test('Slack is sent blocks, and a text for notifications, with its three characters escaped', () => {
  const { body } = sent('slack', SETTINGS.slack, { text: '<!channel> a&b' })
  expect(body).toEqual({
    text: 'BTC &lt;above&gt; 70,000 &amp; rising: &lt;!channel&gt; a&amp;b',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: NOTICE.title } },
      {
        type: 'section',
        text: {
          type: 'mrkdwn',
          text: '&lt;!channel&gt; a&amp;b\n<https://room.example/alerts|Open the chart>',
        },
      },
    ],
  })
})

test('Gotify is sent its key in a header and the page to open as an extra', () => {
  expect(sent('gotify', SETTINGS.gotify)).toEqual({
    method: 'POST',
    url: 'https://push.example/message',
    headers: { 'content-type': 'application/json', 'x-gotify-key': 'AbC' },
    body: {
      title: NOTICE.title,
      message: NOTICE.text,
      priority: 8,
      extras: { 'client::notification': { click: { url: 'https://room.example/alerts' } } },
    },
  })
})

test('Pushover is sent both keys, and seconds', () => {
  expect(sent('pushover', { ...SETTINGS.pushover, device: 'phone' })).toEqual({
    method: 'POST',
    url: 'https://api.pushover.net/1/messages.json',
    headers: { 'content-type': 'application/json' },
    body: {
      token: 'a'.repeat(30),
      user: 'u'.repeat(30),
      title: NOTICE.title,
      message: NOTICE.text,
      priority: 0,
      timestamp: 1795348800,
      device: 'phone',
      url: 'https://room.example/alerts',
      url_title: 'Open the chart',
    },
  })
})

test('Matrix is put an event under the notification’s own id, so that a repetition is recognised', () => {
  const { method, url, headers, body } = sent('matrix', SETTINGS.matrix)
  expect([method, url, headers]).toEqual([
    'PUT',
    'https://matrix.example/_matrix/client/v3/rooms/!abc%3Amatrix.example/send/m.room.message/ntc_1',
    { 'content-type': 'application/json', authorization: 'Bearer syt_x' },
  ])
  expect(body).toMatchObject({ msgtype: 'm.text', format: 'org.matrix.custom.html' })
  expect(body.formatted_body).toContain('<b>BTC &lt;above&gt; 70,000 &amp; rising</b><br>Пробой')
  expect(body.body).toContain('https://room.example/alerts')
})

describe('an HTTP endpoint', () => {
  test('is sent its template, in which every value stays a JSON text', () => {
    const { method, headers, body } = sent('http', {
      ...SETTINGS.http,
      headers: 'Authorization: Bearer x\nHost: y',
    })
    expect([method, headers]).toEqual([
      'POST',
      { 'content-type': 'application/json', 'idempotency-key': 'ntc_1', authorization: 'Bearer x' },
    ])
    expect(body).toEqual({ title: NOTICE.title, text: NOTICE.text, symbol: 'BTCUSDT', price: 70001.5 })
    expect(sent('http', SETTINGS.http, { price: null }).body.price).toBeNull()
  })
  test('may be sent any other text, in which nothing is escaped and unknown names stay', () => {
    const { body, method } = KINDS.http.request(
      {
        url: 'https://x/',
        method: 'PUT',
        headers: 'Content-Type: text/plain',
        body: '{{ title }} {{nothing}} {{toString}}',
      },
      NOTICE,
      'ntc_1',
    )
    expect([method, body]).toEqual(['PUT', `${NOTICE.title} {{nothing}} {{toString}}`])
  })
})

test('however long an alert is, no service is sent more than it takes', () => {
  const long = { title: 'я'.repeat(3000), text: '📈<'.repeat(20_000), url: null }
  for (const kind of CHANNEL_KINDS) {
    const body = textOf(
      KINDS[kind].request({ ...defaults(KINDS[kind]), ...SETTINGS[kind] }, { ...NOTICE, ...long }, 'ntc_1'),
    )
    const json = JSON.parse(body)
    if (kind === 'ntfy') expect(new TextEncoder().encode(json.message).length).toBeLessThanOrEqual(4096)
    if (kind === 'telegram') expect(json.text.replaceAll('&lt;', '<').length).toBeLessThanOrEqual(4096)
    if (kind === 'discord')
      expect([json.embeds[0].title.length <= 256, json.embeds[0].description.length <= 4096]).toEqual([
        true,
        true,
      ])
    if (kind === 'slack') {
      expect(json.blocks[0].text.text.length).toBeLessThanOrEqual(150)
      expect(json.blocks[1].text.text.length).toBeLessThanOrEqual(3000)
    }
    if (kind === 'pushover')
      expect([json.title.length <= 250, json.message.length <= 1024]).toEqual([true, true])
    expect(body.isWellFormed()).toBe(true)
  }
})

test('a browser is told where the chart of its message is, also where the text leaves little room', () => {
  const picture = { png: new Uint8Array(), path: `/api/links/pictures/${'x'.repeat(300)}.png`, url: null }
  for (const text of ['short', '鑠'.repeat(6000)]) {
    const { body } = sent('push', SETTINGS.push, { text, picture })
    expect(body.picture).toBe(picture.path)
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(PUSH_BYTES)
  }
})

const PAGE = '<!DOCTYPE html><html><title>Sign in to the network</title></html>'
test.each([
  ['telegram', '{"ok":true,"result":{"message_id":7}}', ['{"ok":false}', '{"id":"x"}', PAGE, '']],
  ['discord', '{"id":"123","type":0}', ['{"message":"x"}', PAGE, '']],
  ['gotify', '{"id":25,"appid":5}', ['{"error":"x"}', PAGE, '']],
  ['ntfy', '{"id":"hwQ2YpKdmg","event":"message"}', ['{"healthy":true}', PAGE, '']],
  ['pushover', '{"status":1,"request":"647d2300"}', ['{"status":0}', PAGE, '']],
  ['matrix', '{"event_id":"$YUwRidLecu:example.com"}', ['{"errcode":"M_UNKNOWN"}', PAGE, '']],
  ['slack', 'ok', ['no_text', '{"ok":false}', '{"success":false}', PAGE]],
] as const)('%s has taken a message only if it says so in its own way', (kind, said, others) => {
  const isTaken = (excerpt: string) =>
    KINDS[kind].isTaken?.({ status: 200, retryAfter: null, excerpt, failure: null })
  expect(isTaken(said)).toBe(true)
  expect(others.filter(isTaken)).toEqual([])
})

test('servers that take what Slack or Discord takes may answer in their own way, and push services by 201', () => {
  const isTaken = (kind: ChannelKindName, status: number, excerpt: string) =>
    KINDS[kind].isTaken?.({ status, retryAfter: null, excerpt, failure: null })
  for (const excerpt of ['ok\n', '{"success":true}', '{}', ''])
    expect(isTaken('slack', 200, excerpt)).toBe(true)
  expect(isTaken('discord', 204, '')).toBe(true)
  expect([isTaken('push', 201, '<x>'), isTaken('push', 200, '')]).toEqual([true, true])
  expect(isTaken('push', 200, `\n${PAGE}`)).toBe(false)
  // Of any other address we know no answer, so its status is all there is.
  expect(KINDS.http.isTaken).toBeUndefined()
})

test('the address of a Discord channel keeps what it says of a thread', () => {
  const url = 'https://discord.example/api/webhooks/1/x?thread_id=5'
  expect(sent('discord', { url }).url).toBe(`${url}&wait=true`)
})

test('a wait that stands in the body of an answer is read as seconds', () => {
  expect(KINDS.telegram.waits?.({ ok: false, error_code: 429, parameters: { retry_after: 5 } })).toBe(5)
  expect(KINDS.discord.waits?.({ message: 'You are being rate limited.', retry_after: 0.65 })).toBe(0.65)
  expect(KINDS.matrix.waits?.({ errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2500 })).toBe(2.5)
  for (const kind of ['telegram', 'discord', 'matrix'] as const)
    expect(KINDS[kind].waits?.({})).toBeUndefined()
})
