// Channels from their setting up to the answer of the service, on a clock that the test turns.

import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createChannelDeliverer, createChannels, type Notification } from '../../src/channels/channels.ts'
import type { Notice } from '../../src/channels/kind.ts'
import { idSource } from '../../src/lib/ids.ts'
import type { Kv } from '../../src/store/kv.ts'
import { transact } from '../../src/store/transaction.ts'
import { parseAllowList } from '../../src/webhooks/address.ts'
import type { SecretBox } from '../../src/webhooks/secret-box.ts'
import type { Attempt, Reply } from '../../src/webhooks/send.ts'
import { HandClock } from '../lib/hand-clock.ts'
import { rejection } from '../rejection.ts'
import { testKv } from '../store/test-store.ts'

// A busy machine is no failure.
setDefaultTimeout(300_000)

const HOUR = 3_600_000
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
const reply = (status: number, excerpt = '', retryAfter: string | null = null): Reply => ({
  status,
  retryAfter,
  excerpt,
  failure: null,
})

let clock: HandClock
let sent: (Attempt & { at: number; text: string })[]
let respond: () => Reply
beforeEach(() => {
  clock = new HandClock()
  sent = []
  respond = () => reply(200)
})

/** Sealing that needs no other thread, on which the clock could not wait. */
const boxOf = (key: number): SecretBox => ({
  seal: async (text, boundTo) => btoa(`${key} ${boundTo} ${text}`),
  open: async (sealed, boundTo) => {
    const text = atob(sealed)
    if (!text.startsWith(`${key} ${boundTo} `)) throw new Error('another key')
    return text.slice(`${key} ${boundTo} `.length)
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
    send: async (attempt: Attempt) => {
      sent.push({ ...attempt, at: clock.now(), text: new TextDecoder().decode(attempt.body) })
      return respond()
    },
  }
  const channels = createChannels(deps)
  const notifier = createChannelDeliverer({ ...deps, spread: () => 0.5, log: () => {} })
  const stop = new AbortController()
  const running = notifier.run(stop.signal)
  return {
    kv,
    channels,
    async fire(ids: readonly string[], ownerId = 'usr_1') {
      await transact(kv, (tx) => channels.enqueue(tx, ownerId, ids, NOTICE))
      notifier.wake(ownerId)
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
    [{ topic: 'a', constructor: 'x' }, '/settings/constructor', 'unknown_field'],
  ])('%p is refused at %s: %s', async (settings, path, code) => {
    const { channels, stop } = await world()
    const error = await rejection(channels.create('usr_1', { name: 'n', kind: 'ntfy', settings }))
    expect(error).toMatchObject({ status: 422, details: { fields: [{ path, code }] } })
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

  test('of somebody else is not there, and is told nothing', async () => {
    const { channels, telegram, fire, stop } = await world()
    const { id } = await telegram('usr_2')
    for (const work of [
      channels.get('usr_1', id),
      channels.change('usr_1', id, { name: 'x' }),
      channels.remove('usr_1', id),
    ])
      expect(await rejection(work)).toMatchObject({ status: 404, code: 'channel_not_found' })
    await fire([id])
    expect(sent).toEqual([])
    await stop()
  })
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
    expect([waiting?.state, (waiting?.nextAt ?? 0) - clock.now()]).toEqual(['pending', 120_000])
    respond = () => reply(200)
    await clock.pass(119_000)
    expect(sent).toHaveLength(1)
    await clock.pass(2000)
    expect((await log(id))[0]?.state).toBe('delivered')
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
