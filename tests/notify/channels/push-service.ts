// A push service and the browser behind it, on this machine: it checks what services check, and decrypts what arrives the
// way RFC 8188 and 8291 say, with Node's own functions instead of the Web Crypto that encrypted it.

import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'

const fromText = (text: string) => Buffer.from(text, 'base64url')
const derived = (secret: Uint8Array, salt: Uint8Array, info: string | Uint8Array, bytes: number) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))

/** Decodes the content coding aes128gcm (RFC 8188). `keyOf` is told the key's id and answers the input keying material. */
export function decoded(body: Uint8Array, keyOf: (id: Buffer) => Uint8Array): Buffer {
  const whole = Buffer.from(body)
  const salt = whole.subarray(0, 16)
  const size = whole.readUInt32BE(16)
  const idBytes = whole.readUInt8(20)
  const keying = keyOf(whole.subarray(21, 21 + idBytes))
  const key = derived(keying, salt, 'Content-Encoding: aes128gcm\0', 16)
  const nonce = derived(keying, salt, 'Content-Encoding: nonce\0', 12)
  const sealed = whole.subarray(21 + idBytes)
  const parts: Buffer[] = []
  for (let at = 0, i = 0; at < sealed.length; at += size, i++) {
    const record = sealed.subarray(at, at + size)
    const own = Buffer.from(nonce)
    own.writeUInt32BE((own.readUInt32BE(8) ^ i) >>> 0, 8)
    const cipher = createDecipheriv('aes-128-gcm', key, own)
    cipher.setAuthTag(record.subarray(-16))
    const text = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()])
    const end = text.findLastIndex((byte) => byte !== 0)
    const isLast = at + size >= sealed.length
    if (text[end] !== (isLast ? 2 : 1)) throw new Error(`record ${i} ends with ${text[end]}`)
    parts.push(text.subarray(0, end))
  }
  return Buffer.concat(parts)
}

/** What a browser does with a message that its service handed to it (RFC 8291). */
export function decryptedPush(
  body: Uint8Array,
  { secret, publicKey, auth }: { secret: Buffer; publicKey: Buffer; auth: Buffer },
): string {
  const browser = createECDH('prime256v1')
  browser.setPrivateKey(secret)
  return decoded(body, (sender) => {
    const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender])
    return derived(browser.computeSecret(sender), auth, info, 32)
  }).toString()
}

interface Claims {
  readonly aud: string
  readonly exp: number
  readonly sub: string
}

/** The claims of an `Authorization` (RFC 8292) and the key that signed them. Throws if the signature is of another. */
export function vapidOf(header: string): { readonly claims: Claims; readonly publicKey: string } {
  const [, head = '', claims = '', signature = '', publicKey = ''] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(header) ?? []
  const point = fromText(publicKey)
  const x = point.subarray(1, 33).toString('base64url')
  const y = point.subarray(33).toString('base64url')
  const key = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } })
  const holds = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key, dsaEncoding: 'ieee-p1363' },
    fromText(signature),
  )
  if (!holds || JSON.parse(fromText(head).toString()).alg !== 'ES256') throw new Error('not signed by k')
  return { claims: JSON.parse(fromText(claims).toString()) as Claims, publicKey }
}

/** A browser that has subscribed: the settings of its channel, and what only it knows. */
export function subscribed(endpoint: string) {
  const browser = createECDH('prime256v1')
  const publicKey = browser.generateKeys()
  const auth = randomBytes(16)
  return {
    settings: { endpoint, p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') },
    keys: { secret: browser.getPrivateKey(), publicKey, auth },
  }
}

/** Listens, checks the sender, and keeps what it was sent; `status` is what it answers. */
export function startPushService() {
  const received: { path: string; headers: Headers; body: Uint8Array<ArrayBuffer>; publicKey: string }[] = []
  const state = { status: 201 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = new Uint8Array(await request.arrayBuffer())
      const { headers, method, url } = request
      if (method !== 'POST' || !headers.has('ttl')) return new Response('TTL?', { status: 400 })
      if (headers.get('content-encoding') !== 'aes128gcm') return new Response('coding?', { status: 415 })
      if (body.length > 4096) return new Response('too long', { status: 413 })
      const { claims, publicKey } = vapidOf(headers.get('authorization') ?? '')
      if (claims.aud !== new URL(url).origin) return new Response('aud?', { status: 403 })
      received.push({ path: new URL(url).pathname, headers, body, publicKey })
      return new Response(null, { status: state.status })
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, received, state, stop: () => server.stop(true) }
}
