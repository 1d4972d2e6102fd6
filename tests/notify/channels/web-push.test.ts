// Web push by the test vectors of its RFCs, and from a channel to a push service on this machine that decrypts.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Notification } from '../../../src/notify/channels/channel.ts'
import { Channels } from '../../../src/notify/channels/channels.ts'
import { createChannelDeliverer } from '../../../src/notify/channels/deliver.ts'
import type { Notice } from '../../../src/notify/channels/kind.ts'
import {
  encryptPush,
  fromBase64Url,
  PUSH_BYTES,
  toBase64Url,
} from '../../../src/notify/channels/push-encryption.ts'
import { createPushSigner } from '../../../src/notify/channels/push-keys.ts'
import { idSource } from '../../../src/lib/ids.ts'
import { transact } from '../../../src/store/transaction.ts'
import { parseAllowList } from '../../../src/notify/webhooks/address.ts'
import { createSecretBox } from '../../../src/notify/webhooks/secret-box.ts'
import { createSend } from '../../../src/notify/webhooks/send.ts'
import { rejection } from '../../rejection.ts'
import { testKv } from '../../store/test-store.ts'
import { decoded, decryptedPush, startPushService, subscribed, vapidOf } from './push-service.ts'
import { NO_PICTURES } from './channel-world.ts'

// A busy machine is no failure.
setDefaultTimeout(900_000)

const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))

describe('the vectors of the RFCs', () => {
  // RFC 8188, sections 3.1 and 3.2.
  test.each([
    ['I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg', 'yqdlZ-tYemfogSmv7Ws5PQ', ''],
    [
      'uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA',
      'BO3ZVPxUlnLORbVGMpbT1Q',
      'a1',
    ],
  ])('the receiver of these tests decodes %s', (body, keying, id) => {
    const told: string[] = []
    const text = decoded(fromBase64Url(body), (name) => {
      told.push(name.toString())
      return fromBase64Url(keying)
    })
    expect([text.toString(), told]).toEqual(['I am the walrus', [id]])
  })

  // RFC 8291, section 5 and appendix A.
  const PLAIN = 'When I grow up, I want to be a watermelon'
  const BODY =
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN'
  const AS_PUBLIC = fromBase64Url(
    'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8',
  )
  const UA_PUBLIC = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'
  const AUTH = 'BTBZMqHH6r4Tts7J_aSIgg'

  test('a message is encrypted to the very bytes of RFC 8291', async () => {
    const P256 = { name: 'ECDH', namedCurve: 'P-256' } as const
    const [x, y] = [toBase64Url(AS_PUBLIC.slice(1, 33)), toBase64Url(AS_PUBLIC.slice(33))]
    const d = 'yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'
    const pair = {
      publicKey: await crypto.subtle.importKey('raw', AS_PUBLIC, P256, true, []),
      privateKey: await crypto.subtle.importKey('jwk', { kty: 'EC', crv: 'P-256', x, y, d }, P256, false, [
        'deriveBits',
      ]),
    }
    const salt = fromBase64Url('DGv6ra1nlYgDCS1FRnbzlw')
    const body = await encryptPush(
      new TextEncoder().encode(PLAIN),
      { p256dh: UA_PUBLIC, auth: AUTH },
      { pair, salt },
    )
    expect(toBase64Url(body)).toBe(BODY)
  })

  test('the receiver of these tests decrypts it', () => {
    const secret = Buffer.from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url')
    const [publicKey, auth] = [UA_PUBLIC, AUTH].map((text) => Buffer.from(text, 'base64url'))
    expect(decryptedPush(fromBase64Url(BODY), { secret, publicKey: publicKey!, auth: auth! })).toBe(PLAIN)
  })
})

const NOTICE: Notice = {
  title: 'BTC above 70,000',
  text: 'Пробой 📈\nBINANCE:BTCUSDT 1h, close 70001',
  url: null,
  path: '/chart/BINANCE%3ABTCUSDT/1h',
  at: 5,
  symbol: 'BTCUSDT',
  exchange: 'BINANCE',
  interval: '1h',
  price: 70_001,
}

