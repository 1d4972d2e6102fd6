// Inboxes of a user, and the addresses at which they take messages.

import { INBOXES_PER_USER, type Inbox, type InboxMade } from '../notify/channels/inboxes.ts'
import { HOPS } from '../notify/channels/kind.ts'
import { invalidField } from '../lib/problem.ts'
import type { Inbox as InboxWire } from '../wire/inbox.ts'
import { bodyBytes } from './body.ts'
import { listed, pageOf } from './fields.ts'
import type { Routes } from './route.ts'

/** TradingView's own limit is 4 kB; others may say more. */
const MESSAGE_BYTES = 16 * 1024
const MESSAGE_TYPES: readonly string[] = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  '',
]
const utf8 = new TextDecoder('utf-8', { fatal: true })

function wire({ ownerId: _owner, hash: _hash, circleAt, ...shown }: Inbox): InboxWire {
  return { ...shown, circleAt: circleAt ?? null, channelIds: [...shown.channelIds] }
}

const madeAnswer = ({ inbox, secret }: InboxMade) => ({
  id: inbox.id,
  path: `/api/hooks/${secret}`,
  inbox: wire(inbox),
})

export const INBOX_ROUTES: Routes = {
  'POST /api/platform/inboxes': {
    secret: true,
    handle: ({ deps, caller, body, once }) =>
      once(madeAnswer, (also) => deps.features.inboxes.create(caller.user.id, body, also)),
  },
  'GET /api/platform/inboxes': async ({ deps, caller, query }) =>
    listed(
      'inboxes',
      await deps.features.inboxes.list(caller.user.id, pageOf(query, INBOXES_PER_USER)),
      wire,
    ),
  'PATCH /api/platform/inboxes/{id}': async ({ deps, caller, params, body }) => ({
    inbox: wire(await deps.features.inboxes.change(caller.user.id, params.id, body)),
  }),
  'DELETE /api/platform/inboxes/{id}': async ({ deps, caller, params }) => {
    await deps.features.inboxes.remove(caller.user.id, params.id)
    return { id: params.id }
  },
  'GET /api/platform/inboxes/{id}/messages': async ({ deps, caller, params, query }) =>
    listed(
      'messages',
      await deps.features.inboxes.messages(caller.user.id, params.id, pageOf(query, 100)),
      (message) => message,
    ),
  'POST /api/hooks/{secret}': {
    streams: true,
    // TradingView sends the alerts of all its customers from four addresses.
    async client(request, { features }) {
      const inbox = await features.inboxes.at(new URL(request.url).pathname.split('/').at(-1) ?? '')
      return inbox?.id ?? null
    },
    requestBody: {
      required: true,
      content: {
        'text/plain': { schema: { type: 'string' } },
        'application/json': { schema: { type: 'object' } },
      },
    },
    handle: async ({ deps, params, request, visit }) => {
      const bytes = Buffer.concat(await bodyBytes(request, MESSAGE_BYTES, { types: MESSAGE_TYPES }))
      const { inboxes } = deps.features
      const found = await inboxes.at(params.secret)
      const { id } = await inboxes.receive(found, visit.peer.ip, decoded(bytes), request.headers.get(HOPS))
      return { id }
    },
  },
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
