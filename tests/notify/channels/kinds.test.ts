// What each service is sent, by its own documentation: addresses, headers, names of fields and limits, written by hand.

import { NO_REPLY } from '../../../src/notify/webhooks/send.ts'
import { describe, expect, test } from 'bun:test'
import type { ChannelKind, ChannelRequest, Notice, Settings } from '../../../src/notify/channels/kind.ts'
import { PUSH_BYTES } from '../../../src/notify/channels/push-encryption.ts'
import { KINDS } from '../../../src/notify/channels/kinds.ts'
import { CHANNEL_KINDS, type ChannelKindName } from '../../../src/wire/channel.ts'

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
  const { text, blocks } = sent('slack', SETTINGS.slack, { actions }).body
  expect(blocks[1].elements[0].elements.at(-1)).toEqual({ type: 'link', text: 'Pause the alert', url: PAUSE })
  expect(text).toEndWith(`<${PAUSE}|Pause the alert>`)
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
          title: String.raw`BTC \<above\> 70,000 & rising`,
          description: String.raw`\@everyone`,
          timestamp: '2026-11-22T12:00:00.000Z',
          url: 'https://room.example/alerts',
        },
      ],
    },
  })
})

test('Slack is sent plain and rich text, and a text for notifications with its three characters escaped', () => {
  const { body } = sent('slack', SETTINGS.slack, { text: '<!channel> a&b *c*' })
  expect(body).toEqual({
    text: 'BTC &lt;above&gt; 70,000 &amp; rising: &lt;!channel&gt; a&amp;b *c*\n<https://room.example/alerts|Open the chart>',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: NOTICE.title, emoji: false } },
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [
              { type: 'text', text: '<!channel> a&b *c*' },
              { type: 'text', text: '\n' },
              { type: 'link', text: 'Open the chart', url: 'https://room.example/alerts' },
            ],
          },
        ],
      },
    ],
  })
  // An element may not be empty.
  expect(sent('slack', SETTINGS.slack, { text: '', url: null }).body.blocks).toHaveLength(1)
  const loud = sent('slack', SETTINGS.slack, { text: '@channel @HERE @all @everyone me@allied.example' }).body
  expect(loud.text).not.toMatch(/@(?:channel|here|all\b|everyone)/i)
  expect(loud.text).toContain('me@allied.example')
})

