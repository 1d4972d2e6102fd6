// The thread's side of search: messages in, answers out.

import { Indexes, type Filters, type FoundDocument, type HitType, type SearchItem } from './indexes.ts'

export type ToSearch =
  | { readonly to: 'add'; readonly items: readonly SearchItem[] }
  | { readonly to: 'begin'; readonly userId: string }
  | { readonly to: 'add own'; readonly items: readonly SearchItem[] }
  | { readonly to: 'put'; readonly item: SearchItem }
  | { readonly to: 'remove'; readonly type: HitType; readonly id: string; readonly ownerId: string }
  | ({ readonly to: 'find'; readonly ask: number } & Query)

export interface Query {
  readonly query: string
  readonly userId: string | null
  readonly filters: Filters
  readonly limit: number
  readonly ownTypes: readonly HitType[]
}

export type FromSearch =
  | { readonly from: 'found'; readonly ask: number; readonly hits: readonly FoundDocument[] }
  | { readonly from: 'evicted'; readonly userId: string }

/** Handles each message; `tell` sends one back, `collect` frees memory that is no longer used. */
export function serveSearch(
  tell: (message: FromSearch) => void,
  collect: () => void,
): (message: ToSearch) => void {
  const indexes = new Indexes({ evicted: (userId) => tell({ from: 'evicted', userId }), collect })
  return (message) => {
    switch (message.to) {
      case 'add':
        return message.items.forEach((item) => indexes.addPublic(item))
      case 'begin':
        return indexes.begin(message.userId)
      case 'add own':
        return message.items.forEach((item) => indexes.addOwn(item))
      case 'put':
        return indexes.put(message.item)
      case 'remove':
        return indexes.remove(message.type, message.id, message.ownerId)
      case 'find': {
        const { ask, query, userId, filters, limit, ownTypes } = message
        return tell({ from: 'found', ask, hits: indexes.find(query, userId, filters, limit, ownTypes) })
      }
    }
  }
}
