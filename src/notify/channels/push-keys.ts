// The key pair by which this server names itself to push services (VAPID, RFC 8292). A browser's subscription is bound to
// the public key, so the pair is made once, at first use, and kept in the store, its secret half sealed.

import type { Key } from '../../store/kv.ts'
import type { SecretBox } from '../webhooks/secret-box.ts'
import { fromBase64Url, toBase64Url } from './push-encryption.ts'
import type { StoreDeps } from '../../store/owned.ts'

export interface PushKeyDeps extends StoreDeps {
  readonly box: SecretBox
  /** Where browsers reach the server; null = not known. */
  readonly publicUrl: string | null
}

interface StoredPair {
  readonly publicKey: string
  readonly sealedPrivate: string
}
interface Pair {
  readonly publicKey: string
  readonly privateKey: CryptoKey
}

const KEY: Key = ['meta', 'push-keys']
const BOUND_TO = 'push-keys'
const P256 = { name: 'ECDSA', namedCurve: 'P-256' } as const
/** Services take a signature that holds for at most a day. */
const VALID_SECONDS = 12 * 3600
/** For a server that does not know its own https address; services ask for a contact that looks like one. */
const NO_CONTACT = 'mailto:chartroom@example.com'

export type PushSigner = ReturnType<typeof createPushSigner>

export function createPushSigner({ kv, clock, box, publicUrl }: PushKeyDeps) {
  let known: Promise<Pair> | null = null
  /** Several servers may make a pair at the same time: the one that was stored first counts. */
  async function pair(): Promise<Pair> {
    for (;;) {
      const entry = await kv.get(KEY)
      const found = entry && (await opened(box, JSON.parse(entry.value) as StoredPair))
      if (found) return found
      // A pair whose key file is lost can never be opened again. Browsers have to subscribe once more, to the next pair.
      const value = JSON.stringify(await madePair(box))
      await kv.commit({
        checks: [{ key: KEY, version: entry?.version ?? null }],
        sets: [{ key: KEY, value }],
      })
    }
  }
  const keys = () =>
    (known ??= pair().catch((error: unknown) => {
      known = null
      throw error
    }))

  return {
    publicKey: async (): Promise<string> => (await keys()).publicKey,
    /** The header `Authorization` of a message to a push service. */
    async authorization(endpoint: string): Promise<string> {
      const { publicKey, privateKey } = await keys()
      const claims = {
        aud: new URL(endpoint).origin,
        exp: Math.floor(clock.now() / 1000) + VALID_SECONDS,
        sub: publicUrl?.startsWith('https://') ? publicUrl : NO_CONTACT,
      }
      const signed = `${textOf({ typ: 'JWT', alg: 'ES256' })}.${textOf(claims)}`
      const signature = await crypto.subtle.sign(
        { name: 'ECDSA', hash: 'SHA-256' },
        privateKey,
        new TextEncoder().encode(signed),
      )
      return `vapid t=${signed}.${toBase64Url(new Uint8Array(signature))}, k=${publicKey}`
    },
  }
}

const textOf = (content: object) => toBase64Url(new TextEncoder().encode(JSON.stringify(content)))

async function madePair(box: SecretBox): Promise<StoredPair> {
  const made = await crypto.subtle.generateKey(P256, true, ['sign', 'verify'])
  const secret = new Uint8Array(await crypto.subtle.exportKey('pkcs8', made.privateKey))
  return {
    publicKey: toBase64Url(new Uint8Array(await crypto.subtle.exportKey('raw', made.publicKey))),
    sealedPrivate: await box.seal(toBase64Url(secret), BOUND_TO),
  }
}

/** null: it was sealed with another key file. */
async function opened(box: SecretBox, { publicKey, sealedPrivate }: StoredPair): Promise<Pair | null> {
  const secret = await box.open(sealedPrivate, BOUND_TO).catch(() => null)
  if (secret === null) return null
  const bytes = fromBase64Url(secret)
  return { publicKey, privateKey: await crypto.subtle.importKey('pkcs8', bytes, P256, false, ['sign']) }
}
