// The indexes themselves: one public, and one for each signed-in user's own private items.
//
// Two indexes rather than one with a filter, so that a private item cannot change anything in somebody else's answer, not
// even the ranking (word frequencies of one index never see the other's words), and because a small index of one's own is
// faster than filtering a large one (measured at 100,000 documents: 5 to 9 times). They are in memory, in a thread of their
// own: a user who fills an index with rare words can make searches take a second, and only other searches wait for that.

import { cutText } from '../../lib/text.ts'
import type { SearchResult } from 'minisearch'
import { PackedSearch } from './postings.ts'

export const HIT_TYPES = ['script', 'idea', 'backtest', 'watchlist'] as const
export type HitType = (typeof HIT_TYPES)[number]

export interface SearchItem {
  readonly type: HitType
  readonly id: string
  readonly title: string
  readonly text: string
  readonly tags: readonly string[]
  readonly symbol: string | null
  readonly author: string
  readonly ownerId: string
  /** Found by everybody, or by its owner only. */
  readonly public: boolean
}

export interface FoundDocument {
  readonly type: HitType
  readonly id: string
  readonly title: string
  /** Plain text round the first match. */
  readonly snippet: string
  readonly score: number
  readonly symbol: string | null
  readonly tags: readonly string[]
  readonly author: string
}

export interface Filters {
  readonly type?: HitType | undefined
  readonly symbol?: string | undefined
  readonly tag?: string | undefined
  readonly author?: string | undefined
}

/** How many words of a query count; more hardly change the answer and cost much (50 took 35 ms on 10,000 documents). */
const TERMS_MAX = 8
/** How many words of a query may be misspelt, since each of them is compared with all words of the index. */
const FUZZY_TERMS_MAX = 3
const SNIPPET_LENGTH = 160
/** How much of a text is indexed. A backtest is found by its name, and a script describes itself at its beginning. */
const TEXT_MAX: Readonly<Record<HitType, number>> = {
  script: 8000,
  idea: 20_000,
  backtest: 500,
  watchlist: 8000,
}
/** A rough number of bytes for each document, besides its words and its text. */
const DOCUMENT_BYTES = 700
/** After this much text the garbage is collected: left alone, the heap grows to twice its contents. */
const COLLECT_TEXT = 1 << 20
/** Bytes of dropped indexes after which the garbage is collected. */
const COLLECT_DROPPED = 32 << 20

export interface IndexBudget {
  /** The most bytes of one user's index. Further items are found by their title only. */
  readonly own: number
  /** Most bytes of all users' indexes together; the one used longest ago makes room. */
  readonly all: number
}
const BUDGET: IndexBudget = { own: 64 << 20, all: 128 << 20 }

export interface IndexesOptions {
  /** Called when a user's index was dropped to make room. */
  readonly evicted: (userId: string) => void
  readonly budget?: IndexBudget
  /** Frees memory that is no longer used. */
  readonly collect?: () => void
}

/** The part of an item that is indexed, since the rest need not be sent to the thread. */
export function trimmed(item: SearchItem): SearchItem {
  return { ...item, text: cutText(item.text, TEXT_MAX[item.type]) }
}

interface OwnIndex {
  readonly index: PackedSearch<IndexedItem>
  /** The number of its documents. */
  documents: number
  /** The size at the last count. */
  bytes: number
}

export class Indexes {
  readonly #everybody = newIndex()
  // The most recently used one is last.
  readonly #own = new Map<string, OwnIndex>()
  readonly #options: Required<IndexesOptions>
  /** Bytes of all users' indexes. */
  #ownBytes = 0
  /** Characters of all public items, and of those added since the last collection. */
  #publicText = 0
  #fresh = 0
  /** Bytes of indexes dropped since then. */
  #dropped = 0

  constructor({ evicted, budget = BUDGET, collect = () => {} }: IndexesOptions) {
    this.#options = { evicted, budget, collect }
  }

