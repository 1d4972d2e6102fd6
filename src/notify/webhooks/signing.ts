// Signatures: our own header `X-Service-Signature`, and Standard Webhooks 1.0 beside it (standardwebhooks.com).
//
// Both are HMAC-SHA256 over bytes that the receiver has too. Ours covers the raw body and is keyed with the
// secret's whole text; the standard's covers `id.timestamp.body` and is keyed with the decoded part behind `whsec_`.

const encoder = new TextEncoder()
const PREFIX = 'whsec_'

/** `whsec_` + base64 of 32 random bytes. */
export function newSecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + toBase64(randomBytes(32))
}

async function hmac(key: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
  const imported = await crypto.subtle.importKey(
    'raw',
    key.slice().buffer,
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message.slice().buffer))
}

/** `sha256=<lower-case hex>` of the raw body. */
export async function serviceSignature(secret: string, body: Uint8Array): Promise<string> {
  const digest = await hmac(encoder.encode(secret), body)
  return `sha256=${[...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** `v1,<base64>` for each secret, newest first, separated by spaces: a receiver accepts any of them during a rotation. */
export async function standardSignature(
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: Uint8Array,
): Promise<string> {
  const head = encoder.encode(`${id}.${timestampSeconds}.`)
  const message = new Uint8Array(head.length + body.length)
  message.set(head)
  message.set(body, head.length)
  const signatures = await Promise.all(
    secrets.map(
      async (secret) => `v1,${toBase64(await hmac(fromBase64(secret.slice(PREFIX.length)), message))}`,
    ),
  )
  return signatures.join(' ')
}

export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
