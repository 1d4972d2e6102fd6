// Inboxes: what others post to a secret address is kept, and forwarded to channels in the same commit.
//
// The address is the only credential, as TradingView sends nothing else. Only its SHA-256 is stored. The newest 500
// messages of an inbox are kept: each has a place in a ring, and the one that comes after the last place replaces the first.

import { invalidField, Problem } from '../../lib/problem.ts'
import type { Random } from '../../lib/random.ts'
import { sha256 } from '../../lib/sha256.ts'
import { collection, type Collection, type Page, type PageOptions } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { byOwner, OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import { decide, transact, type Also } from '../../store/transaction.ts'
import type { Channels } from './channels.ts'
import { PLAIN, type Notice } from './kind.ts'

export const INBOXES_PER_USER = 10
const MESSAGES_KEPT = 500
/** https://www.tradingview.com/support/solutions/43000529348: the addresses that its alerts come from. */
export const TRADINGVIEW: readonly string[] = [
  '52.89.214.238',
  '34.212.75.30',
  '54.218.53.128',
  '52.32.178.7',
]
/** A message that has come through so many inboxes goes in a circle: an inbox forwards to a channel that posts to it again. */
const HOPS_MAX = 5
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
  /** When a message was last refused that went in a circle; missing where none was. */
  readonly circleAt?: number
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

export interface InboxDeps extends RecordDeps {
  readonly random: Random
  readonly channels: Pick<Channels, 'has' | 'enqueue'>
  /** Called after a message was forwarded to channels. */
  readonly forwarded: (ownerId: string) => void
}

function inboxCollection(kv: Kv): Collection<Inbox> {
  return collection<Inbox>(kv, 'inboxes', {
    ...byOwner(INBOXES_PER_USER, 'inboxes'),
    unique: { hash: (inbox) => [inbox.hash] },
  })
}

function messageCollection(kv: Kv): Collection<InboxMessage> {
  return collection<InboxMessage>(kv, 'inbox-messages', {
    indexes: { inbox: (message) => [message.inboxId, message.receivedAt] },
  })
}

/** Throws Problem 404 `inbox_not_found` for another user's inbox and for an address that is none. */
export class Inboxes extends OwnedRecords<Inbox, InboxDeps> {
  readonly #messages = messageCollection(this.deps.kv)

  constructor(deps: InboxDeps) {
    super(deps, inboxCollection(deps.kv), 'inbox_not_found', 'There is no such inbox.')
  }

  async messages(ownerId: string, id: string, options: PageOptions): Promise<Page<InboxMessage>> {
    return this.#messages.list('inbox', [(await this.get(ownerId, id)).id], options)
  }

  async create(ownerId: string, fields: InboxFields, also?: Also<InboxMade>): Promise<InboxMade> {
    await this.#checkChannels(ownerId, fields.channelIds)
    const secret = Buffer.from(this.deps.random.bytes(32)).toString('base64url')
    const now = this.deps.clock.now()
    const inbox: Inbox = {
      id: this.deps.newId('inb'),
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
    return this.keep(inbox, { inbox, secret }, also)
  }

  async #checkChannels(ownerId: string, ids: readonly string[] = []): Promise<void> {
    for (const [i, id] of ids.entries())
      if (!(await this.deps.channels.has(ownerId, id)))
        throw invalidField(`/channelIds/${i}`, 'not_found', 'There is no channel of yours with this id.')
  }

  async change(ownerId: string, id: string, fields: Partial<InboxFields>): Promise<Inbox> {
    await this.get(ownerId, id)
    await this.#checkChannels(ownerId, fields.channelIds)
    const changed = await this.records.update(id, (before) => ({
      ...before,
      ...(fields.name !== undefined && { name: fields.name }),
      ...(fields.senders && { senders: fields.senders }),
      ...(fields.channelIds && { channelIds: [...new Set(fields.channelIds)] }),
      updatedAt: this.deps.clock.now(),
    }))
    return changed ?? this.get(ownerId, id)
  }

  override async remove(ownerId: string, id: string): Promise<void> {
    await transact(this.deps.kv, async (tx) => {
      const stored = await this.storedAt(tx, ownerId, id)
      const here = this.#messages.at(tx)
      const ids = await Array.fromAsync(here.each('inbox', [id]), (message) => message.id)
      const messages = await here.storedMany(ids)
      return [this.records.remove(stored), ...messages.map((one) => this.#messages.remove(one))]
    })
  }

  /** The inbox of an address; null if the address is none. */
  async at(secret: string): Promise<Inbox | null> {
    return SECRET.test(secret) ? this.records.find('hash', [sha256(secret)]) : null
  }

  /**
   * Takes a message that was posted to the address at which `found` was, from `sender`. `hops`: what its header `HOPS` says.
   * Throws Problem 422 `message_in_circle` if it has come through five inboxes before.
   */
  async receive(
    found: Inbox | null,
    sender: string,
    body: string,
    hops: string | null,
  ): Promise<InboxMessage> {
    if (!found) throw this.notFound()
    if (found.senders === 'tradingview' && !TRADINGVIEW.includes(sender))
      throw new Problem(
        403,
        'sender_refused',
        'This inbox takes messages only from the addresses of TradingView.',
      )
    const passed = /^\d{1,3}$/.test(hops ?? '') ? Number(hops) : 0
    if (passed >= HOPS_MAX) {
      await this.records.update(found.id, (inbox) => ({ ...inbox, circleAt: this.deps.clock.now() }))
      throw new Problem(
        422,
        'message_in_circle',
        `This message has come through ${passed} inboxes: it goes in a circle. Let no channel of this inbox post to it, or to one that leads to it.`,
      )
    }
    const { clock, channels, forwarded } = this.deps
    const messages = this.#messages
    const taken = await decide(this.deps.kv, async (tx) => {
      const stored = await this.records.at(tx).stored(found.id)
      if (!stored) throw this.notFound()
      const inbox = stored.record
      const now = clock.now()
      const id = `inm_${inbox.id.slice('inb_'.length)}x${inbox.received % MESSAGES_KEPT}`
      const message: InboxMessage = { id, inboxId: inbox.id, text: textOf(body), receivedAt: now }
      const replaced = await messages.at(tx).stored(id)
      const told = [{ notice: { ...noticeOf(inbox, message), hops: passed + 1 } }]
      return [
        message,
        [
          this.records.replace(stored, { ...inbox, received: inbox.received + 1, lastAt: now }),
          replaced ? messages.replace(replaced, message) : messages.insert(message),
          ...(await channels.enqueue(tx, inbox.ownerId, inbox.channelIds, told)),
        ],
      ]
    })
    forwarded(found.ownerId)
    return taken
  }
}

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
  ...PLAIN,
})
