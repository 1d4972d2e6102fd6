// Help articles, questions to them, and messages to the owner.

import { Type } from '@sinclair/typebox'
import type { OperationTable } from './operation.ts'
import { idOf, Listed, oneOf, PageQuery, Prose, Text, Time, type Wire } from './schema.ts'

const Ticket = Type.Object(
  {
    id: idOf('tkt'),
    email: Type.String(),
    subject: Type.String(),
    body: Type.String(),
    state: oneOf(['open', 'closed']),
    createdAt: Time,
  },
  { $id: 'Ticket' },
)
type Ticket = Wire<typeof Ticket>

const ChatAnswer = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    excerpt: Type.String(),
    url: Type.String(),
    score: Type.Number(),
  },
  { $id: 'ChatAnswer' },
)
export type ChatAnswer = Wire<typeof ChatAnswer>

const articleHead = { id: Type.String(), title: Type.String() }
const ArticleHead = Type.Object(articleHead)
export type ArticleHead = Wire<typeof ArticleHead>

const Article = Type.Object({ ...articleHead, keywords: Type.String(), body: Type.String() })

export const SUPPORT = {
  'POST /api/support/contact': {
    access: 'none',
    summary: 'Open a support ticket',
    body: Type.Object({ email: Text(254), subject: Text(200), body: Prose(20_000) }),
    answer: { id: idOf('tkt'), ticket: Ticket },
  },
  'POST /api/support/chat': {
    access: 'none',
    summary: 'Ask the help articles',
    description: 'Matched by keyword; an empty list when nothing fits.',
    body: Type.Object({ query: Prose(1000) }),
    answer: { answers: Type.Array(ChatAnswer) },
  },
  'GET /api/support/articles': {
    access: 'none',
    summary: 'List help articles',
    description:
      'With `q` only those whose title, keywords or text match its words, best first, five at most.',
    query: Type.Object({
      q: Type.Optional(Text(256)),
    }),
    answer: Listed('articles', ArticleHead),
  },
  'GET /api/support/articles/{id}': {
    access: 'none',
    summary: 'One help article',
    answer: {
      article: Article,
    },
  },
  'GET /api/support/tickets': {
    access: 'session only',
    summary: 'List tickets (owner)',
    query: PageQuery,
    answer: Listed('tickets', Ticket),
  },
} as const satisfies OperationTable
