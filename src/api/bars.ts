// Cached bars and the facts of their symbols: importing, querying, correcting, deleting.

import { Elysia } from 'elysia'
import { invalidField, Problem } from '../lib/problem.ts'
import { marketName } from '../lib/text.ts'
import { barsNotFound, isSameSymbol } from '../market/bar-cache.ts'
import { ownerOf, seriesKey, seriesName, type SeriesInfo, type SeriesKey } from '../market/bar-store.ts'
import { parseTime } from '../market/bar-time.ts'
import { importBars } from '../market/import.ts'
import { requireInterval } from '../market/interval.ts'
import { barsSeenBy, type SeenBars } from '../market/seen-bars.ts'
import { SPREAD_EXCHANGE } from '../market/spread.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { putFacts, removeSeries, shareSeries, writtenBy, type BarWriter } from '../market/sharing.ts'
import { mayChangeShared } from '../accounts/users.ts'
import type { BarRow } from '../market/providers/provider.ts'
import type { FormingBar, Series as SeriesWire, SymbolFacts as SymbolWire } from '../wire/bars.ts'
import { access, requireStanding, type ApiDeps } from './access.ts'
import type { Caller } from './visit.ts'
import { barColumns, barsTag } from './bar-columns.ts'
import { packedBars, wantsColumns } from './columns.ts'
import { JsonText } from './json-text.ts'
import { paced } from './pace.ts'
import { route } from './route.ts'
import { validationFailed } from './validate.ts'

/** CSV is read while it arrives. JSON has to be complete first, and takes ten times its size in memory. */
const IMPORT_BYTES = { csv: 512 << 20, json: 32 << 20 }
/** The most bars in one answer. */
const BARS_MAX = 50_000

export function barRoutes(deps: ApiDeps) {
  const { bars: cache, kept } = deps

  return new Elysia({ prefix: '/api/platform', tags: ['Bars'], normalize: false })
    .use(access(deps))
    .post(
      '/bars/import',
      async ({ caller, query, request, server }) => {
        server?.timeout(request, 0)
        const key = writtenBy(writerOf(caller), keyOf(query))
        const format = formatOf(request)
        const read = deps.features.readerFor(caller.user.id, request.signal)
        const imported = await importBars(cache, key, limited(deps, request.body, format), {
          format,
          async stage(...file) {
            const staged = await read(...file)
            await requireStanding(deps, caller)
            return staged
          },
        })
        const { series, rows, inserted, updated, warnings } = imported
        return {
          series: { ...keyOf(query), ...seriesWire(series) },
          rows,
          inserted,
          updated,
          ...(warnings.length > 0 && { warnings }),
        }
      },
      route('POST /api/platform/bars/import', {
        streams: true,
        requestBody: {
          required: true,
          content: {
            'text/csv': { schema: { type: 'string' } },
            'application/json': { schema: { oneOf: [{ type: 'array', items: {} }, { type: 'object' }] } },
          },
        },
      }),
    )
    .delete(
      '/bars',
      async ({ caller, query }) => ({ deleted: await removeSeries(cache, writerOf(caller), keyOf(query)) }),
      route('DELETE /api/platform/bars'),
    )
    .post(
      '/bars/share',
      async ({ caller, body }) => {
        const key = seriesKey(body.exchange, body.symbol, requireInterval(body.interval))
        const series = await shareSeries(cache, writerOf(caller), key, body.userId)
        deps.log('info', 'a series was shared', { by: caller.user.id, from: body.userId, ...key })
        return { series: { ...key, ...seriesWire(series) } }
      },
      route('POST /api/platform/bars/share'),
    )
    .get(
      '/bars',
      async ({ caller, query, request }) => {
        const seen = barsSeenBy(cache, caller.user.id)
        const key = keyOf(query)
        const source = await seen.source(key)
        if (!source) throw await barsNotFound(seen, key)
        const limit = Math.max(1, Math.min(BARS_MAX, Number(query.limit ?? BARS_MAX)))
        const from = timeOf('start', query.start)
        const end = timeOf('end', query.end)
        const range = { ...(from !== undefined && { from }), ...(end !== undefined && { to: end + 1 }) }
        // A start without an end asks for the first bars after it; any other range for the newest ones.
        const isForwards = from !== undefined && end === undefined
        const read = () => seen.read(key, { ...range, ...(isForwards ? { first: limit } : { last: limit }) })
        if (wantsColumns(request)) {
          const found = await read()
          return { ...key, ...builtFrom(key, source), bars: await packedBars(found, barsTag(found)) }
        }
        const answer = async () => {
          const found = await read()
          const bars = new JsonText([barColumns(found)], { tag: barsTag(found) })
          return { ...key, ...builtFrom(key, source), bars }
        }
        // Bars built from another series also depend on the symbol's facts, and a spread on several series.
        if (source.interval !== key.interval || key.exchange === SPREAD_EXCHANGE) return answer()
        const name = `bars ${ownerOf(source)} ${seriesName(source)} ${from ?? ''} ${end ?? ''} ${limit}`
        // The next time another series may have the name: the user's own, or a shared one again.
        return kept.answer(name, async () => changeOf(await seen.source(key)), answer, {
          isOfStore: false,
        })
      },
      route('GET /api/platform/bars', { etag: true, columns: true }),
    )
    .get(
      '/bars/forming',
      async ({ caller, query }) => {
        const key = keyOf(query)
        const seen = barsSeenBy(cache, caller.user.id)
        const resolved = await seen.resolve(key)
        // A private series hides the shared one that streams.
        if (ownerOf(resolved) !== '') return { ...key, live: false, bar: null }
        deps.features.live.watch(key)
        const { row, isLive } = await deps.features.live.formingOf(key)
        return { ...key, live: isLive, bar: row && formingWire(row) }
      },
      route('GET /api/platform/bars/forming'),
    )
    .get(
      '/symbols',
      async ({ caller }) => ({
        symbols: await symbolWires(barsSeenBy(cache, caller.user.id)),
        nextCursor: null,
      }),
      route('GET /api/platform/symbols', { etag: true }),
    )
    .get(
      '/symbols/:exchange/:symbol',
      async ({ caller, params }) => {
        const found = (await symbolWires(barsSeenBy(cache, caller.user.id))).find(
          ({ exchange, symbol }) =>
            exchange === marketName(params.exchange) && symbol === marketName(params.symbol),
        )
        if (!found) throw new Problem(404, 'symbol_not_found', 'There is no such symbol.')
        return { symbol: found }
      },
      route('GET /api/platform/symbols/{exchange}/{symbol}', { etag: true }),
    )
    .put(
      '/symbols/:exchange/:symbol',
      async ({ caller, params, body }) => {
        const info = await putFacts(
          cache,
          writerOf(caller),
          seriesKey(params.exchange, params.symbol, '1d'),
          body,
        )
        return { symbol: symbolWire(info, await barsSeenBy(cache, caller.user.id).list()) }
      },
      route('PUT /api/platform/symbols/{exchange}/{symbol}'),
    )
}

