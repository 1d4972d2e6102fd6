// Batches of sweeps, and parts of their verdicts, that any server on the database may do, so that one sweep uses the workers of
// all of them.
//
// Where there are several servers, a batch is cut into pieces. The server that has the sweep offers those that its own
// workers have no room for yet. Another takes one by writing its name into it, and later writes the outcome beside. Every
// step checks what it has read, in a commit that is refused to a server whose lease has run out: so a piece that was taken
// back, or whose taker is gone, gets no outcome from it any more. The server of the sweep puts the pieces together and stores
// batches in their order, whoever did them: one server or three end with the same bytes.
//
// Servers that have nothing else to do wait for the last piece that another has begun, so pieces are short.

import type { TrialsOutput } from '../workers/job.ts'
import type { LuckFound, LuckPart } from '../workers/luck.ts'
import type { NewId } from '../../lib/ids.ts'
import { collection, type Collection } from '../../store/collection.ts'
import type { Kv } from '../../store/kv.ts'
import { decide, transact } from '../../store/transaction.ts'
import { joined } from './joined.ts'
import { decodeRows, encodeRows } from './records.ts'
import type { Choices } from './space.ts'

/** How many pieces a server takes at a time: while one is written down, the next one runs. */
export const HELPED_MAX = 2

/** What became of choices of a batch. */
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
  /** What was found of a part of the verdict; its pairs in base64. */
  readonly luck?: Omit<LuckFound, 'pairs'> & { readonly pairs: string }
}

export interface Offer {
  readonly id: string
  readonly sweepId: string
  /** The server that has the sweep. */
  readonly lender: string
  readonly choices: Choices
  /** The part of the sweep's verdict that is offered instead of choices. */
  readonly part?: LuckPart
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

export function outcomeOfLuck({ pairs, ...found }: LuckFound): Outcome {
  return {
    ...outcomeOf([], { left: [], out: [], found: joined([]) }),
    luck: { ...found, pairs: encodeRows(pairs) },
  }
}

/** A piece of a batch, or of the verdict. */
interface Piece<Found> {
  /** What another server is asked for; null: nothing. */
  readonly asked: Pick<Offer, 'choices' | 'part'> | null
  readonly here: () => Promise<Found>
  /** What another server found; null if it did not know what it was asked for, since it is of an earlier version. */
  readonly read: (outcome: Outcome) => Found | null
}

interface Item {
  asked: Piece<unknown>['asked']
  /** Does it here. */
  readonly do: () => Promise<void>
  /** False if that is not what was asked for. */
  readonly take: (outcome: Outcome) => boolean
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
  /** How many batches may be begun for each server before the first of them is done. */
  readonly batchesMax: number
  /** How many pieces are done here at a time. */
  readonly hereMax: () => number
  /** How many choices a piece has at most; Infinity: batches stay whole. */
  readonly pieceMax: () => number
  /** `ran` is told how many more have run. */
  readonly here: (choices: Choices, ran: (count: number) => void) => Promise<Tried>
  readonly signal: AbortSignal
}

/** The batches of a sweep that were begun and are not stored yet: each piece is done here, or by whoever takes it first. */
export class SharedBatches {
  readonly #options: SharedBatchesOptions
  readonly #items = new Set<Item>()
  readonly #unforgotten = new Set<Promise<void>>()
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
    return this.#options.batchesMax * Math.max(1, this.#servers)
  }