describe('a browser as a channel', () => {
  let service: ReturnType<typeof startPushService>
  beforeEach(() => (service = startPushService()))
  afterEach(() => service.stop())

  async function world() {
    const kv = testKv()
    const clock = {
      now: () => Date.now(),
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
    }
    const box = await createSecretBox(bytes(32), bytes)
    const signer = createPushSigner({ kv, clock, box, publicUrl: 'https://room.example' })
    const deps = {
      kv,
      clock,
      newId: idSource({ clock, random: { bytes } }),
      box,
      allow: parseAllowList('loopback'),
      resolve: async () => ['127.0.0.1'],
      userAgent: 'Chartroom/test',
      send: createSend(),
      tools: {
        signer,
        random: { bytes },
        links: { token: async (action: string) => `${action} token`, url: () => null },
        pictures: NO_PICTURES,
      },
      isAcknowledged: async () => false,
    }
    const channels = new Channels(deps)
    const notifier = createChannelDeliverer({ ...deps, spread: () => 0.5, log: () => {} })
    const stop = new AbortController()
    const running = notifier.run(stop.signal)
    const log = async (id: string): Promise<readonly Notification[]> =>
      (await channels.log(id, { limit: 100 })).items
    return {
      kv,
      box,
      clock,
      signer,
      channels,
      create: (settings: Record<string, string>) =>
        channels.create('usr_1', { name: 'Firefox', kind: 'push', settings }),
      /** Tells the channel, and waits for what became of the first attempt. */
      async told(id: string, notice: Notice = NOTICE): Promise<Notification | undefined> {
        await transact(kv, (tx) => channels.enqueue(tx, 'usr_1', [id], [{ notice }]))
        notifier.wake('usr_1')
        for (;;) {
          const [newest] = await log(id)
          if (newest && newest.attempts.length > 0) return newest
          await Bun.sleep(0)
        }
      },
      async stop() {
        stop.abort()
        await running
      },
    }
  }

  test('gets what it can decrypt, signed with the key that it subscribed for', async () => {
    const { signer, create, told, stop } = await world()
    const browser = subscribed(`${service.url}/push/abc`)
    const { id } = await create(browser.settings)
    const notification = await told(id)
    expect(notification).toMatchObject({ state: 'delivered', attempts: [{ status: 201 }] })
    const [got] = service.received
    expect(JSON.parse(decryptedPush(got?.body ?? new Uint8Array(), browser.keys))).toEqual({
      id: notification?.id,
      title: NOTICE.title,
      text: NOTICE.text,
      path: '/chart/BINANCE%3ABTCUSDT/1h',
      at: 5,
    })
    expect([got?.path, got?.publicKey]).toEqual(['/push/abc', await signer.publicKey()])
    expect(got?.headers.get('urgency')).toBe('high')
    const { claims } = vapidOf(got?.headers.get('authorization') ?? '')
    expect(claims.sub).toBe('https://room.example')
    expect(Math.abs(claims.exp * 1000 - Date.now() - 12 * 3_600_000)).toBeLessThan(3_600_000)
    await stop()
  })

  test('is sent no more than a service takes, whatever the letters', async () => {
    const { create, told, stop } = await world()
    const browser = subscribed(`${service.url}/push`)
    const { id } = await create(browser.settings)
    for (const letter of ['a', '\u0001', '鑠', '📈', '"']) {
      const { state } = (await told(id, { ...NOTICE, text: letter.repeat(6000) })) ?? {}
      expect([letter, state]).toEqual([letter, 'delivered'])
    }
    for (const { body } of service.received) {
      const text = decryptedPush(body, browser.keys)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(PUSH_BYTES)
      expect(JSON.parse(text).text).not.toContain('\uFFFD')
    }
    await stop()
  })

  test.each([404, 410])('that has ended by %p is disabled, and told nothing more', async (status) => {
    const { channels, create, told, stop } = await world()
    const { id } = await create(subscribed(`${service.url}/push`).settings)
    service.state.status = status
    expect(await told(id)).toMatchObject({ state: 'failed' })
    expect(await channels.get('usr_1', id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' })
    await stop()
  })

  test('whose service is down is tried again', async () => {
    const { channels, create, told, stop } = await world()
    const { id } = await create(subscribed(`${service.url}/push`).settings)
    service.state.status = 503
    expect(await told(id)).toMatchObject({ state: 'pending', attempts: [{ status: 503 }] })
    expect(await channels.get('usr_1', id)).toMatchObject({ status: 'active' })
    await stop()
  })

  test.each([
    ['p256dh', `B${'A'.repeat(86)}`],
    ['p256dh', 'short'],
    ['auth', 'short'],
    ['endpoint', 'http://10.0.0.1/x'],
  ])('with a %s of %s is refused, and the field is named', async (field, value) => {
    const { create, stop } = await world()
    const { settings } = subscribed(`${service.url}/push`)
    expect(await rejection(create({ ...settings, [field]: value }))).toMatchObject({
      status: 422,
      details: { fields: [{ path: `/settings/${field}` }] },
    })
    await stop()
  })

  test('its address and secret are in no record as they are', async () => {
    const { kv, create, stop } = await world()
    const { settings } = subscribed(`${service.url}/secret-path`)
    const channel = await create(settings)
    expect([channel.secrets, channel.settings]).toEqual([['endpoint', 'auth'], { p256dh: settings.p256dh }])
    const stored = (await kv.list({ prefix: ['channels'] }, { limit: 100 })).map(({ value }) => value)
    expect(stored.join('')).not.toContain('secret-path')
    expect(stored.join('')).not.toContain(settings.auth)
    await stop()
  })

  test('the key pair is made once for all servers of a store, and once more if the key file was lost', async () => {
    const { kv, clock, box, stop } = await world()
    const signers = Array.from({ length: 5 }, () => createPushSigner({ kv, clock, box, publicUrl: null }))
    const keys = await Promise.all(signers.map((signer) => signer.publicKey()))
    expect(new Set(keys).size).toBe(1)
    const other = await createSecretBox(bytes(32), bytes)
    const after = await createPushSigner({ kv, clock, box: other, publicUrl: null }).publicKey()
    expect(after).not.toBe(keys[0]!)
    const opened = await other.open(
      JSON.parse((await kv.get(['meta', 'push-keys']))?.value ?? '').sealedPrivate,
      'push-keys',
    )
    expect((await kv.get(['meta', 'push-keys']))?.value).not.toContain(opened)
    await stop()
  })
})
