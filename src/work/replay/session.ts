// A replay session: everything that a chart needs to play bars again, one after the other, with what happened on them.
//
// A session of the market has only bars; that of a backtest also has its trades, tracks and equity. Trades know their bars
// by index, so their indexes are counted from the session's first bar. A session is not stored, because it can be made from
// stored parts, the same every time. Only the fact that a backtest was converted is stored, with the session's id.

import { barsHash } from '../../broker/report/hash.ts'
import type { Clock } from '../../lib/clock.ts'
import type { NewId } from '../../lib/ids.ts'
import { Problem } from '../../lib/problem.ts'
import { marketName } from '../../lib/market-name.ts'
import { type BarCache, barsNotFound } from '../../market/bar-cache.ts'
import { ownerOf, type SeriesKey } from '../../market/bar-store.ts'
import { type Bars, selectBars } from '../../market/bars.ts'
import { barsRunOn, barsSeenBy, seriesOf } from '../../market/seen-bars.ts'
import type { SymbolInfo } from '../../market/symbol.ts'
import { collectionIn } from '../../store/collection.ts'
import { NameTaken, transact, type Changes, type Tx } from '../../store/transaction.ts'
import type { Kv } from '../../store/kv.ts'
import type { LargeText } from '../../store/large-text.ts'

const REPLAY_SOURCES = ['market', 'backtest'] as const

/** The most bars of a session. */
export const REPLAY_BARS_MAX = 50_000

export interface ReplaySession {
  /** null for a session of the market alone, of which nothing is stored. */
  readonly id: string | null
  readonly source: (typeof REPLAY_SOURCES)[number]
  readonly backtestId: string | null
  readonly symbol: string
  readonly exchange: string
  readonly interval: string
  readonly timezone: string
  readonly mintick: number
  /** ISO 8601 UTC: times of the first and last bar. */
  readonly start: string
  readonly end: string
  readonly bars: Bars
  /** JSON texts of arrays: trades, tracks, and one value of equity a bar. */
  readonly trades: string
  readonly tracks: string | LargeText
  readonly equity: string
  readonly barsHash: string
}

/** The parts of a finished backtest that make a session. */
export interface ReplayedBacktest {
  readonly id: string
  readonly userId: string
  readonly symbol: string
  readonly exchange: string
  readonly interval: string
  /** The owner of the series that it ran on; absent or '' = everybody's. */
  readonly seriesOwner?: string
  /** Times of the first and last bar it ran on. */
  readonly range: { readonly from: number; readonly to: number }
}

/** Finds what happened on the shown bars, in a worker: a report may be megabytes of text. */
export type ShowOn = (bars: Bars) => Promise<Pick<ReplaySession, 'trades' | 'tracks' | 'equity'>>

export interface ReplayDeps {
  readonly kv: Kv
  readonly clock: Clock
  readonly newId: NewId
  readonly bars: BarCache
}

interface ReplayRecord {
  readonly id: string
  readonly userId: string
  readonly backtestId: string
  readonly exchange: string
  readonly createdAt: number
}

const replays = collectionIn<ReplayRecord>('replays', {
  unique: { backtest: ({ backtestId, exchange }) => [backtestId, exchange] },
  indexes: { backtest: ({ backtestId }) => [backtestId] },
})

/** Bars without a backtest. `span` says what was asked for, and has an end at least where `bars` are empty. */
export function marketSession(
  info: SymbolInfo,
  key: SeriesKey,
  bars: Bars,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined } = {},
): ReplaySession {
  return {
    ...frame(info, key, bars),
    start: iso(from ?? bars.time[0] ?? to!),
    end: iso(to ?? bars.time.at(-1) ?? from!),
    id: null,
    source: 'market',
    backtestId: null,
    trades: '[]',
    tracks: '[]',
    equity: '[]',
  }
}

/**
 * Converts a backtest, on its own exchange's bars or on another's over the same time. The same backtest and exchange
 * give the same id. Of more bars than a session holds, the last ones; `cut` says how many were left out.
 */
export async function backtestSession(
  deps: ReplayDeps,
  backtest: ReplayedBacktest,
  exchange: string,
  showOn: ShowOn,
): Promise<{ readonly session: ReplaySession & { readonly id: string }; readonly cut: number }> {
  const { symbol, interval, range, seriesOwner = '' } = backtest
  const key = { exchange: marketName(exchange), symbol, interval }
  const seen = barsSeenBy(deps.bars, backtest.userId)
  // On its own exchange it uses the very series that the backtest ran on, even if the name now means another one to the
  // user.
  const series = key.exchange === backtest.exchange ? seriesOf(key, seriesOwner) : await seen.resolve(key)
  const info = await seen.symbol(key.exchange, symbol)
  const within = { from: range.from, to: range.to + 1 }
  const all = await barsRunOn(deps.bars, backtest.userId, series, within)
  if (all.length === 0)
    throw new Problem(
      404,
      'bars_not_found',
      ownerOf(series) === ''
        ? `There are no bars of this exchange over the time of the backtest. ${(await barsNotFound(seen, key)).message}`
        : 'The backtest ran on your own bars, which were removed or shared since. Import them again, or run the backtest again.',
    )
  const bars = selectBars(all, { last: REPLAY_BARS_MAX })
  const id = await idOfReplay(deps, backtest, key.exchange)
  const { trades, tracks, equity } = await showOn(bars)
  const session: ReplaySession & { readonly id: string } = {
    ...frame(info, key, bars),
    start: iso(bars.time[0]!),
    end: iso(bars.time.at(-1)!),
    id,
    source: 'backtest',
    backtestId: backtest.id,
    trades,
    tracks,
    equity,
  }
  return { session, cut: all.length - bars.length }
}

/** The changes to commit when a backtest is removed. */
export async function endReplays(kv: Kv, tx: Tx, backtestId: string): Promise<Changes[]> {
  const here = replays(kv).at(tx)
  const made = await Array.fromAsync(here.each('backtest', [backtestId]), ({ id }) => id)
  return (await here.storedMany(made)).map((replay) => replays(kv).remove(replay))
}

async function idOfReplay({ kv, clock, newId }: ReplayDeps, backtest: ReplayedBacktest, exchange: string) {
  const found = await replays(kv).find('backtest', [backtest.id, exchange])
  if (found) return found.id
  const id = newId('rp')
  const record = { id, userId: backtest.userId, backtestId: backtest.id, exchange, createdAt: clock.now() }
  try {
    await transact(kv, () => replays(kv).insert(record))
    return id
  } catch (error) {
    // It was converted at the same time by another request.
    const first =
      error instanceof NameTaken ? await replays(kv).find('backtest', [backtest.id, exchange]) : null
    if (first) return first.id
    throw error
  }
}

function frame({ timezone, mintick }: SymbolInfo, { exchange, symbol, interval }: SeriesKey, bars: Bars) {
  return { symbol, exchange, interval, timezone, mintick, bars, barsHash: barsHash(bars) }
}

const iso = (time: number) => new Date(time).toISOString()
