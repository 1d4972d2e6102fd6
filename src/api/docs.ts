// The API's own description: the OpenAPI document and the typed client made from it, and the licences of the server's parts.

import { Elysia } from 'elysia'
import { access, type ApiDeps } from './access.ts'
import { basePath } from './deps.ts'
import { clientText } from './client-text.ts'
import { openApiDocument, type Route } from './openapi.ts'

export function docsRoutes(deps: ApiDeps, routes: readonly Route[]) {
  const base = basePath(deps.settings)
  let text: string | undefined
  let client: string | undefined
  return (
    new Elysia({ normalize: false })
      .use(access(deps))
      .get(
        '/api/openapi.json',
        ({ set }) => {
          set.headers['content-type'] = 'application/json;charset=utf-8'
          const { version, publicUrl } = deps.settings
          text ??= JSON.stringify(openApiDocument(routes, { version, url: publicUrl ?? '/' }))
          return text
        },
        { access: 'none', detail: { hide: true } },
      )
      .get(
        '/api/client.ts',
        () => {
          const { version, publicUrl } = deps.settings
          client ??= clientText(openApiDocument(routes, { version, url: publicUrl ?? '/' }))
          return page(client, 'text/typescript; charset=utf-8')
        },
        { access: 'none', detail: { hide: true } },
      )
      // The reference is a page of the dashboard.
      .get(
        '/api/docs',
        () => new Response(null, { status: 302, headers: { location: `${base}/reference` } }),
        {
          access: 'none',
          detail: { hide: true },
        },
      )
      .get('/api/docs/licenses.txt', async () => page(await deps.licences(), 'text/plain; charset=utf-8'), {
        access: 'none',
        detail: { hide: true },
      })
  )
}

function page(body: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(body, { headers: { 'content-type': type } })
}
