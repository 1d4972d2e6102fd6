// The Model Context Protocol: what an agent with a token may do, over streamable HTTP at /mcp.
//
// The protocol's code is a fifth of the server's whole code, so it is loaded when the first agent comes.

import { Elysia } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { access, type ApiDeps } from './access.ts'
import { jsonBody } from './body.ts'

/** A message of an agent may contain a script, or a file of bars that it made itself. */
const BODY_BYTES = 2 << 20
const INSTEAD =
  'Shorten it, or send a larger file of bars to POST /api/platform/bars/import with the same token, as text/csv.'

export function mcpRoutes(deps: ApiDeps) {
  return new Elysia({ normalize: false }).use(access(deps)).all(
    '/mcp',
    async ({ request, visitor }) => {
      // An agent is only told what it asks, so a stream for it would be held open for nothing.
      if (request.method !== 'POST')
        throw new Problem(405, 'method_not_allowed', 'This address takes POST.', {
          headers: { allow: 'POST' },
        })
      if (!visitor)
        throw new Problem(401, 'unauthenticated', 'Send an access token as `Authorization: Bearer <token>`.')
      const held = deps.gate.bodies.open(visitor.user.id)
      try {
        const large = { clock: deps.clock, held }
        const { value: body } = await jsonBody(request, BODY_BYTES, { large, instead: INSTEAD })
        const { answerMcp } = await import('./agents/mcp-server.ts')
        return await answerMcp(deps, { request, caller: visitor, body })
      } finally {
        held.release()
      }
    },
    { access: { to: 'none', streams: true }, detail: { hide: true } },
  )
}
