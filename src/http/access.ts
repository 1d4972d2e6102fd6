// The gate that every API request passes, and the macro by which a route says what it requires:
//
//     .post('', handler, { access: 'session alerts:write', body: AlertBody })
//
// The label is the credential that always works on the route: `session`, `api-token` or `none`. A token is also accepted if
// it has the scopes; `session only` accepts no token. A `none` route with scopes accepts everybody, and treats a token
// without these scopes as anonymous, so a handler cannot show such a token anything private. Handlers get `caller` (signed
// in, or the request was refused), `visitor` (null when anonymous), `may` (for answers with several kinds of objects: does
// the credential cover these?) and a checked `body`. They answer a plain object; `ok`, warnings, idempotency and rate limit
// headers are added here. A route that creates something with every call does so through `once`, so that an Idempotency-Key
// creates only one.
//
// Everything that can refuse a request runs in one place and in one order, so that nobody without a credential gets
// as far as the body: rate limit, credential, origin, scope, query, body.

import type { TSchema } from '@sinclair/typebox'
import { bearer } from '@elysiajs/bearer'
import { Elysia } from 'elysia'
import type { ApiToken } from '../people/accounts/accounts.ts'
import type { Scope } from '../wire/scopes.ts'
import { Credentials } from '../people/accounts/credentials.ts'
import { isSessionStale, resumeSession, sessionStands, touchSession } from '../people/accounts/sessions.ts'
import { isTokenStale, resumeToken, tokenStands, touchToken } from '../people/accounts/tokens.ts'
import { memo } from '../lib/memo.ts'
import { Problem } from '../lib/problem.ts'
import type { Also } from '../store/transaction.ts'
import { Bodies } from './bodies.ts'
import { jsonBody } from './body.ts'
import { basePath, type Services } from './deps.ts'
import { encodedText, keptSent, sent, varyBy, withEtag, withHeaders } from './answer.ts'
import { hasColumns, wantsColumns } from './columns.ts'
import type { StreamLog } from './event-log.ts'
import { Idempotency } from './idempotency.ts'
import type { Handle } from './inner-request.ts'
import { isLarge, keptResultOf, keptText, resultText } from './json-text.ts'
import { isKept, type KeptAnswers, type KeptText, type MomentOf } from './kept-answers.ts'
import { KeptPages } from './kept-pages.ts'
import { type Rate, RateLimiter, SharedLimiter } from './limits.ts'
import { commonHeaders } from './common-headers.ts'
import { peersBehind, type Peer } from './peer.ts'
import type { StreamSlots } from './stream-slots.ts'
import { checkBody } from './validate.ts'
import type {
  Access,
  AccessLabel,
  AccessOptions,
  AnswerContext,
  Caller,
  Connection,
  LeaveContext,
  Visit,
} from './visit.ts'

/** More than there are different kinds of access. */
const ACCESSES_MAX = 200

/** The most bytes of a body if its route gives no limit. */
export const BODY_BYTES = 64 * 1024

export interface ApiDeps extends Services {
  readonly gate: Gate
  readonly streams: StreamSlots
  readonly events: StreamLog
  /** Answers a request that the server makes of itself. */
  readonly inner: Handle
  readonly kept: KeptAnswers
  readonly moment: MomentOf
}

/** What a resource keeps while its server runs. */
export function perServer<T>(make: (deps: ApiDeps) => T): (deps: ApiDeps) => T {
  const made = new WeakMap<ApiDeps, { readonly it: T }>()
  return (deps) => {
    const known = made.get(deps) ?? { it: make(deps) }
    made.set(deps, known)
    return known.it
  }
}

