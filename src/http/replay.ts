// Replays of the market, and a user's place in each: cursor and bookmarks.

import { Problem } from '../lib/problem.ts'
import { marketName } from '../lib/market-name.ts'
import { barsNotFound } from '../market/bar-cache.ts'
import { requireInterval } from '../market/interval.ts'
import { barsSeenBy, type SeenBars } from '../market/seen-bars.ts'
import type { Bookmark, Cursor, Places } from '../work/replay/places.ts'
import { marketSession } from '../work/replay/session.ts'
import { JsonText } from './json-text.ts'
import { replayPieces } from './replay-wire.ts'
import { spanWarning } from './bar-columns.ts'
import { isoTimeOf } from './fields.ts'
import type { Routes } from './route.ts'

const BARS_MAX = 50_000

export const REPLAY_ROUTES: Routes = {
  'GET /api/platform/replay': async ({ deps, visitor, query }) => {
    const bars = barsSeenBy(deps.bars, visitor?.user.id ?? null)
    const symbol = marketName(query.symbol)
    const interval = requireInterval(query.interval, 'query')
    const from = query.start === undefined ? undefined : isoTimeOf(query.start, 'query', '/start')
    const to = query.end === undefined ? undefined : isoTimeOf(query.end, 'query', '/end')
    if (from !== undefined && to !== undefined && from > to)
      throw wrongQuery('/start', 'range', 'start lies behind end.')
    const exchange =
      query.exchange === undefined
        ? await exchangeWithMost(bars, symbol, interval)
        : marketName(query.exchange)
    const key = { exchange, symbol, interval }
    // `to` is the last bar's time; ranges end before it.
    const found = await bars.read(key, {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to: to + 1 }),
    })
    const source = found.length > 0 ? null : await bars.source(key)
    if (found.length === 0 && (!source || (from === undefined && to === undefined)))
      throw await barsNotFound(bars, key)
    if (found.length > BARS_MAX)
      throw wrongQuery(
        '/start',
        'too_many_bars',
        `A replay has at most ${BARS_MAX} bars; this range has ${found.length}. Choose a shorter one.`,
      )
    const mine = visitor !== null && query.userId === visitor.user.id
    const session = marketSession(await bars.symbol(exchange, symbol), key, found, { from, to })
    const standing = mine
      ? await placesOf(deps.features.places, visitor.user.id, symbol, interval)
      : undefined
    return { replay: new JsonText(replayPieces(session, standing)), ...spanWarning(found, source) }
  },
  'GET /api/platform/replay/resume': async ({ deps, caller, query }) => ({
    cursor: (await deps.features.places.cursor(caller.user.id, ...placeOf(query))) satisfies Cursor | null,
  }),
  'POST /api/platform/replay/resume': async ({ deps, caller, body }) => {
    const symbol = marketName(body.symbol)
    const interval = requireInterval(body.interval)
    const start = isoTimeOf(body.start, 'body', '/start')
    const end = isoTimeOf(body.end, 'body', '/end')
    if (start > end) throw wrongBody('/start', 'range', 'start lies behind end.')
    const exchange = body.exchange ? marketName(body.exchange) : null
    const bars = barsSeenBy(deps.bars, caller.user.id)
    const barTime = await timeOfBar(bars, exchange, symbol, interval, start, body.cursorBar)
    const cursor = await deps.features.places.saveCursor(caller.user.id, {
      symbol,
      interval,
      exchange,
      cursorBar: body.cursorBar,
      barTime,
      speed: body.speed,
      start: new Date(start).toISOString(),
      end: new Date(end).toISOString(),
    })
    return { id: cursor.id, cursor }
  },
  'DELETE /api/platform/replay/resume': async ({ deps, caller, query }) => ({
    deleted: await deps.features.places.clearCursor(caller.user.id, ...placeOf(query)),
  }),
  'GET /api/platform/replay/bookmarks': async ({ deps, caller, query }) => ({
    bookmarks: await deps.features.places.bookmarks(caller.user.id, ...placeOf(query)),
    nextCursor: null,
  }),
  'POST /api/platform/replay/bookmarks': {
    emptyBody: true,
    handle: async ({ deps, caller, query, body }) => {
      const bookmark: Bookmark = await deps.features.places.saveBookmark(
        caller.user.id,
        ...placeOf(query),
        barOf(query.bar),
        body?.note,
      )
      return { id: bookmark.id, bookmark }
    },
  },
  'DELETE /api/platform/replay/bookmarks': async ({ deps, caller, query }) => ({
    deleted: await deps.features.places.removeBookmark(caller.user.id, ...placeOf(query), barOf(query.bar)),
  }),
}

const wrong = (where: 'query' | 'body') => (path: string, code: string, message: string) =>
  new Problem(422, 'validation_failed', message, { fields: [{ in: where, path, code, message }] })
const wrongQuery = wrong('query')
const wrongBody = wrong('body')

function placeOf(query: { symbol: string; interval: string }): [symbol: string, interval: string] {
  return [marketName(query.symbol), requireInterval(query.interval, 'query')]
}

function barOf(text: string): number {
  const bar = Number(text)
  if (bar > 2_000_000_000) throw wrongQuery('/bar', 'maximum', 'There is no such bar.')
  return bar
}

async function placesOf(places: Places, userId: string, symbol: string, interval: string) {
  return {
    cursor: await places.cursor(userId, symbol, interval),
    bookmarks: await places.bookmarks(userId, symbol, interval),
  }
}

/** Of several exchanges that have the symbol, the one with the most bars of this interval, or of any interval. */
async function exchangeWithMost(bars: SeenBars, symbol: string, interval: string): Promise<string> {
  const series = (await bars.list()).filter((one) => one.symbol === symbol)
  const exact = series.filter((one) => one.interval === interval)
  const best = (exact.length > 0 ? exact : series).toSorted((a, b) => b.count - a.count)[0]
  return best?.exchange ?? ''
}

async function timeOfBar(
  bars: SeenBars,
  exchange: string | null,
  symbol: string,
  interval: string,
  start: number,
  bar: number,
): Promise<number | null> {
  const key = { exchange: exchange ?? (await exchangeWithMost(bars, symbol, interval)), symbol, interval }
  const { time } = await bars.read(key, { from: start, first: bar + 1 })
  return time[bar] ?? null
}
