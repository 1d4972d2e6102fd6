// Watchlists: named lists of symbols with notes, imported all or nothing.

import { csvRow } from '../../lib/csv-text.ts'
import type { Log } from '../../lib/log.ts'
import { Problem, type FieldProblem } from '../../lib/problem.ts'
import { marketName } from '../../lib/market-name.ts'
import { longerThan, MARKET_NAME_MAX } from '../../lib/text.ts'
import { collection } from '../../store/collection.ts'
import { byOwner, OwnedRecords, type RecordDeps } from '../../store/owned.ts'
import type { Also } from '../../store/transaction.ts'
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

export class Watchlists extends OwnedRecords<Watchlist> {
  constructor(deps: RecordDeps) {
    const watchlists = collection<Watchlist>(deps.kv, 'watchlists', {
      ...byOwner(WATCHLISTS_PER_USER, 'watchlists'),
      stamped: ['owner'],
    })
    super(deps, watchlists, 'watchlist_not_found', 'There is no such watchlist.')
  }

  async import(
    ownerId: string,
    name: string,
    rows: readonly WatchlistItemBody[],
    also?: Also<WatchlistMade>,
  ): Promise<WatchlistMade> {
    const { items, warnings } = checkedItems(rows)
    const now = this.deps.clock.now()
    const made = { ownerId, name, items, createdAt: now, updatedAt: now }
    const watchlist: Watchlist = { id: this.deps.newId('wl'), ...made }
    return this.keep(watchlist, { watchlist, warnings }, also)
  }

  each(leaving?: Log): AsyncGenerator<Watchlist> {
    return this.records.each(undefined, [], leaving)
  }

  async change(
    ownerId: string,
    id: string,
    fields: {
      readonly name?: string | undefined
      readonly items?: readonly WatchlistItemBody[] | undefined
    },
  ): Promise<WatchlistMade> {
    await this.get(ownerId, id)
    const checked = fields.items && checkedItems(fields.items)
    const watchlist = await this.records.update(id, (before) => ({
      ...before,
      ...(fields.name !== undefined && { name: fields.name }),
      ...(checked && { items: checked.items }),
      updatedAt: this.deps.clock.now(),
    }))
    if (!watchlist) throw this.notFound()
    return { watchlist, warnings: checked?.warnings ?? [] }
  }
}
