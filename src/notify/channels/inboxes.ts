// Inboxes: what others post to a secret address is kept, and forwarded to channels in the same commit.
//
// The address is the only credential, as TradingView sends nothing else. Only its SHA-256 is stored. The newest 500
// messages of an inbox are kept: each has a place in a ring, and the one that comes after the last place replaces the first.

import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { invalidField, Problem } from '../../lib/problem.ts'
import type { Random } from '../../lib/random.ts'
import { sha256 } from '../../lib/sha256.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { ownedIn } from '../../store/owned.ts'
import { transact, type Also } from '../../store/transaction.ts'
import type { Channels } from './channels.ts'
import type { Notice } from './kind.ts'

export const INBOXES_PER_USER = 10
const MESSAGES_KEPT = 500
/** https://www.tradingview.com/support/solutions/43000529348: the addresses that its alerts come from. */
export const TRADINGVIEW: readonly string[] = [
  '52.89.214.238',
  '34.212.75.30',
  '54.218.53.128',
  '52.32.178.7',
]
const SECRET = /^[\w-]{43}$/

export interface Inbox {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  readonly hash: string
  readonly senders: 'anyone' | 'tradingview'
  readonly channelIds: readonly string[]
  readonly received: number
  readonly lastAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** `id` is its place in the ring. */
export interface InboxMessage {
  readonly id: string
  readonly inboxId: string
  readonly text: string
  readonly receivedAt: number
}

export interface InboxFields {
  readonly name: string
  readonly senders?: Inbox['senders']
  readonly channelIds?: readonly string[]
}

/** An inbox with the secret of its address. */
export interface InboxMade {
  readonly inbox: Inbox
  readonly secret: string
}

export interface InboxDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly random: Random
  readonly newId: NewId
  readonly channels: Pick<Channels, 'has' | 'enqueue'>
  /** Called after a message was forwarded to channels. */
  readonly forwarded: (ownerId: string) => void
}

function inboxCollection(kv: Kv): Collection<Inbox> {
  return collection<Inbox>(kv, 'inboxes', {
    indexes: { owner: (inbox) => [inbox.ownerId] },
    unique: { hash: (inbox) => [inbox.hash] },
    counts: { owner: { of: (inbox) => [inbox.ownerId], max: INBOXES_PER_USER, noun: 'inboxes' } },
  })
}

function messageCollection(kv: Kv): Collection<InboxMessage> {
  return collection<InboxMessage>(kv, 'inbox-messages', {
    indexes: { inbox: (message) => [message.inboxId, message.receivedAt] },
  })
}

export type Inboxes = ReturnType<typeof createInboxes>

