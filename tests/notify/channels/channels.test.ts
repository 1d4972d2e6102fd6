// Channels from their setting up to the answer of the service, on a clock that the test turns.

import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Notification } from '../../../src/notify/channels/channel.ts'
import { Channels } from '../../../src/notify/channels/channels.ts'
import { createChannelDeliverer } from '../../../src/notify/channels/deliver.ts'
import type { Notice } from '../../../src/notify/channels/kind.ts'
import { KINDS } from '../../../src/notify/channels/kinds.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { countSealed, markSecretsLost, opensSecrets } from '../../../src/server/sealed-secrets.ts'
import type { Kv } from '../../../src/store/kv.ts'
import { transact } from '../../../src/store/transaction.ts'
import { parseAllowList } from '../../../src/notify/webhooks/address.ts'
import type { SecretBox } from '../../../src/notify/webhooks/secret-box.ts'
import type { Attempt, Reply } from '../../../src/notify/webhooks/send.ts'
import { HandClock } from '../../lib/hand-clock.ts'
import { NO_PICTURES, TAKEN } from './channel-world.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const NOTICE: Notice = {
  title: 'BTC above 70,000',
  text: 'now',
  url: null,
  at: 0,
  symbol: 'BTCUSDT',
  exchange: 'BINANCE',
  interval: '1h',
  price: 70_001,
}
const reply = (status: number, excerpt = TAKEN, retryAfter: string | null = null): Reply => ({
  status,
  retryAfter,
  excerpt,
  failure: null,
})
const busy = (seconds: number) =>
  reply(429, JSON.stringify({ ok: false, error_code: 429, parameters: { retry_after: seconds } }))

let clock: HandClock
let sent: (Attempt & { at: number; text: string })[]
let respond: () => Reply | Promise<Reply>
beforeEach(() => {
  clock = new HandClock()
  sent = []
  respond = () => reply(200)
})

/** Sealing that needs no other thread, on which the clock could not wait. Like the real one, never twice the same. */
const boxOf = (key: number): SecretBox => ({
  seal: async (text, boundTo) => btoa(`${key} ${boundTo} ${crypto.randomUUID()} ${text}`),
  open: async (sealed, boundTo) => {
    const text = atob(sealed)
    if (!text.startsWith(`${key} ${boundTo} `)) throw new Error('another key')
    return text.slice(`${key} ${boundTo} ${crypto.randomUUID()} `.length)
  },
})

async function world({
  kv = testKv(),
  key = 7,
  dns = ['93.184.215.14'],
}: { kv?: Kv; key?: number; dns?: string[] } = {}) {
  const deps = {
    kv,
    clock,
    newId: idSource({ clock, random }),
    box: boxOf(key),
    allow: parseAllowList(''),
    resolve: async () => dns,
    userAgent: 'Chartroom/test',
    tools: {
      signer: { authorization: async () => 'vapid' },
      random,
      links: { token: async () => 'token', url: () => null },
      pictures: NO_PICTURES,
    },
    isAcknowledged: async () => false,
    send: async (attempt: Attempt) => {
      sent.push({ ...attempt, at: clock.now(), text: new TextDecoder().decode(attempt.body) })
      return respond()
    },
  }
  const channels = new Channels(deps)
  const notifier = createChannelDeliverer({ ...deps, spread: () => 0.5, log: () => {} })
  const stop = new AbortController()
  const running = notifier.run(stop.signal)
  return {
    kv,
    channels,
    async fire(ids: readonly string[], ownerId = 'usr_1') {
      await transact(kv, (tx) => channels.enqueue(tx, ownerId, ids, [{ notice: NOTICE }]))
      notifier.wake(ownerId)
      await clock.settle()
    },
    async wake() {
      notifier.wake('usr_1')
      await clock.settle()
    },
    telegram: (ownerId = 'usr_1') =>
      channels.create(ownerId, {
        name: 'me',
        kind: 'telegram',
        settings: { token: '123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', chat: '5' },
      }),
    log: async (id: string): Promise<readonly Notification[]> =>
      (await channels.log(id, { limit: 100 })).items,
    async stop() {
      stop.abort()
      await clock.settle()
      await running
    },
  }
}

