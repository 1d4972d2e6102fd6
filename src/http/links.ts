// What links in messages do and show, for people who may not be signed in: the link itself is the permission.

import { Elysia } from 'elysia'
import { access, type ApiDeps } from './access.ts'
import { route } from './route.ts'

/** Services fetch it to show it; nobody else should list it or keep it for others. */
const PICTURE_HEADERS = {
  'content-type': 'image/png',
  'cache-control': 'private, max-age=86400',
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-resource-policy': 'cross-origin',
} as const

export function linkRoutes(deps: ApiDeps) {
  const { tapped, pictureOf } = deps.features
  return new Elysia({ prefix: '/api/links', tags: ['Alerts'], normalize: false })
    .use(access(deps))
    .post(
      '/show',
      async ({ body }) => ({ link: await tapped.show(body.token) }),
      route('POST /api/links/show'),
    )
    .get(
      '/pictures/:token',
      async ({ params }) => new Response(await pictureOf(params.token), { headers: PICTURE_HEADERS }),
      route('GET /api/links/pictures/{token}'),
    )
    .post(
      '/follow',
      async ({ body }) => ({ link: await tapped.follow(body.token) }),
      route('POST /api/links/follow'),
    )
}
