// Personal API tokens. Managing them requires a session, so a leaked token cannot make more tokens.

import { Elysia } from 'elysia'
import type { ApiToken } from '../people/accounts/accounts.ts'
import {
  createToken,
  listTokens,
  revokeToken,
  tokenStatus,
  type TokenMade,
} from '../people/accounts/tokens.ts'
import type { Token } from '../wire/token.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

const TOKENS_MAX = 500

export function tokenRoutes(deps: ApiDeps) {
  const wire = (token: ApiToken): Token => {
    const { userId: _owner, hash: _hash, ...shown } = token
    return { ...shown, status: tokenStatus(deps, token) }
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
      route('POST /api/platform/tokens', { rate: 'tokens', secret: true }),
    )
    .get(
      '',
      async ({ caller, query }) =>
        listed('tokens', await listTokens(deps, caller.user, pageOf(query, TOKENS_MAX)), wire),
      route('GET /api/platform/tokens'),
    )
    .delete(
      '',
      async ({ caller, query }) => {
        const token = await revokeToken(deps, caller.user, query.id)
        return { id: token.id, token: wire(token) }
      },
      route('DELETE /api/platform/tokens'),
    )
}
