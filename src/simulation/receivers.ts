// What servers speak to over the network: receivers of webhooks and channels that are late, refuse, ask to be left alone, or accept and
// are not heard.

import type { Letter } from '../notify/mail/mail.ts'
import type { Attempt, Reply } from '../notify/webhooks/send.ts'
import type { Network } from '../server/world.ts'
import type { Exchange } from './exchange.ts'
import { type History, QUIET_MS } from './history.ts'
import type { Life } from './life.ts'
import type { Timeline } from './timeline.ts'

const OK: Reply = { status: 200, retryAfter: null, excerpt: 'ok', failure: null }
/** A sender waits no longer than this. */
const PATIENCE_MS = 15_000

export class Receivers {
  /** How many of a hundred attempts go wrong. */
  troubles = 0
  /** Whether a server may die of a letter. */
  isDeadly = false
  readonly #timeline: Timeline
  readonly #history: History
  readonly #exchange: Exchange

  constructor(timeline: Timeline, history: History, exchange: Exchange) {
    this.#timeline = timeline
    this.#history = history
    this.#exchange = exchange
  }

  networkOf(life: Life): Network {
    return {
      resolve: () => life.across(1, async () => ['93.184.215.14']),
      send: (attempt) => life.whileAlive(() => this.#receive(life, attempt)),
      http: (address, signal) => this.#exchange.http(life, address, signal),
      openSocket: (address, events) => this.#exchange.open(life, address, events),
      mail: async () => (letter) => life.whileAlive(() => this.#takeLetter(life, letter)),
    }
  }

  /** The mail server: what goes wrong with receivers goes wrong with it. */
  async #takeLetter(life: Life, { id }: Letter): Promise<void> {
    const timeline = this.#timeline
    this.#history.handed(id, life)
    this.#history.isMoment('delivery')
    await timeline.pause(timeline.between(1, 200))
    if (this.isDeadly && timeline.once(10)) {
      timeline.tell('mail server', `${life.name} dies of ${id}`)
      this.#history.quietSince = Math.max(this.#history.quietSince, timeline.now + QUIET_MS)
      return life.finish(true)
    }
    if (timeline.random.below(100) < this.troubles) throw new Error('451 try again later')
    timeline.tell('mail server', `${id} from ${life.name}: accepts`)
    const accepted = this.#history.accepted('the mail server', id, life, 'letter', true)
    await timeline.pause(timeline.between(1, 1500))
    if (!life.isOver) accepted.knownAt = timeline.now
  }

  async #receive(life: Life, { url, headers }: Attempt): Promise<Reply> {
    const timeline = this.#timeline
    this.#history.isMoment('delivery')
    await timeline.pause(timeline.between(1, 60))
    // A process that has ended in the meantime may have sent it all the same.
    const id = headers['webhook-id'] ?? headers['idempotency-key'] ?? ''
    const fault = timeline.random.below(100) < this.troubles ? timeline.random.below(7) : null
    const refused = fault === null ? null : refusal(fault)
    timeline.tell(url.hostname, `${id} from ${life.name}: ${refused ? refused.what : 'accepts'}`)
    if (refused && !refused.accepts) {
      await timeline.pause(refused.afterMs)
      return refused.reply
    }
    const accepted = this.#history.accepted(
      url.hostname,
      id,
      life,
      headers['X-Service-Event'] ?? 'notification',
      refused === null,
    )
    if (refused) {
      await timeline.pause(refused.afterMs)
      return refused.reply
    }
    await timeline.pause(timeline.once(8) ? timeline.between(1000, 14_000) : timeline.between(1, 60))
    if (!life.isOver) accepted.knownAt = timeline.now
    return OK
  }
}

interface Refusal {
  readonly what: string
  /** It took it, whatever it answered. */
  readonly accepts: boolean
  readonly afterMs: number
  readonly reply: Reply
}

function refusal(fault: number): Refusal {
  const none = { ...OK, status: 0, excerpt: '' }
  if (fault === 0) return { what: '500', accepts: false, afterMs: 30, reply: { ...OK, status: 500 } }
  if (fault === 1)
    return { what: '429', accepts: false, afterMs: 5, reply: { ...OK, status: 429, retryAfter: '40' } }
  if (fault === 2)
    return { what: 'refuses', accepts: false, afterMs: 2, reply: { ...none, failure: 'connection_refused' } }
  if (fault === 3)
    return { what: 'is silent', accepts: false, afterMs: PATIENCE_MS, reply: { ...none, failure: 'timeout' } }
  if (fault === 4)
    return {
      what: 'accepts, unheard',
      accepts: true,
      afterMs: PATIENCE_MS,
      reply: { ...none, failure: 'timeout' },
    }
  if (fault === 5)
    return { what: 'accepts, then 500', accepts: true, afterMs: 30, reply: { ...OK, status: 503 } }
  return { what: 'cuts', accepts: false, afterMs: 10, reply: { ...none, failure: 'connection_reset' } }
}
