// Personal API tokens and their scopes.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { SCOPES } from './scopes.ts'
import { idOf, Listed, nullable, oneOf, PageQuery, Text, Time, type Wire } from './schema.ts'

const Scope = oneOf(SCOPES)

const Token = Type.Object(
  {
    id: idOf('tok'),
    name: Type.String(),
    last4: Type.String({ description: 'The last characters of the secret, to tell tokens apart.' }),
    scopes: Type.Array(Scope),
    createdAt: Time,
    expiresAt: nullable(Time),
    lastUsedAt: nullable(Time),
    revokedAt: nullable(Time),
    status: oneOf(['active', 'expired', 'revoked']),
  },
  { $id: 'ApiToken' },
)
export type Token = Wire<typeof Token>

export const TOKENS = {
  'POST /api/platform/tokens': {
    access: 'session only',
    summary: 'Create an API token',
    description: 'The secret is shown once.',
    body: Type.Object({
      name: Type.Optional(Text(100)),
      scopes: Type.Optional(Type.Array(Scope, { minItems: 1, maxItems: 18 })),
      expiresAt: Type.Optional(nullable(Time)),
    }),
    answer: { id: idOf('tok'), secret: Type.String(), token: Token },
  },
  'GET /api/platform/tokens': {
    access: 'session only',
    summary: 'List API tokens',
    query: PageQuery,
    answer: Listed('tokens', Token),
  },
  'DELETE /api/platform/tokens': {
    access: 'session only',
    summary: 'Revoke an API token',
    query: Type.Object({ id: Text(100) }),
    answer: { id: idOf('tok'), token: Token },
  },
} as const satisfies OperationTable
