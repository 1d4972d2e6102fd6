// Ideas: the public feed, one's own, and unlisted ones for whoever knows the id.

import { Type, type Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { IDEAS_PER_USER, VISIBILITIES, type Idea } from '../ideas/ideas.ts'
import { requireInterval } from '../market/interval.ts'
import { access, type ApiDeps } from './access.ts'
import { ideaItem } from './rooms.ts'
import {
  doc,
  idOf,
  Listed,
  listed,
  nullable,
  oneOf,
  PageQuery,
  pageOf,
  Text,
  Time,
  Prose,
} from './schemas.ts'

const fields = {
  title: Text(200),
  body: Prose(50_000, 0),
  tags: Type.Optional(Type.Array(Text(50), { maxItems: 20 })),
  visibility: oneOf(VISIBILITIES),
  symbol: Type.Optional(nullable(Text(60))),
  exchange: Type.Optional(nullable(Text(30))),
  interval: Type.Optional(nullable(Text(10))),
  backtestId: Type.Optional(nullable(idOf('bt'))),
}
const IdeaBody = Type.Object(fields)

export const IdeaWire = Type.Object(
  {
    id: idOf('idea'),
    title: Type.String(),
    body: Type.String(),
    tags: Type.Array(Type.String()),
    visibility: oneOf(VISIBILITIES),
    author: Type.String(),
    mine: Type.Boolean(),
    symbol: nullable(Type.String()),
    exchange: nullable(Type.String()),
    interval: nullable(Type.String()),
    backtestId: nullable(Type.String()),
    createdAt: Time,
    updatedAt: Time,
  },
  { $id: 'Idea' },
)

export function ideaRoutes(deps: ApiDeps) {
  const { ideas, search } = deps.rooms
  const wireFor =
    (userId: string | null) =>
    ({ ownerId, wasPublic: _wasPublic, tags, ...shown }: Idea): Static<typeof IdeaWire> => ({
      ...shown,
      tags: [...tags],
      mine: ownerId === userId,
    })
  /** Unlisted ideas are found by nobody, not even by their owner's search. */
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
      {
        access: 'session ideas:write',
        body: IdeaBody,
        detail: doc('Publish an idea', { id: idOf('idea'), idea: IdeaWire }),
      },
    )
    .get(
      '',
      ({ visitor, query }) => {
        const userId = visitor?.user.id ?? null
        const page = pageOf(query, query.feed === 'public' || userId === null ? 100 : IDEAS_PER_USER)
        const list =
          query.feed === 'public' || userId === null ? ideas.feed(page) : ideas.listOf(userId, page)
        return listed('ideas', list, wireFor(userId))
      },
      {
        access: 'none ideas:read',
        query: Type.Object({ ...PageQuery, feed: Type.Optional(oneOf(['public', 'mine'] as const)) }),
        detail: doc(
          'List ideas',
          Listed('ideas', IdeaWire),
          "One's own, newest first; the public feed with feed=public or when nobody is signed in.",
        ),
      },
    )
    .get(
      '/:id',
      ({ visitor, params }) => ({
        idea: wireFor(visitor?.user.id ?? null)(ideas.get(params.id, visitor?.user.id ?? null)),
      }),
      {
        access: { to: 'none ideas:read', etag: true },
        detail: doc(
          'One idea',
          { idea: IdeaWire },
          'A private one only for its owner; an unlisted one for whoever knows its id.',
        ),
      },
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
      {
        access: 'session ideas:write',
        body: Type.Partial(IdeaBody),
        detail: doc(
          'Change an idea',
          { id: idOf('idea'), idea: IdeaWire },
          'One that was public and becomes unlisted gets a new `id`: whoever knew the old one does not find it any more.',
        ),
      },
    )
    .delete(
      '/:id',
      async ({ caller, params }) => {
        await ideas.remove(caller.user.id, params.id)
        search.remove('idea', params.id, caller.user.id)
        return { id: params.id }
      },
      { access: 'session ideas:write', detail: doc('Delete an idea', { id: idOf('idea') }) },
    )
}
