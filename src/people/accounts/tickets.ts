// Tickets: what this server has to remember between the two steps of a sign-in, sealed and handed to the browser.
//
// So any of several servers can finish what another began, a restart loses nothing, and strangers who begin sign-ins
// cannot fill the store. A ticket is for one purpose, lives ten minutes, and is used up by the commit that it leads to:
// only its hash is stored then, until it would have ended by itself.

import { Problem } from '../../lib/problem.ts'
import { sha256 } from '../../lib/sha256.ts'
import { collectionIn } from '../../store/collection.ts'
import type { Changes, Tx } from '../../store/transaction.ts'
import type { StoreDeps } from '../../store/owned.ts'

export interface TicketDeps extends StoreDeps {
  readonly box: {
    seal(text: string, boundTo: string): Promise<string>
    open(sealed: string, boundTo: string): Promise<string>
  }
}

export const TICKET_LIFE_MS = 10 * 60_000

interface SpentTicket {
  readonly id: string
  readonly until: number
}

const spentTickets = collectionIn<SpentTicket>('spentTickets')

interface Sealed<T> {
  readonly until: number
  readonly content: T
}

/** Tickets of one purpose; those of another are not accepted. */
export class Tickets<T extends object> {
  readonly #deps: TicketDeps
  readonly #boundTo: string

  constructor(deps: TicketDeps, purpose: string) {
    this.#deps = deps
    this.#boundTo = `ticket: ${purpose}`
  }

  give(content: T): Promise<string> {
    const sealed: Sealed<T> = { until: this.#deps.clock.now() + TICKET_LIFE_MS, content }
    return this.#deps.box.seal(JSON.stringify(sealed), this.#boundTo)
  }

  /** What was sealed in it. Throws 410 unless it is one of this server's that has not ended and was not used. */
  async read(ticket: string): Promise<T> {
    const { kv, clock, box } = this.#deps
    const opened = box.open(ticket, this.#boundTo)
    const sealed = await opened.then((text) => JSON.parse(text) as Sealed<T> | null).catch(() => null)
    if (!sealed?.content || !(sealed.until > clock.now())) throw expired()
    if (await spentTickets(kv).get(sha256(ticket))) throw expired()
    return sealed.content
  }

  /** Part of a plan: uses the ticket up. Throws 410 if somebody was faster. */
  async spend(tx: Tx, ticket: string): Promise<Changes> {
    const spent = await spendOnce(this.#deps, tx, ticket, this.#deps.clock.now() + TICKET_LIFE_MS)
    if (!spent) throw expired()
    return spent
  }
}

/** Part of a plan: writes down that a text was used, until it would have ended by itself. null = it was used before. */
export async function spendOnce(
  { kv }: Pick<TicketDeps, 'kv'>,
  tx: Tx,
  text: string,
  until: number,
): Promise<Changes | null> {
  const id = sha256(text)
  return (await spentTickets(kv).at(tx).get(id)) ? null : spentTickets(kv).insert({ id, until })
}

/** Removes what is remembered of tickets that have ended; run regularly. */
export async function sweepTickets({ kv, clock }: Pick<TicketDeps, 'kv' | 'clock'>): Promise<void> {
  for await (const { id, until } of spentTickets(kv).each())
    if (until <= clock.now()) await spentTickets(kv).delete(id)
}

function expired(): Problem {
  return new Problem(
    410,
    'sign_in_expired',
    'This sign-in was begun more than ten minutes ago, or is finished already. Begin again.',
  )
}