/** Throws Problem 404 `inbox_not_found` for another user's inbox and for an address that is none. */
export function createInboxes({ kv, clock, random, newId, channels, forwarded }: InboxDeps) {
  const inboxes = inboxCollection(kv)
  const messages = messageCollection(kv)

  const owned = ownedIn(inboxes, notThere)
  async function checkChannels(ownerId: string, ids: readonly string[] = []): Promise<void> {
    for (const [i, id] of ids.entries())
      if (!(await channels.has(ownerId, id)))
        throw invalidField(`/channelIds/${i}`, 'not_found', 'There is no channel of yours with this id.')
  }

  return {
    get: owned,
    list: (ownerId: string, options: PageOptions): Promise<Page<Inbox>> =>
      inboxes.list('owner', [ownerId], options),
    messages: async (ownerId: string, id: string, options: PageOptions): Promise<Page<InboxMessage>> =>
      messages.list('inbox', [(await owned(ownerId, id)).id], options),

    async create(ownerId: string, fields: InboxFields, also?: Also<InboxMade>): Promise<InboxMade> {
      await checkChannels(ownerId, fields.channelIds)
      const secret = Buffer.from(random.bytes(32)).toString('base64url')
      const now = clock.now()
      const inbox: Inbox = {
        id: newId('inb'),
        ownerId,
        name: fields.name,
        hash: sha256(secret),
        senders: fields.senders ?? 'anyone',
        channelIds: [...new Set(fields.channelIds)],
        received: 0,
        lastAt: null,
        createdAt: now,
        updatedAt: now,
      }
      const made = { inbox, secret }
      await transact(kv, (tx) => [inboxes.insert(inbox), also?.(made, tx)])
      return made
    },

    async change(ownerId: string, id: string, fields: Partial<InboxFields>): Promise<Inbox> {
      await owned(ownerId, id)
      await checkChannels(ownerId, fields.channelIds)
      const changed = await inboxes.update(id, (before) => ({
        ...before,
        ...(fields.name !== undefined && { name: fields.name }),
        ...(fields.senders && { senders: fields.senders }),
        ...(fields.channelIds && { channelIds: [...new Set(fields.channelIds)] }),
        updatedAt: clock.now(),
      }))
      return changed ?? owned(ownerId, id)
    },

    async remove(ownerId: string, id: string): Promise<void> {
      await transact(kv, async (tx) => {
        const stored = await inboxes.at(tx).stored(id)
        if (stored?.record.ownerId !== ownerId) throw notThere()
        const here = messages.at(tx)
        const ids = await Array.fromAsync(here.each('inbox', [id]), (message) => message.id)
        return [inboxes.remove(stored), ...(await here.storedMany(ids)).map((one) => messages.remove(one))]
      })
    },

    /** The inbox of an address; null if the address is none. */
    at: async (secret: string): Promise<Inbox | null> =>
      SECRET.test(secret) ? inboxes.find('hash', [sha256(secret)]) : null,

    /** Takes a message that was posted to the address at which `found` was, from `sender`. */
    async receive(found: Inbox | null, sender: string, body: string): Promise<InboxMessage> {
      if (!found) throw notThere()
      if (found.senders === 'tradingview' && !TRADINGVIEW.includes(sender))
        throw new Problem(
          403,
          'sender_refused',
          'This inbox takes messages only from the addresses of TradingView.',
        )
      let taken: InboxMessage | null = null
      await transact(kv, async (tx) => {
        taken = null
        const stored = await inboxes.at(tx).stored(found.id)
        if (!stored) throw notThere()
        const inbox = stored.record
        const now = clock.now()
        const id = `inm_${inbox.id.slice('inb_'.length)}x${inbox.received % MESSAGES_KEPT}`
        const message: InboxMessage = { id, inboxId: inbox.id, text: textOf(body), receivedAt: now }
        const replaced = await messages.at(tx).stored(id)
        taken = message
        return [
          inboxes.replace(stored, { ...inbox, received: inbox.received + 1, lastAt: now }),
          replaced ? messages.replace(replaced, message) : messages.insert(message),
          ...(await channels.enqueue(tx, inbox.ownerId, inbox.channelIds, [
            { notice: noticeOf(inbox, message) },
          ])),
        ]
      })
      if (taken === null) throw notThere()
      forwarded(found.ownerId)
      return taken
    },
  }
}

const notThere = () => new Problem(404, 'inbox_not_found', 'There is no such inbox.')

/** The text of a JSON object's `message` or `text`; of anything else the whole. */
function textOf(body: string): string {
  const trimmed = body.trim()
  if (!trimmed.startsWith('{')) return trimmed
  try {
    const { message, text } = JSON.parse(trimmed) as Record<string, unknown>
    const said = message ?? text
    return typeof said === 'string' && said.trim() !== '' ? said : trimmed
  } catch {
    return trimmed
  }
}

const noticeOf = ({ name }: Inbox, { text, receivedAt }: InboxMessage): Notice => ({
  title: name,
  text,
  url: null,
  at: receivedAt,
  symbol: '',
  exchange: '',
  interval: '',
  price: null,
})
