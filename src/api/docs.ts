// The API's own description: the OpenAPI document, a reference page that works without the network, and the licences of the
// server's parts.

import { Elysia, NotFoundError } from 'elysia'
import { access, type ApiDeps } from './access.ts'
import { basePath } from './deps.ts'
import { clientText } from './client-text.ts'
import { openApiDocument, type Route } from './openapi.ts'

const pageAt = (base: string) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Chartroom API</title>
<link rel="stylesheet" href="${base}/api/docs/swagger-ui.css"></head>
<body><div id="swagger-ui"></div><script src="${base}/api/docs/swagger-ui-bundle.js"></script><script src="${base}/api/docs/start.js"></script></body>
</html>
`
const startAt = (base: string) =>
  `SwaggerUIBundle({ url: '${base}/api/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null })\n`
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const TYPES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'licenses.txt': 'text/plain; charset=utf-8',
}

export function docsRoutes(deps: ApiDeps, routes: readonly Route[]) {
  const base = basePath(deps.settings)
  let text: string | undefined
  let client: string | undefined
  return new Elysia({ normalize: false })
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
    .get('/api/docs', () => page(pageAt(base), 'text/html; charset=utf-8'), {
      access: 'none',
      detail: { hide: true },
    })
    .get(
      '/api/docs/:file',
      async ({ params: { file } }) => {
        if (file === 'start.js') return page(startAt(base), 'text/javascript; charset=utf-8')
        const type = TYPES[file]
        const bytes = type ? await deps.docsFile(file) : null
        if (!type || !bytes) throw new NotFoundError()
        return page(bytes as Uint8Array<ArrayBuffer>, type)
      },
      { access: 'none', detail: { hide: true } },
    )
}

function page(body: string | Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(body, { headers: { 'content-type': type, 'content-security-policy': CSP } })
}