export function formingWire([time, open, high, low, close, volume]: BarRow): FormingBar {
  return { time, open, high, low, close, volume }
}

function builtFrom({ interval }: SeriesKey, source: SeriesInfo): { readonly builtFrom: string | null } {
  return { builtFrom: source.interval === interval ? null : source.interval }
}

/** Changes with the bars that a name means, and with the series that it means. */
function changeOf(source: SeriesInfo | null): string {
  return source ? `${ownerOf(source)} ${seriesName(source)} ${source.change}` : ''
}

const writerOf = ({ user }: Caller): BarWriter => ({ userId: user.id, keeper: mayChangeShared(user) })

function keyOf(query: { symbol: string; exchange: string; interval: string }) {
  return seriesKey(query.exchange, query.symbol, requireInterval(query.interval, 'query'))
}

/** Parses ISO 8601 or UTC ms. */
function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = /^\d+$/.test(text) ? Number(text) : parseTime(text, null)
  if (Number.isFinite(time)) return time
  throw validationFailed([
    { in: 'query', path: `/${name}`, code: 'time', message: 'expected a time in ISO 8601' },
  ])
}

function formatOf(request: Request): 'csv' | 'json' {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'text/csv' || type === 'text/plain' || type === 'application/octet-stream') return 'csv'
  if (type === 'application/json') return 'json'
  throw new Problem(415, 'unsupported_media_type', 'Send the body as text/csv or application/json.')
}

async function* limited(
  { clock }: ApiDeps,
  body: ReadableStream<Uint8Array> | null,
  format: keyof typeof IMPORT_BYTES,
): AsyncGenerator<Uint8Array> {
  if (!body) throw invalidField('', 'required', 'expected bars in the body')
  let size = 0
  for await (const chunk of paced(clock, body)) {
    size += chunk.byteLength
    if (size > IMPORT_BYTES[format])
      throw new Problem(
        413,
        'payload_too_large',
        `The body may be at most ${IMPORT_BYTES[format] >> 20} MiB of ${format.toUpperCase()}.${format === 'json' ? ' Send more as CSV.' : ''}`,
      )
    yield chunk
  }
}

function seriesWire({ interval, count, first, last, owner = '' }: SeriesInfo): SeriesWire {
  return { interval, count, first, last, shared: owner === '' }
}

async function symbolWires(seen: SeenBars): Promise<SymbolWire[]> {
  const all = await seen.list()
  const known = new Map((await seen.symbols()).map((info) => [`${info.exchange}:${info.symbol}`, info]))
  for (const { exchange, symbol } of all)
    if (!known.has(`${exchange}:${symbol}`))
      known.set(`${exchange}:${symbol}`, await seen.symbol(exchange, symbol))
  return [...known.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, info]) => symbolWire(info, all))
}

function symbolWire(info: SymbolInfo, all: readonly SeriesInfo[]): SymbolWire {
  const { owner = '', ...shown } = info
  const series = all.filter((one) => isSameSymbol(one, info)).map(seriesWire)
  return { ...shown, shared: owner === '', series }
}
