// Turns private and published objects into items of the search index.

import type { Idea } from '../people/ideas/ideas.ts'
import type { Run } from '../work/runs/records.ts'
import type { Script } from '../people/scripts/scripts.ts'
import type { SearchItem } from '../people/search/indexes.ts'
import type { Watchlist } from '../people/watchlists/watchlists.ts'

/** The beginning of the source is enough to find it. */
export function runItem(run: Run, source: string): SearchItem {
  const { id, name, symbol, userId } = run
  return {
    type: 'backtest',
    id,
    title: name,
    text: source,
    tags: [run.exchange, run.interval],
    symbol,
    author: '',
    ownerId: userId,
    public: false,
  }
}

export function ideaItem(idea: Idea): SearchItem {
  const { id, title, body, tags, symbol, author, ownerId } = idea
  return {
    type: 'idea',
    id,
    title,
    text: body,
    tags,
    symbol,
    author,
    ownerId,
    public: idea.visibility === 'public',
  }
}

export function scriptItem(script: Script): SearchItem {
  const { id, name, source, kind, author, ownerId } = script
  return {
    type: 'script',
    id,
    title: name,
    text: source,
    tags: [kind],
    symbol: null,
    author,
    ownerId,
    public: script.visibility === 'public',
  }
}

export function watchlistItem(list: Watchlist): SearchItem {
  const text = list.items
    .map(({ exchange, symbol, note }) => `${exchange} ${symbol} ${note ?? ''}`)
    .join('\n')
  return {
    type: 'watchlist',
    id: list.id,
    title: list.name,
    text,
    tags: [],
    symbol: null,
    author: '',
    ownerId: list.ownerId,
    public: false,
  }
}
