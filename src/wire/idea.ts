// Ideas, which their authors publish.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import {
  idOf,
  IntervalName,
  Listed,
  MarketName,
  nullable,
  oneOf,
  PageQuery,
  Prose,
  Text,
  Time,
  type Wire,
} from './schema.ts'

const Visibility = oneOf(['public', 'unlisted', 'private'])

const IdeaBody = Type.Object({
  title: Text(200),
  body: Prose(50_000, 0),
  tags: Type.Optional(Type.Array(Text(50), { maxItems: 20 })),
  visibility: Visibility,
  symbol: Type.Optional(nullable(MarketName)),
  exchange: Type.Optional(nullable(MarketName)),
  interval: Type.Optional(nullable(IntervalName)),
  backtestId: Type.Optional(nullable(idOf('bt'))),
})

const Idea = Type.Object(
  {
    id: idOf('idea'),
    title: Type.String(),
    body: Type.String(),
    tags: Type.Array(Type.String()),
    visibility: Visibility,
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
export type Idea = Wire<typeof Idea>

export const IDEAS = {
  'POST /api/platform/ideas': {
    access: 'session ideas:write',
    summary: 'Publish an idea',
    body: IdeaBody,
    answer: { id: idOf('idea'), idea: Idea },
  },
  'GET /api/platform/ideas': {
    access: 'none ideas:read',
    summary: 'List ideas',
    description:
      "The caller's own, newest first; with feed=public, or when nobody is signed in, the public ones.",
    query: Type.Object({ ...PageQuery.properties, feed: Type.Optional(oneOf(['public', 'mine'])) }),
    answer: Listed('ideas', Idea),
  },
  'GET /api/platform/ideas/{id}': {
    access: 'none ideas:read',
    summary: 'One idea',
    description: 'A private one is only for its owner; an unlisted one for anybody who knows its id.',
    answer: { idea: Idea },
  },
  'PATCH /api/platform/ideas/{id}': {
    access: 'session ideas:write',
    summary: 'Change an idea',
    description:
      'A public idea that becomes unlisted gets a new `id`: those who knew the old one do not find it any more.',
    body: Type.Partial(IdeaBody),
    answer: { id: idOf('idea'), idea: Idea },
  },
  'DELETE /api/platform/ideas/{id}': {
    access: 'session ideas:write',
    summary: 'Delete an idea',
    answer: { id: idOf('idea') },
  },
} as const satisfies OperationTable