/** Every resource uses it: gives routes the `access` option, and handlers `caller`, `visitor` and `visit`. */
export function access({ gate }: ApiDeps) {
  // A token in an address would stand in logs: the plugin is to find none there, nor in a body.
  const credential = bearer({ extract: { query: '\0', body: '\0', header: 'Bearer' } })
  return new Elysia({ name: 'access', normalize: false }).use(credential).macro({
    access: (given: Access | AccessOptions) => {
      const options: AccessOptions = typeof given === 'string' ? { to: given } : given
      // `never`: Elysia's hook types cannot be written down outside a chain; the compiler only has to understand
      // `resolve`. Elysia reads from a hook's text which parts of a request it uses, and prepares only those. A hook that
      // passed on its whole context would have cookies, headers and everything else parsed for every request: 12 µs of
      // 43.
      return {
        parse: 'none' as never,
        transform: (async (context: EnterContext) => {
          const { request, route, bearer, set } = context
          const body = await gate.enter({ request, route, bearer, set }, options)
          if (body) context.body = body.value
        }) as never,
        resolve: ({ request, set }: AnswerContext) => ({
          ...gate.callerOf(request),
          once: gate.onceFor({ request, set }, options),
        }),
        // A hook costs every request of its route a microsecond, so only the routes that may repeat an answer have this one.
        beforeHandle: (mayRepeat(options)
          ? async ({ request, path, set }: LeaveContext) => gate.replay({ request, path, set }, options)
          : []) as never,
        afterHandle: (async ({ request, path, set, responseValue }: LeaveContext) =>
          gate.leave({ request, path, set, responseValue }, options)) as never,
        detail: { 'x-access': options.to, 'x-options': options } as never,
      }
    },
  })
}

/** The part of Elysia's context that is used before the handler runs. */
interface EnterContext {
  readonly request: Request
  readonly route: string
  readonly bearer: string | undefined
  readonly set: { readonly headers: Record<string, string | number> }
  body?: unknown
}

/**
 * Creates something and answers with it. `make` commits `also` together with it, so that an Idempotency-Key is used
 * up exactly if the thing exists:
 *
 *     once(
 *       (idea: Idea) => ({ id: idea.id, idea: wire(idea) }),
 *       (also) => ideas.publish(caller.user.id, body, also),
 *     )
 */
export type Once = <T, A extends Record<string, unknown>>(
  answer: (made: T) => A,
  make: (also: Also<T>) => Promise<T>,
) => Promise<A>

export class Gate {
  readonly #services: Services
  readonly #limiter: RateLimiter
  /** Counts instead of `#limiter` where several servers share their limits. */
  readonly #shared: SharedLimiter | null
  readonly #basePath: string
  readonly #peerOf: (request: Request, address: () => string) => Peer
  readonly #credentials: Credentials
  readonly #parts = memo(ACCESSES_MAX, accessParts)
  readonly idempotency: Idempotency
  readonly bodies = new Bodies()
  /** Body schemas by `POST /api/…`; filled once the routes are known. */
  readonly bodySchemas = new Map<string, TSchema>()
  readonly #visits = new WeakMap<Request, Visit>()
  /** Requests that the server makes as a part of another one, which alone counts towards limits. */
  readonly inner = new WeakSet<Request>()
  readonly #kept: KeptAnswers
  readonly #pages = new KeptPages()

  constructor(services: Services, kept: KeptAnswers) {
    this.#services = services
    this.#kept = kept
    const { clock, settings, fleet } = services
    this.#limiter = new RateLimiter(clock, settings.rates)
    this.#shared = fleet && new SharedLimiter(clock, settings.rates, fleet.takeShared)
    this.#basePath = basePath(services.settings)
    this.#peerOf = peersBehind(services.settings.trustedProxies)
    this.#credentials = new Credentials(services)
    this.idempotency = new Idempotency(services)
  }

  /** Begins a visit, which is the first step of every request. A visit that has begun goes on. */
  open(request: Request, connection: Connection): Visit {
    const { newId, clock } = this.#services
    const begun = this.#visits.get(request)
    if (begun) return begun
    const visit: Visit = {
      requestId: newId('req'),
      startedAt: clock.now(),
      peer: this.#peerOf(request, connection.address),
      connection,
      isInner: this.inner.has(request),
      route: 'unknown',
      admitted: null,
      limits: {},
      caller: null,
      visitor: null,
      unknownFields: [],
      bodyHash: '',
      claim: null,
      kept: null,
    }
    this.#visits.set(request, visit)
    return visit
  }

