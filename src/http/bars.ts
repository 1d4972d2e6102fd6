// Cached bars and the facts of their symbols: importing, querying, correcting, deleting.

import { invalidField, Problem } from '../lib/problem.ts'
import { marketName } from '../lib/market-name.ts'
import { barsNotFound, isSameSymbol } from '../market/bar-cache.ts'
import { ownerOf, seriesKey, seriesName, type SeriesInfo, type SeriesKey } from '../market/bar-store.ts'
import { parseTime } from '../market/bar-time.ts'
import type { Bars } from '../market/bars.ts'
import { barWindows, type ExportFormat, exportPieces } from '../market/files/export-bars.ts'
import { marketOfFile } from '../market/files/file-market.ts'
import { readingText } from '../market/files/reading-text.ts'
import { importBars, inspectBars, type ReadFiles, type ReadHints, type StageBars } from '../market/import.ts'
import { requireInterval } from '../market/interval.ts'
import { barsSeenBy, mayBeMade, type SeenBars } from '../market/seen-bars.ts'
import type { SymbolInfo } from '../market/symbol.ts'
import { putFacts, removeSeries, shareSeries, writtenBy, type BarWriter } from '../market/sharing.ts'
import { mayChangeShared } from '../people/accounts/users.ts'
import {
  ChartTap,
  forgetChart,
  importedChart,
  keepPlots,
  moveChart,
} from '../people/charts/imported-charts.ts'
import type { BarRow } from '../market/providers/provider.ts'
import type {
  BarColumns,
  FormingBar,
  ReadFiles as ReadFilesWire,
  Series as SeriesWire,
  SymbolFacts as SymbolWire,
} from '../wire/bars.ts'
import { requireStanding, type ApiDeps } from './access.ts'
import type { Caller } from './visit.ts'
import { barColumns, barsTag, spanWarning } from './bar-columns.ts'
import { byteStream } from './csv-answer.ts'
import { packedBars, wantsColumns } from './columns.ts'
import { JsonText } from './json-text.ts'
import { paced } from './pace.ts'
import type { Routes } from './route.ts'
import { validationFailed } from './validate.ts'

/** CSV is read while it arrives. JSON has to be complete first, and takes ten times its size in memory. */
const IMPORT_BYTES = { csv: 512 << 20, json: 32 << 20 }
/** The most bars in one answer. */
const BARS_MAX = 50_000

/** A file of any format; which it is its content says. */
const FILE_BODY = {
  streams: true,
  requestBody: {
    required: true,
    content: {
      'text/csv': { schema: { type: 'string' } },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
      'application/json': { schema: { oneOf: [{ type: 'array', items: {} }, { type: 'object' }] } },
    },
  },
} as const

