// Personal API tokens. Managing them takes a session: a token that leaked cannot make more of its kind.

import { Type, type Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { SCOPES, type ApiToken } from '../accounts/accounts.ts'
import {
  createToken,
  listTokens,
  revokeToken,
  TOKEN_STATUSES,
  tokenStatus,
  type TokenMade,
} from '../accounts/tokens.ts'
import { access, type ApiDeps } from './access.ts'
import { doc, idOf, Listed, listed, nullable, oneOf, PageQuery, pageOf, Text, Time } from './schemas.ts'

const TOKENS_MAX = 500

export const TokenWire = Type.Object(
  {
    id: idOf('tok'),
    name: Type.String(),
    last4: Type.String(),
    scopes: Type.Array(oneOf(SCOPES)),
    createdAt: Time,
    expiresAt: nullable(Time),
    lastUsedAt: nullable(Time),
    revokedAt: nullable(Time),
    status: oneOf(TOKEN_STATUSES),
  },
  { $id: 'ApiToken' },
)

export function tokenRoutes(deps: ApiDeps) {
  const wire = (token: ApiToken): Static<typeof TokenWire> => {
    const { userId: _owner, hash: _hash, scopes, ...shown } = token
    return { ...shown, scopes: [...scopes], status: tokenStatus(deps, token) }
  }

  return new Elysia({ prefix: '/api/platform/tokens', tags: ['Tokens'], normalize: false })
    .use(access(deps))
    .post(
      '',
      ({ caller, body, once }) =>
        once(
          ({ secret, token }: TokenMade) => ({ id: token.id, secret, token: wire(token) }),
          (also) => createToken(deps, caller.user, body, also),
        ),
      {
        access: { to: 'session only', rate: 'tokens', secret: true },
        body: Type.Object({
          name: Type.Optional(Text(100)),
          scopes: Type.Optional(Type.Array(oneOf(SCOPES), { minItems: 1, maxItems: SCOPES.length })),
          expiresAt: Type.Optional(nullable(Time)),
        }),
        detail: doc(
          'Create an API token',
          { id: idOf('tok'), secret: Type.String(), token: TokenWire },
          'The secret is shown once.',
        ),
      },
    )
    .get(
      '',
      ({ caller, query }) => listed('tokens', listTokens(deps, caller.user, pageOf(query, TOKENS_MAX)), wire),
      {
        access: 'session only',
        query: Type.Object(PageQuery),
        detail: doc('List API tokens', Listed('tokens', TokenWire)),
      },
    )
    .delete(
      '',
      async ({ caller, query }) => {
        const token = await revokeToken(deps, caller.user, query.id)
        return { id: token.id, token: wire(token) }
      },
      {
        access: 'session only',
        query: Type.Object({ id: Text(100) }),
        detail: doc('Revoke an API token', { id: idOf('tok'), token: TokenWire }),
      },
    )
}
