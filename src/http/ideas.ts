// Ideas: the public feed, the caller's own, and unlisted ones for those who know the id.

import { IDEAS_PER_USER, type Idea } from '../people/ideas/ideas.ts'
import { cleanPng } from '../lib/png.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import { requireInterval } from '../market/interval.ts'
import { PICTURE, type Idea as IdeaWire, type Proof } from '../wire/idea.ts'
import { type ApiDeps, perServer } from './access.ts'
import { ideaItem } from './search-items.ts'
import { pageName, pageOf } from './fields.ts'
import { ItemTexts } from './item-texts.ts'
import { JsonText } from './json-text.ts'
import type { Routes } from './route.ts'

/** A picture as base64, and what else the body may be. */
const SNAPSHOT_BODY_BYTES = PICTURE.bytes * 2
/** A run on the newest bars has some that came after the sweep, and lacks as many of the oldest. */
const COMMON_LEAST = 0.9

const wire = (
  { ownerId: _owner, wasPublic: _wasPublic, tags, snapshot, ...shown }: Idea,
  mine: boolean,
): IdeaWire => ({
  ...shown,
  tags: [...tags],
  mine,
  snapshot: snapshot ? { publishedAt: snapshot.at, picture: snapshot.picture } : null,
})

const wireFor = (userId: string | null) => (idea: Idea) => wire(idea, idea.ownerId === userId)

const textsOn = perServer((deps) => new ItemTexts(deps.features.ideas.records, wire, deps.moment))

/** Unlisted ideas are in no search index, not even in their owner's. */
const indexed = ({ search }: ApiDeps['features'], idea: Idea) =>
  idea.visibility === 'unlisted' ? search.remove('idea', idea.id, idea.ownerId) : search.put(ideaItem(idea))

export const IDEA_ROUTES: Routes = {
  'POST /api/platform/ideas': async ({ deps, caller: { user }, body, once }) => {
    const fields = {
      ...body,
      interval: body.interval == null ? null : requireInterval(body.interval),
    }
    return once(
      (idea: Idea) => ({ id: idea.id, idea: wireFor(user.id)(idea) }),
      async (also) => {
        const idea = await deps.features.ideas.publish(user.id, user.name, fields, also)
        indexed(deps.features, idea)
        return idea
      },
    )
  },
  'GET /api/platform/ideas': async ({ deps, visitor, query }) => {
    const userId = visitor?.user.id ?? null
    if (query.feed === 'public' || userId === null) {
      const page = pageOf(query, 100)
      return deps.kept.answer(
        pageName('feed', userId, page),
        () => deps.features.ideas.feedStamp(),
        async () => {
          const { items, nextCursor } = await deps.features.ideas.feedIds(page)
          return { ideas: await textsOn(deps).list(items, userId), nextCursor }
        },
      )
    }
    const page = pageOf(query, IDEAS_PER_USER)
    return deps.kept.answer(
      pageName('ideas', userId, page),
      () => deps.features.ideas.listStamp(userId),
      async () => {
        const { items, nextCursor } = await deps.features.ideas.ids(userId, page)
        return { ideas: await textsOn(deps).list(items, userId), nextCursor }
      },
    )
  },
  'GET /api/platform/ideas/{id}': {
    etag: true,
    handle: async ({ deps, visitor, params: { id } }) => {
      const userId = visitor?.user.id ?? null
      return deps.kept.answer(
        `idea ${userId ?? ''} ${id}`,
        () => deps.features.ideas.stamp(id),
        async () => ({
          idea: wireFor(userId)(await deps.features.ideas.read(id, userId)),
        }),
      )
    },
  },
  'PATCH /api/platform/ideas/{id}': async ({ deps, caller, params, body }) => {
    const interval = typeof body.interval === 'string' ? { interval: requireInterval(body.interval) } : {}
    const idea = await deps.features.ideas.change(caller.user.id, params.id, { ...body, ...interval })
    if (idea.id !== params.id) deps.features.search.remove('idea', params.id, caller.user.id)
    indexed(deps.features, idea)
    return { id: idea.id, idea: wireFor(caller.user.id)(idea) }
  },
  'DELETE /api/platform/ideas/{id}': async ({ deps, caller, params }) => {
    await deps.features.ideas.remove(caller.user.id, params.id)
    deps.features.search.remove('idea', params.id, caller.user.id)
    return { id: params.id }
  },
  'PUT /api/platform/ideas/{id}/snapshot': {
    bodyBytes: SNAPSHOT_BODY_BYTES,
    handle: async ({ deps, caller: { user }, params: { id }, body, request }) => {
      const { backtestId } = await deps.features.ideas.get(user.id, id)
      if (backtestId === null)
        throw new Problem(409, 'conflict', 'This idea has no backtest. Set its backtestId first.')
      const picture = body.picture ? await pictureOf(body.picture) : null
      const proof = body.sweepId ? await proofOf(deps, user.id, backtestId, body.sweepId) : null
      const run = await deps.runs.looks.published(user.id, backtestId, request.signal)
      const text = proof ? withProof(run, proof) : run
      return {
        idea: wireFor(user.id)(await deps.features.ideas.publishSnapshot(user.id, id, { text, picture })),
      }
    },
  },
  'GET /api/platform/ideas/{id}/snapshot': async ({ deps, visitor, params: { id } }) => {
    const { length, parts } = await deps.features.ideas.snapshot(id, visitor?.user.id ?? null)
    return { snapshot: new JsonText([{ length, parts }]) }
  },
  'DELETE /api/platform/ideas/{id}/snapshot': async ({ deps, caller: { user }, params: { id } }) => ({
    idea: wireFor(user.id)(await deps.features.ideas.takeBackSnapshot(user.id, id)),
  }),
  'GET /api/platform/ideas/{id}/picture': async ({ deps, visitor, params: { id } }) =>
    new Response(await deps.features.ideas.picture(id, visitor?.user.id ?? null), {
      // Others may show it: a link's picture is fetched by the page that the link is written on.
      headers: { 'content-type': 'image/png', 'cross-origin-resource-policy': 'cross-origin' },
    }),
}

