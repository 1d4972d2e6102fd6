// Encrypts a message so that only the browser that subscribed can read it: RFC 8291, with the content coding aes128gcm of
// RFC 8188. The push service in between sees its length and nothing else.
//
// Each message has a key pair of its own. Its secret half and the browser's public one make a common secret, of which,
// together with the browser's `auth`, key and nonce are derived.

import type { Random } from '../../lib/random.ts'

/** What a browser says of itself when it subscribes, both as base64url. */
export interface PushKeys {
  /** Its public key: a point on P-256, uncompressed. */
  readonly p256dh: string
  /** 16 bytes that nobody else knows. */
  readonly auth: string
}

/** What is random in a message; given only by tests. */
export interface PushSecrets {
  readonly pair: CryptoKeyPair
  readonly salt: Uint8Array<ArrayBuffer>
}

/** The record size that is announced: one record holds all of it, and no service takes more. */
const RECORD_BYTES = 4096
/** How long a message may be: RFC 8030 asks services for 4,096 bytes, of which the header and the seal take 103. */
export const PUSH_BYTES = 3993
/** Ends the last record (RFC 8188, section 2). */
const LAST = 2

const encoder = new TextEncoder()
const P256 = { name: 'ECDH', namedCurve: 'P-256' } as const

export const toBase64Url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
export const fromBase64Url = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, 'base64url'))

export async function freshSecrets(random: Random): Promise<PushSecrets> {
  return {
    pair: await crypto.subtle.generateKey(P256, true, ['deriveBits']),
    salt: new Uint8Array(random.bytes(16)),
  }
}

/** The body to post. Rejects if `p256dh` is no point on the curve. */
export async function encryptPush(
  message: Uint8Array,
  to: PushKeys,
  { pair, salt }: PushSecrets,
): Promise<Uint8Array<ArrayBuffer>> {
  const theirs = fromBase64Url(to.p256dh)
  const ours = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey))
  const common = await crypto.subtle.deriveBits(
    { name: 'ECDH', public: await crypto.subtle.importKey('raw', theirs, P256, false, []) },
    pair.privateKey,
    256,
  )
  const info = joined(encoder.encode('WebPush: info\0'), theirs, ours)
  const keying = await derived(new Uint8Array(common), fromBase64Url(to.auth), info, 32)
  const key = await derived(keying, salt, encoder.encode('Content-Encoding: aes128gcm\0'), 16)
  const nonce = await derived(keying, salt, encoder.encode('Content-Encoding: nonce\0'), 12)
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: nonce },
    await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt']),
    joined(message, new Uint8Array([LAST])),
  )
  const size = new Uint8Array(4)
  new DataView(size.buffer).setUint32(0, RECORD_BYTES)
  return joined(salt, size, new Uint8Array([ours.length]), ours, new Uint8Array(sealed))
}

/** HKDF with SHA-256. */
async function derived(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  return new Uint8Array(
    await crypto.subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, bytes * 8),
  )
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts))
}
