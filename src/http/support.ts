// Help: articles, the chat that finds them, and tickets.

import { Elysia } from 'elysia'
import { isEmail } from '../people/accounts/users.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import type { Changes } from '../store/transaction.ts'
import { users } from '../people/accounts/accounts.ts'
import type { Ticket } from '../people/support/support.ts'
import { access, type ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

export function supportRoutes(deps: ApiDeps) {
  const { support, mail } = deps.features
  /** A letter that tells the owner, in case mail is sent from this server. */
  async function letterOf({ id, email, subject, body }: Ticket): Promise<Changes> {
    const owner = mail.configured ? await ownerOf(deps) : null
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
            const opened = await support.open(body, userId, (ticket, tx) => [
              also(ticket, tx),
              letterOf(ticket),
            ])
            mail.wake()
            return opened
          },
        )
      },
      route('POST /api/support/contact', { rate: 'contact' }),
    )
    .post(
      '/chat',
      ({ body }) => ({ answers: support.ask(body.query) }),
      route('POST /api/support/chat', { rate: 'chat' }),
    )
    .get(
      '/articles',
      ({ query }) => ({
        articles: (query.q === undefined ? support.articles : support.ask(query.q)).map(({ id, title }) => ({
          id,
          title,
        })),
        nextCursor: null,
      }),
      route('GET /api/support/articles'),
    )
    .get(
      '/articles/:id',
      ({ params }) => ({ article: support.article(params.id) }),
      route('GET /api/support/articles/{id}', { etag: true }),
    )
    .get(
      '/tickets',
      async ({ caller, query }) => {
        if (caller.user.role !== 'owner') throw new Problem(404, 'not_found', 'There is nothing here.')
        return listed(
          'tickets',
          await support.tickets(pageOf(query, 500)),
          ({ userId: _user, ...ticket }) => ticket,
        )
      },
      route('GET /api/support/tickets'),
    )
}

/** The account of the server's owner. */
async function ownerOf({ kv }: ApiDeps) {
  for await (const user of users(kv).each()) if (user.role === 'owner') return user
  return null
}
