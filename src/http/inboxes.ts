// Inboxes of a user, and the addresses at which they take messages.

import { Elysia } from 'elysia'
import { INBOXES_PER_USER, type Inbox, type InboxMade } from '../notify/channels/inboxes.ts'
import { invalidField } from '../lib/problem.ts'
import type { Inbox as InboxWire } from '../wire/inbox.ts'
import { access, type ApiDeps } from './access.ts'
import { bodyBytes } from './body.ts'
import { listed, pageOf } from './fields.ts'
import { route } from './route.ts'

/** TradingView's own limit is 4 kB; others may say more. */
const MESSAGE_BYTES = 16 * 1024
const MESSAGE_TYPES: readonly string[] = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  '',
]
const utf8 = new TextDecoder('utf-8', { fatal: true })

function wire({ ownerId: _owner, hash: _hash, ...shown }: Inbox): InboxWire {
  return { ...shown, channelIds: [...shown.channelIds] }
}

const madeAnswer = ({ inbox, secret }: InboxMade) => ({
  id: inbox.id,
  path: `/api/hooks/${secret}`,
  inbox: wire(inbox),
})

export function inboxRoutes(deps: ApiDeps) {
  const { inboxes } = deps.features
  /** The inbox of a request's address is looked up once: by its limit, which counts for each inbox by itself. */
  const addressed = new WeakMap<Request, Inbox>()
  return new Elysia({ prefix: '/api', tags: ['Inboxes'], normalize: false })
    .use(access(deps))
    .post(
      '/platform/inboxes',
      ({ caller, body, once }) => once(madeAnswer, (also) => inboxes.create(caller.user.id, body, also)),
      route('POST /api/platform/inboxes', { secret: true }),
    )
    .get(
      '/platform/inboxes',
      async ({ caller, query }) =>
        listed('inboxes', await inboxes.list(caller.user.id, pageOf(query, INBOXES_PER_USER)), wire),
      route('GET /api/platform/inboxes'),
    )
    .patch(
      '/platform/inboxes/:id',
      async ({ caller, params, body }) => ({
        inbox: wire(await inboxes.change(caller.user.id, params.id, body)),
      }),
      route('PATCH /api/platform/inboxes/{id}'),
    )
    .delete(
      '/platform/inboxes/:id',
      async ({ caller, params }) => {
        await inboxes.remove(caller.user.id, params.id)
        return { id: params.id }
      },
      route('DELETE /api/platform/inboxes/{id}'),
    )
    .get(
      '/platform/inboxes/:id/messages',
      async ({ caller, params, query }) =>
        listed(
          'messages',
          await inboxes.messages(caller.user.id, params.id, pageOf(query, 100)),
          (message) => message,
        ),
      route('GET /api/platform/inboxes/{id}/messages'),
    )
    .post(
      '/hooks/:secret',
      async ({ request, visit }) => {
        const bytes = Buffer.concat(await bodyBytes(request, MESSAGE_BYTES, { types: MESSAGE_TYPES }))
        const { id } = await inboxes.receive(addressed.get(request) ?? null, visit.peer.ip, decoded(bytes))
        return { id }
      },
      route('POST /api/hooks/{secret}', {
        streams: true,
        // TradingView sends the alerts of all its customers from four addresses.
        async client(request) {
          const inbox = await inboxes.at(new URL(request.url).pathname.split('/').at(-1) ?? '')
          if (inbox) addressed.set(request, inbox)
          return inbox?.id ?? null
        },
        requestBody: {
          required: true,
          content: {
            'text/plain': { schema: { type: 'string' } },
            'application/json': { schema: { type: 'object' } },
          },
        },
      }),
    )
}

function decoded(bytes: Uint8Array): string {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw invalidField('', 'encoding', 'The message must be UTF-8.')
  }
  if (text.trim() === '') throw invalidField('', 'required', 'The message is empty.')
  return text
}
