// A real identity provider (npm oidc-provider) on this machine, with people who sign in at once, and a hand in what it
// answers: the faults that a client has to withstand.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export interface Person {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean | string
  readonly name?: string
  readonly groups?: readonly string[]
}

interface Key {
  readonly pair: CryptoKeyPair
  readonly jwk: Readonly<Record<string, unknown>> & { readonly kid: string }
}

type Claims = Record<string, unknown>
/** Makes another ID token of the one that the provider has made. */
export type Forge = (claims: Claims, key: Key) => Promise<string>
/** Makes a token of claims. */
export type Sign = (key: Key, claims: Claims) => Promise<string>
/** Answers in the provider's place; undefined = it answers itself. */
export type Answer = (path: string) => { readonly status: number; readonly body: string } | undefined

export interface TestProvider {
  readonly issuer: string
  /** Who signs in next; null = somebody who says no. */
  person: Person | null
  forge: Forge | null
  answer: Answer | null
  rotate(): Promise<void>
  /** What it tells its client when somebody signs out of a session: the form that it sends. */
  logOut(sub: string, sid: string): Promise<string>
  /** A token of its own hand. */
  make(sign: Sign, claims: Claims): Promise<string>
  /** Where its client is from now on. */
  moveClient(redirectUri: string): void
  /** Signs the person in at this address, as their browser would: what stands behind the question mark at the end. */
  visit(url: string): Promise<string>
  stop(): Promise<void>
}

const CLIENT = {
  client_id: 'chartroom',
  client_secret: 'a secret of the client',
  redirect_uris: [''],
  backchannel_logout_uri: 'https://charts.example.com/api/auth/openid/backchannel-logout',
  backchannel_logout_session_required: true,
}
export const CLIENT_SECRET = CLIENT.client_secret

export async function testProvider(
  redirectUris: readonly string[] = ['http://localhost/sign-in'],
): Promise<TestProvider> {
  let handle: ((request: IncomingMessage, response: ServerResponse) => void) | null = null
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  let redirects = [...redirectUris]
  let key = await newKey('first')
  const people = new Map<string, Person>()
  let provider: Provider
  const told: string[] = []

  const self: TestProvider = {
    issuer,
    person: { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' },
    forge: null,
    answer: null,
    async rotate() {
      key = await newKey(`key ${crypto.randomUUID()}`)
      start()
    },
    async logOut(sub, sid) {
      // The package's types know neither this nor the setting `fetch`.
      const { Client } = provider as unknown as {
        Client: { find(id: string): Promise<{ backchannelLogout(sub: string, sid: string): Promise<void> }> }
      }
      const client = await Client.find(CLIENT.client_id)
      await client.backchannelLogout(sub, sid)
      return told.pop() ?? ''
    },
    make: (sign, claims) => sign(key, claims),
    moveClient(redirectUri) {
      redirects = [redirectUri]
      start()
    },
    visit,
    stop: () =>
      new Promise((stopped) => {
        server.closeAllConnections()
        server.close(() => stopped())
      }),
  }

  /** It tells its client, whose server is not on the network. */
  const network: object = {
    async fetch(_url: string, { body }: { readonly body?: unknown } = {}) {
      told.push(String(body))
      return new Response()
    },
  }

  function start(): void {
    provider = new Provider(issuer, {
      clients: [{ ...CLIENT, redirect_uris: redirects, post_logout_redirect_uris: redirects }],
      jwks: { keys: [key.jwk] },
      cookies: { keys: ['a key of the tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      ttl: {
        AccessToken: 600,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 600,
        Interaction: 600,
        Session: 600,
      },
      features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
      ...network,
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      async findAccount(_, id) {
        return { accountId: id, claims: async () => ({ ...people.get(id), sub: id }) }
      },
      async loadExistingGrant(ctx) {
        const { client, session, provider: of } = ctx.oidc
        const grant = new of.Grant({
          clientId: client?.clientId ?? '',
          accountId: session?.accountId ?? '',
        })
        grant.addOIDCScope('openid email profile')
        await grant.save()
        return grant
      },
    })
    const callback = provider.callback()
    handle = (request, response) => {
      if (!request.url?.startsWith('/interaction/')) {
        void callback(request, response)
        return
      }
      const { person } = self
      if (person) people.set(person.sub, person)
      const result = person ? { login: { accountId: person.sub } } : { error: 'access_denied' }
      void provider.interactionFinished(request, response, result)
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const instead = self.answer?.(path)
    if (instead) {
      response.writeHead(instead.status, { 'content-type': 'application/json' }).end(instead.body)
      return
    }
    const { forge } = self
    if (forge && path === '/token') {
      const { end } = response
      // The answer of the provider is one piece of JSON.
      response.end = ((body: Buffer | string) => {
        const tokens = JSON.parse(String(body)) as { id_token: string }
        void forge(claimsOf(tokens.id_token), key).then((forged) => {
          const text = JSON.stringify({ ...tokens, id_token: forged })
          response.setHeader('content-length', Buffer.byteLength(text))
          end.call(response, text, 'utf8')
        })
        return response
      }) as typeof response.end
    }
    handle?.(request, response)
  }

  async function visit(url: string): Promise<string> {
    const jar = new Map<string, string>()
    let at = url
    for (let step = 0; step < 10; step++) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(at, { redirect: 'manual', headers: { cookie } })
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        jar.set(name, value)
      }
      const next = response.headers.get('location')
      if (next === null) throw new Error(`stuck at ${at}: ${response.status} ${await response.text()}`)
      at = new URL(next, at).href
      if (!at.startsWith(issuer)) return new URL(at).search.slice(1)
    }
    throw new Error('redirected for ever')
  }

  start()
  return self
}

async function newKey(kid: string): Promise<Key> {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  }
  const pair = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const jwk = await crypto.subtle.exportKey('jwk', pair.privateKey)
  // It says that it signs, and the provider publishes that of the public key, too.
  delete jwk.key_ops
  return { pair, jwk: { ...jwk, kid, use: 'sig', alg: 'RS256' } }
}

