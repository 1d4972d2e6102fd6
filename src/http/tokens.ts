// Personal API tokens. Managing them requires a session, so a leaked token cannot make more tokens.

import type { ApiToken } from '../people/accounts/accounts.ts'
import {
  createToken,
  listTokens,
  revokeToken,
  tokenStatus,
  type TokenMade,
} from '../people/accounts/tokens.ts'
import type { Token } from '../wire/token.ts'
import type { ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

const TOKENS_MAX = 500

function wireOf(deps: ApiDeps, token: ApiToken): Token {
  const { userId: _owner, hash: _hash, ...shown } = token
  return { ...shown, status: tokenStatus(deps, token) }
}

export const TOKEN_ROUTES: Routes = {
  'POST /api/platform/tokens': {
    rate: 'tokens',
    secret: true,
    handle: ({ deps, caller, body, once }) =>
      once(
        ({ secret, token }: TokenMade) => ({ id: token.id, secret, token: wireOf(deps, token) }),
        (also) => createToken(deps, caller.user, body, also),
      ),
  },
  'GET /api/platform/tokens': async ({ deps, caller, query }) =>
    listed('tokens', await listTokens(deps, caller.user, pageOf(query, TOKENS_MAX)), (token) =>
      wireOf(deps, token),
    ),
  'DELETE /api/platform/tokens': async ({ deps, caller, query }) => {
    const token = await revokeToken(deps, caller.user, query.id)
    return { id: token.id, token: wireOf(deps, token) }
  },
}
