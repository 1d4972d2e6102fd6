// An identity provider, as OpenID Connect has it: where a sign-in begins, and who came back.
//
// Authorization code with PKCE, state and nonce. The protocol is the package oauth4webapi's; here stand the decisions: the
// provider is asked for its addresses every five minutes, for its keys at every sign-in (so a rotated key is known at once,
// and a withdrawn one is gone) and for those of logout tokens at most every five seconds, signatures are always checked,
// symmetric and missing ones never accepted, and clocks may be a minute apart. Nothing that the provider or the address says
// is shown to anybody; the log has why an answer was refused.

import type * as OAuth from './openid-protocol.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { Problem } from '../../lib/problem.ts'
import { longerThan } from '../../lib/text.ts'

export interface OpenIdSettings {
  readonly issuer: string
  readonly clientId: string
  /** null: a client that has none, which PKCE alone protects. */
  readonly clientSecret: string | null
  /** What the button calls the provider. */
  readonly name: string
  readonly scopes: readonly string[]
  /** The claim that lists a user's groups; dots lead into objects. */
  readonly groupsClaim: string
  /** Whose members may sign in; empty = everybody's. */
  readonly groups: readonly string[]
  /** Whose members are admins; empty = roles are given here, not there. */
  readonly adminGroups: readonly string[]
  /** Whether somebody without an account gets one. */
  readonly signUpOpen: boolean
}

/** Asks the provider. Rejects if it cannot be asked. */
export type AskProvider = (
  url: string,
  request: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | null
  },
) => Promise<Response>

export interface OpenIdDeps {
  readonly settings: OpenIdSettings
  readonly ask: AskProvider
  readonly clock: Clock
  readonly log: Log
}

/** What has to be known when the user comes back. */
export interface OpenIdAttempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirectUri: string
}

/** What the provider says of a user. */
export interface Claims {
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
  readonly isEmailVerified: boolean
  readonly name: string | null
  /** null: the provider does not say. */
  readonly groups: readonly string[] | null
  /** What it calls the session there; null: it does not say. */
  readonly sid: string | null
}

/** Who has signed out at the provider: of one session there, or of all. */
export interface LoggedOut {
  readonly issuer: string
  /** One of both is there. */
  readonly subject: string | null
  readonly sid: string | null
  /** The word of the provider for this one message. */
  readonly jti: string
  /** UTC ms, after which it does not count any more. */
  readonly until: number
}

const KEPT_MS = 5 * 60_000
const KEYS_KEPT_MS = 5_000
const SKEW_SECONDS = 60
/** The standard has a logout token be recent, whatever its end. */
const LOGOUT_AGE_SECONDS = 10 * 60
/** The standard's. */
const SUBJECT_MAX = 255

export class IdentityProvider {
  readonly settings: OpenIdSettings
  /** As identities name it: with or without a final slash behind the host it is the same. */
  readonly issuer: string
  readonly #deps: OpenIdDeps
  #known: { readonly at: number; readonly server: Promise<OAuth.AuthorizationServer> } | null = null
  #keys: { readonly at: number; readonly answer: Promise<Response> } | null = null

  constructor(deps: OpenIdDeps) {
    this.settings = deps.settings
    this.issuer = new URL(deps.settings.issuer).href
    this.#deps = deps
  }

