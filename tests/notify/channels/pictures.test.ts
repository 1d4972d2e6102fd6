// The chart that goes with an alert: as each service takes it, and never in the way of the message.

import { beforeEach, describe, expect, test } from 'bun:test'
import type { PictureMaker } from '../../../src/notify/channels/kind.ts'
import type { ChannelKindName } from '../../../src/wire/channel.ts'
import { NO_REPLY, type Attempt, type Reply } from '../../../src/notify/webhooks/send.ts'
import { world as channelWorld } from './channel-world.ts'
import { pictureServices, type Services } from './picture-services.ts'

/** A PNG as far as a service looks at it: 1600 × 900 pixels. */
const PNG = Uint8Array.from(
  Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    Buffer.from([0, 0, 6, 64, 0, 0, 3, 132]),
    Buffer.alloc(500, 'x\r\n--'),
  ]),
)
const CHART = { owner: '', barTime: 0, levels: [70_000] }
const TELLS = { text: 'It rose.', chart: CHART, firingId: 'fir_1', url: 'https://room.example/chart/X' }

const SETTINGS = {
  ntfy: { topic: 'mine' },
  telegram: { token: '123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', chat: '-100' },
  discord: { url: 'https://discord.example/api/webhooks/1/x' },
  slack: { url: 'https://hooks.slack.example/services/T/B/x' },
  gotify: { server: 'https://gotify.example/', token: 'AbC' },
  pushover: { token: 'a'.repeat(30), user: 'u'.repeat(30) },
  matrix: { server: 'https://matrix.example', token: 'syt_x', room: '!abc:matrix.example' },
  http: { url: 'https://mine.example/in', body: '{"text": "{{text}}", "chart": "{{pictureUrl}}"}' },
} as const satisfies Partial<Record<ChannelKindName, object>>
type Kind = keyof typeof SETTINGS
const FILES: readonly Kind[] = ['ntfy', 'telegram', 'discord', 'pushover', 'matrix']
const ADDRESSES: readonly Kind[] = ['slack', 'gotify', 'http']
const ADDRESS = 'https://room.example/p/1.png'

/** The connection broke before an answer came. */
const LOST = new Error('lost')

let services: Services
beforeEach(() => (services = pictureServices()))

async function replyOf({ url, method, headers, body }: Attempt): Promise<Reply> {
  const request = new Request(url.href, { method, headers, body: body as Uint8Array<ArrayBuffer> })
  const answer = await services.answer(request).catch((error: unknown) => {
    if (error !== LOST) throw error
    return null
  })
  if (!answer) return { ...NO_REPLY, failure: 'connection_reset' }
  if (services.loses-- > 0) return { ...NO_REPLY, failure: 'connection_reset' }
  const excerpt = await answer.text()
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), excerpt, failure: null }
}

async function world({
  made = { png: PNG },
  ...options
}: { made?: Awaited<ReturnType<PictureMaker['of']>>; publicUrl?: string | null } = {}) {
  const looks: object[] = []
  const pictures: PictureMaker = {
    async of(_notice, look) {
      looks.push(look)
      return made
    },
    path: async () => '/p/1.png',
  }
  const inner = await channelWorld({ pictures, send: replyOf, ...options })
  return Object.assign(inner, {
    looks,
    channel: (kind: Kind, part: object = {}) =>
      inner.channels.create('usr_1', { name: kind, kind, settings: SETTINGS[kind], ...part }),
  })
}

test.each(FILES)('%s gets the picture itself, with the message', async (kind) => {
  const { channel, fire, log, stop } = await world()
  const { id } = await channel(kind)
  await fire([id], { ...TELLS, title: 'Пробой "вверх"', text: 'Строка\nдругая' })
  const text = services.shown.map((one) => one.text).join('\n')
  expect(text).toContain('Пробой')
  expect(text).toContain('Строка\nдругая')
  const picture = services.shown.at(-1)?.picture
  expect(picture).toEqual(kind === 'matrix' ? `mxc://matrix.example/${PNG.length}` : PNG)
  expect((await log(id))[0]).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 200 }],
  })
  expect((await log(id))[0]?.attempts[0]).not.toHaveProperty('note')
  await stop()
})

