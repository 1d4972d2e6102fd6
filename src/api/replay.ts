// Replays of the market, and where somebody stands in one: cursor and bookmarks.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { Problem } from '../lib/problem.ts'
import { barsNotFound } from '../market/bar-cache.ts'
import { lowerBound } from '../market/bars.ts'
import { requireInterval } from '../market/interval.ts'
import { barsSeenBy, type SeenBars } from '../market/seen-bars.ts'
import { marketName } from '../market/symbol.ts'
import type { Bookmark, Cursor, Places } from '../replay/places.ts'
import { marketSession } from '../replay/session.ts'
import { access, type ApiDeps } from './access.ts'
import { JsonText } from './json-text.ts'
import { BookmarkWire, CursorWire, replayPieces, ReplayWire } from './replay-wire.ts'
import { doc, idOf, IsoTime, isoTimeOf, Listed, nullable, Prose, QueryInteger, Text } from './schemas.ts'

const BARS_MAX = 50_000

const place = { symbol: Text(60), interval: Text(10) }
export function replayRoutes(deps: ApiDeps) {
  const { places } = deps.rooms
  return new Elysia({ prefix: '/api/platform/replay', tags: ['Replays'], normalize: false })
    .use(access(deps))
    .get(
      '',
      ({ visitor, query }) => {
        const bars = barsSeenBy(deps.bars, visitor?.user.id ?? null)
        const symbol = marketName(query.symbol)
        const interval = requireInterval(query.interval, 'query')
        const from = query.start === undefined ? undefined : isoTimeOf(query.start, 'query', '/start')
        const to = query.end === undefined ? undefined : isoTimeOf(query.end, 'query', '/end')
        if (from !== undefined && to !== undefined && from > to)
          throw wrongQuery('/start', 'range', 'start lies behind end.')
        const exchange =
          query.exchange === undefined ? exchangeWithMost(bars, symbol, interval) : marketName(query.exchange)
        // `to` is the last bar's time; ranges end before it.
        const found = bars.read(
          { exchange, symbol, interval },
          { ...(from !== undefined && { from }), ...(to !== undefined && { to: to + 1 }) },
        )
        if (found.length === 0 && bars.source({ exchange, symbol, interval }) === null)
          throw barsNotFound(bars, { exchange, symbol, interval })
        if (found.length > BARS_MAX)
          throw wrongQuery(
            '/start',
            'too_many_bars',
            `A replay has at most ${BARS_MAX} bars; this range has ${found.length}. Choose a shorter one.`,
          )
        const mine = visitor !== null && query.userId === visitor.user.id
        const edge = (time: number | undefined, given: number | undefined) =>
          new Date(given ?? time ?? 0).toISOString()
        const session = {
          ...marketSession(bars.symbol(exchange, symbol), { exchange, symbol, interval }, found),
          start: edge(found.time[0], from),
          end: edge(found.time.at(-1), to),
        }
        const standing = mine ? placesOf(places, visitor.user.id, symbol, interval) : undefined
        return { replay: new JsonText(replayPieces(session, standing)) }
      },
      {
        access: 'none replay:read',
        query: Type.Object({
          ...place,
          exchange: Type.Optional(Text(30)),
          start: Type.Optional(IsoTime),
          end: Type.Optional(IsoTime),
          userId: Type.Optional(Text(100)),
        }),
        detail: doc(
          'Fetch a replay session',
          { replay: ReplayWire },
          'userId adds cursor and bookmarks, and counts only when it is the caller.',
        ),
      },
    )
    .get(
      '/resume',
      ({ caller, query }) => ({
        cursor: places.cursor(caller.user.id, ...placeOf(query)) satisfies Cursor | null,
      }),
      {
        access: 'api-token replay:read',
        query: Type.Object(place),
        detail: doc('The saved cursor', { cursor: nullable(CursorWire) }),
      },
    )
    .post(
      '/resume',
      async ({ caller, body }) => {
        const symbol = marketName(body.symbol)
        const interval = requireInterval(body.interval)
        const start = isoTimeOf(body.start, 'body', '/start')
        const end = isoTimeOf(body.end, 'body', '/end')
        if (start > end) throw wrongBody('/start', 'range', 'start lies behind end.')
        const exchange = body.exchange ? marketName(body.exchange) : null
        const bars = barsSeenBy(deps.bars, caller.user.id)
        const barTime = timeOfBar(bars, exchange, symbol, interval, start, body.cursorBar)
        const cursor = await places.saveCursor(caller.user.id, {
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
      {
        access: 'api-token replay:write',
        body: Type.Object({
          ...place,
          exchange: Type.Optional(nullable(Text(30))),
          cursorBar: Type.Integer({ minimum: 0, maximum: 2_000_000_000 }),
          speed: Type.Number({ exclusiveMinimum: 0, maximum: 100 }),
          start: IsoTime,
          end: IsoTime,
        }),
        detail: doc(
          'Save the cursor',
          { id: idOf('cur'), cursor: CursorWire },
          'cursorBar counts from start; speed is bars a second.',
        ),
      },
    )
    .delete(
      '/resume',
      async ({ caller, query }) => ({ deleted: await places.clearCursor(caller.user.id, ...placeOf(query)) }),
      {
        access: 'api-token replay:write',
        query: Type.Object(place),
        detail: doc('Clear the saved cursor', { deleted: Type.Boolean() }),
      },
    )
    .get(
      '/bookmarks',
      ({ caller, query }) => ({
        bookmarks: places.bookmarks(caller.user.id, ...placeOf(query)),
        nextCursor: null,
      }),
      {
        access: 'api-token replay:read',
        query: Type.Object(place),
        detail: doc('List bookmarks, by bar', Listed('bookmarks', BookmarkWire)),
      },
    )
    .post(
      '/bookmarks',
      async ({ caller, query, body }) => {
        const bookmark: Bookmark = await places.saveBookmark(
          caller.user.id,
          ...placeOf(query),
          barOf(query.bar),
          body?.note,
        )
        return { id: bookmark.id, bookmark }
      },
      {
        access: { to: 'api-token replay:write', emptyBody: true },
        query: Type.Object({ ...place, bar: QueryInteger }),
        body: Type.Object({ note: Type.Optional(nullable(Prose(1000, 0))) }),
        detail: doc('Save a bookmark', { id: idOf('bm'), bookmark: BookmarkWire }),
      },
    )
    .delete(
      '/bookmarks',
      async ({ caller, query }) => ({
        deleted: await places.removeBookmark(caller.user.id, ...placeOf(query), barOf(query.bar)),
      }),
      {
        access: 'api-token replay:write',
        query: Type.Object({ ...place, bar: QueryInteger }),
        detail: doc('Remove a bookmark', { deleted: Type.Boolean() }),
      },
    )
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

function placesOf(places: Places, userId: string, symbol: string, interval: string) {
  return {
    cursor: places.cursor(userId, symbol, interval),
    bookmarks: places.bookmarks(userId, symbol, interval),
  }
}

/** Of several exchanges that have the symbol, the one with most bars of this interval, or of any. */
function exchangeWithMost(bars: SeenBars, symbol: string, interval: string): string {
  const series = bars.list().filter((one) => one.symbol === symbol)
  const exact = series.filter((one) => one.interval === interval)
  const best = (exact.length > 0 ? exact : series).toSorted((a, b) => b.count - a.count)[0]
  return best?.exchange ?? ''
}

function timeOfBar(
  bars: SeenBars,
  exchange: string | null,
  symbol: string,
  interval: string,
  start: number,
  bar: number,
): number | null {
  const key = { exchange: exchange ?? exchangeWithMost(bars, symbol, interval), symbol, interval }
  const series = bars.read(key)
  return series.time[lowerBound(series.time, start) + bar] ?? null
}