describe('setting up', () => {
  test.each([
    [{ topic: '' }, '/settings/topic', 'required'],
    [{ topic: 'a b' }, '/settings/topic', 'format'],
    [{ topic: 'a', servr: 'x' }, '/settings/servr', 'unknown_field'],
    [{ topic: 'a', priority: '9' }, '/settings/priority', 'format'],
    [{ topic: 'a', server: 'ntfy.sh' }, '/settings/server', 'format'],
    [{ topic: 'a', server: 'http://ntfy.sh' }, '/settings/server', 'webhook_url_blocked'],
    [{ topic: 'a', server: 'https://127.0.0.1' }, '/settings/server', 'webhook_url_blocked'],
    [{ topic: 'a', server: 'https://ntfy.sh/b' }, '/settings/server', 'format'],
    [{ topic: 'a', server: 'https://mine.example/ntfy/a/' }, '/settings/server', 'format'],
    [{ topic: 'a', constructor: 'x' }, '/settings/constructor', 'unknown_field'],
  ])('%p is refused at %s: %s', async (settings, path, code) => {
    const { channels, stop } = await world()
    const error = await rejection(channels.create('usr_1', { name: 'n', kind: 'ntfy', settings }))
    expect(error).toMatchObject({ status: 422, details: { fields: [{ path, code }] } })
    await stop()
  })
  test('a topic in the address of the ntfy server belongs in its own field, a path of a proxy may stay', async () => {
    const { channels, stop } = await world()
    const made = (server: string) =>
      channels.create('usr_1', { name: 'n', kind: 'ntfy', settings: { topic: 'a', server } })
    expect(await rejection(made('https://ntfy.sh/a'))).toMatchObject({
      message: 'Give the server alone, as https://ntfy.sh: what follows it here belongs in Topic.',
    })
    for (const server of ['https://ntfy.sh/', 'https://mine.example/ntfy'])
      expect((await made(server)).settings['server']).toBe(server)
    await stop()
  })
  test.each([
    [
      { url: 'https://x.example/{{nosuch}}' },
      'url',
      '{{nosuch}} is no placeholder: there are {{title}}, {{text}},',
    ],
    [{ body: '{"a": "{{ title"}' }, 'body', '{{ title is no placeholder'],
    [{ body: '{{price}} {{toString}}' }, 'body', '{{toString}} is no'],
    [{ body: '{{Price}}' }, 'body', '{{Price}} is no'],
    [{ headers: 'X: y\nHost: other.example' }, 'headers', 'host is set by this server.'],
    [{ headers: 'Content-Length: 3' }, 'headers', 'content-length is'],
    [{ headers: 'transfer-encoding: chunked' }, 'headers', 'transfer-encoding is'],
  ])('an HTTP channel of %p is refused at %s: %s', async (given, field, message) => {
    const { channels, stop } = await world()
    const settings = { url: 'https://x.example/', ...given }
    const error = await rejection(channels.create('usr_1', { name: 'n', kind: 'http', settings }))
    expect(error).toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
      details: { fields: [{ path: `/settings/${field}`, code: 'format' }] },
    })
    await stop()
  })
  test('an HTTP channel may have every placeholder in its body, with braces of its own around it', async () => {
    const { channels, stop } = await world()
    const names = /With (.*)\./.exec(KINDS.http.fields['body']?.hint ?? '')?.[1] ?? ''
    const settings = {
      url: 'https://x.example/{{title}}',
      body: `{"a":{"b":{{price}}}} {{{ text }}} }} ${names}`,
    }
    await channels.create('usr_1', { name: 'n', kind: 'http', settings })
    expect(names.split(/, | and /)).toHaveLength(11)
    await stop()
  })
  test.each([
    ['ntfy', { topic: 'a', token: 'tk_ключ' }, 'token'],
    ['ntfy', { topic: 'a', token: 'tk a' }, 'token'],
    ['gotify', { server: 'https://gotify.example', token: 'ключ' }, 'token'],
    ['matrix', { server: 'https://matrix.example', room: '!r:x', token: 'syt_é' }, 'token'],
    ['http', { url: 'https://hook.example', headers: 'X: a\nAuthorization: Bearer ключ' }, 'headers'],
    ['http', { url: 'https://hook.example', headers: 'X: a\u0001b' }, 'headers'],
    ['http', { url: 'https://{{symbol}}.example/' }, 'url'],
    ['http', { url: 'https://hook.example:{{price}}/' }, 'url'],
    ['http', { url: 'https://{{title}}@hook.example/' }, 'url'],
    ['http', { url: 'https://hook.example', method: 'DELETE' }, 'method'],
  ] as const)(
    '%s with %p is refused, since no header, host or request can hold it',
    async (kind, settings, field) => {
      const { channels, stop } = await world()
      const error = await rejection(channels.create('usr_1', { name: 'n', kind, settings }))
      expect(error).toMatchObject({
        status: 422,
        details: { fields: [{ path: `/settings/${field}`, code: 'format' }] },
      })
      await stop()
    },
  )

  test('what is copied along with an address or a token is left out', async () => {
    const { channels, fire, stop } = await world()
    const settings = { server: '\ufeff https://gotify.example/ \n', token: '\u200bAbC\u2060\r\n' }
    const { id } = await channels.create('usr_1', { name: 'n', kind: 'gotify', settings })
    await fire([id])
    expect([sent[0]?.url.href, sent[0]?.headers['x-gotify-key']]).toEqual([
      'https://gotify.example/message',
      'AbC',
    ])
    await stop()
  })

  test('a name that leads into the server’s own network is refused', async () => {
    const { channels, stop } = await world({ dns: ['10.0.0.7'] })
    const error = await rejection(
      channels.create('usr_1', { name: 'n', kind: 'ntfy', settings: { topic: 't' } }),
    )
    expect(error).toMatchObject({
      details: { fields: [{ path: '/settings/server', code: 'webhook_url_blocked' }] },
    })
    await stop()
  })

  test('secrets are in no record as they are, and stay when other settings change', async () => {
    const { kv, channels, telegram, fire, stop } = await world()
    const { id } = await telegram()
    const stored = (await kv.list({ prefix: ['channels'] }, { limit: 100 })).map(({ value }) => value)
    expect(stored.join('')).not.toContain('AAHdq')
    expect(await channels.get('usr_1', id)).toMatchObject({ secrets: ['token'], settings: { chat: '5' } })
    await channels.change('usr_1', id, { settings: { chat: '@traders' } })
    await fire([id])
    expect(sent[0]?.url.pathname).toBe('/bot123:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage')
    expect(JSON.parse(sent[0]?.text ?? '')).toMatchObject({ chat_id: '@traders' })
    await stop()
  })

  test.each([
    ['gotify', { server: 'https://one.example', token: 'T' }, { server: 'https://two.example' }],
    ['gotify', { server: 'https://one.example', token: 'T' }, { server: 'https://one.example:444' }],
    ['ntfy', { topic: 't', token: 'T' }, { server: 'https://two.example' }],
    ['telegram', { chat: '5', token: `1:${'a'.repeat(30)}` }, { server: 'https://two.example' }],
    [
      'matrix',
      { server: 'https://one.example', token: 'T', room: '!r:m' },
      { server: 'https://two.example' },
    ],
    ['pushover', { token: 'a'.repeat(30), user: 'u'.repeat(30) }, { server: 'https://two.example' }],
    ['http', { url: 'https://one.example', headers: 'X-Key: T' }, { url: 'https://two.example' }],
  ] as const)('a %s with %p sends none of its secrets to %p', async (kind, settings, moved) => {
    const { channels, stop } = await world()
    const given: Record<string, string> = settings
    const { id } = await channels.create('usr_1', { name: 'n', kind, settings })
    const names = ['token', 'user', 'headers'].filter((name) => name in given)
    expect(await rejection(channels.change('usr_1', id, { settings: moved }))).toMatchObject({
      status: 422,
      details: {
        fields: names.map((name) => ({
          path: `/settings/${name}`,
          code: 'required',
          message: expect.stringMatching(/is another server now.* Enter .* again/),
        })),
      },
    })
    const again = Object.fromEntries(names.map((name) => [name, given[name] ?? '']))
    await channels.change('usr_1', id, { settings: { ...moved, ...again } })
    await stop()
  })

  test('secrets stay when the address changes on the same server', async () => {
    const { channels, stop } = await world()
    const settings = { url: 'https://one.example/a', headers: 'X-Key: T' }
    const { id } = await channels.create('usr_1', { name: 'n', kind: 'http', settings })
    const changed = await channels.change('usr_1', id, { settings: { url: 'https://one.example/b' } })
    expect(changed.secrets).toEqual(['url', 'headers'])
    await stop()
  })

  test('of somebody else is not there, and is told nothing', async () => {
    const { channels, telegram, fire, stop } = await world()
    const { id } = await telegram('usr_2')
    for (const work of [
      () => channels.get('usr_1', id),
      () => channels.change('usr_1', id, { name: 'x' }),
      () => channels.remove('usr_1', id),
    ])
      expect(await rejection(work())).toMatchObject({ status: 404, code: 'channel_not_found' })
    await fire([id])
    expect(sent).toEqual([])
    await stop()
  })
})

