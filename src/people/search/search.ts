// Search over everything, in a thread of its own: the server hands it texts and queries and never looks into either.
//
// The indexes are rebuilt from the records: the public one at the start, a user's at their first search. Records are read a
// few milliseconds at a time, so that requests are answered meanwhile; until all are read, answers use those that are. If
// the thread dies, its indexes are lost, and the next thread is filled from the records again.

import {
  HIT_TYPES,
  trimmed,
  type Filters,
  type FoundDocument,
  type HitType,
  type SearchItem,
} from './indexes.ts'
import type { FromSearch, Query, ToSearch } from './serve.ts'

/** The part of a thread that search uses. */
export interface SearchThread {
  onmessage: ((event: MessageEvent<FromSearch>) => unknown) | null
  onerror: ((event: ErrorEvent) => unknown) | null
  postMessage(message: ToSearch): void
  terminate(): void
}

export interface SearchDeps {
  readonly spawn: () => SearchThread
  /** All public items, for the rebuild at boot. */
  readonly everybodys: () => AsyncIterable<SearchItem>
  /** A user's own private items. */
  readonly privateOf: (userId: string) => AsyncIterable<SearchItem>
  /** The hits that no longer exist: another process may have removed them without telling this one. */
  readonly goneOf: (hits: readonly FoundDocument[]) => Promise<readonly FoundDocument[]>
  /** Items that another process has added since the last call. */
  readonly added: () => Promise<readonly SearchItem[]>
  readonly now: () => number
  /** Yields, so that requests are answered meanwhile. */
  readonly pause: () => Promise<void>
  /** Called when records could not be read or the thread died; search goes on with what it has. */
  readonly failed: (error: unknown) => void
}

/** How long records are read before requests have a turn. */
const SLICE_MS = 4
/** How many slices of the user's items a first search waits for; what is not read by then is found next time. */
const PATIENCE_SLICES = 50

/** A search is repeated if something it found is gone, but only this often: a user may be removing thousands. */
const ROUNDS_MAX = 5

interface Filling {
  /** Resolves when everything was read, or enough to answer. */
  readonly soon: Promise<void>
  isDone: boolean
}

export class Search {
  readonly #deps: SearchDeps
  #thread: SearchThread | null = null
  #ready = false
  #asked = 0
  readonly #asking = new Map<number, (hits: readonly FoundDocument[]) => void>()
  readonly #users = new Map<string, Filling>()
  /** For each rebuild under way, the items that were changed or removed meanwhile, whose read version is old. */
  readonly #sending = new Set<Set<string>>()

  constructor(deps: SearchDeps) {
    this.#deps = deps
  }

  /** Whether the rebuild is done; until then answers come from what is there. */
  isReady(): boolean {
    return this.#ready
  }

  /** Reads all records and sends the public items. */
  async rebuild(): Promise<void> {
    await this.#send(this.#deps.everybodys(), (item) => item.public, 'add')
    this.#ready = true
  }

  /** Adds an item, or replaces it. */
  put(item: SearchItem): void {
    this.#touch(item.type, item.id)
    this.#open().postMessage({ to: 'put', item: trimmed(item) })
  }

  remove(type: HitType, id: string, ownerId: string): void {
    this.#touch(type, id)
    this.#open().postMessage({ to: 'remove', type, id, ownerId })
  }

  /** Best first. `userId` null = nobody is signed in: public items only; else one's own of `ownTypes` too. */
  async find(
    query: string,
    userId: string | null,
    filters: Filters,
    limit: number,
    ownTypes: readonly HitType[] = HIT_TYPES,
  ): Promise<readonly FoundDocument[]> {
    if (userId !== null && ownTypes.length > 0) {
      const filling = this.#users.get(userId) ?? this.#fill(userId)
      this.#users.set(userId, filling)
      if (!filling.isDone) await filling.soon
    }
    for (const item of await this.#deps.added()) this.put(item)
    for (let round = 1; ; round++) {
      const hits = await this.#found({ query, userId, filters, limit, ownTypes })
      const gone = new Set(await this.#deps.goneOf(hits))
      if (gone.size === 0) return hits
      // The hits that take their place rank as if the gone ones had never existed.
      for (const { type, id } of gone) this.remove(type, id, userId ?? '')
      if (round === ROUNDS_MAX) return hits.filter((hit) => !gone.has(hit))
    }
  }

  /** Ends the thread; searches under way find nothing. */
  close(): void {
    this.#thread?.terminate()
    this.#thread = null
    this.#answerNothing()
  }

  #answerNothing(): void {
    for (const answer of this.#asking.values()) answer([])
    this.#asking.clear()
  }

  #touch(type: HitType, id: string): void {
    for (const touched of this.#sending) touched.add(nameOf(type, id))
  }

  #open(): SearchThread {
    if (this.#thread) return this.#thread
    const started = this.#deps.spawn()
    started.onmessage = ({ data }) => {
      if (data.from === 'evicted') {
        this.#users.delete(data.userId)
        return
      }
      this.#asking.get(data.ask)?.(data.hits)
      this.#asking.delete(data.ask)
    }
    started.onerror = (event) => {
      this.#deps.failed(event.message)
      started.terminate()
      this.#thread = null
      this.#ready = false
      this.#users.clear()
      this.#answerNothing()
      this.rebuild().catch(this.#deps.failed)
    }
    this.#thread = started
    return started
  }

  /** Sends the items that are `wanted`, a slice at a time. */
  async #send(
    items: AsyncIterable<SearchItem>,
    wanted: (item: SearchItem) => boolean,
    to: 'add' | 'add own',
    sliced: () => void = () => {},
  ): Promise<void> {
    const { now, pause } = this.#deps
    const into = this.#open()
    const touched = new Set<string>()
    const post = (some: SearchItem[]) =>
      into.postMessage({ to, items: some.filter(({ type, id }) => !touched.has(nameOf(type, id))) })
    this.#sending.add(touched)
    try {
      let some: SearchItem[] = []
      let began = now()
      for await (const item of items) {
        if (wanted(item)) some.push(trimmed(item))
        if (now() - began < SLICE_MS) continue
        post(some)
        some = []
        sliced()
        await pause()
        began = now()
      }
      post(some)
    } finally {
      this.#sending.delete(touched)
    }
  }

  #fill(userId: string): Filling {
    const { promise, resolve } = Promise.withResolvers<void>()
    const filling: Filling = { soon: promise, isDone: false }
    this.#open().postMessage({ to: 'begin', userId })
    let slices = 0
    const sliced = () => {
      if (++slices >= PATIENCE_SLICES) resolve()
    }
    this.#send(this.#deps.privateOf(userId), (item) => !item.public, 'add own', sliced)
      .catch((error: unknown) => {
        // The index is rebuilt when they search again.
        this.#users.delete(userId)
        this.#deps.failed(error)
      })
      .finally(() => {
        filling.isDone = true
        resolve()
      })
    return filling
  }

  #found(query: Query): Promise<readonly FoundDocument[]> {
    const ask = ++this.#asked
    return new Promise((resolve) => {
      this.#asking.set(ask, resolve)
      this.#open().postMessage({ to: 'find', ask, ...query })
    })
  }
}

const nameOf = (type: HitType, id: string) => `${type} ${id}`
