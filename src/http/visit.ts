// What a route requires of its callers, and what is known about one request: the words that the gate, the routes, and the
// form of the answers have in common.

import type { ApiToken, Session, User } from '../people/accounts/accounts.ts'
import type { Scope } from '../wire/scopes.ts'
import type { Services } from './deps.ts'
import type { Claim } from './idempotency.ts'
import type { Rate } from './limits.ts'
import type { Peer } from './peer.ts'

export type AccessLabel = 'session' | 'api-token' | 'none'
export type Access = `${AccessLabel} ${Scope}` | `${AccessLabel} ${Scope} ${Scope}` | 'session only' | 'none'

/** What a route requires beyond its access. A route that requires nothing else gives the access alone. */
export interface AccessOptions {
  readonly to: Access
  /** The method of the route, where its operation says it. */
  readonly method?: string
  /** A rate limit of its own, in addition to the general one. */
  readonly rate?: Rate
  /** For whom a request counts if its path names them; null = for its caller or its address. */
  readonly client?: (request: Request, services: Services) => Promise<string | null>
  /** The most bytes of a body; default: 64 KiB. */
  readonly bodyBytes?: number
  readonly bodyTypes?: readonly string[]
  /** A missing body counts as `{}`: for POSTs whose address says everything. */
  readonly emptyBody?: boolean
  /** Counts against no rate limit: for what must be answered even during a flood of requests. */
  readonly unlimited?: boolean
  /** The handler reads `request.body` itself. */
  readonly streams?: boolean
  /** The answer carries an ETag and may be 304. For GETs of stored objects. */
  readonly etag?: boolean
  /** Clients that ask for columns get the answer as columns. */
  readonly columns?: boolean
  /** With `Prefer: respond-async` the answer may be a 202. */
  readonly async?: boolean
  /** The answer carries a secret, so its copy for idempotency is encrypted. */
  readonly secret?: boolean
  /** Requires the same origin even from requests without a cookie: for routes that set one. */
  readonly sameOrigin?: boolean
}

export type Caller =
  | { readonly user: User; readonly via: 'session'; readonly session: Session }
  | { readonly user: User; readonly via: 'api-token'; readonly token: ApiToken }

/** What the server knows of a request's connection, which costs a microsecond to ask. */
export interface Connection {
  readonly address: () => string
  /** Whether one takes the answer; the tools of agents ask from inside the process. */
  readonly isOpen: () => boolean
}

/** What is known about one request. */
export interface Visit {
  readonly requestId: string
  readonly startedAt: number
  readonly peer: Peer
  readonly connection: Connection
  /** It is a part of another request, and counts towards no limit. */
  readonly isInner: boolean
  /** The pattern of its route; `unknown` until one is found. */
  route: string
  /** Resolves once the request may reach its route, and rejects with why not; null while nobody has asked. */
  admitted: Promise<void> | null
  /** Headers that tell how much of its limits is left. */
  readonly limits: Record<string, string | number>
  caller: Caller | null
  /** The user to whom private objects may be shown: the caller, unless their token lacks the scope. */
  visitor: Caller | null
  /** JSON Pointers of body fields the schema does not know. */
  readonly unknownFields: string[]
  bodyHash: string
  claim: Claim | null
  /** The answer that was committed together with what it reports; null if there was none. */
  kept: string | null
}

/** The part that is used with the answer. */
export interface AnswerContext {
  readonly request: Request
  readonly set: { status?: number | string }
}
/** The part that is used after the handler. */
export interface LeaveContext extends AnswerContext {
  readonly path: string
  readonly set: AnswerContext['set'] & { readonly headers: Record<string, string | number> }
  readonly responseValue?: unknown
}