  get #servers(): number {
    return this.#options.nodes?.members.length ?? 1
  }

  /** `ran` is told how many more have run. */
  async do(choices: Choices, ran: (count: number) => void): Promise<Tried> {
    this.#options.signal.throwIfAborted()
    const most = this.#servers < 2 ? Infinity : this.#options.pieceMax()
    const begun = cut(choices, most).map((piece) =>
      this.#doPiece<Tried>({
        asked: { choices: piece },
        here: () => this.#options.here(piece, ran),
        read(outcome) {
          ran(piece.length)
          return triedOf(piece, outcome)
        },
      }),
    )
    this.#offerSome()
    const pieces = await Promise.all(begun)
    return {
      left: pieces.flatMap(({ left }) => left),
      out: pieces.flatMap(({ out }) => out),
      found: joined(pieces.map(({ found }) => found)),
    }
  }

  /** Does parts of the verdict, and beside them what only this server does. */
  async judge<Own>(
    own: () => Promise<Own>,
    parts: readonly LuckPart[],
    here: (part: LuckPart) => Promise<LuckFound>,
  ): Promise<{ readonly own: Own; readonly luck: readonly LuckFound[] }> {
    this.#options.signal.throwIfAborted()
    const done = this.#doPiece<Own>({ asked: null, here: own, read: () => null })
    const begun = parts.map((part) =>
      this.#doPiece<LuckFound>({
        asked: { choices: [], part },
        here: () => here(part),
        read: ({ luck }) => (luck ? { ...luck, pairs: decodeRows(luck.pairs) } : null),
      }),
    )
    this.#offerSome()
    const [found, luck] = await Promise.all([done, Promise.all(begun)])
    return { own: found, luck }
  }

  /** Resolves when all of them are done or given up, and what was offered is gone from the store. */
  async ended(): Promise<void> {
    await Promise.all(this.#unforgotten)
  }

  #doPiece<Found>({ asked, here, read }: Piece<Found>): Promise<Found> {
    const { promise, resolve, reject } = Promise.withResolvers<Found>()
    const item: Item = {
      asked,
      do: async () => resolve(await here()),
      take(outcome) {
        const found = read(outcome)
        if (found !== null) resolve(found)
        return found !== null
      },
      reject,
      state: 'waiting',
      offerId: null,
      offered: Promise.resolve(),
    }
    this.#items.add(item)
    this.#pump()
    const forgotten = promise
      .catch(() => undefined)
      .then(() => this.#forget(item))
      .finally(() => this.#unforgotten.delete(forgotten))
    this.#unforgotten.add(forgotten)
    return promise
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
    while (this.#here < this.#options.hereMax()) {
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
      if (await this.#takenBack(item)) await item.do()
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
    const isOurs = await decide(kv, async (tx) => {
      const stored = await offers.at(tx).stored(offerId)
      const isFree = stored?.record.node == null && !stored?.record.outcome
      return [isFree, stored && isFree ? offers.remove(stored) : []]
    })
    if (isOurs) item.offerId = null
    else item.state = 'away'
    this.#offerSome()
    return isOurs
  }

  /**
   * Offers as many as the other servers take at a time. They are the last of those that wait: where the others are busy, the
   * first will be begun here before long, and to offer a piece and take it back costs two commits.
   */
  #offerSome(): void {
    const { nodes } = this.#options
    if (!nodes) return
    const waiting = [...this.#items].filter(({ state }) => state === 'waiting')
    const most = HELPED_MAX * (this.#servers - 1)
    let open = waiting.filter(({ offerId }) => offerId !== null).length
    for (const item of waiting.toReversed()) {
      if (open >= most) return
      if (item.offerId !== null || item.asked === null) continue
      this.#offer(item, item.asked, nodes)
      open++
    }
  }

  #offer(item: Item, asked: Pick<Offer, 'choices' | 'part'>, nodes: SweepNodes): void {
    const { offers, kv, newId, sweepId } = this.#options
    const id = newId('off')
    item.offerId = id
    const offer: Offer = {
      id,
      sweepId,
      lender: nodes.node,
      ...asked,
      node: null,
      refusedBy: [],
      outcome: null,
    }
    // If it cannot be stored, the piece waits until there is room for it here.
    item.offered = transact(kv, () => offers.insert(offer)).catch(() => undefined)
  }

  async #look(item: Item): Promise<void> {
    const { offers } = this.#options
    const { offerId } = item
    if (offerId === null) return
    const offer = await offers.get(offerId)
    // It may have been taken back, or done, while it was read.
    if (item.offerId !== offerId || item.state === 'here' || item.state === 'done') return
    if (offer?.outcome && item.take(offer.outcome)) {
      item.state = 'done'
      return
    }
    if (offer?.outcome) {
      item.asked = null
      item.offerId = null
      await offers.delete(offerId)
    }
    item.state = offer?.node == null || item.asked === null ? 'waiting' : 'away'
    this.#pump()
    this.#offerSome()
  }

  async #forget(item: Item): Promise<void> {
    item.state = 'done'
    this.#items.delete(item)
    const { offerId, offered } = item
    if (offerId === null) return
    await offered
    // What is left over is forgotten when the sweep goes on, or by who takes it.
    await this.#options.offers.delete(offerId).catch(() => undefined)
  }
}

/** Pieces of about the same length. */
function cut(choices: Choices, most: number): readonly Choices[] {
  if (choices.length <= most) return [choices]
  const length = Math.ceil(choices.length / Math.ceil(choices.length / most))
  return Array.from({ length: Math.ceil(choices.length / length) }, (_, i) =>
    choices.slice(i * length, (i + 1) * length),
  )
}