  visit(request: Request): Visit {
    const visit = this.#visits.get(request)
    if (!visit) throw new Error('assertion failed: a request without a visit')
    return visit
  }

  /** Throws if the request is to be refused. Answers its checked body, or null if the handler gets none. */
  async enter(context: EnterContext, options: AccessOptions): Promise<{ readonly value: unknown } | null> {
    const { request, set, route } = context
    const visit = this.visit(request)
    visit.route = route
    try {
      await this.#admit(request, visit, options, context.bearer)
      refuseDuplicates(request)
      refuseBrokenText(request)
    } finally {
      Object.assign(set.headers, visit.limits)
    }
    return request.method === 'GET' || request.method === 'HEAD' || options.streams
      ? null
      : this.#readBody(context, options)
  }

  /** What was answered at this address before, if it was a kept text. Its visit has not begun yet. */
  keptAt(request: Request): ReturnType<KeptPages['at']> {
    if (request.method !== 'GET') return undefined
    const page = this.#pages.at(request.url)
    return page?.options.columns && wantsColumns(request) ? undefined : page
  }

  /**
   * Answers with a kept text, before any route is looked for; null if there is none that still holds, if the store does not
   * say so, or if the request is to be refused, which its route does then. Whether it may be answered is decided here as for
   * any other request.
   */
  async again(
    request: Request,
    { route, options, readers }: NonNullable<ReturnType<KeptPages['at']>>,
  ): Promise<Response | null> {
    const visit = this.visit(request)
    visit.route = route
    let text: KeptText | null
    try {
      await this.#admit(request, visit, options)
      const page = readers.get(readerOf(visit))
      if (!page) return null
      text = this.#kept.atOnce(page.name) ?? (await this.#kept.again(page.name, page.stampOf))
    } catch {
      return null
    }
    if (!text) return null
    const set = { headers: visit.limits, status: 200 }
    const sending = keptSent(request, set, text, options)
    const sent = sending instanceof Promise ? await sending : sending
    return withHeaders(sent, set.status, commonHeaders(visit), set.headers)
  }

  /** Once for each request: its limits are not counted twice. */
  #admit(request: Request, visit: Visit, options: AccessOptions, bearer?: string): Promise<void> {
    return (visit.admitted ??= this.#judge(request, visit, options, bearer))
  }