const encoded = (value: object | Uint8Array) =>
  Buffer.from(value instanceof Uint8Array ? value : JSON.stringify(value)).toString('base64url')

function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims
}

export async function signedBy({ pair, jwk }: Key, claims: Claims): Promise<string> {
  const text = `${encoded({ alg: 'RS256', kid: jwk.kid })}.${encoded(claims)}`
  const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', pair.privateKey, Buffer.from(text))
  return `${text}.${encoded(new Uint8Array(signature))}`
}

/** The signature of somebody else, who calls the key as the provider does. */
export async function signedByAnother({ jwk }: Key, claims: Claims): Promise<string> {
  return signedBy(await newKey(jwk.kid), claims)
}

/** Of another type than the provider's own tokens have. */
export const signedAs =
  (typ: string): Sign =>
  async ({ pair, jwk }, claims) => {
    const text = `${encoded({ alg: 'RS256', kid: jwk.kid, typ })}.${encoded(claims)}`
    const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', pair.privateKey, Buffer.from(text))
    return `${text}.${encoded(new Uint8Array(signature))}`
  }

export async function unsigned(_: Key, claims: Claims): Promise<string> {
  return `${encoded({ alg: 'none' })}.${encoded(claims)}.`
}

/** HS256 with the public key, which everybody knows, as its secret. */
export async function signedWithPublicKey({ pair, jwk }: Key, claims: Claims): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('spki', pair.publicKey)).toString('base64')
  const pem = `-----BEGIN PUBLIC KEY-----\n${der.replace(/.{64}/g, '$&\n')}\n-----END PUBLIC KEY-----\n`
  const text = `${encoded({ alg: 'HS256', kid: jwk.kid })}.${encoded(claims)}`
  const hasher = new Bun.CryptoHasher('sha256', pem)
  return `${text}.${encoded(new Uint8Array(hasher.update(text).digest()))}`
}
