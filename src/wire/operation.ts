// An operation of the API: one method at one path, with its access, its arguments and its answer.
//
// A table of operations is keyed as the typed clients name them, `POST /api/platform/alerts/{id}`. The key is all that a
// caller needs at run time; the schemas are the server's, and the dashboard imports their types alone.

import type { TObject, TProperties, TSchema } from '@sinclair/typebox'
import type { Scope } from './scopes.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The credential that always works: `session`, `api-token`, or `none` if none is needed. */
type AccessLabel = 'session' | 'api-token' | 'none'

/** The label, and the scopes that a token needs besides; `session only` admits no tokens. */
type Access = `${AccessLabel} ${Scope}` | `${AccessLabel} ${Scope} ${Scope}` | 'session only' | 'none'

export interface Operation {
  readonly access: Access
  readonly summary: string
  readonly description?: string
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TSchema
  /** Its fields besides `ok` and `warnings`; missing if the answer is not JSON. */
  readonly answer?: TProperties
  /** The fields of a 202, the answer to `Prefer: respond-async`. */
  readonly accepted?: TProperties
}

export type OperationTable = Readonly<Record<`${Method} /${string}`, Operation>>