  async #judge(request: Request, visit: Visit, options: AccessOptions, bearer?: string): Promise<void> {
    const { label, scopes, tokens } = this.#parts(options.to)
    const found = await this.#identify(request, visit.peer, bearer)
    const caller = found instanceof Problem || found === 'expired' ? null : found
    visit.caller = caller
    const named = options.client ? await options.client(request, this.#services) : null
    const counted = named === null ? countedBy(visit, options) : ([['anonymous', named]] as const)
    if (this.#shared) await this.#limitTogether(this.#shared, visit, counted)
    else this.#limit(visit, counted)
    if (found instanceof Problem) throw found
    if (caller === null && label !== 'none') throw unauthenticated(found === 'expired')
    if (caller?.via === 'session' || options.sameOrigin) refuseCrossOrigin(request, visit.peer)
    if (caller?.via === 'api-token' && label !== 'none') requireScopes(caller.token, scopes, tokens)
    visit.visitor = scopes.every((scope) => reaches(caller, scope)) ? caller : null
    if (caller) {
      this.#services.userCame()
      // Each function that is awaited costs a request half a microsecond.
      if (this.#isStale(caller)) await this.#touch(caller)
    }
  }

  callerOf(request: Request): {
    caller: Caller
    visitor: Caller | null
    may: (scope: Scope) => boolean
    visit: Visit
  } {
    const visit = this.visit(request)
    const { caller, visitor } = visit
    // Routes that require a credential have one by now, or the request was refused; `none` routes use `visitor`.
    return { caller: caller as Caller, visitor, may: (scope) => reaches(caller, scope), visit }
  }

  /** Repeats the answer of an earlier request with this idempotency key, or lets the request through. */
  async replay({ request, path, set }: LeaveContext, options: AccessOptions): Promise<unknown> {
    const header = request.headers.get('idempotency-key')
    if (header === null || !keepsAnswers({ method: request.method, options })) return undefined
    const visit = this.visit(request)
    const client = visit.caller?.user.id ?? visit.peer.network
    // The query is part of the request just like the body: it gives a bookmark's bar, for example.
    const bodyHash = visit.bodyHash + new URL(request.url).search
    const begun = await this.idempotency.begin(header, { client, path, bodyHash })
    if (!('answer' in begun)) {
      visit.claim = begun
      return undefined
    }
    set.headers['idempotent-replayed'] = 'true'
    set.status = begun.status
    const answer = JSON.parse(begun.answer) as Record<string, unknown>
    const id = keptResultOf(answer['result'])
    if (id === null || !visit.caller) return answer
    const { runs } = this.#services
    const userId = visit.caller.user.id
    const report = await runs.report(userId, id)
    const tracks = await runs.tracks(userId, id)
    if (!report || !tracks) throw new Problem(404, 'backtest_not_found', 'There is no such backtest.')
    const isWhole = !new URL(request.url).searchParams.has('tracks')
    return { ...answer, result: resultText(report, isWhole ? tracks : null) }
  }

  /** For POSTs that create something with every call. */
  onceFor({ request, set }: AnswerContext, options: AccessOptions): Once {
    return async (answer, make) => {
      const visit = this.visit(request)
      const { claim } = visit
      if (claim === null) return answer(await make(() => ({})))
      let text: string | null = null
      const made = await make(async (some, tx) => {
        text = await keptText(completed(visit, answer(some)))
        return this.idempotency.answered(tx, claim, answered(text, set, options))
      })
      visit.kept = text
      return answer(made)
    }
  }

  /** Completes the handler's answer. */
  async leave({ request, path, set, responseValue }: LeaveContext, options: AccessOptions): Promise<unknown> {
    if (typeof responseValue === 'string') return encodedText(request, set, responseValue)
    const visit = this.visit(request)
    if (isKept(responseValue)) {
      const { route } = visit
      if (request.method === 'GET')
        this.#pages.note(request.url, { route, path, options }, readerOf(visit), responseValue)
      return keptSent(request, set, responseValue.text, options)
    }
    if (!isPlainObject(responseValue)) return responseValue
    if (options.columns) varyBy(set, 'accept')
    if (set.headers['idempotent-replayed'] !== undefined) return sent(visit, request, set, responseValue)
    const answer = completed(visit, responseValue)
    if (visit.claim) {
      const { claim, kept } = visit
      // A large answer that created nothing, such as a preview, is not kept: it may as well run again.
      const isTransient = kept === null && (isLarge(answer) || hasColumns(answer))
      const text = isTransient ? null : await keptText(answer)
      // What was created may have changed since, such as an alert that fired at once.
      if (text === null) await this.idempotency.abandon(claim)
      else if (text !== kept) await this.idempotency.finish(claim, answered(text, set, options))
      visit.claim = null
    }
    if (options.etag && (request.method === 'GET' || request.method === 'HEAD'))
      return withEtag(visit, request, set, answer)
    return sent(visit, request, set, answer)
  }

  /** Called when a request fails after it has claimed an idempotency key. */
  async abandon(request: Request): Promise<void> {
    const visit = this.#visits.get(request)
    const claim = visit?.claim
    if (!visit || !claim) return
    visit.claim = null
    try {
      await this.idempotency.abandon(claim)
    } catch (error) {
      this.#services.log('warn', 'could not give an idempotency key back', { error: String(error) })
    }
  }

  /** Counts a request that no route answers towards the limit of anonymous callers. */
  limitAnonymous(request: Request): void {
    this.#limiter.take('anonymous', this.visit(request).peer.network)
  }

  /** The caller, `expired`, null for nobody, or a Problem for a bad token. */
  async #identify(
    request: Request,
    peer: Peer,
    bearer?: string,
  ): Promise<Caller | Problem | 'expired' | null> {
    const authorization = request.headers.get('authorization')
    if (authorization !== null) return this.#identifyToken(bearer ?? bearerOf(authorization))
    const secret = cookieValue(
      request.headers.get('cookie') ?? '',
      sessionCookieName(peer.https, this.#basePath),
    )
    const resumed = secret === null ? null : await resumeSession(this.#services, this.#credentials, secret)
    return resumed === null || resumed === 'expired' ? resumed : { ...resumed, via: 'session' }
  }

  async #identifyToken(secret: string): Promise<Caller | Problem> {
    try {
      return { ...(await resumeToken(this.#services, this.#credentials, secret)), via: 'api-token' }
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }

  async #limitTogether(shared: SharedLimiter, visit: Visit, counted: Counted): Promise<void> {
    for (const [rate, client] of counted) Object.assign(visit.limits, await shared.take(rate, client))
  }

  #limit(visit: Visit, counted: Counted): void {
    for (const [rate, client] of counted) Object.assign(visit.limits, this.#limiter.take(rate, client))
  }

  #isStale(caller: Caller): boolean {
    return caller.via === 'session'
      ? isSessionStale(this.#services, caller.session)
      : isTokenStale(this.#services, caller.token)
  }

  /** A request does not fail because the time of a token's last use could not be noted. */
  async #touch(caller: Caller): Promise<void> {
    try {
      if (caller.via === 'session') await touchSession(this.#services, caller.session)
      else await touchToken(this.#services, caller.token)
    } catch (error) {
      this.#services.log('warn', 'could not note when a credential was last used', { error: String(error) })
    }
  }

  async #readBody(
    context: EnterContext,
    { bodyBytes = BODY_BYTES, bodyTypes, emptyBody }: AccessOptions,
  ): Promise<{ readonly value: unknown } | null> {
    const { request, route } = context
    const schema = this.bodySchemas.get(`${request.method} ${route}`)
    if (!schema) return null
    const visit = this.visit(request)
    if (emptyBody && request.body === null) return { value: {} }
    const held = this.bodies.open(visit.caller?.user.id ?? visit.peer.network)
    const announced = Number(request.headers.get('content-length') ?? Infinity)
    // Small bodies are not counted, since each connection has at most one.
    const mayBeLarge = Math.min(bodyBytes, announced) > BODY_BYTES
    const large = mayBeLarge ? { clock: this.#services.clock, held } : undefined
    try {
      const body = await jsonBody(request, bodyBytes, { types: bodyTypes, large })
      visit.bodyHash = body.hash
      return { value: checkBody(schema, body.value, visit.unknownFields) }
    } finally {
      held.release()
    }
  }
}

/**
 * `__Host-` makes the browser insist on https, this host and the path /; it cannot be used over plain http. Below a path
 * the cookie must not reach the host's other sites, so it has that path and no such prefix.
 */
export function sessionCookieName(https: boolean, path: string): string {
  if (!https) return 'session'
  return path === '' ? '__Host-session' : '__Secure-session'
}

/** The limits that a request counts towards, and for whom. */
type Counted = readonly (readonly [rate: Rate, client: string])[]

function countedBy({ caller, peer, isInner }: Visit, { rate, unlimited = false }: AccessOptions): Counted {
  if (unlimited || isInner) return []
  const client = caller?.user.id ?? peer.network
  const general = [caller ? 'user' : 'anonymous', client] as const
  // A signed-in user searches while typing, so only the limit of users applies.
  return !rate || (rate === 'search' && caller) ? [general] : [general, [rate, client]]
}

function unauthenticated(expired: boolean): Problem {
  return expired
    ? new Problem(401, 'session_expired', 'Your session has expired. Sign in again.')
    : new Problem(
        401,
        'unauthenticated',
        'Sign in, or send an access token as `Authorization: Bearer <token>`.',
      )
}

/** The parts of a route's access; `tokens` says whether any token is accepted. */
export function accessParts(access: string): {
  readonly label: AccessLabel
  readonly scopes: readonly Scope[]
  readonly tokens: boolean
} {
  const [label, ...scopes] = access.split(' ') as [AccessLabel, ...string[]]
  const tokens = scopes[0] !== 'only'
  return { label, scopes: tokens ? (scopes as Scope[]) : [], tokens }
}

const mayRepeat = (options: AccessOptions): boolean =>
  keepsAnswers({ method: options.method ?? 'POST', options })

/** Whether an Idempotency-Key has an effect there. */
export function keepsAnswers({
  method,
  options,
}: {
  readonly method: string
  readonly options: AccessOptions
}): boolean {
  return method === 'POST' && !options.streams && !options.sameOrigin
}

/** Whether the caller would still be accepted: for answers that last long, such as streams. */
export function stands(deps: ApiDeps, caller: Caller): Promise<boolean> {
  return caller.via === 'session' ? sessionStands(deps, caller.session) : tokenStands(deps, caller.token)
}

/** The same check for bodies that go on arriving long after the request was accepted. */
export async function requireStanding(deps: ApiDeps, caller: Caller): Promise<void> {
  if (await stands(deps, caller)) return
  if (caller.via === 'session') throw unauthenticated(true)
  throw new Problem(401, 'token_revoked', 'This access token was revoked or has expired meanwhile.')
}

/** A session reaches everything of its user, a token what its scopes cover, an anonymous caller nothing. */
export function reaches(caller: Caller | null, scope: Scope): boolean {
  if (caller === null) return false
  return caller.via === 'session' || caller.token.scopes.includes(scope)
}

function requireScopes({ scopes }: ApiToken, needed: readonly Scope[], tokens: boolean): void {
  if (!tokens)
    throw new Problem(
      403,
      'session_required',
      'An access token cannot do this. Sign in with a session instead.',
    )
  const missing = needed.filter((scope) => !scopes.includes(scope))
  if (missing.length === 0) return
  throw new Problem(
    403,
    'insufficient_scope',
    `The access token needs the scope ${missing.join(' and the scope ')}.`,
    { headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${needed.join(' ')}"` } },
  )
}

/** A page of another site must not act with the user's cookie. */
function refuseCrossOrigin(request: Request, { host, https }: Peer): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const same =
    site === null
      ? origin === null || origin.toLowerCase() === `${https ? 'https' : 'http'}://${host}`
      : site === 'same-origin' || site === 'none'
  if (!same)
    throw new Problem(
      403,
      'cross_origin_blocked',
      'A page of another site may not use the session. Use an access token.',
    )
}

function refuseDuplicates(request: Request): void {
  const at = request.url.indexOf('?')
  if (at < 0) return
  const names = [...new URLSearchParams(request.url.slice(at)).keys()]
  if (new Set(names).size === names.length) return
  throw new Problem(400, 'duplicate_parameter', 'A query parameter is given more than once.')
}

/**
 * Bytes that are not UTF-8 (half a surrogate pair, Latin-1) would become U+FFFD, so many different names would become the
 * same one.
 */
function refuseBrokenText({ url }: Request): void {
  if (!url.includes('%')) return
  try {
    decodeURIComponent(url.replace(/%(?![0-9a-f]{2})/gi, '%25'))
  } catch {
    throw new Problem(422, 'validation_failed', 'The address holds bytes that are not UTF-8.')
  }
}

/** '' for another scheme. RFC 7235 allows `Bearer` in any case, which the plugin does not know. */
function bearerOf(authorization: string): string {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

function cookieValue(header: string, name: string): string | null {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}

/** The answer with `ok`, and with warnings of unknown fields in the body. */
function completed(visit: Visit, given: Record<string, unknown>): Record<string, unknown> {
  if (visit.unknownFields.length === 0) return { ok: true, ...given }
  const unknown = visit.unknownFields.map((path) => ({
    code: 'unknown_field',
    path,
    message: 'This field is not known and was ignored.',
  }))
  const warnings = (given['warnings'] ?? []) as readonly unknown[]
  return { ok: true, ...given, warnings: [...warnings, ...unknown] }
}

function answered(answer: string, { status }: AnswerContext['set'], { secret = false }: AccessOptions) {
  return { answer, status: typeof status === 'number' ? status : 200, sealed: secret }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Whose private objects an answer may show: '' for nobody's. */
const readerOf = ({ visitor }: Visit): string => visitor?.user.id ?? ''
