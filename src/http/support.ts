// Help: articles, the chat that finds them, and tickets.

import { isEmail } from '../people/accounts/users.ts'
import { invalidField, Problem } from '../lib/problem.ts'
import type { Changes } from '../store/transaction.ts'
import { users } from '../people/accounts/accounts.ts'
import type { Ticket } from '../people/support/support.ts'
import type { ApiDeps } from './access.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

/** A letter that tells the owner, in case mail is sent from this server. */
async function letterOf(deps: ApiDeps, { id, email, subject, body }: Ticket): Promise<Changes> {
  const owner = deps.features.mail.configured ? await ownerOf(deps) : null
  if (!owner) return {}
  const text = `${body}\n\nFrom ${email}, ticket ${id}`
  return deps.features.mail.enqueue({
    ownerId: owner.id,
    to: owner.email,
    subject: `Support: ${subject}`,
    text,
  })
}

export const SUPPORT_ROUTES: Routes = {
  'POST /api/support/contact': {
    rate: 'contact',
    handle: async ({ deps, visitor, body, once }) => {
      if (!isEmail(body.email)) throw invalidField('/email', 'email', 'Expected an e-mail address.')
      return once(
        ({ userId: _user, ...ticket }: Ticket) => ({ id: ticket.id, ticket }),
        async (also) => {
          const userId = visitor?.user.id ?? null
          const opened = await deps.features.support.open(body, userId, (ticket, tx) => [
            also(ticket, tx),
            letterOf(deps, ticket),
          ])
          deps.features.mail.wake()
          return opened
        },
      )
    },
  },
  'POST /api/support/chat': {
    rate: 'chat',
    handle: ({ deps, body }) => ({ answers: deps.features.support.ask(body.query) }),
  },
  'GET /api/support/articles': ({ deps, query }) => ({
    articles: (query.q === undefined
      ? deps.features.support.articles
      : deps.features.support.ask(query.q)
    ).map(({ id, title }) => ({
      id,
      title,
    })),
    nextCursor: null,
  }),
  'GET /api/support/articles/{id}': {
    etag: true,
    handle: ({ deps, params }) => ({ article: deps.features.support.article(params.id) }),
  },
  'GET /api/support/tickets': async ({ deps, caller, query }) => {
    if (caller.user.role !== 'owner') throw new Problem(404, 'not_found', 'There is nothing here.')
    return listed(
      'tickets',
      await deps.features.support.tickets(pageOf(query, 500)),
      ({ userId: _user, ...ticket }) => ticket,
    )
  },
}

/** The account of the server's owner. */
async function ownerOf({ kv }: ApiDeps) {
  for await (const user of users(kv).each()) if (user.role === 'owner') return user
  return null
}