  /** Adds a public item that was read for the rebuild; ignored if a newer change came meanwhile. */
  addPublic(item: SearchItem): void {
    const entry = entryOf(item, item.text)
    if (this.#everybody.has(entry.key)) return
    this.#everybody.add(entry)
    this.#publicText += item.text.length
    this.#took(item)
  }

  /** Begins a user's index. */
  begin(userId: string): void {
    this.#drop(userId)
    this.#own.set(userId, { index: newIndex(), documents: 0, bytes: 0 })
  }

  /** The same for a private item. */
  addOwn(item: SearchItem): void {
    const own = this.#own.get(item.ownerId)
    if (own && !own.index.has(keyOf(item.type, item.id))) this.#addTo(own, item)
  }

  /** Adds an item, or replaces it. */
  put(item: SearchItem): void {
    this.remove(item.type, item.id, item.ownerId)
    const own = this.#own.get(item.ownerId)
    if (item.public) this.addPublic(item)
    else if (own) this.#addTo(own, item)
  }

  remove(type: HitType, id: string, ownerId: string): void {
    const key = keyOf(type, id)
    if (this.#everybody.has(key)) this.#everybody.discard(key)
    const own = this.#own.get(ownerId)
    if (!own?.index.has(key)) return
    const text = (own.index.getStoredFields(key) as IndexedItem | undefined)?.text.length ?? 0
    own.documents -= DOCUMENT_BYTES + text
    own.index.discard(key)
    this.#count(own)
  }

  /** Best first. `userId` null = nobody is signed in: public items only; else one's own of `ownTypes` too. */
  find(
    query: string,
    userId: string | null,
    filters: Filters,
    limit: number,
    ownTypes: readonly HitType[] = HIT_TYPES,
  ): FoundDocument[] {
    const terms = query
      .split(/[\s\p{P}]+/u)
      .filter(Boolean)
      .slice(0, TERMS_MAX)
    if (terms.length === 0) return []
    const search = (index: PackedSearch<IndexedItem>, types: readonly HitType[]) => {
      const wanted = (entry: IndexedItem) => types.includes(entry.type) && matches(entry, filters)
      const filter = (result: SearchResult) => wanted(result as unknown as IndexedItem)
      return index.search(terms.join(' '), { filter }).slice(0, limit)
    }
    const results = search(this.#everybody, HIT_TYPES)
    const own = userId === null ? undefined : this.#own.get(userId)
    if (userId !== null && own && ownTypes.length > 0) {
      this.#own.delete(userId)
      this.#own.set(userId, own)
      results.push(...search(own.index, ownTypes))
    }
    return results
      .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
      .slice(0, limit)
      .map((result) => hitOf(result))
  }

  #addTo(own: OwnIndex, item: SearchItem): void {
    const text = own.bytes > this.#options.budget.own ? '' : item.text
    own.index.add(entryOf(item, text))
    own.documents += DOCUMENT_BYTES + text.length
    this.#count(own)
    for (const [userId, other] of this.#own) {
      if (this.#ownBytes <= this.#options.budget.all || other === own) break
      this.#drop(userId)
      this.#options.evicted(userId)
    }
    this.#took(item)
  }

  #count(own: OwnIndex): void {
    const bytes = own.documents + own.index.indexBytes
    this.#ownBytes += bytes - own.bytes
    own.bytes = bytes
  }

  #drop(userId: string): void {
    const bytes = this.#own.get(userId)?.bytes ?? 0
    this.#own.delete(userId)
    this.#ownBytes -= bytes
    this.#dropped += bytes
  }

  /** Collecting takes longer the more there is, so it waits until enough has come in compared with that. */
  #took({ text, title }: SearchItem): void {
    this.#fresh += text.length + title.length
    if (this.#fresh < COLLECT_TEXT + this.#publicText / 16 && this.#dropped < COLLECT_DROPPED) return
    this.#fresh = this.#dropped = 0
    this.#options.collect()
  }
}

interface IndexedItem extends Omit<SearchItem, 'tags'> {
  readonly key: string
  readonly tags: string
  readonly tagList: readonly string[]
}
const keyOf = (type: HitType, id: string) => `${type}:${id}`

function entryOf(item: SearchItem, text: string): IndexedItem {
  return {
    ...item,
    key: keyOf(item.type, item.id),
    text,
    tags: item.tags.join(' '),
    tagList: item.tags,
  }
}

function newIndex(): PackedSearch<IndexedItem> {
  return new PackedSearch<IndexedItem>({
    idField: 'key',
    fields: ['title', 'tags', 'symbol', 'author', 'text'],
    storeFields: ['type', 'id', 'title', 'text', 'tagList', 'symbol', 'author', 'ownerId'],
    searchOptions: {
      boost: { title: 4, symbol: 3, tags: 2 },
      // One letter begins too many words: half a second on 100,000 documents.
      prefix: (term) => term.length >= 2,
      fuzzy: (term, i) =>
        i >= FUZZY_TERMS_MAX ? false : term.length >= 6 ? 2 : term.length >= 4 ? 1 : false,
      combineWith: 'AND',
    },
  })
}

function matches(entry: IndexedItem, { type, symbol, tag, author }: Filters): boolean {
  const same = (a: string | null, b: string) => a?.toLowerCase() === b.toLowerCase()
  return (
    (type === undefined || entry.type === type) &&
    (symbol === undefined || same(entry.symbol, symbol)) &&
    (tag === undefined || entry.tagList.some((one) => same(one, tag))) &&
    (author === undefined || same(entry.author, author))
  )
}

function hitOf(result: SearchResult): FoundDocument {
  const entry = result as unknown as IndexedItem
  return {
    type: entry.type,
    id: entry.id,
    title: entry.title,
    snippet: snippetOf(entry.text, result.terms),
    score: Math.round(result.score * 1000) / 1000,
    symbol: entry.symbol,
    tags: entry.tagList,
    author: entry.author,
  }
}

/** Folds white space, and begins a little before the first word that matched. */
function snippetOf(text: string, terms: readonly string[]): string {
  const plain = text.replace(/\s+/g, ' ').trim()
  const lower = plain.toLowerCase()
  const found = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0)
  const start = found.length === 0 ? 0 : Math.max(0, Math.min(...found) - 40)
  const from = start === 0 ? 0 : plain.indexOf(' ', start) + 1
  // Forty code units before a word may be in the middle of a character.
  const rest = plain.slice(from).replace(/^[\udc00-\udfff]/, '')
  const cut = cutText(rest, SNIPPET_LENGTH)
  return `${from > 0 ? '…' : ''}${cut}${cut.length < rest.length ? '…' : ''}`
}
