// Signatures, verified by code that is not ours: openssl, Python's hmac, npm standardwebhooks and svix.

import { describe, expect, test } from 'bun:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { createSecretBox } from '../../../src/notify/webhooks/secret-box.ts'
import { newSecret, serviceSignature, standardSignature } from '../../../src/notify/webhooks/signing.ts'
import { rejection } from '../../rejection.ts'

const random = (count: number) => crypto.getRandomValues(new Uint8Array(count))
const bytes = (text: string) => new TextEncoder().encode(text)
const BODY = '{"event":"backtest.reportReady","data":{"name":"Ünïcode ✓ \\u2028"}}'

describe('X-Service-Signature', () => {
  test('is the published HMAC-SHA256 vector', async () => {
    // RFC 4231 has no printable key; this pair is the one of Wikipedia's HMAC article.
    const signature = serviceSignature('key', bytes('The quick brown fox jumps over the lazy dog'))
    expect(signature).toBe('sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8')
  })
  test('is what `openssl dgst -sha256 -mac HMAC` and Python’s hmac printed for this body and key', async () => {
    expect(serviceSignature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', bytes(BODY))).toBe(
      'sha256=da2c0e289cf8f09d281d799e8851529bda2e068d3e460578b7447d58cbace35c',
    )
  })
})

describe('the headers of Standard Webhooks', () => {
  test("are the specification's own example", async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const signature = standardSignature(
      [secret],
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1614265330,
      bytes('{"test": 2432232314}'),
    )
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })
  test.each([
    ['standardwebhooks', StandardWebhook, 'webhook'],
    ['svix', SvixWebhook, 'svix'],
  ] as const)('are accepted by %s, and refused when the body changed', async (_name, Verifier, prefix) => {
    const [now, secret, old] = [Math.floor(Date.now() / 1000), newSecret(random), newSecret(random)]
    const headers = (signature: string) => ({
      [`${prefix}-id`]: 'msg_1',
      [`${prefix}-timestamp`]: String(now),
      [`${prefix}-signature`]: signature,
    })
    const both = headers(standardSignature([secret, old], 'msg_1', now, bytes(BODY)))
    for (const key of [secret, old]) expect(() => new Verifier(key).verify(BODY, both)).not.toThrow()
    expect(() => new Verifier(secret).verify(`${BODY} `, both)).toThrow()
    expect(() => new Verifier(newSecret(random)).verify(BODY, both)).toThrow()
  })
  test('a secret is whsec_ and 32 bytes of base64', () => {
    expect(newSecret(random)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  })
})

describe('secrets at rest', () => {
  test('are sealed under a nonce that is drawn for each', async () => {
    let byte = 0
    const box = await createSecretBox(new Uint8Array(32), (count) => new Uint8Array(count).fill(++byte))
    const nonceOf = (sealed: string) => [...Buffer.from(sealed.slice('v1.'.length), 'base64').subarray(0, 12)]
    const [one, two] = [await box.seal('whsec_x', 'wh_1'), await box.seal('whsec_x', 'wh_1')]
    expect([nonceOf(one), nonceOf(two)]).toEqual([Array(12).fill(1), Array(12).fill(2)])
    expect(await rejection(box.open(`v2.${one.slice(3)}`, 'wh_1'))).toHaveProperty(
      'message',
      'unknown form of sealed secret',
    )
  })
  test('open only under their key and for their record', async () => {
    const key = random(32)
    const box = await createSecretBox(key, random)
    const sealed = await box.seal('whsec_x', 'wh_1')
    expect(sealed).not.toContain('whsec')
    expect(await box.open(sealed, 'wh_1')).toBe('whsec_x')
    expect(await (await createSecretBox(key, random)).open(sealed, 'wh_1')).toBe('whsec_x')
    expect(await rejection(box.open(sealed, 'wh_2'))).toBeInstanceOf(Error)
    const other = await createSecretBox(random(32), random)
    expect(await rejection(other.open(sealed, 'wh_1'))).toBeInstanceOf(Error)
  })
})
