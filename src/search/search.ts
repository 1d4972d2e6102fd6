// Search over everything: one public index, and one for each signed-in user's own private items.
//
// Two indexes rather than one with a filter, so that a private item cannot change anything in somebody else's answer, not
// even the ranking (word frequencies of one index never see the other's words), and because a small index of one's own is
// faster than filtering a large one (measured at 100,000 documents: 5 to 9 times). Both live in memory and are rebuilt
// from the records; a user's is built when they first search and kept as long as there is room.

import MiniSearch, { type SearchResult } from 'minisearch'

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

export interface Hit {
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

/** A query's further words change the answer little and cost much: 50 words took 35 ms on 10,000 documents. */
const TERMS_MAX = 8
/** Private indexes in memory at a time; the one used longest ago goes first. */
const USERS_MAX = 200
const SNIPPET_LENGTH = 160
/** Long bodies are indexed up to here. */
const TEXT_MAX = 20_000

export interface SearchDeps {
  /** All items there are, for the rebuild at boot. */
  readonly all: () => Iterable<SearchItem>
  /** A user's own private items. */
  readonly privateOf: (userId: string) => Iterable<SearchItem>
  /** Lets others have the thread for a moment. */
  readonly pause: () => Promise<void>
}

export type Search = ReturnType<typeof createSearch>

export function createSearch({ all, privateOf, pause }: SearchDeps) {
  const everybody = newIndex()
  const own = new Map<string, MiniSearch<Entry>>()
  let ready = false

  function ownIndex(userId: string): MiniSearch<Entry> {
    let index = own.get(userId)
    if (index) own.delete(userId)
    else {
      index = newIndex()
      for (const item of privateOf(userId)) if (!item.public) index.add(entryOf(item))
      const oldest = own.size >= USERS_MAX ? own.keys().next().value : undefined
      if (oldest !== undefined) own.delete(oldest)
    }
    // Last in the map = used last.
    own.set(userId, index)
    return index
  }
  const drop = (index: MiniSearch<Entry> | undefined, key: string) => {
    if (index?.has(key)) index.discard(key)
  }

  return {
    /** Whether the rebuild is done; until then answers come from what is there. */
    isReady: () => ready,
    /** Reads all records, a slice at a time, so that requests are answered meanwhile. */
    async rebuild(): Promise<void> {
      let inSlice = 0
      for (const item of all()) {
        if (!item.public) continue
        const entry = entryOf(item)
        // Somebody may have put it there while we were reading.
        if (!everybody.has(entry.key)) everybody.add(entry)
        if (++inSlice % 50 === 0) await pause()
      }
      ready = true
    },
    /** Made or changed. */
    put(item: SearchItem): void {
      const entry = entryOf(item)
      drop(everybody, entry.key)
      drop(own.get(item.ownerId), entry.key)
      if (item.public) everybody.add(entry)
      else own.get(item.ownerId)?.add(entry)
    },
    remove(type: HitType, id: string, ownerId: string): void {
      drop(everybody, keyOf(type, id))
      drop(own.get(ownerId), keyOf(type, id))
    },
    /** Best first. `userId` null = nobody is signed in: public items only; else one's own of `ownTypes` too. */
    find(
      query: string,
      userId: string | null,
      filters: Filters,
      limit: number,
      ownTypes: readonly HitType[] = HIT_TYPES,
    ): Hit[] {
      const terms = query
        .split(/[\s\p{P}]+/u)
        .filter(Boolean)
        .slice(0, TERMS_MAX)
      if (terms.length === 0) return []
      const search = (index: MiniSearch<Entry>, types: readonly HitType[]) => {
        const wanted = (entry: Entry) => types.includes(entry.type) && matches(entry, filters)
        const filter = (result: SearchResult) => wanted(result as unknown as Entry)
        return index.search(terms.join(' '), { filter }).slice(0, limit)
      }
      const results = search(everybody, HIT_TYPES)
      if (userId !== null && ownTypes.length > 0) results.push(...search(ownIndex(userId), ownTypes))
      return results
        .toSorted((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
        .slice(0, limit)
        .map((result) => hitOf(result))
    },
  }
}

interface Entry extends Omit<SearchItem, 'tags'> {
  readonly key: string
  readonly tags: string
  readonly tagList: readonly string[]
}
const keyOf = (type: HitType, id: string) => `${type}:${id}`

function entryOf(item: SearchItem): Entry {
  return {
    ...item,
    key: keyOf(item.type, item.id),
    text: item.text.slice(0, TEXT_MAX),
    tags: item.tags.join(' '),
    tagList: item.tags,
  }
}

function newIndex(): MiniSearch<Entry> {
  return new MiniSearch<Entry>({
    idField: 'key',
    fields: ['title', 'tags', 'symbol', 'author', 'text'],
    storeFields: ['type', 'id', 'title', 'text', 'tagList', 'symbol', 'author', 'ownerId'],
    searchOptions: {
      boost: { title: 4, symbol: 3, tags: 2 },
      // One letter begins too many words: half a second on 100,000 documents.
      prefix: (term) => term.length >= 2,
      fuzzy: (term) => (term.length >= 6 ? 2 : term.length >= 4 ? 1 : false),
      combineWith: 'AND',
    },
  })
}

function matches(entry: Entry, { type, symbol, tag, author }: Filters): boolean {
  const same = (a: string | null, b: string) => a?.toLowerCase() === b.toLowerCase()
  return (
    (type === undefined || entry.type === type) &&
    (symbol === undefined || same(entry.symbol, symbol)) &&
    (tag === undefined || entry.tagList.some((one) => same(one, tag))) &&
    (author === undefined || same(entry.author, author))
  )
}

function hitOf(result: SearchResult): Hit {
  const entry = result as unknown as Entry
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

/** White space folded; begins a little before the first word that matched. */
function snippetOf(text: string, terms: readonly string[]): string {
  const plain = text.replace(/\s+/g, ' ').trim()
  const lower = plain.toLowerCase()
  const found = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0)
  const start = found.length === 0 ? 0 : Math.max(0, Math.min(...found) - 40)
  const from = start === 0 ? 0 : plain.indexOf(' ', start) + 1
  const cut = plain.slice(from, from + SNIPPET_LENGTH)
  return `${from > 0 ? '…' : ''}${cut}${from + SNIPPET_LENGTH < plain.length ? '…' : ''}`
}