  /** Where the user signs in, and what to remember until they are back at `redirectUri`. */
  async begin(redirectUri: string): Promise<{ readonly url: string; readonly attempt: OpenIdAttempt }> {
    const oauth = await load()
    const server = await this.#server()
    const { clientId, scopes } = this.settings
    const attempt = {
      state: oauth.generateRandomState(),
      nonce: oauth.generateRandomNonce(),
      verifier: oauth.generateRandomCodeVerifier(),
      redirectUri,
    }
    const url = URL.parse(server.authorization_endpoint ?? '')
    if (!url || !/^https?:$/.test(url.protocol)) throw this.#away('it names no address to sign in at')
    const parameters = {
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: scopes.join(' '),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return { url: url.href, attempt }
  }

  /** Who came back with these parameters. Throws 401 if the answer does not hold, and 503 if the provider cannot be asked. */
  async finish(attempt: OpenIdAttempt, callback: URLSearchParams): Promise<Claims> {
    const oauth = await load()
    const server = await this.#server()
    try {
      return await this.#claims(oauth, server, attempt, callback)
    } catch (error) {
      throw this.#refused(oauth, error)
    }
  }

  /**
   * Whose sessions are over, by a logout token (OpenID Connect Back-Channel Logout 1.0, 2.6). Throws 400 if it does not
   * hold, and 503 if the provider cannot be asked for its keys.
   */
  async loggedOut(token: string): Promise<LoggedOut> {
    const oauth = await load()
    const server = await this.#server()
    try {
      const { alg, typ = 'JWT' } = partOf(token, 0)
      const algorithms = server.id_token_signing_alg_values_supported ?? ['RS256']
      if (typeof alg !== 'string' || !algorithms.includes(alg)) throw new Error('an algorithm of nobody')
      // An ID token, or an access token, is none of these.
      if (!/^(?:application\/)?(?:logout\+)?jwt$/i.test(String(typ)))
        throw new Error(`a token of type ${String(typ)}`)
      const client: OAuth.Client = {
        client_id: this.settings.clientId,
        authorization_signed_response_alg: alg,
        [oauth.clockTolerance]: SKEW_SECONDS,
      }
      // It checks signature, issuer, audience and end as those of any token that the provider sends by itself. The package
      // would keep the keys for a minute, in which a rotated one is unknown: a fresh object has it ask, and `#askKeys` sees
      // to it that whoever sends us tokens cannot have the provider asked for each.
      const parameters = new URLSearchParams({ response: token })
      const options = this.#options(oauth, (url, request) => this.#askKeys(url, request))
      await oauth.validateJwtAuthResponse({ ...server }, client, parameters, undefined, options)
      const claims = partOf(token, 1)
      this.#checkMade(claims)
      return { issuer: this.issuer, ...logoutOf(claims, this.#deps.clock.now() / 1000) }
    } catch (error) {
      if (error instanceof Unanswered || isServerError(oauth, error)) throw this.#away(wordsOf(error))
      this.#deps.log('warn', 'a logout token was refused', { why: wordsOf(error) })
      throw new Problem(
        400,
        'logout_refused',
        'This logout token does not hold. The log of this server says why.',
      )
    }
  }

  /** Where a user ends the session at the provider as well; null if it has no such place or cannot be asked. */
  async signOutUrl(returnTo: string): Promise<string | null> {
    // What it said last will do: nobody should wait for a provider in order to leave.
    const server = await (this.#known?.server ?? this.#server()).catch(() => null)
    const url = URL.parse(server?.end_session_endpoint ?? '')
    if (!url || !/^https?:$/.test(url.protocol)) return null
    url.searchParams.set('client_id', this.settings.clientId)
    url.searchParams.set('post_logout_redirect_uri', returnTo)
    return url.href
  }

  async #claims(
    oauth: typeof OAuth,
    server: OAuth.AuthorizationServer,
    { state, nonce, verifier, redirectUri }: OpenIdAttempt,
    callback: URLSearchParams,
  ): Promise<Claims> {
    const { clientId, groupsClaim } = this.settings
    const client: OAuth.Client = { client_id: clientId, [oauth.clockTolerance]: SKEW_SECONDS }
    const parameters = oauth.validateAuthResponse(server, client, callback, state)
    const options = this.#options(oauth)
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      this.#clientAuth(oauth, server),
      parameters,
      redirectUri,
      verifier,
      options,
    )
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
    })
    // The package keeps keys by the object that describes the provider: a fresh one has it ask for them again.
    const fresh = { ...server }
    await oauth.validateApplicationLevelSignature(fresh, answer, options)
    const idToken = oauth.getValidatedIdTokenClaims(tokens)
    if (!idToken) throw new Error('no ID token')
    this.#checkMade(idToken)
    const isWhole = 'email' in idToken && claimAt(idToken, groupsClaim) !== undefined
    const info =
      isWhole || server.userinfo_endpoint === undefined
        ? {}
        : await oauth.processUserInfoResponse(
            server,
            client,
            idToken.sub,
            await oauth.userInfoRequest(server, client, tokens.access_token, options),
          )
    return claimsOf(idToken, info, groupsClaim)
  }