describe('what a person wrote', () => {
  const texts = [
    '*_~|`**bold** __x__ ||spoiler|| ~~no~~ `code`',
    '<@everyone> @everyone @here <@123> <#5> <t:0:R> <:a:1>',
    String.raw`back\slash \* \_`,
    '# head\n## two\n-# small\n- item\n+ item\n  - deep\n1. one\n  22. two\n> quote\n>>> all',
    '[link](https://evil.example) <https://x.example/a_b> :smile: :+1: :100: a:b:c',
  ]
  /** What Discord shows: a backslash before a sign is gone, and addresses are as they are. */
  const shown = (marked: string) =>
    marked
      .split(/(https?:\/\/[^\s<]+)/i)
      .map((part, i) => (i % 2 === 1 ? part : part.replace(/\\([^0-9A-Za-z\s])/g, '$1')))
      .join('')
  const marks = (marked: string) =>
    marked.replace(/\\[^0-9A-Za-z\s]/g, 'x').replace(/https?:\/\/[^\s<]+/gi, '')

  test.each(texts)('is shown by Discord as it is: %s', (text) => {
    const [{ title, description }] = sent('discord', SETTINGS.discord, { title: text, text }).body.embeds
    expect([shown(title), shown(description)]).toEqual([text, text])
    for (const one of [title, description]) {
      expect(marks(one)).not.toMatch(/[*_~|`<>[\]@]/)
      expect(marks(one)).not.toMatch(/^[ \t]*(?:[-+#]|\d+\.)|:(?!\d\d?:)[\w+-]+:/m)
    }
  })
  test('keeps a time free of backslashes', () => {
    const text = '2026-11-23T12:30:45.000Z, 7:05:00'
    expect(sent('discord', SETTINGS.discord, { text }).body.embeds[0].description).toBe(text)
  })
  test('is not cut within what was escaped', () => {
    const long = { title: '*'.repeat(300), text: '_'.repeat(9000) }
    const [{ title, description }] = sent('discord', SETTINGS.discord, long).body.embeds
    expect(title).toBe(String.raw`\*`.repeat(127) + '…')
    expect(description.length).toBeLessThanOrEqual(4096)
    expect(description).toMatch(/^(?:\\_)+…$/)
  })
  test.each(texts)('has no marks for Telegram and Matrix, and pings nobody: %s', (text) => {
    const read = (html: string) =>
      html
        .replaceAll('<br>', '\n')
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&')
    const quiet = { title: 'T', text, url: null }
    const telegram = sent('telegram', SETTINGS.telegram, quiet).body.text
    const matrix = sent('matrix', SETTINGS.matrix, quiet).body
    expect([read(telegram), read(matrix.formatted_body)]).toEqual(
      ['<b>T</b>', '<b>T</b>'].map((title) => `${title}\n${text}`),
    )
    expect([telegram, matrix.formatted_body].join('').replace(/<\/?(?:b|br)>/g, '')).not.toMatch(/[<>]/)
    expect([matrix.body, matrix['m.mentions']]).toEqual([`T\n${text}`, {}])
  })
})

describe('a digest', () => {
  const line = (i: number, url: string) => ({
    text: `07:0${i % 10} *n${i}*`,
    links: [
      { label: 'Chart', url: `https://room.example/chart/${i}` },
      { label: 'Pause', url },
    ],
  })
  const lines = [line(0, `${PAUSE}0`), line(1, `${PAUSE}1`), { text: '… and 5 more', links: [] }]
  const digest = { text: lines.map(({ text }) => text).join('\n'), lines }

  test('has the chart of each line, and a link that pauses its alert, where a message has links', () => {
    expect(sent('telegram', SETTINGS.telegram, digest).body.text).toContain(
      `\n07:00 *n0* · <a href="https://room.example/chart/0">Chart</a> · <a href="${PAUSE}0">Pause</a>\n07:01 `,
    )
    expect(sent('discord', SETTINGS.discord, digest).body.embeds[0].description).toBe(
      [0, 1]
        .map(
          (i) =>
            String.raw`07:0${i} \*n${i}\*` +
            ` · [Chart](https://room.example/chart/${i}) · [Pause](${PAUSE}${i})\n`,
        )
        .join('') + '… and 5 more',
    )
    const { elements } = sent('slack', SETTINGS.slack, digest).body.blocks[1].elements[0]
    expect(elements.slice(0, 5)).toEqual([
      { type: 'text', text: '07:00 *n0*' },
      { type: 'text', text: ' · ' },
      { type: 'link', text: 'Chart', url: 'https://room.example/chart/0' },
      { type: 'text', text: ' · ' },
      { type: 'link', text: 'Pause', url: `${PAUSE}0` },
    ])
    expect(elements.at(-1)).toMatchObject({ text: 'All alerts' })
    const { formatted_body: shown } = sent('matrix', SETTINGS.matrix, digest).body
    expect(shown).toContain(`<a href="${PAUSE}1">Pause</a><br>… and 5 more<br>`)
  })

  test('leaves out links rather than lines where there is little room', () => {
    const about = (length: number) => {
      const many = Array.from({ length: 20 }, (_, i) => line(i, `${PAUSE}${'x'.repeat(length)}`))
      const text = many.map((one) => one.text).join('\n')
      return sent('discord', SETTINGS.discord, { text, lines: many }).body.embeds[0].description as string
    }
    const counts = (text: string) => ['n19', '[Chart]', '[Pause]'].map((one) => text.split(one).length - 1)
    expect(counts(about(10))).toEqual([1, 20, 20])
    // As many lines as there is room for have theirs.
    expect(counts(about(200))).toEqual([1, 20, 12])
    expect(about(200).length).toBeLessThanOrEqual(4096)
    expect(counts(about(3000))).toEqual([1, 20, 0])
    const wide = Array.from({ length: 20 }, (_, i) => ({ ...line(i, PAUSE), text: 'w'.repeat(180) }))
    const text = wide.map((one) => one.text).join('\n')
    const { description } = sent('discord', SETTINGS.discord, { text, lines: wide }).body.embeds[0]
    expect([description.split('\n').length, counts(description)]).toEqual([20, [0, 11, 0]])
  })

  test('of more than a service takes is its first lines, whole, and says how many are missing', () => {
    const many = Array.from({ length: 20 }, (_, i) => ({
      ...line(i, PAUSE),
      text: `n${i} ${'щ'.repeat(180)}`,
    }))
    const rest = { text: '… and 5 more', links: [], more: 5 }
    const whole = { lines: [...many, rest], price: null }
    const all = { ...whole, text: whole.lines.map(({ text }) => text).join('\n') }
    for (const [kind, text] of [
      ['ntfy', sent('ntfy', SETTINGS.ntfy, all).body.message],
      ['pushover', sent('pushover', SETTINGS.pushover, all).body.message],
      ['push', sent('push', SETTINGS.push, all).body.text],
    ] as const) {
      const lines = text.split('\n')
      const shown = lines.length - 1
      expect([kind, shown > 3 && shown < 20]).toEqual([kind, true])
      expect([kind, ...lines]).toEqual([
        kind,
        ...many.slice(0, shown).map((one) => one.text),
        `… and ${25 - shown} more`,
      ])
    }
    const short = {
      text: '07:00 n\n… and 5 more',
      lines: [{ text: '07:00 n', links: [] }, rest],
      price: null,
    }
    expect(sent('ntfy', SETTINGS.ntfy, short).body.message).toBe(short.text)
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
  test('may be asked by GET, with values in its address that stay what they are', () => {
    const url = 'https://x.example/{{symbol}}/say?text={{title}}&price={{price}}&key={{nothing}}#{{toString}}'
    const asked = (notice: Partial<Notice>) =>
      KINDS.http.request({ url, method: 'GET', body: '{{text}}' }, { ...NOTICE, ...notice }, 'ntc_1')
    expect(asked({ symbol: '../@y/', title: 'A & B=50 % #1\n' })).toEqual({
      method: 'GET',
      url: 'https://x.example/..%2F%40y%2F/say?text=A%20%26%20B%3D50%20%25%20%231%0A&price=70001.5&key={{nothing}}#{{toString}}',
      headers: { 'idempotency-key': 'ntc_1' },
      body: '',
    })
    // Half of a pair is no character, and an address has its limits.
    const long = new URL(asked({ title: `\ud800${'📈'.repeat(300)}` }).url)
    expect(long.searchParams.get('text')).toBe(`\ufffd${'📈'.repeat(249)}`)
    expect(KINDS.http.wantsPicture?.({ url: 'https://x/?p={{pictureUrl}}', method: 'GET' })).toBe(true)
    expect(KINDS.http.wantsPicture?.({ url, method: 'GET', body: '{{pictureUrl}}' })).toBe(false)
  })
  test.each(['.', '..', '%2e', '.%2E', '../..', '', 'a/../b', String.raw`..\..`, '..\t', '․'])(
    'is asked at its own path whatever a message says: %p',
    (text) => {
      const pathOf = (url: string) =>
        new URL(KINDS.http.request({ url, method: 'GET' }, { ...NOTICE, text }, 'ntc_1').url).pathname
      for (const part of ['{{text}}', '.{{text}}', '{{text}}%2e', '%2E{{ text }}', '{{text}}{{text}}'])
        for (const [before, behind] of [
          ['/say/hook/', '/end'],
          ['/say/hook/', ''],
          ['/say/hook/', '?a={{text}}'],
          ['/say/hook\\', String.raw`\end`],
        ] as const) {
          const path = pathOf(`https://x.example${before}${part}${behind}`).split('/')
          expect([part, behind, path.slice(0, 3)]).toEqual([part, behind, ['', 'say', 'hook']])
          expect(path).toHaveLength(behind.endsWith('end') ? 5 : 4)
        }
    },
  )
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

test.each([
  [
    'ntfy',
    '{"code":40301,"http":403,"error":"forbidden","link":"https://ntfy.sh/docs/publish/#authentication"}',
  ],
  ['gotify', '{"error":"Unauthorized","errorCode":401,"errorDescription":"provide a valid token"}'],
  ['pushover', '{"token":"invalid","errors":["application token is invalid"],"status":0,"request":"5"}'],
  ['telegram', '{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}'],
  ['discord', '{"message":"Unknown Webhook","code":10015}'],
  ['slack', 'no_service'],
  ['slack', '{"id":"api.incoming_webhook.disabled.app_error","message":"disabled","status_code":404}'],
  ['matrix', '{"errcode":"M_FORBIDDEN","error":"You are not in this room."}'],
] as const)('%s refuses in its own words, not in those of a proxy: %s', (kind, own) => {
  const refuses = (excerpt: string) => KINDS[kind].refuses?.({ ...NO_REPLY, status: 404, excerpt })
  expect(refuses(own)).toBe(true)
  for (const page of [
    '',
    '404 page not found',
    '<html>403 Forbidden</html>',
    'error code: 1020',
    'Forbidden',
  ])
    expect([page, refuses(page)]).toEqual([page, false])
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
      expect(JSON.stringify(json.blocks).length).toBeLessThanOrEqual(13_200)
    }
    if (kind === 'pushover')
      expect([json.title.length <= 250, json.message.length <= 1024]).toEqual([true, true])
    expect(body.isWellFormed()).toBe(true)
    // A title that is cut says so; a template has it whole.
    const title =
      json.title ??
      json.embeds?.[0].title ??
      json.blocks?.[0].text.text ??
      /<b>(.*?)<\/b>/.exec(json.text)?.[1]
    if (title !== undefined && kind !== 'http') expect([kind, title.at(-1)]).toEqual([kind, '…'])
  }
})

test('ntfy is sent no more JSON than it reads, however many signs are escaped in it', () => {
  for (const sign of ['"', '\\', '\u0001', 'я"']) {
    const { body } = sent('ntfy', SETTINGS.ntfy, {
      title: sign.repeat(200),
      text: `${sign.repeat(5000)}\nend`,
    })
    const bytes = Buffer.byteLength(JSON.stringify(body))
    expect([sign, bytes <= 8192, bytes > 4096, body.message.endsWith('…\nend')]).toEqual([
      sign,
      true,
      true,
      true,
    ])
  }
})

test('of a long text its user’s words give way, and market and price stay', () => {
  const market = 'BINANCE:BTCUSDT 1h, close 70001.5'
  const textsOf = (words: string) => {
    const text = `${words}\n${market}`
    return {
      ntfy: sent('ntfy', SETTINGS.ntfy, { text }).body.message as string,
      gotify: sent('gotify', SETTINGS.gotify, { text }).body.message as string,
      pushover: sent('pushover', SETTINGS.pushover, { text }).body.message as string,
      push: sent('push', SETTINGS.push, { text }).body.text as string,
      discord: sent('discord', SETTINGS.discord, { text }).body.embeds[0].description as string,
    }
  }
  const long = 'x'.repeat(1990)
  const { pushover, ...others } = textsOf(long)
  for (const text of Object.values(others)) expect(text).toBe(`${long}\n${market}`)
  expect(pushover).toMatch(/^x+…\n/)
  expect([pushover.length, pushover.endsWith(market)]).toEqual([1024, true])
  for (const words of ['я'.repeat(9000), 'two\nlines 📈 '.repeat(900)])
    for (const text of Object.values(textsOf(words))) {
      const [said = '', ...rest] = text.split(`…\n${market}`)
      expect([words.startsWith(said), rest]).toEqual([true, ['']])
    }
  const { ntfy } = textsOf('я'.repeat(9000))
  expect(4096 - Buffer.byteLength(ntfy)).toBeOneOf([0, 1])
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
  ['ntfy', '{"id":"hwQ2YpKdmg","event":"message","topic":"mine"}', ['{"healthy":true}', PAGE, '']],
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

const waits = (
  kind: ChannelKindName,
  answer: Record<string, unknown>,
  headers: Record<string, string> = {},
) => KINDS[kind].waits?.(answer, headers, 1_700_000_000_000)

test('a wait that stands in the body of an answer is read as seconds', () => {
  expect(waits('telegram', { ok: false, error_code: 429, parameters: { retry_after: 5 } })).toBe(5)
  expect(waits('discord', { message: 'You are being rate limited.', retry_after: 0.65 })).toBe(0.65)
  expect(waits('matrix', { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2500 })).toBe(2.5)
  for (const kind of ['telegram', 'discord', 'matrix'] as const) expect(waits(kind, {})).toBeUndefined()
})

// https://pushover.net/api#limits
test.each([
  [{ 'x-limit-app-remaining': '0', 'x-limit-app-reset': '1700000090' }, 90],
  [{ 'x-limit-app-remaining': '-1', 'x-limit-app-reset': '1700000000.5' }, 0.5],
  [{ 'x-limit-app-remaining': '17', 'x-limit-app-reset': '1700000090' }, undefined],
  [{ 'x-limit-app-remaining': '0', 'x-limit-app-reset': '1699999999' }, undefined],
  [{ 'x-limit-app-remaining': '0', 'x-limit-app-reset': 'soon' }, undefined],
  [{ 'x-limit-app-remaining': '0' }, undefined],
  [{ 'x-limit-app-reset': '1700000090' }, undefined],
  [{}, undefined],
])('Pushover with %p is let alone for %p seconds', (headers, seconds) => {
  const answer = { token: 'invalid', errors: ['application has exceeded current limit'], status: 0 }
  expect(waits('pushover', answer, headers)).toBe(seconds)
})

test('an HTTP channel says how many inboxes a message has come through, and lets no header of its own say it', () => {
  expect(sent('http', SETTINGS.http, { hops: 3 }).headers).toMatchObject({ 'chartroom-hops': '3' })
  expect(sent('http', SETTINGS.http).headers).not.toHaveProperty('chartroom-hops')
  expect(KINDS.http.mistake?.({ ...SETTINGS.http, headers: 'Chartroom-Hops: 0' })).toMatchObject({
    field: 'headers',
  })
})
