// Makes routes from operations of `wire`: their access, the schemas that validate their requests, their documentation.
//
// A resource is a table of handlers by the names of its operations. What a route requires beyond its operation's access stands
// beside its handler:
//
//     export const ALERT_ROUTES: Routes = {
//       'GET /api/platform/alerts/{id}': {
//         etag: true,
//         handle: async ({ deps, caller, params: { id } }) => ({
//           alert: wire(await deps.features.alerts.get(caller.user.id, id)),
//         }),
//       },
//     }
//
// A handler takes its context apart in its parameter: Elysia reads there which parts of a request it uses, and prepares only
// those. The compiler checks the type of its answer against the operation's. Only tests check it again at run time.

import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox'
import { Elysia, type AnyElysia } from 'elysia'
import type { Scope } from '../wire/scopes.ts'
import type { Operation } from '../wire/operation.ts'
import {
  OPERATIONS,
  type AnswerOf,
  type OperationName,
  type Operations,
  type PathOf,
} from '../wire/operations.ts'
import { Warning, type Unchanged, type Wire } from '../wire/schema.ts'
import { access, type ApiDeps, type Once } from './access.ts'
import { cookies, type SetCookie } from './signed-in.ts'
import type { AccessOptions, Caller, Visit } from './visit.ts'
import type { Columns } from './columns.ts'
import type { JsonText } from './json-text.ts'
import type { WholeAnswer } from './kept-answers.ts'

/** The form that the OpenAPI document uses. */
interface RequestBody {
  readonly required: boolean
  readonly content: Readonly<Record<string, { schema: object }>>
}

/**
 * What a handler may return: fields may be JSON text or columns already, `ok` is added later, and the whole may be a kept
 * text.
 */
type Sent<K extends OperationName> = AnswerFields<K> | WholeAnswer<AnswerFields<K>>
type AnswerFields<K extends OperationName> = OrText<AnswerOf<K> | AcceptedOf<K>> & {
  readonly warnings?: readonly Wire<typeof Warning>[]
}
type OrText<T> = T extends unknown ? { readonly [F in keyof T]: T[F] | JsonText | Columns } : never
type AcceptedOf<K extends OperationName> = Operations[K] extends {
  readonly accepted: infer P extends TProperties
}
  ? Unchanged<Static<TObject<P>>>
  : never

type Given<K extends OperationName, Part extends 'body' | 'query' | 'params', Else> = Operations[K] extends {
  readonly [P in Part]: infer S extends TSchema
}
  ? Static<S>
  : Else

/** What a handler is given. */
interface Asked<K extends OperationName> {
  readonly deps: ApiDeps
  /** The signed-in user; on routes that need nobody, `visitor`. */
  readonly caller: Caller
  readonly visitor: Caller | null
  /** Whether the credential covers objects of this kind. */
  readonly may: (scope: Scope) => boolean
  readonly visit: Visit
  readonly once: Once
  readonly request: Request
  readonly server: { timeout(request: Request, seconds: number): void } | null
  readonly set: { status?: number | string; headers: Record<string, string | number> }
  /** Only on routes of accounts. */
  readonly setCookie: SetCookie
  readonly params: Given<K, 'params', Readonly<Record<PathOf<K>, string>>>
  readonly query: Given<K, 'query', unknown>
  readonly body: Given<K, 'body', unknown>
}

type Handler<K extends OperationName> = (
  asked: Asked<K>,
) => Operations[K] extends { readonly answer: object } ? Sent<K> | Promise<Sent<K>> : unknown

interface RouteOptions extends Omit<AccessOptions, 'to' | 'method'> {
  /** For bodies that are not the JSON of the operation's schema. */
  readonly requestBody?: RequestBody
}

export type Routes = {
  readonly [K in OperationName]?: Handler<K> | (RouteOptions & { readonly handle: Handler<K> })
}

/** Resources, each with its heading in the documentation. */
export type Resources = readonly (readonly [heading: string, routes: Routes])[]

/** Its type says nothing of the routes: with all of them the compiler gives up on what a server is. */
export function routesOf(deps: ApiDeps, resources: Resources): AnyElysia {
  const app = new Elysia({ normalize: false }).decorate('deps', deps).use(access(deps))
  for (const [heading, routes] of resources) addRoutes(app, heading, routes)
  return app
}

/** Does the same for resources whose handlers set a cookie, which costs each of their requests a moment. */
export function cookieRoutesOf(deps: ApiDeps, resources: Resources): AnyElysia {
  const app = new Elysia({ normalize: false }).decorate('deps', deps).use(access(deps)).use(cookies(deps))
  for (const [heading, routes] of resources) addRoutes(app, heading, routes)
  return app
}

function addRoutes(app: AnyElysia, heading: string, routes: Routes): void {
  for (const [name, entry] of Object.entries(routes)) {
    const { handle, ...options } = typeof entry === 'function' ? { handle: entry } : entry
    const [method = '', path = ''] = name.split(' ')
    // Elysia understands a handler by its text; its types cannot follow a table.
    app.route(
      method,
      path.replace(/\{(\w+)\}/g, ':$1'),
      handle as never,
      {
        tags: [heading],
        ...hooksOf(name as OperationName, options),
      } as never,
    )
  }
}

function hooksOf(name: OperationName, { requestBody, ...options }: RouteOptions): object {
  const operation: Operation = OPERATIONS[name]
  const { access, summary, description, answer, accepted, params, query, body } = operation
  // A body that the handler reads itself is not parsed by anybody else.
  const read = options.streams && body ? { required: true, content: jsonOf(body) } : requestBody
  return {
    ...(params && { params }),
    ...(query && { query }),
    ...(body && !options.streams && { body }),
    access: { to: access, method: name.slice(0, name.indexOf(' ')), ...options },
    detail: {
      summary,
      ...(description !== undefined && { description }),
      'x-operation': name,
      ...(answer && { 'x-answer': answerSchema(answer) }),
      ...(accepted && { 'x-accepted': answerSchema(accepted) }),
      ...(read && { requestBody: read }),
    },
  }
}

const jsonOf = (schema: TSchema) => ({ 'application/json': { schema } })

const answerSchema = (fields: TProperties) =>
  Type.Object({ ok: Type.Literal(true), ...fields, warnings: Type.Optional(Type.Array(Warning)) })
