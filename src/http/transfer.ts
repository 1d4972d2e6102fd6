// Everything that a user owns, out of the server as one file, and into it.

import { Problem } from '../lib/problem.ts'
import { SCOPES } from '../wire/scopes.ts'
import { type ApiDeps, perServer } from './access.ts'
import type { Ask } from './belongings.ts'
import { credentialOf } from './inner-request.ts'
import { paced } from './pace.ts'
import type { Routes } from './route.ts'

/** Users whose files are being taken in. */
const importingOn = perServer(() => new Set<string>())

export const TRANSFER_ROUTES: Routes = {
  'GET /api/platform/export': async ({ deps, caller, query, may }) => {
    requireAll(may, 'read')
    // Few ask for it, and the code that packs files is loaded when somebody does.
    const { exportFile } = await import('./export-all.ts')
    const day = new Date(deps.clock.now()).toISOString().slice(0, 10)
    return new Response(exportFile(deps, caller.user.id, { bars: query.bars === 'yes' }), {
      headers: {
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="chartroom-${day}.jsonl.gz"`,
      },
    })
  },
  'POST /api/platform/import': {
    streams: true,
    requestBody: {
      required: true,
      content: { 'application/gzip': { schema: { type: 'string', format: 'binary' } } },
    },
    handle: async ({ deps, caller, request, may }) => {
      requireAll(may, 'write')
      const importing = importingOn(deps)
      const userId = caller.user.id
      if (importing.has(userId))
        throw new Problem(429, 'concurrency_limited', 'One of your files is being taken in already.', {
          retryAfter: 10,
        })
      importing.add(userId)
      try {
        const { importAll } = await import('./import-all.ts')
        const ask = asCaller(deps, request)
        return await importAll(
          { ...deps, userId, ask },
          paced(deps.clock, request.body ?? new Blob().stream()),
        )
      } finally {
        importing.delete(userId)
      }
    },
  },
}

function requireAll(may: (scope: (typeof SCOPES)[number]) => boolean, end: 'read' | 'write'): void {
  const missing = SCOPES.filter((scope) => scope.endsWith(`:${end}`) && !may(scope))
  if (missing.length > 0)
    throw new Problem(
      403,
      'insufficient_scope',
      `The token needs every scope that ends with :${end}; it lacks ${missing.join(', ')}.`,
    )
}

/** Requests that count towards no limit of requests: the file is one. */
function asCaller(deps: ApiDeps, request: Request) {
  const headers = credentialOf(request)
  return async ({ method, path, body }: Ask) => {
    const isText = typeof body === 'string'
    const inner = new Request(new URL(path, 'http://localhost').href, {
      method,
      headers: { ...headers, 'content-type': isText ? 'text/csv' : 'application/json' },
      body: isText ? body : JSON.stringify(body),
    })
    deps.gate.inner.add(inner)
    const response = await deps.inner(inner)
    return { status: response.status, json: (await response.json()) as Readonly<Record<string, unknown>> }
  }
}