test.each(ADDRESSES)('%s gets the address of the picture', async (kind) => {
  const { channel, fire, stop } = await world()
  await fire([(await channel(kind)).id], TELLS)
  const [{ text, picture } = { text: '', picture: null }] = services.shown
  expect(kind === 'http' ? JSON.parse(text).chart : picture).toBe(ADDRESS)
  await stop()
})

test.each(ADDRESSES)('%s gets none from a server that does not know its own address', async (kind) => {
  const { channel, fire, looks, stop } = await world({ publicUrl: null })
  await fire([(await channel(kind)).id], TELLS)
  const [{ text, picture } = { text: '', picture: '' }] = services.shown
  expect([kind === 'http' ? JSON.parse(text).chart : picture, looks]).toEqual([
    kind === 'http' ? '' : null,
    [],
  ])
  await stop()
})

test('a picture is drawn only for those who want one, as they want it', async () => {
  const { channel, fire, looks, notice, stop } = await world()
  const quiet = { from: '03:00', to: '04:00', timezone: 'Europe/Berlin' }
  const ids = [
    await channel('telegram'),
    await channel('discord', { picture: 'light', quiet }),
    await channel('pushover', { picture: 'off' }),
    await channel('http', { settings: { url: 'https://mine.example/in' } }),
  ].map(({ id }) => id)
  await fire(ids, TELLS)
  // In the order in which the store answers.
  expect(looks.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
    { theme: 'dark', zone: 'UTC' },
    { theme: 'light', zone: 'Europe/Berlin' },
  ])
  // Where nothing fired there is nothing to draw.
  await fire(ids, notice({ text: 'A test.' }))
  expect([looks.length, services.shown.length]).toEqual([2, 8])
  await stop()
})

test('what cannot be drawn goes without, and the log says why', async () => {
  const { channel, fire, log, stop } = await world({ made: { why: 'its bars are not there any more.' } })
  const { id } = await channel('telegram')
  await fire([id], TELLS)
  expect(services.asked).toEqual([expect.stringMatching(/sendMessage$/)])
  expect((await log(id))[0]?.attempts).toMatchObject([
    { status: 200, note: 'There was no chart: its bars are not there any more.' },
  ])
  await stop()
})

const REFUSALS: Readonly<Record<string, readonly [Kind, number, object | string]>> = {
  'a chat without photos': [
    'telegram',
    400,
    { ok: false, error_code: 400, description: 'Bad Request: not enough rights to send photos to the chat' },
  ],
  'a server without attachments': [
    'ntfy',
    400,
    { code: 40_014, http: 400, error: 'invalid request: attachments not allowed' },
  ],
  'a file that is too large for a server': [
    'ntfy',
    413,
    { code: 41_301, http: 413, error: 'attachment too large, or bandwidth limit reached' },
  ],
  'a day’s share of files that is used up': [
    'ntfy',
    429,
    { code: 42_905, http: 429, error: 'limit reached: daily bandwidth reached' },
  ],
  'a proxy in front of a service': ['discord', 413, '<html>413 Request Entity Too Large</html>'],
  'a picture that a service cannot fetch': ['slack', 400, 'invalid_blocks'],
  'an attachment that is none': ['pushover', 400, { status: 0, errors: ['attachment is invalid'] }],
}
test.each(Object.entries(REFUSALS))(
  '%s: the text goes alone, in the same attempt',
  async (_, [kind, status, body]) => {
    const { channel, fire, log, stop } = await world()
    let first = true
    services.instead = () => {
      if (!first) return null
      first = false
      return typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status })
    }
    const { id } = await channel(kind)
    await fire([id], TELLS)
    expect(services.shown).toMatchObject([{ picture: null }])
    const [{ state, attempts } = { state: '', attempts: [] }] = await log(id)
    expect([state, attempts.length]).toEqual(['delivered', 1])
    expect(attempts[0]?.note).toStartWith(`The chart was refused: ${status}: `)
    await stop()
  },
)

test('a service that refuses both says so once, and nothing is tried again', async () => {
  const { channel, fire, log, stop } = await world()
  services.instead = () =>
    Response.json({ ok: false, description: 'Bad Request: chat not found' }, { status: 400 })
  const { id } = await channel('telegram')
  await fire([id], TELLS)
  expect(services.asked.map((path) => path.split('/').at(-1))).toEqual(['sendPhoto', 'sendMessage'])
  expect((await log(id))[0]).toMatchObject({ state: 'failed', attempts: [{ status: 400 }] })
  await stop()
})

