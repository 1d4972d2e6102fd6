// The caller's watchlists and changes to them, for both the page and the drawer.

import type { Watchlist, WatchlistItemBody } from '../../wire/watchlist.ts'
import { computed, effect, signal } from '@preact/signals'
import { call } from '../api-client.ts'
import { nameOf, type Named } from '../format.ts'
import type { Loaded } from '../frame/page.tsx'
import { canAskAgain } from '../session.ts'
import { remembered } from '../settings.ts'
import { toast } from '../ui/ui.tsx'

export type { Watchlist }

export type WatchlistItem = Watchlist['items'][number]
export const watchlists = signal<readonly Watchlist[] | null>(null)
const listsProblem = signal<unknown>(null)
const chosenId = remembered('watchlist', '')
export const chosen = computed(
  () => watchlists.value?.find((list) => list.id === chosenId.value) ?? watchlists.value?.[0] ?? null,
)
export const choose = (id: string): void => {
  chosenId.value = id
}

/** The lists as far as they have loaded. */
export const loadedLists = (): Loaded<readonly Watchlist[]> => ({
  data: watchlists.value,
  error: listsProblem.value,
  reload: () => void loadWatchlists(),
})

/** How often they were asked for, and how often changed here. */
const rounds = { loads: 0, changes: 0 }

export async function loadWatchlists(): Promise<void> {
  const load = ++rounds.loads
  const { changes } = rounds
  try {
    const { watchlists: all } = await call('GET /api/platform/watchlists')
    if (load !== rounds.loads) return
    // They may have been read before a change that is answered by now.
    if (changes !== rounds.changes) return await loadWatchlists()
    watchlists.value = all
    listsProblem.value = null
  } catch (error) {
    if (load === rounds.loads) listsProblem.value = error
  }
}
effect(() => {
  if (canAskAgain(listsProblem.value)) void loadWatchlists()
})

function put(list: Watchlist): void {
  rounds.changes++
  const others = (watchlists.value ?? []).filter((one) => one.id !== list.id)
  watchlists.value = [list, ...others].toSorted((a, b) => b.createdAt - a.createdAt)
}

/** Names each field that is sent: types tell of one that the server does not know only where it is written out. */
const sent = (items: readonly WatchlistItem[]): WatchlistItemBody[] =>
  items.map(({ symbol, exchange, note }): WatchlistItemBody => ({ symbol, exchange, note }))

/** The new list, and how many rows were left out as duplicates. */
export async function importList(
  name: string,
  items: readonly WatchlistItem[],
): Promise<{ list: Watchlist; duplicates: number }> {
  const body = { name, items: sent(items) }
  const { watchlist: list, warnings = [] } = await call('POST /api/platform/watchlists/import', { body })
  put(list)
  choose(list.id)
  return { list, duplicates: warnings.length }
}

/** Resolves when the last change sent so far has been answered. */
let settled: Promise<unknown> = Promise.resolve()
/** Changes are sent one after the other: each has the whole list, so the last one made must also arrive last. */
function inTurn<T>(send: () => Promise<T>): Promise<T> {
  const answer = settled.then(send)
  settled = answer.catch(() => undefined)
  return answer
}

/** The newest arrangement of each list. */
const newest = new Map<string, readonly WatchlistItem[]>()

export async function rename(id: string, name: string): Promise<void> {
  const change = { path: { id }, body: { name } }
  put((await inTurn(() => call('PATCH /api/platform/watchlists/{id}', change))).watchlist)
}

export async function addSymbol(id: string, named: Named): Promise<void> {
  const list = watchlists.peek()?.find((one) => one.id === id)
  if (!list) return
  const isIn = list.items.some((one) => nameOf(one) === nameOf(named))
  if (isIn) return toast(`${named.symbol} is in the list already.`)
  await arrange(list, [...list.items, { ...named, note: null }])
}

/**
 * Shows the rows at once, then sends them. While a key is held down, only the newest rows are sent.
 * If the server refuses, the change is undone and the error thrown.
 */
export async function arrange(list: Watchlist, items: readonly WatchlistItem[]): Promise<void> {
  newest.set(list.id, items)
  put({ ...list, items })
  const isNewest = () => newest.get(list.id) === items
  try {
    const answer = await inTurn(async () =>
      isNewest()
        ? call('PATCH /api/platform/watchlists/{id}', { path: { id: list.id }, body: { items: sent(items) } })
        : null,
    )
    if (answer && isNewest()) put(answer.watchlist)
  } catch (error) {
    await loadWatchlists()
    throw error
  }
}

/** The items after one of them was moved. */
export function moved<T>(items: readonly T[], from: number, to: number): readonly T[] {
  const item = items[from]
  if (item === undefined || to < 0 || to >= items.length || to === from) return items
  return items.toSpliced(from, 1).toSpliced(to, 0, item)
}

export function forget(id: string): void {
  rounds.changes++
  watchlists.value = (watchlists.value ?? []).filter((one) => one.id !== id)
}
