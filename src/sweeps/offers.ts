// Batches of sweeps that any server on the database may do, so that one sweep uses the workers of all of them.
//
// The server that has the sweep offers the batches that its own workers have no room for yet. Another takes one by writing
// its name into it, and later writes the outcome beside. Every step checks what it has read, in a commit that is refused to
// a server whose lease has run out: so a batch that was taken back, or whose taker is gone, gets no outcome from it any
// more. The server of the sweep stores batches in their order, whoever did them: one server or three end with the same bytes.

import type { TrialsOutput } from '../engine/job.ts'
import type { NewId } from '../lib/ids.ts'
import { collection, type Collection } from '../store/collection.ts'
import type { Kv } from '../store/kv.ts'
import { transact } from '../store/transaction.ts'
import { decodeRows, encodeRows } from './records.ts'
import type { Choice } from './space.ts'

type Choices = readonly (readonly Choice[])[]

/** What became of a batch of choices. */
export interface Tried {
  /** Those that halving left, or all. */
  readonly left: Choices
  /** The names by which the ledger knows the others. */
  readonly out: readonly string[]
  readonly found: TrialsOutput
}

interface Outcome extends Omit<TrialsOutput, 'rows'> {
  /** The places of those that are left. */
  readonly left: readonly number[]
  readonly out: readonly string[]
  /** In base64. */
  readonly rows: string
}

export interface Offer {
  readonly id: string
  readonly sweepId: string
  /** The server that has the sweep. */
  readonly lender: string
  readonly choices: Choices
  /** The server that does it; null = nobody does. */
  readonly node: string | null
  /** Servers that could not do it. Whose sweep it is then does it, and says what is wrong. */
  readonly refusedBy: readonly string[]
  readonly outcome: Outcome | null
}

/** The servers on a database. */
export interface SweepNodes {
  /** This one. */
  readonly node: string
  /** All that were alive a moment ago. */
  readonly members: readonly string[]
  aliveNodes(): Promise<ReadonlySet<string>>
  onBuried(listener: () => void): void
}

export const offersIn = (kv: Kv): Collection<Offer> =>
  collection<Offer>(kv, 'sweep-offers', {
    indexes: {
      open: ({ node, outcome }) => (node === null && outcome === null ? [] : null),
      taken: ({ node, outcome }) => (node !== null && outcome === null ? [node] : null),
      sweep: ({ sweepId }) => [sweepId],
    },
  })

export function outcomeOf(choices: Choices, { left, out, found }: Tried): Outcome {
  const places = new Map(choices.map((one, place) => [one, place]))
  return { ...found, left: left.map((one) => places.get(one)!), out, rows: encodeRows(found.rows) }
}

function triedOf(choices: Choices, { left, out, rows, ...found }: Outcome): Tried {
  return { left: left.map((place) => choices[place]!), out, found: { ...found, rows: decodeRows(rows) } }
}

interface Item {
  readonly choices: Choices
  readonly resolve: (tried: Tried) => void
  readonly reject: (error: unknown) => void
  state: 'waiting' | 'here' | 'away' | 'done'
  offerId: string | null
  /** Resolves once the offer is stored. */
  offered: Promise<unknown>
}

export interface SharedBatchesOptions {
  readonly offers: Collection<Offer>
  readonly kv: Kv
  readonly newId: NewId
  /** null: there is no other server. */
  readonly nodes: SweepNodes | null
  readonly sweepId: string
  /** How many are done here at a time. */
  readonly hereMax: number
  readonly here: (choices: Choices) => Promise<Tried>
  readonly signal: AbortSignal
}

/** The batches of a sweep that were begun and are not stored yet: each is done here, or by whoever takes it first. */
export class SharedBatches {
  readonly #options: SharedBatchesOptions
  readonly #items = new Set<Item>()
  #here = 0