describe('when the key of the server is lost', () => {
  /** A Pushover and an ntfy channel without a token, in a store that was opened with another key. */
  async function lost() {
    const before = await world()
    const { id } = await before.channels.create('usr_1', {
      name: 'phone',
      kind: 'pushover',
      settings: { token: 'a'.repeat(30), user: 'u'.repeat(30), device: 'left' },
    })
    const open = await before.channels.create('usr_1', {
      name: 'topic',
      kind: 'ntfy',
      settings: { topic: 'mine' },
    })
    await before.stop()
    return { id, open: open.id, ...(await world({ kv: before.kv, key: 8 })) }
  }

  test('the channels that have secrets tell whether a key is the right one, are counted and are disabled', async () => {
    const { kv, channels, id, open, stop } = await lost()
    expect([await opensSecrets(kv, boxOf(7)), await opensSecrets(kv, boxOf(8))]).toEqual([true, false])
    expect(await countSealed(kv)).toEqual({ webhooks: 0, channels: 1, bridges: 0, providers: 0 })
    clock.time += HOUR
    expect(await markSecretsLost(kv, clock)).toEqual({ webhooks: 0, channels: 1, bridges: 0, providers: 0 })
    expect(await channels.get('usr_1', id)).toMatchObject({
      status: 'disabled',
      disabledReason: 'secret_lost',
      updatedAt: clock.now(),
    })
    expect(await channels.get('usr_1', open)).toMatchObject({ status: 'active', disabledReason: null })
    expect(await opensSecrets(kv, boxOf(8))).toBeNull()
    await stop()
  })

  test('one without secrets goes on, and its settings can be changed', async () => {
    const { channels, open, fire, stop } = await lost()
    await channels.change('usr_1', open, { settings: { priority: '5' } })
    await fire([open])
    expect(JSON.parse(sent[0]?.text ?? '')).toMatchObject({ topic: 'mine', priority: 5 })
    await stop()
  })

  test.each([
    [{}, ['/settings/token', '/settings/user']],
    [{ user: 'w'.repeat(30), device: 'right' }, ['/settings/token']],
  ])(
    'a change of settings that gives %p of the secrets names those that are missing',
    async (settings, paths) => {
      const { channels, id, stop } = await lost()
      const error = await rejection(channels.change('usr_1', id, { settings }))
      expect(error).toMatchObject({
        status: 422,
        code: 'validation_failed',
        details: { fields: paths.map((path) => ({ path, code: 'required' })) },
      })
      await stop()
    },
  )

  test.each(['marked', 'not marked'])('giving every secret again enables one that was %s', async (how) => {
    const { kv, channels, id, fire, stop } = await lost()
    if (how === 'marked') await markSecretsLost(kv, clock)
    if (how === 'marked')
      expect(await rejection(channels.change('usr_1', id, { status: 'active' }))).toMatchObject({
        status: 409,
        code: 'conflict',
      })
    const settings = { token: 'b'.repeat(30), user: 'w'.repeat(30) }
    expect(await channels.change('usr_1', id, { settings })).toMatchObject({
      status: 'active',
      disabledReason: null,
      settings: { device: 'left' },
      secrets: ['token', 'user'],
    })
    await fire([id])
    expect(JSON.parse(sent[0]?.text ?? '')).toMatchObject({ ...settings, device: 'left' })
    await stop()
  })

  test('an optional secret is taken away by an empty one', async () => {
    const before = await world()
    const settings = { topic: 'mine', token: 'tk_1' }
    const { id } = await before.channels.create('usr_1', { name: 'n', kind: 'ntfy', settings })
    await before.stop()
    const { channels, fire, stop } = await world({ kv: before.kv, key: 8 })
    await channels.change('usr_1', id, { settings: { token: '' } })
    await fire([id])
    expect(sent[0]?.headers).not.toHaveProperty('authorization')
    await stop()
  })
})

