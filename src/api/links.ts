// What links in messages do, for people who may not be signed in: the link itself is the permission.

import { Elysia } from 'elysia'
import { access, type ApiDeps } from './access.ts'
import { route } from './route.ts'

export function linkRoutes(deps: ApiDeps) {
  const { tapped } = deps.features
  return new Elysia({ prefix: '/api/links', tags: ['Alerts'], normalize: false })
    .use(access(deps))
    .post(
      '/show',
      async ({ body }) => ({ link: await tapped.show(body.token) }),
      route('POST /api/links/show'),
    )
    .post(
      '/follow',
      async ({ body }) => ({ link: await tapped.follow(body.token) }),
      route('POST /api/links/follow'),
    )
}