/** What a sweep says of one of its trials. Throws Problem 409 if the backtest is none of them. */
async function proofOf(
  { features, runs }: ApiDeps,
  userId: string,
  backtestId: string,
  sweepId: string,
): Promise<Proof> {
  const { sweeps } = features
  const sweep = await sweeps.get(userId, sweepId)
  const verdict = sweep.state === 'done' ? await sweeps.verdict(userId, sweepId) : null
  if (!verdict || sweep.finishedAt === null)
    throw new Problem(409, 'conflict', 'The sweep has no verdict: it is not done.')
  const run = await runs.get(userId, backtestId)
  const isSameMarket =
    run.exchange === sweep.exchange && run.symbol === sweep.symbol && run.interval === sweep.interval
  const trial = isSameMarket ? await sweeps.trialOf(sweep, await runs.script(userId, backtestId)) : null
  if (trial === null)
    throw new Problem(
      409,
      'conflict',
      'The backtest is no trial of this sweep: run one of its trials, and publish that.',
    )
  if (!run.range || commonShare(run.range, sweep.range) < COMMON_LEAST)
    throw new Problem(
      409,
      'conflict',
      'The backtest ran on other bars than the sweep, so what the sweep found says little of it. Run the trial again on as many bars as the sweep had.',
    )
  const { objective, constraints, sampler, space, filtered = 0, range, finishedAt } = sweep
  return {
    isBest: verdict.best?.trial === trial,
    objective,
    constraints,
    sampler,
    varied: space.length,
    filtered,
    range,
    finishedAt,
    verdict,
  }
}

type Range = Proof['range']

/** How much of the longer of two stretches of time both have in common. */
function commonShare(one: Range, other: Range): number {
  const common = Math.min(one.to, other.to) - Math.max(one.from, other.from)
  const longest = Math.max(one.to - one.from, other.to - other.from)
  return longest === 0 ? Number(common === 0) : Math.max(0, common) / longest
}

/** The text of a snapshot, which is an object, with one more field. */
function withProof(text: readonly Uint8Array[], proof: Proof): Uint8Array[] {
  const pieces = text.filter(({ length }) => length > 0)
  const last = pieces.at(-1)!
  const end = last.lastIndexOf('}'.charCodeAt(0))
  const field = `,"proof":${JSON.stringify(proof)}}`
  return [...pieces.slice(0, -1), last.subarray(0, end), new TextEncoder().encode(field)]
}

async function pictureOf(base64: string): Promise<Uint8Array> {
  const picture = await cleanPng(Buffer.from(base64, 'base64'), PICTURE)
  if (typeof picture === 'string') throw invalidField('/picture', 'format', `The picture ${picture}.`)
  return picture
}
