// Holds answers against what the OpenAPI document says of their routes.

import type { AccessOptions } from '../../src/api/access.ts'
import { type Answering, codesOf } from '../../src/api/responses.ts'

interface AppRoute {
  readonly method: string
  readonly path: string
  readonly hooks: unknown
}
interface RouteHooks {
  readonly body?: unknown
  readonly query?: unknown
  readonly detail?: { readonly hide?: boolean; readonly 'x-options'?: AccessOptions }
}

/** A function that throws when a route answers what its documentation does not have. */
export function documentedAnswers(routes: readonly AppRoute[]) {
  const known = routes
    .filter(({ path }) => path.startsWith('/api/'))
    .map(({ method, path, hooks }) => {
      const { body, query, detail } = hooks as RouteHooks
      const route: Answering = {
        method,
        path: path.replace(/\/$/, ''),
        options: detail?.['x-options'] ?? { to: 'none' },
        hasBody: body !== undefined,
        hasQuery: query !== undefined,
      }
      return {
        route,
        hidden: detail?.hide === true,
        pattern: new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}/?$`),
      }
    })
    // What stands in the path goes before what is a name there.
    .toSorted((a, b) => Number(a.route.path.includes(':')) - Number(b.route.path.includes(':')))

  return (method: string, path: string, status: number, code: string | undefined): void => {
    const { pathname } = new URL(path, 'http://localhost')
    const found = known.find(({ route, pattern }) => route.method === method && pattern.test(pathname))
    if (!found || found.hidden) return
    const { route } = found
    const where = `${route.method} ${route.path}`
    const fine = [200, ...(route.options.async ? [202] : []), ...(route.options.etag ? [304] : [])]
    if (code === undefined && !fine.includes(status))
      throw new Error(`${where} answered ${status}, which its documentation does not have`)
    if (code !== undefined && !codesOf(route).some((one) => one === code))
      throw new Error(`${where} answered ${status} ${code}, which its documentation does not have`)
  }
}