export const BAR_ROUTES: Routes = {
  'POST /api/platform/bars/import': {
    ...FILE_BODY,
    handle: async ({ deps, caller, query, request, server }) => {
      server?.timeout(request, 0)
      const key = writtenBy(writerOf(caller), keyOf(query))
      const tap = new ChartTap()
      const imported = await importBars(deps.bars, key, tap.through(limited(deps, request, query)), {
        ...fileOptions(request, query),
        stage: stagedFor(deps, caller, request),
      })
      const kept = await keepPlots(deps, key, tap, query.fileName ?? '')
      const { series, rows, inserted, updated, read } = imported
      const warnings = [...imported.warnings, ...kept.warnings]
      return {
        series: { ...keyOf(query), ...seriesWire(series) },
        rows,
        inserted,
        updated,
        plots: [...kept.plots],
        read: readWire(read),
        ...(warnings.length > 0 && { warnings }),
      }
    },
  },
  'POST /api/platform/bars/inspect': {
    ...FILE_BODY,
    handle: async ({ deps, caller, query, request, server }) => {
      server?.timeout(request, 0)
      const told = marketOfFile(query.fileName ?? '')
      const exchange = query.exchange ?? told.exchange
      const symbol = query.symbol ?? told.symbol
      const given = query.interval === undefined ? '' : requireInterval(query.interval, 'query')
      const key = writtenBy(writerOf(caller), seriesKey(exchange, symbol, given))
      const read = await inspectBars(deps.bars, key, limited(deps, request, query), {
        ...fileOptions(request, query),
        stage: stagedFor(deps, caller, request),
        isPart: query.partial === 'true',
      })
      const { rows, count, first, last, sample, warnings, spacing } = read
      const isTicks = read.files.some(({ kind }) => kind !== 'bars')
      return {
        market: {
          exchange: exchange === '' ? exchangeOf(read) : exchange,
          symbol,
          interval: given || (isTicks ? '1m' : (spacing ?? told.interval)),
        },
        read: readWire(read),
        rows,
        count,
        first,
        last,
        bars: columnsWire(sample),
        ...(warnings.length > 0 && { warnings }),
      }
    },
  },
  'DELETE /api/platform/bars': async ({ deps, caller, query }) => {
    const removed = await removeSeries(deps.bars, writerOf(caller), keyOf(query))
    if (removed) await forgetChart(deps.kv, removed)
    return { deleted: removed !== null }
  },
  'GET /api/platform/bars/chart': async ({ deps, caller, query }) => {
    const shared = keyOf(query)
    const own = { ...shared, owner: caller.user.id }
    return { chart: await importedChart(deps.kv, [own, shared], query.text === 'true') }
  },
  'POST /api/platform/bars/share': async ({ deps, caller, body }) => {
    const key = seriesKey(body.exchange, body.symbol, requireInterval(body.interval))
    const series = await shareSeries(deps.bars, writerOf(caller), key, body.userId)
    await moveChart(deps.kv, { ...key, owner: body.userId }, key)
    deps.log('info', 'a series was shared', { by: caller.user.id, from: body.userId, ...key })
    return { series: { ...key, ...seriesWire(series) } }
  },
  'GET /api/platform/bars': {
    etag: true,
    columns: true,
    handle: async ({ deps, caller, query, request }) => {
      const seen = barsSeenBy(deps.bars, caller.user.id)
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
        const bars = await packedBars(found, barsTag(found))
        return { ...key, ...builtFrom(key, source), bars, ...spanWarning(found, source) }
      }
      const answer = async () => {
        const found = await read()
        const bars = new JsonText([barColumns(found)], { tag: barsTag(found) })
        return { ...key, ...builtFrom(key, source), bars, ...spanWarning(found, source) }
      }
      // Bars built from another series also depend on the symbol's facts, and those of a spread on several series.
      if (source.interval !== key.interval || mayBeMade(key)) return answer()
      const name = `bars ${ownerOf(source)} ${seriesName(source)} ${from ?? ''} ${end ?? ''} ${limit}`
      // The next time another series may have the name: the user's own, or a shared one again.
      return deps.kept.answer(name, async () => changeOf(await seen.source(key)), answer, {
        isOfStore: false,
      })
    },
  },
  'GET /api/platform/bars/forming': async ({ deps, caller, query }) => {
    const key = keyOf(query)
    const seen = barsSeenBy(deps.bars, caller.user.id)
    const resolved = await seen.resolve(key)
    // A private series hides the shared one that streams.
    if (ownerOf(resolved) !== '') return { ...key, live: false, bar: null }
    deps.features.live.watch(key)
    const { row, isLive } = await deps.features.live.formingOf(key)
    return { ...key, live: isLive, bar: row && formingWire(row) }
  },
  'GET /api/platform/bars/export': async ({ deps, caller, query }) => {
    const seen = barsSeenBy(deps.bars, caller.user.id)
    const key = keyOf(query)
    if (!(await seen.source(key))) throw await barsNotFound(seen, key)
    const from = timeOf('start', query.start)
    const end = timeOf('end', query.end)
    const range = { ...(from !== undefined && { from }), ...(end !== undefined && { to: end + 1 }) }
    const format = query.format ?? 'csv'
    const windows = () => barWindows((part) => seen.read(key, part), range)
    return fileAnswer(key, format, exportPieces(windows, format))
  },
  'GET /api/platform/bars/contracts': async ({ deps, caller, query }) => {
    const seen = barsSeenBy(deps.bars, caller.user.id)
    const key = keyOf(query)
    const spans = await seen.contractSpans(key)
    if (!spans || !(await seen.source(key))) throw await noContracts(seen, key)
    const timeOrNull = (time: number) => (Number.isFinite(time) ? time : null)
    return {
      contracts: spans.map((one) => ({
        ...one,
        from: timeOrNull(one.from),
        to: timeOrNull(one.to),
      })),
    }
  },
  'GET /api/platform/symbols': {
    etag: true,
    handle: async ({ deps, caller }) => ({
      symbols: await symbolWires(barsSeenBy(deps.bars, caller.user.id)),
      nextCursor: null,
    }),
  },
  'GET /api/platform/symbols/{exchange}/{symbol}': {
    etag: true,
    handle: async ({ deps, caller, params }) => {
      const found = (await symbolWires(barsSeenBy(deps.bars, caller.user.id))).find(
        ({ exchange, symbol }) =>
          exchange === marketName(params.exchange) && symbol === marketName(params.symbol),
      )
      if (!found) throw new Problem(404, 'symbol_not_found', 'There is no such symbol.')
      return { symbol: found }
    },
  },
  'PUT /api/platform/symbols/{exchange}/{symbol}': async ({ deps, caller, params, body }) => {
    const info = await putFacts(
      deps.bars,
      writerOf(caller),
      seriesKey(params.exchange, params.symbol, '1d'),
      body,
    )
    return { symbol: symbolWire(info, await barsSeenBy(deps.bars, caller.user.id).list()) }
  },
}

