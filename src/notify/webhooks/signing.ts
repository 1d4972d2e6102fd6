// Signatures: our own header `X-Service-Signature`, and Standard Webhooks 1.0 beside it (standardwebhooks.com).
//
// Both are HMAC-SHA256 over bytes that the receiver has too. Ours covers the raw body and is keyed with the
// secret's whole text; the standard's covers `id.timestamp.body` and is keyed with the decoded part behind `whsec_`.

const PREFIX = 'whsec_'

/** `whsec_` + base64 of 32 random bytes. */
export function newSecret(randomBytes: (count: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(32)).toString('base64')
}

/** `sha256=<lower-case hex>` of the raw body. */
export function serviceSignature(secret: string, body: Uint8Array): string {
  return `sha256=${new Bun.CryptoHasher('sha256', secret).update(body).digest('hex')}`
}

/** `v1,<base64>` for each secret, newest first, separated by spaces: a receiver accepts any of them during a rotation. */
export function standardSignature(
  secrets: readonly string[],
  id: string,
  timestampSeconds: number,
  body: Uint8Array,
): string {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    const head = new Bun.CryptoHasher('sha256', key).update(`${id}.${timestampSeconds}.`)
    return `v1,${head.update(body).digest('base64')}`
  })
  return signatures.join(' ')
}
