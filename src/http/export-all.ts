// Everything that a user owns, as lines of JSON, one after the other as they are read.
//
// The first line says what the file is, the last how many there were: a file without it broke off. The texts of what was
// computed come before its record, in the parts in which they are stored, so that nobody ever holds a whole report.

import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { users } from '../people/accounts/accounts.ts'
import { mayChangeShared } from '../people/accounts/users.ts'
import { knowsSides } from '../market/bars.ts'
import { barWindows } from '../market/files/export-bars.ts'
import { barsSeenBy, seriesOf } from '../market/seen-bars.ts'
import { importedChart } from '../people/charts/imported-charts.ts'
import type { Bookmark, Cursor } from '../work/replay/places.ts'
import { collection } from '../store/collection.ts'
import type { Key, Kv } from '../store/kv.ts'
import type { ScriptRevision } from '../people/scripts/scripts.ts'
import type { ApiDeps } from './access.ts'
import { byteStream } from './csv-answer.ts'
import { type Computed, exported, KINDS, type MadeByHand, recordsOf, withSeriesOwner } from './belongings.ts'

export const FORMAT = 'chartroom-export'
export const FORMAT_VERSION = 1

/** Stands for the user, whoever that will be. */
export const OWN = 'own'

const PARTS_AT_ONCE = 4
const PAGE = 200

/** The lines, compressed. */
export function exportFile(...asked: Parameters<typeof exportAll>): ReadableStream<Uint8Array> {
  return byteStream(Readable.from(exportAll(...asked)).pipe(createGzip()))
}

async function* exportAll(
  deps: ApiDeps,
  userId: string,
  { bars }: { readonly bars: boolean },
): AsyncGenerator<string> {
  const { clock, settings } = deps
  let count = 0
  const line = (value: object) => `${JSON.stringify(value)}\n`
  yield line({ format: FORMAT, version: FORMAT_VERSION, at: clock.now(), server: settings.version })
  for await (const value of linesOf(deps, userId, bars)) {
    count++
    yield line(value)
  }
  yield line({ end: count })
}

async function* linesOf(deps: ApiDeps, userId: string, bars: boolean): AsyncGenerator<object> {
  if (bars) yield* barLines(deps, userId)
  for (const of of KINDS) {
    yield* 'records' in of ? computedLines(deps.kv, of, userId) : handLines(deps.kv, of, userId)
    if (of.kind === 'webhook') yield* channelLines(deps, userId)
  }
  yield* drawingLines(deps, userId)
  yield* placeLines(deps.kv, userId)
  for await (const item of deps.features.ledger.all(userId))
    yield { kind: 'trials', id: JSON.stringify([item.script, item.market, item.trials[0]?.[0]]), item }
  for await (const item of deps.features.holdOuts.all(userId))
    yield { kind: 'hold-out', id: JSON.stringify([item.exchange, item.symbol]), item }
}

async function* handLines(kv: Kv, of: MadeByHand, userId: string): AsyncGenerator<object> {
  for await (const record of recordsOf(kv, of, userId)) {
    const revisions = of.kind === 'script' && (await revisionsOf(kv, record.id))
    const item = exported({ ...record, ...(revisions && { revisions }) }, of)
    yield { kind: of.kind, id: record.id, item }
  }
}

async function revisionsOf(kv: Kv, scriptId: string): Promise<string[]> {
  const all = collection<ScriptRevision>(kv, 'revisions').each('script', [scriptId])
  return Array.fromAsync(all, ({ source }) => source)
}

async function* computedLines(kv: Kv, of: Computed, userId: string): AsyncGenerator<object> {
  for await (const { userId: _owner, id, ...record } of recordsOf(kv, of, userId)) {
    // What is under way is made again where it is wanted.
    if (record['state'] === 'queued' || (record['state'] === 'running' && of.kind !== 'forward-run')) continue
    for (const prefix of of.parts)
      for await (const { key, value } of under(kv, [prefix, id])) yield { part: id, key, value }
    yield { kind: of.kind, id, item: withSeriesOwner(record, (was) => (was === userId ? OWN : '')) }
  }
}

/** The entry itself, and those below it. */
async function* under(kv: Kv, prefix: Key) {
  const own = await kv.get(prefix)
  if (own) yield { key: prefix, value: own.value }
  for (let after: Key | undefined; ;) {
    const page = await kv.list({ prefix }, { limit: PARTS_AT_ONCE, ...(after && { after }) })
    yield* page
    after = page.at(-1)?.key
    if (page.length < PARTS_AT_ONCE) return
  }
}

async function* channelLines({ features }: ApiDeps, userId: string): AsyncGenerator<object> {
  for (let cursor: string | null = null, more = true; more;) {
    const page = await features.channels.list(userId, { limit: PAGE, cursor, reverse: false })
    for (const { id, name, kind, settings, quiet, digestMinutes, picture } of page.items)
      yield { kind: 'channel', id, item: { name, kind, settings, quiet, digestMinutes, picture } }
    cursor = page.nextCursor
    more = cursor !== null
  }
}

async function* drawingLines({ features }: ApiDeps, userId: string): AsyncGenerator<object> {
  for (let cursor: string | null = null, more = true; more;) {
    const page = await features.drawings.markets(userId, { limit: PAGE, cursor })
    for (const { id, exchange, symbol, drawings } of page.items)
      yield { kind: 'drawings', id, item: { exchange, symbol, drawings } }
    cursor = page.nextCursor
    more = cursor !== null
  }
}

async function* placeLines(kv: Kv, userId: string): AsyncGenerator<object> {
  for (const [kind, prefix] of [
    ['cursor', ['cursors', userId]],
    ['bookmark', ['bookmarks', userId]],
  ] as const)
    for await (const { key, value } of under(kv, prefix)) {
      const place = JSON.parse(value) as Cursor | Bookmark
      yield { kind, id: JSON.stringify(key.slice(2)), item: place }
    }
}

/** The series that the user imported for themselves, or for everybody, in windows. */
async function* barLines({ bars, kv }: ApiDeps, userId: string): AsyncGenerator<object> {
  const seen = barsSeenBy(bars, userId)
  const user = await users(kv).get(userId)
  const sharesBars = user !== null && mayChangeShared(user)
  for (const { owner = '', exchange, symbol, interval } of await seen.list()) {
    if (owner !== userId && !sharesBars) continue
    const series = { exchange, symbol, interval }
    for await (const window of barWindows((part) => seen.read(series, part), {})) {
      const { time, open, high, low, close, volume, bought } = window
      const columns = [time, open, high, low, close, volume].map((column) => [...column])
      // Beside the columns, since earlier versions take six. What nobody knows becomes null.
      const sides = bought && knowsSides(window) ? { bought: [...bought] } : {}
      yield { kind: 'bars', id: JSON.stringify(series), item: { ...series, columns, ...sides } }
    }
    const chart = await importedChart(kv, [seriesOf(series, owner)], true)
    if (chart) yield { kind: 'chart', id: JSON.stringify(series), item: { ...series, ...chart } }
  }
}
