// What happens around each request, whichever route it is for: its visit, the hosts and origins that are answered, answers that
// were given before, errors, and the log.

import { isIP } from 'node:net'
import type { Elysia } from 'elysia'
import type { TSchema } from '@sinclair/typebox'
import { memo } from '../lib/memo.ts'
import { Problem } from '../lib/problem.ts'
import type { ApiDeps } from './access.ts'
import { addCommonHeaders } from './common-headers.ts'
import type { LastKnownView, Services } from './deps.ts'
import type { Handle } from './inner-request.ts'
import type { Metrics } from './metrics.ts'
import type { Route } from './openapi.ts'
import { skipRest } from './pace.ts'
import { pageHead } from './page-head.ts'
import { hostName } from './peer.ts'
import { asProblem, internalError, problemResponse } from './problem.ts'
import type { LeaveContext, Visit } from './visit.ts'

export interface Frame {
  readonly deps: ApiDeps
  readonly metrics: Metrics
  /** Whether requests to this host are answered. */
  readonly allows: (host: string) => boolean
  readonly patterns: readonly { readonly method: string; readonly pattern: RegExp }[]
  /** null until it listens; tests have none. */
  readonly server: () => Elysia['server']
}

type Headers = LeaveContext['set']['headers']

export function frameOf(
  deps: ApiDeps,
  metrics: Metrics,
  routes: readonly Route[],
  server: Frame['server'],
): Frame {
  for (const { method, path, hooks } of routes) {
    const { body } = hooks as { body?: TSchema }
    if (body) deps.gate.bodySchemas.set(`${method} ${path}`, body)
  }
  const patterns = routes
    .filter(({ path }) => path !== '/*')
    .map(({ method, path }) => ({
      method,
      pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}/?$`),
    }))
  return { deps, metrics, allows: hostCheck(deps.settings), patterns, server }
}

/** The way of a request from the server's door and back. */
export function wholeWay(frame: Frame, route: Handle, request: Request): Promise<Response> {
  const whole = async () => noted(frame, request, (await again(frame, request)) ?? (await route(request)))
  const { lastKnown } = frame.deps
  return lastKnown && onlyShows(request) ? shown(lastKnown, whole) : whole()
}

function open({ deps, server }: Frame, request: Request): Visit {
  const peer = () => server()?.requestIP(request) ?? null
  return deps.gate.open(request, {
    // Tests have no server. With one, an unknown address means that the client has gone.
    address: () => (server() ? (peer()?.address ?? '') : '127.0.0.1'),
    isOpen: () => peer() !== null,
  })
}

/** What was answered at this address before, if it still holds; null for every other request, which goes its whole way. */
function again(frame: Frame, request: Request): Promise<Response | null> | null {
  const { gate } = frame.deps
  const page = gate.keptAt(request)
  if (!page || request.headers.has('origin')) return null
  const visit = open(frame, request)
  if (!frame.allows(visit.peer.host)) return null
  return gate.again(request, page)
}

const LONG_WORK = /^\/api\/(?:platform\/(?:sweeps|scans|portfolios)|health|ready)/

function noted({ deps, metrics }: Frame, request: Request, response: Response): Response {
  const { requestId, startedAt, peer, caller, route } = deps.gate.visit(request)
  const ms = Math.max(0, deps.clock.now() - startedAt)
  const { method } = request
  const { status } = response
  metrics.request(method, route, status, ms / 1000)
  if (!LONG_WORK.test(route)) deps.asked?.()
  deps.log('debug', 'request', {
    requestId,
    method,
    // Mostly nobody reads them.
    get path() {
      return loggedPath(new URL(request.url).pathname)
    },
    status,
    ms,
    get ip() {
      return peer.ip
    },
    user: caller?.user.id,
  })
  return response
}

/** Answers what no route has to: other hosts, addresses that are too long, preflights. */
export function enter(frame: Frame, request: Request, headers: Headers): Response | undefined {
  const visit = open(frame, request)
  addCommonHeaders(headers, visit)
  if (!frame.allows(visit.peer.host))
    throw new Problem(
      421,
      'misdirected_request',
      'This server does not answer to that host name. Set PUBLIC_URL or ALLOWED_HOSTS if it should.',
    )
  if (request.url.length > PATH_MAX) {
    const { pathname } = new URL(request.url)
    if (pathname.length > PATH_MAX) throw notFound(frame, request, pathname)
  }
  const cors = corsHeaders(request, frame.deps.settings.corsOrigins)
  Object.assign(headers, cors)
  if (request.method !== 'OPTIONS' || !cors || !request.headers.has('access-control-request-method'))
    return undefined
  const allow = methodsOf(frame, new URL(request.url).pathname).join(', ')
  return new Response(null, { status: 204, headers: { ...cors, ...PREFLIGHT, ...(allow && { allow }) } })
}

interface Failure {
  readonly error: unknown
  readonly code: string | number
  readonly request: Request
  readonly path: string
}

export async function refuse(
  frame: Frame,
  { error, code, request, path }: Failure,
  headers: Headers,
): Promise<Response> {
  const { gate, clock, log } = frame.deps
  const visit = gate.visit(request)
  await gate.abandon(request)
  await skipRest(clock, request)
  const problem = code === 'NOT_FOUND' ? notFound(frame, request, path) : asProblem(error, code)
  if (problem === null)
    log('error', 'a request failed', {
      requestId: visit.requestId,
      error: errorText(error),
      path: loggedPath(path),
    })
  const response = problemResponse(problem ?? internalError(), visit.requestId, request.headers.get('accept'))
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string' && name !== 'content-type' && !response.headers.has(name))
      response.headers.set(name, value)
  return response
}

/** The dashboard's page, or one of its files. */
export async function dashboardPage(frame: Frame, request: Request, path: string): Promise<Response> {
  const { gate, settings, dashboard, features } = frame.deps
  const visit = gate.visit(request)
  visit.route = '/*'
  const origin = settings.publicUrl ?? new URL(request.url).origin
  const found = /^\/+api(\/|$)/.test(path)
    ? null
    : await dashboard(request, path, await pageHead(features, path, origin))
  if (!found) throw notFound(frame, request, path)
  for (const [name, value] of Object.entries(addCommonHeaders({}, visit)))
    if (!found.headers.has(name)) found.headers.set(name, value)
  return found
}

/** A 404, or a 405 that lists the methods there are. */
function notFound(frame: Frame, request: Request, path: string): Problem {
  frame.deps.gate.limitAnonymous(request)
  const methods = methodsOf(frame, path)
  if (methods.length === 0 || methods.includes(request.method))
    return new Problem(404, 'not_found', 'There is nothing at this address.')
  const allow = methods.join(', ')
  return new Problem(405, 'method_not_allowed', `This address takes ${allow}.`, { headers: { allow } })
}

function methodsOf({ patterns }: Frame, path: string): string[] {
  const methods = new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods]
}

/**
 * Whether a request changes nothing, and may be told what was known before. That makes no server ready, and an export is
 * kept: it is whole and of its time, or breaks off.
 */
const onlyShows = ({ method, url }: Request) =>
  (method === 'GET' || method === 'HEAD') && !/\/api\/(?:ready|platform\/export)(?:\?|$)/.test(url)

/** An answer made of what the store said last tells its age, as an answer of any cache does. */
async function shown(lastKnown: LastKnownView, work: () => Promise<Response>): Promise<Response> {
  const { answer, ageMs } = await lastKnown.show(work)
  if (ageMs > 0) answer.headers.set('age', String(Math.ceil(ageMs / 1000)))
  return answer
}

/** The address of an inbox is its password, and that of a picture all the permission it takes: they stand in no log. */
const loggedPath = (path: string): string => path.replace(/((?:hooks|links\/pictures)\/).*/is, '$1…')

/** Longer than any valid address, even with a symbol of 64 emoji, and shorter than the longest key of the store. */
const PATH_MAX = 1700

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer',
  'access-control-max-age': '7200',
}

/** Pages of these origins may read answers, but may never send cookies. */
function corsHeaders(request: Request, origins: readonly string[]): Record<string, string> | null {
  const origin = request.headers.get('origin')
  if (origin === null || !(origins.includes('*') || origins.includes(origin))) return null
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers':
      'ETag, Idempotent-Replayed, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'origin',
  }
}

/** A page that points its own host name at this address (DNS rebinding) sends that name, so only known names are answered. */
function hostCheck({ allowedHosts, publicUrl }: Services['settings']): (host: string) => boolean {
  const names = new Set(['localhost', ...allowedHosts.map((name) => name.toLowerCase())])
  if (publicUrl !== null) names.add(new URL(publicUrl).hostname)
  return memo(HOSTS_MAX, (host) => {
    const name = hostName(host)
    return (
      names.has('*') || names.has(name) || names.has(host) || isIP(name) > 0 || name.endsWith('.localhost')
    )
  })
}

/** How many names have their verdict kept; mostly there is one. */
const HOSTS_MAX = 100

function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