async function noContracts(seen: SeenBars, key: SeriesKey): Promise<Problem> {
  if (await seen.source(key))
    return new Problem(404, 'bars_not_found', `${seriesName(key)} is stored as it is, not made of contracts.`)
  return barsNotFound(seen, key)
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
export function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const time = /^\d+$/.test(text) ? Number(text) : parseTime(text, null)
  if (Number.isFinite(time)) return time
  throw validationFailed([
    { in: 'query', path: `/${name}`, code: 'time', message: 'expected a time in ISO 8601' },
  ])
}

const FILE_TYPES =
  /^(?:text\/(?:csv|plain|tab-separated-values)|application\/(?:octet-stream|(?:x-)?zip(?:-compressed)?|(?:x-)?gzip|zstd|vnd\.[\w.-]+))$/

function formatOf(request: Request): 'json' | undefined {
  const type = (request.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/json') return 'json'
  if (FILE_TYPES.test(type)) return undefined
  throw new Problem(
    415,
    'unsupported_media_type',
    'Send the body as text/csv, application/octet-stream (a file of any format) or application/json.',
  )
}

type FileQuery = Pick<
  ReadHints & { readonly fileName?: string; readonly sha256?: string },
  keyof ReadHints | 'fileName' | 'sha256'
>

function fileOptions(request: Request, query: FileQuery) {
  const { fileName = '', timesIn, unit, dates, delimiter, decimal, columns, ticker } = query
  const { duplicates, dated, widen, volumePerBar } = query
  const of = { timesIn, unit, dates, delimiter, decimal, columns, ticker }
  const hints = { ...of, duplicates, dated, widen, volumePerBar }
  return { format: formatOf(request), fileName, hints }
}

/** Reads in a worker, in the caller's turn; who lost their standing meanwhile stores nothing. */
function stagedFor(deps: ApiDeps, caller: Caller, request: Request): StageBars {
  const read = deps.features.readerFor(caller.user.id, request.signal)
  return async (...file) => {
    const staged = await read(...file)
    await requireStanding(deps, caller)
    return staged
  }
}

async function* limited(
  { clock }: ApiDeps,
  { body, headers }: Request,
  { sha256 }: FileQuery,
): AsyncGenerator<Uint8Array> {
  if (!body) throw invalidField('', 'required', 'The file is empty. Expected bars in the body.')
  const format = headers.get('content-type')?.includes('json') ? 'json' : 'csv'
  const hash = sha256 === undefined ? null : new Bun.CryptoHasher('sha256')
  let size = 0
  for await (const chunk of paced(clock, body)) {
    size += chunk.byteLength
    if (size > IMPORT_BYTES[format]) throw tooLarge(format)
    hash?.update(chunk)
    yield chunk
  }
  if (hash && hash.digest('hex') !== sha256?.toLowerCase()) throw otherSum()
}

function tooLarge(format: keyof typeof IMPORT_BYTES): Problem {
  const most = `The body may be at most ${IMPORT_BYTES[format] >> 20} MiB${format === 'json' ? ' of JSON' : ''}.`
  const remedy = format === 'json' ? 'Send more as CSV.' : '`chartroom bars import` takes files of any size.'
  return new Problem(413, 'payload_too_large', `${most} ${remedy}`)
}

function otherSum(): Problem {
  return new Problem(
    422,
    'validation_failed',
    'Nothing was imported: the check sum does not agree; download the file again.',
    { fields: [{ in: 'query', path: '/sha256', code: 'checksum', message: 'does not agree with the body' }] },
  )
}

const FILE_ANSWERS: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
}

/** A file under the name of its series, which has letters of any script. */
function fileAnswer(
  { exchange, symbol, interval }: SeriesKey,
  format: ExportFormat,
  pieces: AsyncIterable<Uint8Array>,
): Response {
  const name = `${exchange}_${symbol}_${interval}.${format}`
  const plain = name.replace(/[^\w.-]/g, '_')
  return new Response(byteStream(pieces), {
    headers: {
      'content-type': FILE_ANSWERS[format],
      'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`,
    },
  })
}

/** The exchange whose files these are. */
function exchangeOf({ files }: Pick<ReadFiles, 'files'>): string {
  const origin = files[0]?.dialect?.origin
  return origin === 'Binance' || origin === 'Kraken' ? origin.toUpperCase() : ''
}

function readWire({ files, fileCount, findings }: ReadFiles): ReadFilesWire {
  return { files: files.map((file) => ({ ...file, text: readingText(file) })), fileCount, findings }
}

function columnsWire({ time, open, high, low, close, volume }: Bars): BarColumns {
  return {
    time: [...time],
    open: [...open],
    high: [...high],
    low: [...low],
    close: [...close],
    volume: [...volume],
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