  constructor(options: SharedBatchesOptions) {
    this.#options = options
    const { signal } = options
    signal.addEventListener('abort', () => {
      for (const { reject } of this.#items) reject(signal.reason)
    })
  }

  /** Forgets what an earlier server of the sweep has offered. */
  async begin(): Promise<void> {
    const { offers, nodes, sweepId } = this.#options
    if (!nodes) return
    for await (const { id } of offers.each('sweep', [sweepId])) await offers.delete(id)
  }

  /** How many batches may be begun before the first of them is done. */
  get room(): number {
    const { nodes, hereMax } = this.#options
    return hereMax * Math.max(1, nodes?.members.length ?? 1)
  }

  async do(choices: Choices): Promise<Tried> {
    this.#options.signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Tried>()
    const item: Item = {
      choices,
      resolve,
      reject,
      state: 'waiting',
      offerId: null,
      offered: Promise.resolve(),
    }
    this.#items.add(item)
    this.#pump()
    if (item.state === 'waiting') this.#offer(item)
    try {
      return await promise
    } finally {
      item.state = 'done'
      this.#items.delete(item)
      await this.#forget(item)
    }
  }

  /** Another server has changed an offer. */
  async heard(id: string): Promise<void> {
    const item = this.#items.values().find(({ offerId }) => offerId === id)
    if (item) await this.#look(item)
  }

  /** A server is gone: what it had taken, which may not have been heard of yet, is anybody's again. */
  async buried(): Promise<void> {
    const { offers, nodes } = this.#options
    const offered = [...this.#items].filter(({ offerId }) => offerId !== null)
    if (!nodes || offered.length === 0) return
    const alive = await nodes.aliveNodes()
    const isGone = ({ node, outcome }: Offer) => node !== null && !alive.has(node) && outcome === null
    for (const item of offered) {
      if (item.offerId !== null)
        await offers.update(item.offerId, (offer) => (isGone(offer) ? { ...offer, node: null } : null))
      await this.#look(item)
    }
  }

  #pump(): void {
    while (this.#here < this.#options.hereMax) {
      const item = this.#items.values().find(({ state }) => state === 'waiting')
      if (!item) return
      item.state = 'here'
      this.#here++
      void this.#doHere(item).finally(() => {
        this.#here--
        this.#pump()
      })
    }
  }

  async #doHere(item: Item): Promise<void> {
    try {
      if (await this.#takenBack(item)) item.resolve(await this.#options.here(item.choices))
      else await this.#look(item)
    } catch (error) {
      item.reject(error)
    }
  }

  /** False if another server was faster. */
  async #takenBack(item: Item): Promise<boolean> {
    const { kv, offers } = this.#options
    const { offerId } = item
    if (offerId === null) return true
    await item.offered
    let isOurs = false
    await transact(kv, async (tx) => {
      const stored = await offers.at(tx).stored(offerId)
      isOurs = stored?.record.node == null && !stored?.record.outcome
      return stored && isOurs ? offers.remove(stored) : []
    })
    if (isOurs) item.offerId = null
    else item.state = 'away'
    return isOurs
  }

  #offer(item: Item): void {
    const { offers, kv, newId, nodes, sweepId } = this.#options
    if (!nodes || nodes.members.length < 2) return
    const id = newId('off')
    item.offerId = id
    const offer: Offer = {
      id,
      sweepId,
      lender: nodes.node,
      choices: item.choices,
      node: null,
      refusedBy: [],
      outcome: null,
    }
    // If it cannot be stored, the batch waits until there is room for it here.
    item.offered = transact(kv, () => offers.insert(offer)).catch(() => undefined)
  }

  async #look(item: Item): Promise<void> {
    const { offers } = this.#options
    const { offerId } = item
    if (offerId === null) return
    const offer = await offers.get(offerId)
    // It may have been taken back, or done, while it was read.
    if (item.offerId !== offerId || item.state === 'here' || item.state === 'done') return
    if (offer?.outcome) return item.resolve(triedOf(item.choices, offer.outcome))
    item.state = offer?.node == null ? 'waiting' : 'away'
    this.#pump()
  }

  async #forget({ offerId, offered }: Item): Promise<void> {
    if (offerId === null) return
    await offered
    // What is left over is forgotten when the sweep goes on, or by who takes it.
    await this.#options.offers.delete(offerId).catch(() => undefined)
  }
}
