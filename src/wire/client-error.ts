// Errors that browsers and integrations report.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, PageQuery, Time, type Wire } from './schema.ts'

const ClientError = Type.Object(
  {
    id: idOf('err'),
    fingerprint: Type.String(),
    message: Type.String(),
    count: Type.Integer(),
    firstAt: Time,
    lastAt: Time,
    sample: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'ClientError' },
)
type ClientError = Wire<typeof ClientError>

export const CLIENT_ERRORS = {
  'POST /api/errors': {
    access: 'none',
    summary: 'Report a client-side error',
    description: 'Any JSON object; known fields are kept, trimmed.',
    body: Type.Record(Type.String(), Type.Unknown()),
    answer: { id: idOf('err') },
  },
  'GET /api/errors': {
    access: 'session only',
    summary: 'List client-side errors (owner)',
    query: PageQuery,
    answer: Listed('errors', ClientError),
  },
} as const satisfies OperationTable
