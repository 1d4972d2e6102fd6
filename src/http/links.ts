// What links in messages do and show, for people who may not be signed in: the link itself is the permission.

import type { Routes } from './route.ts'

/** Services fetch it to show it; nobody else should list it or keep it for others. */
const PICTURE_HEADERS = {
  'content-type': 'image/png',
  'cache-control': 'private, max-age=86400',
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-resource-policy': 'cross-origin',
} as const

export const LINK_ROUTES: Routes = {
  'POST /api/links/show': async ({ deps, body }) => ({ link: await deps.features.tapped.show(body.token) }),
  'GET /api/links/pictures/{token}': async ({ deps, params }) =>
    new Response(await deps.features.pictureOf(params.token), { headers: PICTURE_HEADERS }),
  'POST /api/links/follow': async ({ deps, body }) => ({
    link: await deps.features.tapped.follow(body.token),
  }),
}
