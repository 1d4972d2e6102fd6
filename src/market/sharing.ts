// Who may write to a series or a symbol: its keepers change everybody's, and a member changes their own.

import { Problem } from '../lib/problem.ts'
import { type BarCache, barsNotFound } from './bar-cache.ts'
import { owned, type SeriesInfo, type SeriesKey } from './bar-store.ts'
import { sliceBars } from './bars.ts'
import { barsSeenBy, seriesOf } from './seen-bars.ts'
import type { SymbolInfo } from './symbol.ts'
import { withSymbolFields } from './symbols.ts'

/** A user who writes. A `keeper` may change everybody's series: the owner of the server and its admins. */
export interface BarWriter {
  readonly userId: string
  readonly keeper: boolean
}

/** How many bars one step moves: as many as a large import writes at once. */
const STEP_BARS = 65_536

export const notSeriesOwner = () =>
  new Problem(
    403,
    'not_series_owner',
    "This is everybody's, and for the owner of the server and its admins to change. Import bars under the name: they are yours alone, and found before everybody's.",
  )

/** The series that an import of this name goes into. */
export function writtenBy({ userId, keeper }: BarWriter, key: SeriesKey): SeriesKey {
  return seriesOf(key, keeper ? '' : userId)
}

/** Removes the writer's own series of the name, or everybody's if the writer is a keeper. Answers which; null if none. */
export async function removeSeries(
  cache: BarCache,
  { userId, keeper }: BarWriter,
  key: SeriesKey,
): Promise<SeriesKey | null> {
  const [own, shared] = [seriesOf(key, userId), seriesOf(key, '')]
  const found = (await cache.store.info(own)) ? own : shared
  if (found === shared && !keeper && (await cache.store.info(shared))) throw notSeriesOwner()
  return (await cache.remove(found)) ? found : null
}

/** Sets facts of a symbol, for oneself or for everybody. Answers the facts as the writer now sees them. */
export async function putFacts(
  cache: BarCache,
  { userId, keeper }: BarWriter,
  { exchange, symbol }: Pick<SeriesKey, 'exchange' | 'symbol'>,
  fields: Readonly<Record<string, unknown>>,
): Promise<SymbolInfo> {
  const facts = withSymbolFields(await cache.symbol(exchange, symbol, userId), fields)
  const info = { ...owned(keeper ? '' : userId), ...facts }
  await cache.store.putSymbol(info)
  // Private facts from before the user became an admin would hide the shared ones being set.
  if (keeper) await cache.store.removeSymbol(exchange, symbol, userId)
  return info
}

/** Turns a private series into everybody's, with the facts of its symbol unless everybody has some already. */
export async function shareSeries(
  cache: BarCache,
  by: BarWriter,
  key: SeriesKey,
  owner: string,
): Promise<SeriesInfo> {
  if (!by.keeper) throw notSeriesOwner()
  const { store } = cache
  const [from, to] = [seriesOf(key, owner), seriesOf(key, '')]
  const found = await store.info(from)
  if (owner === '' || !found) {
    const { list } = barsSeenBy(cache, by.userId)
    throw await barsNotFound({ list }, key)
  }
  if (await store.info(to))
    throw new Problem(409, 'already_exists', 'Everybody has bars of this name. Remove those first.')
  const facts = await store.symbol(key.exchange, key.symbol, owner)
  if (facts && !(await store.symbol(key.exchange, key.symbol))) {
    const { owner: _owner, ...shared } = facts
    await store.putSymbol(shared)
  }
  const draft = cache.draft(to)
  try {
    const bars = await cache.read(from)
    for (let at = 0; at < bars.length; at += STEP_BARS)
      await draft.add(sliceBars(bars, at, Math.min(at + STEP_BARS, bars.length)))
    await draft.commit()
  } finally {
    await draft.discard()
  }
  await cache.remove(from)
  await store.removeSymbol(key.exchange, key.symbol, owner)
  return (await store.info(to)) ?? found
}