test('of two changes of the settings at once, none is undone: the second may be refused', async () => {
  const { channels, telegram, stop } = await world()
  const { id } = await telegram()
  const changes = [{ chat: '@one' }, { server: 'https://api.telegram.org/bots' }]
  const both = await Promise.allSettled(changes.map((settings) => channels.change('usr_1', id, { settings })))
  const isMade = ({ status }: (typeof both)[number]) => status === 'fulfilled'
  const made = changes.filter((_, i) => isMade(both[i]!))
  expect(made.length).toBeGreaterThan(0)
  expect((await channels.get('usr_1', id)).settings).toMatchObject(Object.assign({}, ...made))
  // On a store far away one may be over before the other reads.
  for (const one of both.filter((each) => !isMade(each)))
    expect(one).toMatchObject({ reason: { status: 409 } })
  await stop()
})

describe('a notification', () => {
  test('goes to each named channel once, and to no other', async () => {
    const { channels, telegram, fire, log, stop } = await world()
    const [one, two, other] = [await telegram(), await telegram(), await telegram()]
    await channels.change('usr_1', other.id, { status: 'disabled' })
    await fire([one.id, two.id, other.id, 'ch_gone'])
    expect(sent).toHaveLength(2)
    expect((await log(one.id)).map(({ state }) => state)).toEqual(['delivered'])
    expect(await log(other.id)).toEqual([])
    await stop()
  })

  test('waits as long as the service asks in its answer’s body', async () => {
    const { telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = () => reply(429, '{"ok":false,"error_code":429,"parameters":{"retry_after":120}}')
    await fire([id])
    const [waiting] = await log(id)
    // And a tenth more: the half of the spread.
    expect([waiting?.state, (waiting?.nextAt ?? 0) - clock.now()]).toEqual(['pending', 132_000])
    respond = () => reply(200)
    await clock.pass(131_000)
    expect(sent).toHaveLength(1)
    await clock.pass(2000)
    expect((await log(id))[0]?.state).toBe('delivered')
    await stop()
  })

  test('waits until the quota of Pushover returns, for a day at a time', async () => {
    const { channels, fire, log, stop } = await world()
    const settings = { token: 'a'.repeat(30), user: 'u'.repeat(30) }
    const { id } = await channels.create('usr_1', { name: 'n', kind: 'pushover', settings })
    const until = clock.now() / 1000 + 2 * 24 * 3600
    const headers = { 'x-limit-app-remaining': '0', 'x-limit-app-reset': String(until) }
    respond = () =>
      clock.now() / 1000 < until ? { ...reply(429, '{"status":0}'), headers } : reply(200, '{"status":1}')
    await fire([id])
    await fire([id])
    await clock.pass(26 * HOUR)
    expect(sent).toHaveLength(1)
    await clock.pass(28 * HOUR)
    expect(sent.map(({ at }) => (at - (sent[0]?.at ?? 0)) / HOUR)).toEqual([0, 26.4, 50.16, 50.16])
    expect((await log(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    await stop()
  })

  test('waits so each time that the service asks, which is no step of the schedule', async () => {
    const { telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = () => (sent.length === 4 ? reply(503) : sent.length < 6 ? busy(5) : reply(200))
    await fire([id])
    await clock.pass(60_000)
    expect(sent.map(({ at }) => at - (sent[0]?.at ?? 0))).toEqual([0, 5500, 11_000, 16_500, 21_500, 27_000])
    expect((await log(id))[0]).toMatchObject({ state: 'delivered', attempts: { length: 6 } })
    await stop()
  })

  test('ends when the service asks to wait for ever', async () => {
    const { telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = () => busy(5)
    await fire([id])
    await clock.pass(120 * HOUR)
    expect((await log(id))[0]).toMatchObject({ state: 'failed', attempts: { length: 30 } })
    expect(sent).toHaveLength(30)
    await stop()
  })

  test('older than the schedule is steps of it again, however long the service asks to wait', async () => {
    const { telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = () => busy(10 * 3600)
    await fire([id])
    await clock.pass(76 * HOUR)
    // Seven waits of 11 hours are 77, which is longer than all steps together.
    expect((await log(id))[0]).toMatchObject({ state: 'pending', waits: 7 })
    await clock.pass(24 * HOUR)
    expect((await log(id))[0]).toMatchObject({ waits: 7, attempts: { length: 10 } })
    await stop()
  })

  test('and all others of its channel wait while the service asks to, not those of another channel', async () => {
    const { telegram, fire, log, stop } = await world()
    const [{ id }, other] = [await telegram(), await telegram()]
    respond = () => (sent.length === 1 ? busy(6) : reply(200))
    await fire([id])
    for (let i = 0; i < 9; i++) {
      await fire([id])
      await clock.pass(600)
    }
    expect(sent).toHaveLength(1)
    await fire([other.id])
    expect(sent).toHaveLength(2)
    await clock.pass(1200)
    expect(sent).toHaveLength(12)
    expect((await log(id)).every(({ state }) => state === 'delivered')).toBe(true)
    await stop()
  })

  test('waits no longer for a service once its channel is set up for another, but does under another name', async () => {
    const { telegram, channels, fire, log, wake, stop } = await world()
    const { id } = await telegram()
    respond = () => (sent.length === 1 ? busy(3600) : reply(200))
    await fire([id])
    await fire([id])
    await channels.change('usr_1', id, { name: 'other', digestMinutes: 0 })
    await wake()
    expect(sent).toHaveLength(1)
    await channels.change('usr_1', id, { settings: { chat: '6' } })
    await wake()
    expect(sent).toHaveLength(3)
    expect((await log(id)).map(({ state, waits = 0 }) => [state, waits])).toEqual([
      ['delivered', 0],
      ['delivered', 2],
    ])
    await stop()
  })

  test('whose schedule was waiting for an outage to end goes at once with other settings', async () => {
    const { telegram, channels, fire, log, wake, stop } = await world()
    const { id } = await telegram()
    respond = () => reply(503)
    await fire([id])
    await clock.pass(6000)
    expect(sent).toHaveLength(2)
    respond = () => reply(200)
    const token = '9:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
    await channels.change('usr_1', id, { settings: { token } })
    await wake()
    expect(sent.at(-1)?.url.href).toContain(token)
    expect((await log(id))[0]?.state).toBe('delivered')
    await stop()
  })

  test('is held back no longer than was asked when the clock is set back', async () => {
    const { telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = () => (sent.length === 1 ? busy(6) : reply(200))
    await fire([id])
    clock.time -= 5 * HOUR
    await fire([id])
    await clock.pass(60_000)
    expect((await log(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    await stop()
  })

  test.each([
    ['a page', () => reply(200, '<html>Sign in to the network</html>'), 0],
    ['nothing', () => reply(200, ''), 0],
    ['a redirect', () => reply(302, ''), 302],
    ['that the network wants a sign-in', () => reply(511, '<html>Sign in</html>'), 511],
    ['a page that is not found', () => reply(404, '404 page not found\n'), 0],
    ['a page for robots', () => reply(403, '<html>Are you human?</html>'), 0],
  ])('is not delivered by %s from a network that is in between', async (_, portal, status) => {
    const { channels, telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = portal
    await fire([id])
    expect((await log(id))[0]).toMatchObject({
      state: 'pending',
      attempts: [{ status, failure: status === 0 ? 'not_the_service' : null }],
    })
    expect(await channels.get('usr_1', id)).toMatchObject({ failingSince: expect.any(Number) })
    respond = () => reply(200, '{"ok":true}')
    await clock.pass(HOUR)
    expect((await log(id))[0]).toMatchObject({ state: 'delivered', attempts: [{}, { status: 200 }] })
    expect(sent).toHaveLength(2)
    await stop()
  })

  test('counts as taken however long the answer is that repeats it, of which the log keeps the beginning', async () => {
    const { telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = () => reply(200, JSON.stringify({ result: { text: 'я'.repeat(20_000) }, ok: true }))
    await fire([id])
    const [{ state, attempts } = { state: '', attempts: [] }] = await log(id)
    expect([state, sent[0]?.excerptBytes]).toEqual(['delivered', 65_536])
    expect(Buffer.byteLength(attempts[0]?.excerpt ?? '')).toBeLessThanOrEqual(4100)
    await stop()
  })

  test('is not tried again when the service says that it never takes it, and the channel shows that it fails', async () => {
    const { channels, telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    respond = () => reply(403, '{"ok":false,"description":"Forbidden: bot was blocked by the user"}')
    await fire([id])
    await clock.pass(HOUR)
    expect(sent).toHaveLength(1)
    expect((await log(id))[0]).toMatchObject({ state: 'failed', attempts: [{ status: 403 }] })
    expect(await channels.get('usr_1', id)).toMatchObject({
      status: 'active',
      failingSince: expect.any(Number),
    })
    await stop()
  })

  test('that ntfy took for another topic, which the server’s address names, says so and is not sent again', async () => {
    const { channels, wake, log, stop } = await world()
    const settings = { topic: 't1', server: 'https://mine.example/mytopic' }
    const channel = await channels.create('usr_1', { name: 'n', kind: 'ntfy', settings })
    respond = () => reply(200, '{"id":"x","event":"message","topic":"mytopic","message":"{…}"}')
    await channels.test(channel, NOTICE)
    await wake()
    await clock.pass(HOUR)
    expect(sent).toHaveLength(1)
    expect((await log(channel.id))[0]).toMatchObject({
      state: 'failed',
      attempts: [
        {
          status: 0,
          failure: 'wrong_setting',
          note: 'The message went, as JSON, to the topic mytopic and not to t1, since the address in Server names one. Give the server alone there.',
        },
      ],
    })
    // Behind the path of a proxy the topic is the one that was meant.
    respond = () => reply(200, '{"id":"x","event":"message","topic":"t1"}')
    await channels.test(channel, NOTICE)
    await wake()
    expect((await log(channel.id))[0]).toMatchObject({ state: 'delivered' })
    await stop()
  })

  // https://core.telegram.org/bots/api#responseparameters
  test('follows a group that has become a supergroup, whose number the channel keeps', async () => {
    const { telegram, channels, fire, log, stop } = await world()
    const { id } = await telegram()
    const chatOf = (text: string): string => JSON.parse(text).chat_id
    const description = 'Bad Request: group chat was upgraded to a supergroup chat'
    const moved = {
      ok: false,
      error_code: 400,
      description,
      parameters: { migrate_to_chat_id: -1001234567890 },
    }
    respond = () => (chatOf(sent.at(-1)?.text ?? '') === '5' ? reply(400, JSON.stringify(moved)) : reply(200))
    await fire([id])
    await fire([id])
    expect(sent.map(({ text }) => chatOf(text))).toEqual(['5', '-1001234567890', '-1001234567890'])
    expect((await log(id)).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
    expect(await channels.get('usr_1', id)).toMatchObject({
      settings: { chat: '-1001234567890' },
      failingSince: null,
    })
    await stop()
  })

  test('does not follow what is no number, and leaves a chat that was chosen meanwhile', async () => {
    const { telegram, channels, fire, log, stop } = await world()
    const { id } = await telegram()
    const answers = [
      reply(400, '{"ok":false,"parameters":{"migrate_to_chat_id":"-1"}}'),
      reply(400, '{"ok":false,"parameters":{"migrate_to_chat_id":-7}}'),
    ]
    respond = async () => {
      if (sent.length === 3) await channels.change('usr_1', id, { settings: { chat: '9' } })
      return answers[sent.length - 1] ?? reply(200)
    }
    await fire([id])
    expect((await log(id))[0]?.state).toBe('failed')
    await fire([id])
    expect(sent).toHaveLength(3)
    expect((await channels.get('usr_1', id)).settings['chat']).toBe('9')
    await stop()
  })

  test('is tried again while the service is down, under the same id, and once more by hand under another', async () => {
    const { channels, fire, log, stop } = await world()
    const { id } = await channels.create('usr_1', {
      name: 'room',
      kind: 'matrix',
      settings: { server: 'https://m.example', token: 't', room: '!r:m' },
    })
    respond = () => reply(sent.length < 3 ? 502 : 200)
    await fire([id])
    await clock.pass(HOUR)
    const ids = new Set(sent.map(({ url }) => url.pathname))
    expect([sent.length, ids.size, sent.every(({ method }) => method === 'PUT')]).toEqual([3, 1, true])
    await channels.resend('usr_1', (await log(id))[0]?.id ?? '')
    await clock.pass(HOUR)
    expect(new Set(sent.map(({ url }) => url.pathname)).size).toBe(2)
    await stop()
  })

  test('goes at once when its service works again, and is tried no fewer times for one that works now and then', async () => {
    const { telegram, fire, log, stop } = await world()
    const { id } = await telegram()
    const byAge = async () => (await log(id)).toReversed()
    respond = () => reply(502)
    await fire([id])
    await fire([id])
    await clock.pass(10_000)
    expect((await byAge()).map(({ attempts }) => attempts.length)).toEqual([2, 2])
    // The third finds that it works; the first is tried and finds that it does not.
    respond = () => (sent.length === 5 ? reply(200, '{"ok":true}') : reply(502))
    await fire([id])
    await clock.pass(10_000)
    expect((await byAge()).map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ['pending', 3],
      ['pending', 3],
      ['delivered', 1],
    ])
    // As after the second: what came of it is no attempt of the schedule.
    const [first] = await byAge()
    const [, , third] = first?.attempts ?? []
    expect((first?.nextAt ?? 0) - (third?.at ?? 0)).toBeWithin(4 * MINUTE, 6 * MINUTE + 1)
    respond = () => reply(200, '{"ok":true}')
    await fire([id])
    await clock.pass(10_000)
    expect((await byAge()).map(({ state }) => state)).toEqual(Array(4).fill('delivered'))
    expect(sent).toHaveLength(4 + 1 + 2 + 3)
    await stop()
  })

  test('whose secret was sealed with another key says so', async () => {
    const first = await world()
    const { id } = await first.telegram()
    await first.stop()
    const { fire, log, stop } = await world({ kv: first.kv, key: 8 })
    await fire([id])
    expect((await log(id))[0]?.attempts[0]).toMatchObject({ failure: 'secret_unreadable' })
    expect(sent).toEqual([])
    await stop()
  })
})
