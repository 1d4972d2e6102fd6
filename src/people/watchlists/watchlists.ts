// Watchlists: named lists of symbols with notes, imported all or nothing.

import { csvRow } from '../../lib/csv-text.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { Problem, type FieldProblem } from '../../lib/problem.ts'
import { longerThan, MARKET_NAME_MAX, marketName } from '../../lib/text.ts'
import { collection, type Page, type PageOptions } from '../../store/collection.ts'
import { ownedIn } from '../../store/owned.ts'
import { transact, type Also } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'
import type { WatchlistItemBody } from '../../wire/watchlist.ts'

export const WATCHLISTS_PER_USER = 200
/** The interval of the bars that a list's last price and change come from. */
export const WATCHED_INTERVAL = '1d'

export interface WatchlistItem {
  readonly symbol: string
  /** If it is empty, the symbol is looked up on every exchange. */
  readonly exchange: string
  readonly note: string | null
}

export interface Watchlist {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  readonly items: readonly WatchlistItem[]
  readonly createdAt: number
  readonly updatedAt: number
}

export interface ImportWarning {
  readonly code: 'duplicate_item'
  /** JSON Pointer of the row that was left out. */
  readonly path: string
}

export interface WatchlistMade {
  readonly watchlist: Watchlist
  readonly warnings: readonly ImportWarning[]
}

export interface WatchlistDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
}

/** Rows as they are kept, duplicates collapsed to the first. Throws Problem 422 that names every bad row. */
export function checkedItems(rows: readonly WatchlistItemBody[]): {
  items: WatchlistItem[]
  warnings: ImportWarning[]
} {
  const problems: FieldProblem[] = []
  const warnings: ImportWarning[] = []
  const items = new Map<string, WatchlistItem>()
  for (const [i, row] of rows.entries()) {
    const [prefix, ticker] = row.symbol.includes(':')
      ? row.symbol.split(':', 2)
      : [row.exchange ?? '', row.symbol]
    const symbol = marketName((ticker ?? '').trim())
    const exchange = marketName(((row.exchange ?? '') || (prefix ?? '')).trim())
    if (symbol === '' || /\s/.test(symbol) || longerThan(symbol, MARKET_NAME_MAX))
      problems.push({
        in: 'body',
        path: `/items/${i}/symbol`,
        code: 'symbol',
        message: `Expected a symbol of 1 to ${MARKET_NAME_MAX} characters without spaces.`,
      })
    else if (/\s/.test(exchange) || longerThan(exchange, MARKET_NAME_MAX))
      problems.push({
        in: 'body',
        path: `/items/${i}/exchange`,
        code: 'exchange',
        message: `Expected an exchange of at most ${MARKET_NAME_MAX} characters without spaces.`,
      })
    else if (items.has(`${exchange}:${symbol}`))
      warnings.push({ code: 'duplicate_item', path: `/items/${i}` })
    else items.set(`${exchange}:${symbol}`, { symbol, exchange, note: row.note ?? null })
  }
  if (problems.length > 0)
    throw new Problem(
      422,
      'validation_failed',
      `${problems.length} of ${rows.length} rows cannot be read. Nothing was imported.`,
      { fields: problems.slice(0, 100) },
    )
  return { items: [...items.values()], warnings }
}

export function exportCsv({ items }: Watchlist): string {
  const rows = items.map(({ symbol, exchange, note }) => csvRow([symbol, exchange, note ?? '']))
  return `${['symbol,exchange,note', ...rows].join('\r\n')}\r\n`
}

export type Watchlists = ReturnType<typeof createWatchlists>

export function createWatchlists({ kv, clock, newId }: WatchlistDeps) {
  const watchlists = collection<Watchlist>(kv, 'watchlists', {
    indexes: { owner: (list) => [list.ownerId] },
    stamped: ['owner'],
    counts: { owner: { of: (list) => [list.ownerId], max: WATCHLISTS_PER_USER, noun: 'watchlists' } },
  })
  const notFound = () => new Problem(404, 'watchlist_not_found', 'There is no such watchlist.')
  const owned = ownedIn(watchlists, notFound)
  return {
    async import(
      ownerId: string,
      name: string,
      rows: readonly WatchlistItemBody[],
      also?: Also<WatchlistMade>,
    ): Promise<WatchlistMade> {
      const { items, warnings } = checkedItems(rows)
      const now = clock.now()
      const watchlist: Watchlist = { id: newId('wl'), ownerId, name, items, createdAt: now, updatedAt: now }
      const made = { watchlist, warnings }
      await transact(kv, (tx) => [watchlists.insert(watchlist), also?.(made, tx)])
      return made
    },
    get: owned,
    /** Changes when the list does. */
    stamp: (id: string): Promise<string> => watchlists.stamp(id),
    list: (ownerId: string, options: PageOptions): Promise<Page<Watchlist>> =>
      watchlists.list('owner', [ownerId], options),
    /** Changes when one of the owner's lists does. */
    listStamp: (ownerId: string): Promise<string> => watchlists.listStamp('owner', [ownerId]),
    each: (): AsyncGenerator<Watchlist> => watchlists.each(),
    eachOf: (ownerId: string): AsyncGenerator<Watchlist> => watchlists.each('owner', [ownerId]),
    async change(
      ownerId: string,
      id: string,
      fields: {
        readonly name?: string | undefined
        readonly items?: readonly WatchlistItemBody[] | undefined
      },
    ): Promise<{ watchlist: Watchlist; warnings: ImportWarning[] }> {
      await owned(ownerId, id)
      const checked = fields.items && checkedItems(fields.items)
      const watchlist = await watchlists.update(id, (before) => ({
        ...before,
        ...(fields.name !== undefined && { name: fields.name }),
        ...(checked && { items: checked.items }),
        updatedAt: clock.now(),
      }))
      if (!watchlist) throw notFound()
      return { watchlist, warnings: checked?.warnings ?? [] }
    },
    async remove(ownerId: string, id: string): Promise<void> {
      await owned(ownerId, id)
      await watchlists.delete(id)
    },
  }
}
