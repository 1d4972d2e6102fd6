// Ideas: the public feed, the caller's own, and unlisted ones for those who know the id.

import { Elysia } from 'elysia'
import { IDEAS_PER_USER, type Idea } from '../ideas/ideas.ts'
import { requireInterval } from '../market/interval.ts'
import type { Idea as IdeaWire } from '../wire/idea.ts'
import { access, type ApiDeps } from './access.ts'
import { ideaItem } from './search-items.ts'
import { listed, pageName, pageOf } from './fields.ts'
import { route } from './route.ts'

export function ideaRoutes(deps: ApiDeps) {
  const { kept } = deps
  const { ideas, search } = deps.features
  const wireFor =
    (userId: string | null) =>
    ({ ownerId, wasPublic: _wasPublic, tags, ...shown }: Idea): IdeaWire => ({
      ...shown,
      tags: [...tags],
      mine: ownerId === userId,
    })
  /** Unlisted ideas are in no search index, not even in their owner's. */
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
        if (query.feed === 'public' || userId === null) {
          const page = pageOf(query, 100)
          return kept.answer(pageName('feed', userId, page), await ideas.feedStamp(), async () =>
            listed('ideas', await ideas.feed(page), wireFor(userId)),
          )
        }
        const page = pageOf(query, IDEAS_PER_USER)
        return kept.answer(pageName('ideas', userId, page), await ideas.listStamp(userId), async () =>
          listed('ideas', await ideas.listOf(userId, page), wireFor(userId)),
        )
      },
      route('GET /api/platform/ideas'),
    )
    .get(
      '/:id',
      async ({ visitor, params: { id } }) => {
        const userId = visitor?.user.id ?? null
        return kept.answer(`idea ${userId ?? ''} ${id}`, await ideas.stamp(id), async () => ({
          idea: wireFor(userId)(await ideas.get(id, userId)),
        }))
      },
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