  /** What the package leaves: a token of the future, and one that was made for another client though we may read it. */
  #checkMade({ iat, azp }: Json): void {
    if (typeof iat === 'number' && iat > this.#deps.clock.now() / 1000 + SKEW_SECONDS)
      throw new Error('a token of the future ("iat")')
    if (azp !== undefined && azp !== this.settings.clientId)
      throw new Error('a token made for another client ("azp")')
  }

  #clientAuth(oauth: typeof OAuth, server: OAuth.AuthorizationServer): OAuth.ClientAuth {
    const { clientSecret } = this.settings
    if (clientSecret === null) return oauth.None()
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return methods.includes('client_secret_basic')
      ? oauth.ClientSecretBasic(clientSecret)
      : oauth.ClientSecretPost(clientSecret)
  }

  /** What the provider says of itself. Whoever asks meanwhile waits for the same answer. */
  #server(): Promise<OAuth.AuthorizationServer> {
    const now = this.#deps.clock.now()
    const known = this.#known
    if (known && now >= known.at && now - known.at < KEPT_MS) return known.server
    const server = this.#discovered()
    this.#known = { at: now, server }
    server.catch(() => {
      if (this.#known?.server === server) this.#known = null
    })
    return server
  }

  async #discovered(): Promise<OAuth.AuthorizationServer> {
    const oauth = await load()
    try {
      const issuer = new URL(this.settings.issuer)
      const answer = await oauth.discoveryRequest(issuer, this.#options(oauth))
      return await oauth.processDiscoveryResponse(issuer, answer)
    } catch (error) {
      throw this.#away(wordsOf(error))
    }
  }

  /** The keys as they were at most some seconds ago. Whoever asks meanwhile waits for the same answer. */
  async #askKeys(...[url, request]: Parameters<AskProvider>): Promise<Response> {
    const now = this.#deps.clock.now()
    const known = this.#keys
    if (known && now >= known.at && now - known.at < KEYS_KEPT_MS)
      return (await known.answer).clone() as Response
    const answer = this.#deps.ask(url, request)
    this.#keys = { at: now, answer }
    const forget = () => {
      if (this.#keys?.answer === answer) this.#keys = null
    }
    answer.then(({ ok }) => ok || forget(), forget)
    return (await answer).clone() as Response
  }

  #options(oauth: typeof OAuth, ask: AskProvider = this.#deps.ask) {
    return {
      [oauth.customFetch]: async (
        url: string,
        request: { method: string; headers: Record<string, string>; body?: unknown },
      ) => {
        const body = request.body instanceof URLSearchParams ? request.body.toString() : null
        try {
          return await ask(url, { method: request.method, headers: request.headers, body })
        } catch (error) {
          throw new Unanswered(wordsOf(error))
        }
      },
      // Which addresses may be asked without encryption is decided where they are asked.
      [oauth.allowInsecureRequests]: true,
    }
  }

  #refused(oauth: typeof OAuth, error: unknown): Problem {
    if (error instanceof Unanswered || isServerError(oauth, error)) return this.#away(wordsOf(error))
    this.#deps.log('warn', 'an identity provider’s answer was refused', { why: wordsOf(error) })
    if (error instanceof oauth.AuthorizationResponseError)
      return new Problem(
        401,
        'sign_in_refused',
        error.error === 'access_denied'
          ? `${this.settings.name} did not let you in, or you said no there. Try again, or sign in with your password.`
          : `${this.settings.name} could not sign you in. Try again, or sign in with your password.`,
      )
    return new Problem(
      401,
      'sign_in_refused',
      `The answer of ${this.settings.name} does not hold. Begin again; if it stays so, the log of this server says why.`,
    )
  }

  #away(why: string): Problem {
    this.#deps.log('warn', 'an identity provider cannot be asked', { issuer: this.settings.issuer, why })
    return new Problem(
      503,
      'identity_provider_unavailable',
      `${this.settings.name} does not answer as it should. Try again later, or sign in with your password.`,
      { retryAfter: 10 },
    )
  }
}