test('a service that asks to wait is waited for, and gets the picture then', async () => {
  const { channel, clock, fire, log, stop } = await world()
  let refusals = 1
  services.instead = () =>
    refusals-- > 0
      ? Response.json({ ok: false, error_code: 429, parameters: { retry_after: 30 } }, { status: 429 })
      : null
  const { id } = await channel('telegram')
  await fire([id], TELLS)
  expect(services.shown).toEqual([])
  await clock.pass(29_000)
  expect(services.asked).toHaveLength(1)
  await clock.pass(60_000)
  expect(services.shown).toMatchObject([{ picture: PNG }])
  expect((await log(id))[0]).toMatchObject({
    state: 'delivered',
    attempts: [{ status: 429 }, { status: 200 }],
  })
  await stop()
})

test.each([
  ['is down', () => new Response(null, { status: 502 })],
  ['breaks', () => Promise.reject(LOST)],
])('a service that %s gets the text alone the next time: it may be the picture', async (_, broken) => {
  const { channel, clock, fire, log, stop } = await world()
  let first = true
  services.instead = () => {
    if (!first) return null
    first = false
    return broken()
  }
  const { id } = await channel('pushover')
  await fire([id], TELLS)
  await clock.pass(120_000)
  expect(services.shown).toMatchObject([{ picture: null }])
  expect((await log(id))[0]?.attempts.at(-1)?.note).toBe('The chart was left out of another try.')
  await stop()
})

test('a text that is longer than a caption goes whole, without the picture', async () => {
  const { channel, fire, stop } = await world()
  const { id } = await channel('telegram')
  const around = `BTC above 70,000\n\nOpen the chart`.length
  await fire([id], { ...TELLS, text: '<'.repeat(1024 - around) })
  await fire([id], { ...TELLS, text: '<'.repeat(1025 - around) })
  expect(services.shown).toMatchObject([{ picture: PNG }, { picture: null }])
  expect(services.asked.map((path) => path.split('/').at(-1))).toEqual(['sendPhoto', 'sendMessage'])
  await stop()
})

describe('Matrix', () => {
  test('shows text and picture once, however often both are sent', async () => {
    const { channel, channels, clock, fire, log, wake, stop } = await world()
    // What is sent is taken, and the answer is lost on the way: twice.
    services.loses = 2
    const { id } = await channel('matrix')
    await fire([id], TELLS)
    await clock.pass(600_000)
    expect(services.shown.map(({ picture }) => picture)).toEqual([null, `mxc://matrix.example/${PNG.length}`])
    expect((await log(id))[0]).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 0 }, { status: 0 }, { status: 200 }],
    })
    const again = services.asked.length
    await channels.resend('usr_1', (await log(id))[0]!.id)
    wake()
    await clock.settle()
    // By hand it is another message.
    expect([services.shown.length, services.asked.length]).toEqual([4, again + 3])
    await stop()
  })
  test('has the text also where the picture does not get through, and the log says why', async () => {
    const { channel, fire, log, stop } = await world()
    services.instead = (request) =>
      request.url.includes('/upload')
        ? Response.json({ errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2000 }, { status: 429 })
        : null
    const { id } = await channel('matrix')
    await fire([id], TELLS)
    expect(services.shown).toMatchObject([{ picture: null }])
    const [{ state, attempts } = { state: '', attempts: [] }] = await log(id)
    expect([state, attempts.length]).toEqual(['delivered', 1])
    expect(attempts[0]?.note).toStartWith('The chart was not sent: 429: {"errcode":"M_LIMIT_EXCEEDED"')
    await stop()
  })
})

test('links to pause are in a message with a picture too', async () => {
  const { channel, fire, stop } = await world()
  for (const kind of FILES) await fire([(await channel(kind)).id], { ...TELLS, alertId: 'al_1' })
  const texts = services.shown.map(({ text }) => text).filter((text) => text !== 'chart.png')
  expect(texts).toHaveLength(FILES.length)
  for (const text of texts) expect(text).toContain('https://room.example/tap#pause-al_1')
  await stop()
})
