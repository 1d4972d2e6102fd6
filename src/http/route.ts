// Makes a route from an operation of `wire`: its access, the schemas that validate its requests, its documentation.
//
//     .get('/:id', ({ caller, params }) => ({ alert: wire(alerts.get(caller.user.id, params.id)) }),
//       route('GET /api/platform/alerts/{id}', { etag: true }))
//
// The compiler checks the type of the handler's answer against the operation's. Only tests check it again at run time.

import {
  Type,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
} from '@sinclair/typebox'
import type { Operation } from '../wire/operation.ts'
import { OPERATIONS, type AnswerOf, type OperationName, type Operations } from '../wire/operations.ts'
import { Warning, type Unchanged, type Wire } from '../wire/schema.ts'
import type { AccessOptions } from './visit.ts'
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

type Hooks<K extends OperationName> = Pick<
  Operations[K],
  keyof Operations[K] & ('body' | 'query' | 'params')
> & {
  readonly access: AccessOptions
  readonly detail: { readonly summary: string }
} & (Operations[K] extends { readonly answer: object } ? { readonly response: TUnsafe<Sent<K>> } : unknown)

interface RouteOptions extends Omit<AccessOptions, 'to' | 'method'> {
  /** For bodies that are not the JSON of the operation's schema. */
  readonly requestBody?: RequestBody
}

/** `options` add requirements to the operation's access. */
export function route<const K extends OperationName>(
  name: K,
  { requestBody, ...options }: RouteOptions = {},
): Hooks<K> {
  const operation: Operation = OPERATIONS[name]
  const { access, summary, description, answer, accepted, params, query, body } = operation
  // A body that the handler reads itself is not parsed by anybody else.
  const read = options.streams && body ? { required: true, content: jsonOf(body) } : requestBody
  const hooks = {
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
  // `response` is only for the compiler: Elysia would check every answer against it, and refuse JSON text.
  return hooks as unknown as Hooks<K>
}

const jsonOf = (schema: TSchema) => ({ 'application/json': { schema } })

const answerSchema = (fields: TProperties) =>
  Type.Object({ ok: Type.Literal(true), ...fields, warnings: Type.Optional(Type.Array(Warning)) })
