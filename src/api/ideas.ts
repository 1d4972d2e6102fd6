// Ideas: the public feed, one's own, and unlisted ones for those who know the id.

import { Elysia } from 'elysia'
import { IDEAS_PER_USER, type Idea } from '../ideas/ideas.ts'
import { requireInterval } from '../market/interval.ts'
import type { Idea as IdeaWire } from '../wire/idea.ts'
import { access, type ApiDeps } from './access.ts'
import { ideaItem } from './search-items.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

export function ideaRoutes(deps: ApiDeps) {
  const { ideas, search } = deps.rooms
  const wireFor =
    (userId: string | null) =>
    ({ ownerId, wasPublic: _wasPublic, tags, ...shown }: Idea): IdeaWire => ({
      ...shown,
      tags: [...tags],
      mine: ownerId === userId,
    })
  /** Unlisted ideas are in no search, not even their owner's. */
  const indexed = (idea: Idea) =>
    idea.visibility === 'unlisted' ? search.remove('idea', idea.id, idea.ownerId) : search.put(ideaItem(idea))

  return new Elysia({ prefix: '/api/platform/ideas', tags: ['Ideas'], normalize: false })
    .use(access(deps))
    .post(
      '',
      async ({ caller: { user }, body, once }) => {
        const fields = {
          ...body,
          interval: body.interval == null ? null : requireInterval(body.interval),
        }
        return once(
          (idea: Idea) => ({ id: idea.id, idea: wireFor(user.id)(idea) }),
          async (also) => {
            const idea = await ideas.publish(user.id, user.name, fields, also)
            indexed(idea)
            return idea
          },
        )
      },
      route('POST /api/platform/ideas'),
    )
    .get(
      '',
      async ({ visitor, query }) => {
        const userId = visitor?.user.id ?? null
        const page = pageOf(query, query.feed === 'public' || userId === null ? 100 : IDEAS_PER_USER)
        const list =
          query.feed === 'public' || userId === null
            ? await ideas.feed(page)
            : await ideas.listOf(userId, page)
        return listed('ideas', list, wireFor(userId))
      },
      route('GET /api/platform/ideas'),
    )
    .get(
      '/:id',
      async ({ visitor, params }) => ({
        idea: wireFor(visitor?.user.id ?? null)(await ideas.get(params.id, visitor?.user.id ?? null)),
      }),
      route('GET /api/platform/ideas/{id}', { etag: true }),
    )
    .patch(
      '/:id',
      async ({ caller, params, body }) => {
        const interval = typeof body.interval === 'string' ? { interval: requireInterval(body.interval) } : {}
        const idea = await ideas.change(caller.user.id, params.id, { ...body, ...interval })
        if (idea.id !== params.id) search.remove('idea', params.id, caller.user.id)
        indexed(idea)
        return { id: idea.id, idea: wireFor(caller.user.id)(idea) }
      },
      route('PATCH /api/platform/ideas/{id}'),
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await ideas.remove(caller.user.id, params.id)
        search.remove('idea', params.id, caller.user.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/ideas/{id}'),
    )
}
