// The API's own description: the OpenAPI document and the typed clients made from it, and the licences of the server's parts.

import { Elysia } from 'elysia'
import { access, type ApiDeps } from './access.ts'
import { basePath } from './deps.ts'
import { clientText } from './client-text.ts'
import { openApiDocument, type Route } from './openapi.ts'
import { sharedDocument } from './openapi-shared.ts'
import { pythonClientText } from './python-client.ts'

export function docsRoutes(deps: ApiDeps, routes: readonly Route[]) {
  const base = basePath(deps.settings)
  const document = () => {
    const { version, publicUrl } = deps.settings
    return openApiDocument(routes, { version, url: publicUrl ?? '/' })
  }
  let text: string | undefined
  let client: string | undefined
  let pythonClient: string | undefined
  return (
    new Elysia({ normalize: false })
      .use(access(deps))
      .get(
        '/api/openapi.json',
        ({ set }) => {
          set.headers['content-type'] = 'application/json;charset=utf-8'
          text ??= JSON.stringify(sharedDocument(document()))
          return text
        },
        { access: 'none', detail: { hide: true } },
      )
      .get(
        '/api/client.ts',
        () => {
          client ??= clientText(document())
          return page(client, 'text/typescript; charset=utf-8')
        },
        { access: 'none', detail: { hide: true } },
      )
      .get(
        '/api/client.py',
        () => {
          pythonClient ??= pythonClientText(document())
          return page(pythonClient, 'text/x-python; charset=utf-8')
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
