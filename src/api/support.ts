// Help: articles, the chat that finds them, and tickets.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { isEmail } from '../accounts/users.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import type { Changes } from '../store/collection.ts'
import { users } from '../accounts/accounts.ts'
import type { Ticket } from '../support/support.ts'
import { access, type ApiDeps } from './access.ts'
import { doc, idOf, Listed, listed, oneOf, PageQuery, pageOf, Text, Time, Prose } from './schemas.ts'

const TicketWire = Type.Object(
  {
    id: idOf('tkt'),
    email: Type.String(),
    subject: Type.String(),
    body: Type.String(),
    state: oneOf(['open', 'closed'] as const),
    createdAt: Time,
  },
  { $id: 'Ticket' },
)
const AnswerWire = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    excerpt: Type.String(),
    url: Type.String(),
    score: Type.Number(),
  },
  { $id: 'ChatAnswer' },
)
const ArticleHead = Type.Object({ id: Type.String(), title: Type.String() })

export function supportRoutes(deps: ApiDeps) {
  const { support, mail } = deps.rooms
  /** Tells the owner, where mail leaves this machine. */
  function letterOf({ id, email, subject, body }: Ticket): Changes {
    const owner = mail.configured ? ownerOf(deps) : null
    if (!owner) return {}
    const text = `${body}\n\nFrom ${email}, ticket ${id}`
    return mail.enqueue({ ownerId: owner.id, to: owner.email, subject: `Support: ${subject}`, text })
  }

  return new Elysia({ prefix: '/api/support', tags: ['Support'], normalize: false })
    .use(access(deps))
    .post(
      '/contact',
      async ({ visitor, body, once }) => {
        if (!isEmail(body.email)) throw invalidField('/email', 'email', 'Expected an e-mail address.')
        return once(
          ({ userId: _user, ...ticket }: Ticket) => ({ id: ticket.id, ticket }),
          async (also) => {
            const userId = visitor?.user.id ?? null
            const opened = await support.open(body, userId, (ticket) => [also(ticket), letterOf(ticket)])
            mail.wake()
            return opened
          },
        )
      },
      {
        access: { to: 'none', rate: 'contact' },
        body: Type.Object({ email: Text(254), subject: Text(200), body: Prose(20_000) }),
        detail: doc('Open a support ticket', { id: idOf('tkt'), ticket: TicketWire }),
      },
    )
    .post('/chat', ({ body }) => ({ answers: support.ask(body.query) }), {
      access: { to: 'none', rate: 'chat' },
      body: Type.Object({ query: Prose(1000) }),
      detail: doc(
        'Ask the help articles',
        { answers: Type.Array(AnswerWire) },
        'Matched by keyword; an empty list when nothing fits.',
      ),
    })
    .get(
      '/articles',
      () => ({ articles: support.articles.map(({ id, title }) => ({ id, title })), nextCursor: null }),
      {
        access: 'none',
        detail: doc('List help articles', Listed('articles', ArticleHead)),
      },
    )
    .get('/articles/:id', ({ params }) => ({ article: support.article(params.id) }), {
      access: { to: 'none', etag: true },
      detail: doc('One help article', {
        article: Type.Object({
          id: Type.String(),
          title: Type.String(),
          keywords: Type.String(),
          body: Type.String(),
        }),
      }),
    })
    .get(
      '/tickets',
      ({ caller, query }) => {
        if (caller.user.role !== 'owner') throw new Problem(404, 'not_found', 'There is nothing here.')
        return listed(
          'tickets',
          support.tickets(pageOf(query, 500)),
          ({ userId: _user, ...ticket }) => ticket,
        )
      },
      {
        access: 'session only',
        query: Type.Object(PageQuery),
        detail: doc('List tickets (owner)', Listed('tickets', TicketWire)),
      },
    )
}

/** The account the server belongs to. */
function ownerOf({ kv }: ApiDeps) {
  for (const user of users(kv).each()) if (user.role === 'owner') return user
  return null
}