/** The provider could not be asked at all. */
class Unanswered extends Error {}

function isServerError(oauth: typeof OAuth, error: unknown): boolean {
  const { status } = error instanceof oauth.ResponseBodyError ? error : { status: 0 }
  const { cause } = error instanceof Error ? error : { cause: null }
  return status >= 500 || (cause instanceof Response && cause.status >= 500)
}

function claimsOf(
  idToken: OAuth.IDToken,
  info: Readonly<Record<string, unknown>>,
  groupsClaim: string,
): Claims {
  if (longerThan(idToken.sub, SUBJECT_MAX))
    throw new Error(`a subject of more than ${SUBJECT_MAX} characters`)
  // The address and whether it is verified must be of one place: one of them could be of another address.
  const mail: Readonly<Record<string, unknown>> = 'email' in idToken ? idToken : info
  const email = mail['email']
  const verified = mail['email_verified']
  const name = idToken['name'] ?? info['name'] ?? idToken['preferred_username'] ?? info['preferred_username']
  const groups = claimAt(idToken, groupsClaim) ?? claimAt(info, groupsClaim)
  return {
    issuer: new URL(idToken.iss).href,
    subject: idToken.sub,
    email: typeof email === 'string' ? email : null,
    isEmailVerified: verified === true,
    name: typeof name === 'string' ? name : null,
    groups: groupNames(groups),
    sid: typeof idToken['sid'] === 'string' ? idToken['sid'] : null,
  }
}

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

type Json = Readonly<Record<string, unknown>>

/** Header or claims of a token, unchecked. */
const partOf = (token: string, at: 0 | 1): Json =>
  JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString()) as Json

/** What only a logout token has, and has not. */
function logoutOf(
  { events, nonce, jti, iat, exp, sub, sid }: Json,
  nowSeconds: number,
): Omit<LoggedOut, 'issuer'> {
  const event = typeof events === 'object' && events !== null && (events as Json)[LOGOUT_EVENT]
  if (typeof event !== 'object' || event === null) throw new Error('it is no logout token')
  if (nonce !== undefined) throw new Error('a logout token with a nonce')
  if (typeof iat !== 'number' || typeof exp !== 'number') throw new Error('a logout token without its time')
  if (iat < nowSeconds - LOGOUT_AGE_SECONDS) throw new Error('a logout token that is not recent ("iat")')
  const id = textOf(jti, 'jti')
  if (id === null) throw new Error('a logout token without jti')
  // A session that is named wrongly is not no session: that would end all of the user's.
  const whose = { subject: textOf(sub, 'sub'), sid: textOf(sid, 'sid') }
  if (whose.subject === null && whose.sid === null) throw new Error('a logout token of nobody')
  return { ...whose, jti: id, until: (Math.min(exp, iat + LOGOUT_AGE_SECONDS) + SKEW_SECONDS) * 1000 }
}

/** null: the claim is not there. */
function textOf(value: unknown, claim: string): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string' || value === '') throw new Error(`a logout token whose "${claim}" is no text`)
  return value
}

/** `realm_access.roles` is a claim of that name, or else the field `roles` of the claim `realm_access`. */
function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let value: unknown = claims
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

function groupNames(value: unknown): readonly string[] | null {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : null
}

/** The package's own words name the claim that is wrong and hold nothing of the answer. */
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Loaded with the first sign-in, since few servers have a provider. */
const load = () => import('./openid-protocol.ts')
